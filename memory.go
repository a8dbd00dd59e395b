package executor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Memory gives a Storage that lasts as long as the process.
func Memory() Storage {
	return &memory{tables: map[Noun]*memoryTable{}, runs: newMemoryRuns(), blobs: newMemoryBlobs(), artifacts: newMemoryBlobs()}
}

type memory struct {
	runs             *memoryRuns
	blobs, artifacts *memoryBlobs

	mu      sync.Mutex
	version uint64 // of the latest change of any table
	tables  map[Noun]*memoryTable
}

func (m *memory) Table(noun Noun) Table {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tables[noun]
	if t == nil {
		t = &memoryTable{storage: m, records: map[string]Record{}, watchers: map[chan Change]struct{}{}}
		m.tables[noun] = t
	}
	return t
}

func (m *memory) Runs() Runs       { return m.runs }
func (m *memory) Blobs() Blobs     { return m.blobs }
func (m *memory) Artifacts() Blobs { return m.artifacts }
func (m *memory) Close() error     { return nil }

// A memoryTable is guarded by its storage's mutex.
type memoryTable struct {
	storage  *memory
	records  map[string]Record
	watchers map[chan Change]struct{}
}

func (t *memoryTable) Get(_ context.Context, key string) (Record, error) {
	t.storage.mu.Lock()
	defer t.storage.mu.Unlock()
	r, ok := t.records[key]
	if !ok {
		return Record{}, absent("record", key)
	}
	return r, nil
}

func (t *memoryTable) List(_ context.Context, prefix string) ([]Record, error) {
	t.storage.mu.Lock()
	defer t.storage.mu.Unlock()
	records := []Record{}
	for key, r := range t.records {
		if strings.HasPrefix(key, prefix) {
			records = append(records, r)
		}
	}
	slices.SortFunc(records, func(a, b Record) int { return cmp.Compare(a.Key, b.Key) })
	return records, nil
}

func (t *memoryTable) Put(_ context.Context, key string, value json.RawMessage, was uint64) (Record, error) {
	if err := CheckKey(key); err != nil {
		return Record{}, err
	}
	if !json.Valid(value) {
		return Record{}, &Error{Code: Invalid, Op: "storage", Msg: "the value of record " + key + " is not JSON"}
	}
	t.storage.mu.Lock()
	defer t.storage.mu.Unlock()
	if t.records[key].Version != was {
		return Record{}, &Error{Code: Conflict, Op: "storage", Msg: "record " + key + " was changed by somebody else", Hint: "read it again"}
	}
	t.storage.version++
	r := Record{Key: key, Version: t.storage.version, Value: slices.Clone(value)}
	t.records[key] = r
	t.tell(Change{Record: r})
	return r, nil
}

func (t *memoryTable) Delete(_ context.Context, key string) error {
	t.storage.mu.Lock()
	defer t.storage.mu.Unlock()
	if _, ok := t.records[key]; !ok {
		return nil
	}
	t.storage.version++
	delete(t.records, key)
	t.tell(Change{Record: Record{Key: key, Version: t.storage.version}, Deleted: true})
	return nil
}

func (t *memoryTable) Watch(ctx context.Context) <-chan Change {
	ch := make(chan Change, 256)
	t.storage.mu.Lock()
	defer t.storage.mu.Unlock()
	t.watchers[ch] = struct{}{}
	context.AfterFunc(ctx, func() {
		t.storage.mu.Lock()
		defer t.storage.mu.Unlock()
		t.drop(ch)
	})
	return ch
}

// tell hands c to every watcher; one whose channel is full is dropped.
func (t *memoryTable) tell(c Change) {
	for ch := range t.watchers {
		select {
		case ch <- c:
		default:
			t.drop(ch)
		}
	}
}

func (t *memoryTable) drop(ch chan Change) {
	if _, ok := t.watchers[ch]; ok {
		delete(t.watchers, ch)
		close(ch)
	}
}

type memoryRuns struct {
	mu     sync.Mutex
	chain  []Entry
	newest map[RunID]Run
	order  []RunID // by first state
}

func newMemoryRuns() *memoryRuns { return &memoryRuns{newest: map[RunID]Run{}} }

func (m *memoryRuns) Append(_ context.Context, run Run) (Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if run.Version != m.newest[run.ID].Version+1 {
		return Run{}, &Error{Code: Conflict, Op: "record", Msg: "run " + string(run.ID) + " was changed by somebody else", Run: run.ID}
	}
	var last Entry
	if len(m.chain) > 0 {
		last = m.chain[len(m.chain)-1]
	}
	e, err := last.Follow(run)
	if err != nil {
		return Run{}, err
	}
	m.chain = append(m.chain, e)
	if run.Version == 1 {
		m.order = append(m.order, run.ID)
	}
	m.newest[run.ID] = run
	return run, nil
}

func (m *memoryRuns) Get(_ context.Context, id RunID) (Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	run, ok := m.newest[id]
	if !ok {
		return Run{}, absent("run", string(id))
	}
	return run, nil
}

func (m *memoryRuns) List(_ context.Context, f RunFilter) ([]Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	limit := cmp.Or(f.Limit, 100)
	runs := []Run{}
	begun := f.Before == ""
	for _, id := range slices.Backward(m.order) {
		if len(runs) == limit {
			break
		}
		if begun && f.Selects(m.newest[id]) {
			runs = append(runs, m.newest[id])
		}
		begun = begun || id == f.Before
	}
	return runs, nil
}

func (m *memoryRuns) Chain(context.Context) iter.Seq2[Entry, error] {
	m.mu.Lock()
	chain := slices.Clone(m.chain)
	m.mu.Unlock()
	return func(yield func(Entry, error) bool) {
		var last Entry
		for _, e := range chain {
			if err := e.Check(last); err != nil {
				yield(Entry{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
			last = e
		}
	}
}

type memoryBlobs struct {
	mu      sync.Mutex
	content map[string][]byte
}

func newMemoryBlobs() *memoryBlobs { return &memoryBlobs{content: map[string][]byte{}} }

func (m *memoryBlobs) Put(_ context.Context, r io.Reader) (string, int64, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return "", 0, err
	}
	sum := digest(data)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.content[sum] = data
	return sum, int64(len(data)), nil
}

func (m *memoryBlobs) Open(_ context.Context, sum string) (io.ReadSeekCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.content[sum]
	if !ok {
		return nil, absent("content", sum)
	}
	return open{bytes.NewReader(data)}, nil
}

func (m *memoryBlobs) Delete(_ context.Context, sum string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.content, sum)
	return nil
}

func (m *memoryBlobs) List(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.content)), nil
}

// open is a Reader that has nothing to close.
type open struct{ *bytes.Reader }

func (open) Close() error { return nil }
