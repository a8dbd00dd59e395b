package executor

import "sync"

// A memo keeps decoded records, so that a record is decoded once a version.
// Values are shared: nobody changes them. The zero value is empty.
type memo struct {
	mu      sync.RWMutex
	records map[Noun]map[string]remembered
}

type remembered struct {
	version uint64
	value   any
}

const memoSize = 4096 // records of one noun; then it begins anew

func (m *memo) get(noun Noun, r Record) (any, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	kept, ok := m.records[noun][r.Key]
	return kept.value, ok && kept.version == r.Version
}

func (m *memo) put(noun Noun, r Record, value any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.records == nil {
		m.records = map[Noun]map[string]remembered{}
	}
	if m.records[noun] == nil || len(m.records[noun]) >= memoSize {
		m.records[noun] = map[string]remembered{}
	}
	m.records[noun][r.Key] = remembered{r.Version, value}
}
