package file

import (
	"slices"
	"strings"

	"github.com/open-executor/executor"
)

// A mark is what the index keeps of a run: where its newest state stands and
// what lists are filtered by.
type mark struct {
	id      executor.RunID
	order   int // among all runs, by first entry
	version uint64
	status  executor.Status
	source  executor.SourceID
	parent  executor.RunID
	askers  []string // shared; do not change it
	at      spot
}

// An index knows all runs without their content. Not safe for concurrent use.
type index struct {
	byID    map[executor.RunID]*mark
	started []*mark             // by first entry
	shared  map[string][]string // :: askers joined → askers, so that equal ones are kept once
	words   map[string]string   // :: source or status → itself, likewise
}

func newIndex(runs int) *index {
	return &index{
		byID:    make(map[executor.RunID]*mark, runs),
		started: make([]*mark, 0, runs),
		shared:  map[string][]string{},
		words:   map[string]string{},
	}
}

// add notes the newest state of a run.
func (x *index) add(l link, at spot) {
	m := x.byID[l.ID]
	if m == nil {
		m = &mark{id: l.ID, order: len(x.started), parent: l.Parent}
		x.byID[l.ID] = m
		x.started = append(x.started, m)
	}
	m.version, m.at = l.Version, at
	m.status = executor.Status(x.word(string(l.Status)))
	m.source = executor.SourceID(x.word(string(l.Source)))
	m.askers = x.share(l.Askers)
}

func (x *index) word(s string) string {
	if kept, ok := x.words[s]; ok {
		return kept
	}
	s = strings.Clone(s)
	x.words[s] = s
	return s
}

func (x *index) share(askers []string) []string {
	joined := strings.Join(askers, "\x00")
	if kept, ok := x.shared[joined]; ok {
		return kept
	}
	x.shared[joined] = askers
	return askers
}

// version gives that of a run's newest state, 0 when there is none.
func (x *index) version(id executor.RunID) uint64 {
	if m := x.byID[id]; m != nil {
		return m.version
	}
	return 0
}

// list gives where the newest states of selected runs stand, latest first. ok
// is false when Before names no run.
func (x *index) list(f executor.RunFilter) (at []spot, ok bool) {
	from := len(x.started)
	if f.Before != "" {
		m := x.byID[f.Before]
		if m == nil {
			return nil, false
		}
		from = m.order
	}
	limit := f.Limit
	if limit <= 0 {
		limit = 100
	}
	for i := from - 1; i >= 0 && len(at) < limit; i-- {
		if m := x.started[i]; m.selected(f) {
			at = append(at, m.at)
		}
	}
	return at, true
}

func (m *mark) selected(f executor.RunFilter) bool {
	return (f.Status == "" || f.Status == m.status) &&
		(f.Source == "" || f.Source == m.source) &&
		(f.Parent == "" || f.Parent == m.parent) &&
		(f.Asker == "" || slices.Contains(m.askers, f.Asker))
}
