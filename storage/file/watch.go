package file

import (
	"bytes"
	"context"

	"github.com/open-executor/executor"
)

// behind is how many changes a watcher may be behind before it is given up.
const behind = 256

type watcher struct {
	noun    executor.Noun
	changes chan executor.Change
}

// send tells whether there was room.
func (w *watcher) send(c executor.Change) bool {
	c.Value = bytes.Clone(c.Value)
	select {
	case w.changes <- c:
		return true
	default:
		return false
	}
}

func (t table) Watch(ctx context.Context) <-chan executor.Change {
	w := &watcher{t.noun, make(chan executor.Change, behind)}
	t.all.mu.Lock()
	defer t.all.mu.Unlock()
	if t.all.ended || ctx.Err() != nil {
		close(w.changes)
		return w.changes
	}
	t.all.watchers[w] = true
	context.AfterFunc(ctx, func() {
		t.all.mu.Lock()
		defer t.all.mu.Unlock()
		t.all.drop(w)
	})
	return w.changes
}

// drop ends a watcher, once. It needs mu.
func (t *tables) drop(w *watcher) {
	if t.watchers[w] {
		delete(t.watchers, w)
		close(w.changes)
	}
}
