package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/open-executor/executor"
)

// tables keeps all tables. Changes are decided and written in batches, by one
// caller at a time; a batch shows when it is on disk. Safe for concurrent use.
type tables struct {
	queue    queue[*change]
	dir      string
	disk     disk
	log      *slog.Logger
	events   journal // used in batches only
	limit    int64   // a snapshot is due when events is larger
	minLimit int64
	closed   bool // set in a batch

	mu       sync.RWMutex // never held while the disk is waited for
	state    *state
	watchers map[*watcher]bool
	ended    bool // there will be no more changes
}

// A change is what a caller wants of a table; the batch fills in record and err.
type change struct {
	event
	was    uint64 // the version Put replaces
	close  bool   // nothing but an end
	record executor.Record
	err    error
}

func openTables(dir string, opts Options, clean bool) (*tables, error) {
	t := &tables{dir: dir, disk: opts.disk, log: opts.Log, minLimit: opts.SnapshotBytes, watchers: map[*watcher]bool{}}
	t.queue.work = t.commit
	snapshot, path := filepath.Join(dir, "snapshot.json"), filepath.Join(dir, "events.jsonl")
	s, err := loadSnapshot(snapshot, func(d *Damage) error { return d })
	if err != nil {
		return nil, err
	}
	good, err := loadEvents(path, s)
	var damage *Damage
	cut := errors.As(settled(err, clean), &damage) && damage.Torn
	if err != nil && !cut {
		return nil, err
	}
	if t.events, err = openJournal(opts.disk, path, good, clean); err != nil {
		return nil, err
	}
	if cut {
		opts.Log.Warn("unfinished last line cut off", "file", path, "offset", good, "why", damage.Msg)
	}
	if st, err := os.Stat(snapshot); err == nil {
		t.limit = st.Size()
	}
	t.limit = max(t.limit, t.minLimit)
	t.state = s
	return t, nil
}

// commit decides a batch of changes in order, writes those that hold and shows
// them.
func (t *tables) commit(batch []*change) {
	if slices.ContainsFunc(batch, func(c *change) bool { return c.close }) {
		defer func() { t.closed = true }()
	}
	if err := t.ready(); err != nil {
		refuse(batch, err)
		return
	}
	var lines []byte
	var hold []*change
	ahead := map[executor.Noun]map[string]event{} // what this batch has decided so far
	version := t.state.version
	for _, c := range batch {
		if c.err = t.decide(c, ahead); c.err != nil || c.Version == 0 {
			continue
		}
		version++
		c.Version = version
		text, err := encode(c.event)
		if err != nil {
			c.err = &executor.Error{Code: executor.Internal, Op: "store", Msg: "record cannot be encoded", Err: err}
			version--
			continue
		}
		c.record = c.Record
		if ahead[c.Noun] == nil {
			ahead[c.Noun] = map[string]event{}
		}
		ahead[c.Noun][c.Key] = c.event
		lines = appendLine(lines, text)
		hold = append(hold, c)
	}
	if len(hold) == 0 {
		return
	}
	if err := t.events.append(lines, true); err != nil {
		refuse(batch, err) // also those with nothing to do: one that was not written may be why
		return
	}
	t.show(hold)
}

// ready sees to it that a batch can be decided. What was refused but not yet
// taken out of the file could come back after a deletion that found nothing to do.
func (t *tables) ready() error {
	if t.closed {
		return closedError()
	}
	if err := t.events.ready(); err != nil {
		return err
	}
	if t.events.size > t.limit {
		t.compact()
	}
	return nil
}

func refuse(batch []*change, err error) {
	for _, c := range batch {
		c.record, c.err = executor.Record{}, err
	}
}

// decide tells whether c may be done after what is ahead of it. Version stays 0
// when there is nothing to do.
func (t *tables) decide(c *change, ahead map[executor.Noun]map[string]event) error {
	if c.close {
		return nil
	}
	now, ok := t.state.get(c.Noun, c.Key)
	if e, found := ahead[c.Noun][c.Key]; found {
		now, ok = e.Record, !e.Deleted
	}
	if c.Deleted && !ok {
		return nil
	}
	if !ok {
		now.Version = 0
	}
	if !c.Deleted && now.Version != c.was {
		return conflict(c, now.Version)
	}
	c.Version = 1
	return nil
}

func conflict(c *change, is uint64) error {
	msg := fmt.Sprintf("%s %q has version %d, not %d", c.Noun, c.Key, is, c.was)
	switch {
	case is == 0:
		msg = fmt.Sprintf("%s %q does not exist any more", c.Noun, c.Key)
	case c.was == 0:
		msg = fmt.Sprintf("%s %q exists already", c.Noun, c.Key)
	}
	return &executor.Error{Code: executor.Conflict, Op: "store", Msg: msg, Hint: "read it again and repeat the change"}
}

// show makes changes that are on disk visible.
func (t *tables) show(hold []*change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range hold {
		t.state.apply(c.event)
		for w := range t.watchers {
			if w.noun == c.Noun && !w.send(c.Change) {
				t.drop(w)
			}
		}
	}
}

// compact writes a snapshot and empties events.jsonl. When it does not succeed
// the events stay, and it is tried again when there are more.
func (t *tables) compact() {
	content, err := t.state.snapshot()
	if err == nil {
		err = t.disk.replace(filepath.Join(t.dir, "snapshot.json"), content)
	}
	if err == nil {
		err = t.events.reset()
	}
	t.limit = max(t.minLimit, int64(len(content)))
	if err != nil {
		t.limit += t.events.size
		t.log.Warn("no snapshot", "dir", t.dir, "err", err)
	}
}

func (t *tables) close() error {
	end := &change{close: true}
	t.queue.do(end)
	t.mu.Lock()
	t.ended = true
	for w := range t.watchers {
		t.drop(w)
	}
	t.mu.Unlock()
	return errors.Join(end.err, t.events.f.Close())
}

// A table is the part of tables that belongs to one noun.
type table struct {
	all  *tables
	noun executor.Noun
}

func (t table) Get(ctx context.Context, key string) (executor.Record, error) {
	if err := ctx.Err(); err != nil {
		return executor.Record{}, err
	}
	t.all.mu.RLock()
	r, ok := t.all.state.get(t.noun, key)
	t.all.mu.RUnlock()
	if !ok {
		return executor.Record{}, &executor.Error{Code: executor.NotFound, Op: "store", Msg: fmt.Sprintf("%s %q does not exist", t.noun, key)}
	}
	return own(r), nil
}

func (t table) List(ctx context.Context, prefix string) ([]executor.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.all.mu.RLock()
	defer t.all.mu.RUnlock()
	shared := t.all.state.list(t.noun, prefix)
	records := make([]executor.Record, len(shared))
	for i, r := range shared {
		records[i] = own(r)
	}
	return records, nil
}

// own gives a record whose value the caller may change.
func own(r executor.Record) executor.Record {
	r.Value = bytes.Clone(r.Value)
	return r
}

// Put also refuses a value that is not JSON. It keeps the value without
// insignificant white space.
func (t table) Put(ctx context.Context, key string, value json.RawMessage, was uint64) (executor.Record, error) {
	if err := ctx.Err(); err != nil {
		return executor.Record{}, err
	}
	if err := checkKey("key", key); err != nil {
		return executor.Record{}, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, value); err != nil {
		return executor.Record{}, &executor.Error{Code: executor.Invalid, Op: "store", Msg: fmt.Sprintf("value of %s %q is not JSON", t.noun, key), Err: err}
	}
	record := executor.Record{Key: key, Value: compact.Bytes()}
	c := &change{event: event{t.noun, executor.Change{Record: record}}, was: was}
	t.all.queue.do(c)
	return own(c.record), c.err
}

func (t table) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &change{event: event{t.noun, executor.Change{Record: executor.Record{Key: key}, Deleted: true}}}
	t.all.queue.do(c)
	return c.err
}

func checkKey(what, key string) error {
	ok := len(key) >= 1 && len(key) <= 512 && utf8.ValidString(key)
	for _, r := range key {
		ok = ok && !unicode.IsControl(r)
	}
	if ok {
		return nil
	}
	return &executor.Error{
		Code: executor.Invalid, Op: "store",
		Msg:  fmt.Sprintf("%s %.80q is not usable", what, key),
		Hint: "use 1 to 512 bytes of UTF-8 without control characters",
	}
}
