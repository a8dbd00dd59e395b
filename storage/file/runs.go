package file

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/open-executor/executor"
)

// Append also refuses an id, parent or address that is not usable.
func (r *runs) Append(ctx context.Context, run executor.Run) (executor.Run, error) {
	if err := ctx.Err(); err != nil {
		return executor.Run{}, err
	}
	err := checkKey("run id", string(run.ID))
	if err == nil && run.Parent != "" {
		err = checkKey("parent", string(run.Parent))
	}
	if err == nil {
		_, err = executor.ParseAddress(run.Address.String())
	}
	if err == nil && strings.ContainsAny(string(run.Status), "\t\n") {
		err = &executor.Error{Code: executor.Invalid, Op: "record", Msg: fmt.Sprintf("status %q is not usable", run.Status)}
	}
	if err != nil {
		return executor.Run{}, err
	}
	a := &appending{run: run}
	r.queue.do(a)
	if a.err != nil {
		return executor.Run{}, a.err
	}
	return run, nil
}

// Get reads the newest state from its segment.
func (r *runs) Get(ctx context.Context, id executor.RunID) (executor.Run, error) {
	if err := ctx.Err(); err != nil {
		return executor.Run{}, err
	}
	r.mu.RLock()
	m := r.index.byID[id]
	var at spot
	if m != nil {
		at = m.at
	}
	r.mu.RUnlock()
	if m == nil {
		return executor.Run{}, &executor.Error{Code: executor.NotFound, Op: "record", Msg: fmt.Sprintf("run %q does not exist", id)}
	}
	return r.read(at)
}

// List orders by first entry; no clock is asked. A Before that names no run is
// NotFound.
func (r *runs) List(ctx context.Context, filter executor.RunFilter) ([]executor.Run, error) {
	r.mu.RLock()
	spots, ok := r.index.list(filter)
	r.mu.RUnlock()
	if !ok {
		return nil, &executor.Error{Code: executor.NotFound, Op: "record", Msg: fmt.Sprintf("run %q does not exist", filter.Before)}
	}
	list := make([]executor.Run, 0, len(spots))
	for _, at := range spots {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		run, err := r.read(at)
		if err != nil {
			return nil, err
		}
		list = append(list, run)
	}
	return list, nil
}

func (r *runs) read(at spot) (executor.Run, error) {
	path := filepath.Join(r.dir, segmentName(at.segment))
	l, body, err := readAt(path, at)
	if err != nil {
		return executor.Run{}, explain("record", path, err)
	}
	var run executor.Run
	why := decode(body, &run)
	if why == "" && (run.ID != l.ID || run.Version != l.Version) {
		why = "the entry does not hold the run it names"
	}
	if why != "" {
		return executor.Run{}, (&Damage{File: path, Offset: at.offset, Msg: why}).asError("record")
	}
	return run, nil
}

// readAt reads one line of the chain. A bad one is a *Damage.
func readAt(path string, at spot) (l link, run []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return link{}, nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	line := make([]byte, at.length)
	if _, err := f.ReadAt(line, at.offset); err != nil {
		return link{}, nil, &Damage{File: path, Offset: at.offset, Msg: "the entry is not there: " + err.Error()}
	}
	text, why := parseLine(line)
	if why == "" {
		l, run, why = splitLine(text)
	}
	if why != "" {
		return link{}, nil, &Damage{File: path, Offset: at.offset, Msg: why}
	}
	return l, run, nil
}

// Chain proves each entry before it gives it, up to the newest one there is at
// the call.
func (r *runs) Chain(ctx context.Context) iter.Seq2[executor.Entry, error] {
	return func(yield func(executor.Entry, error) bool) {
		r.mu.RLock()
		end := r.end
		r.mu.RUnlock()
		w := walk{dir: r.dir, stop: end}
		stopped := false
		err := w.all(ctx, func(l link, run []byte, _ spot) bool {
			stopped = !yield(l.entry(bytes.Clone(run)), nil)
			return !stopped
		})
		if err == nil && !stopped && w.at != end && end.offset > 0 {
			err = &Damage{File: filepath.Join(w.dir, segmentName(end.segment)), Offset: w.at.offset, Msg: "the entries behind are not there"}
		}
		if err != nil {
			yield(executor.Entry{}, explain("audit", w.dir, err))
		}
	}
}
