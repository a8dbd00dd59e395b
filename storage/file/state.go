package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/open-executor/executor"
)

// A state is all tables as of one version. Not safe for concurrent use.
type state struct {
	version uint64
	records map[executor.Noun][]executor.Record // :: noun → records by key
}

// An event is one line of events.jsonl: a change of a table.
type event struct {
	Noun executor.Noun `json:"noun"`
	executor.Change
}

// A stored record is one line of snapshot.json after the first.
type stored struct {
	Noun executor.Noun `json:"noun"`
	executor.Record
}

// A heading is the first line of snapshot.json.
type heading struct {
	Version uint64 `json:"version"`
	Records int    `json:"records"`
}

func byKey(r executor.Record, key string) int { return strings.Compare(r.Key, key) }

func (s *state) get(noun executor.Noun, key string) (executor.Record, bool) {
	records := s.records[noun]
	i, ok := slices.BinarySearchFunc(records, key, byKey)
	if !ok {
		return executor.Record{}, false
	}
	return records[i], true
}

// list gives the records whose key begins with prefix; they are shared.
func (s *state) list(noun executor.Noun, prefix string) []executor.Record {
	records := s.records[noun]
	i, _ := slices.BinarySearchFunc(records, prefix, byKey)
	n := i
	for n < len(records) && strings.HasPrefix(records[n].Key, prefix) {
		n++
	}
	return records[i:n]
}

// apply changes s by e.
func (s *state) apply(e event) {
	records := s.records[e.Noun]
	i, ok := slices.BinarySearchFunc(records, e.Key, byKey)
	switch {
	case e.Deleted && ok:
		records = slices.Delete(records, i, i+1)
	case !e.Deleted && ok:
		records[i] = e.Record
	case !e.Deleted:
		records = slices.Insert(records, i, e.Record)
	}
	s.records[e.Noun] = records
	s.version = max(s.version, e.Version)
}

// snapshot gives the content of snapshot.json for s.
func (s *state) snapshot() ([]byte, error) {
	n := 0
	for _, records := range s.records {
		n += len(records)
	}
	text, err := encode(heading{s.version, n})
	content := appendLine(nil, text)
	for noun, records := range s.records {
		for _, r := range records {
			var bad error
			text, bad = encode(stored{noun, r})
			err = errors.Join(err, bad)
			content = appendLine(content, text)
		}
	}
	return content, err
}

// encode gives v as one line of JSON, without its newline.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// loadSnapshot reads snapshot.json; a missing one is the empty state. bad is
// told about each damaged place, and returns an error to stop; good records
// behind the place are still read otherwise.
func loadSnapshot(path string, bad func(*Damage) error) (*state, error) {
	s := &state{records: map[executor.Noun][]executor.Record{}}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	var head heading
	n, at := 0, int64(0)
	for line := range bytes.Lines(content) {
		text, why := parseLine(line)
		if at == 0 && why == "" {
			why = decode(text, &head)
		} else if why == "" {
			var r stored
			if why = decode(text, &r); why == "" {
				s.apply(event{r.Noun, executor.Change{Record: r.Record}})
				n++
			}
		}
		if why != "" {
			if err := bad(&Damage{File: path, Offset: at, Msg: why}); err != nil {
				return nil, err
			}
		}
		at += int64(len(line))
	}
	if n != head.Records || len(content) == 0 {
		why := fmt.Sprintf("the snapshot has %d of %d records", n, head.Records)
		if err := bad(&Damage{File: path, Offset: at, Msg: why}); err != nil {
			return nil, err
		}
	}
	s.version = max(s.version, head.Version)
	return s, nil
}

// decode reads a text that its checksum has found right; why says what is still
// wrong with it.
func decode(text []byte, v any) (why string) {
	if err := json.Unmarshal(text, v); err != nil {
		return "the text is not what belongs here: " + err.Error()
	}
	return ""
}

// loadEvents applies events.jsonl to s and gives the length of its good part.
// What stops it is a *Damage, also an unfinished last line. A missing file is
// an empty one. Changes that the snapshot has already are passed over.
func loadEvents(path string, s *state) (good int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	lines := newLineReader(f, 0)
	for previous := uint64(0); ; {
		text, at, err := lines.next()
		if errors.Is(err, io.EOF) {
			return lines.at, nil
		}
		if err != nil {
			return at, damageOf(path, err)
		}
		var e event
		why := decode(text, &e)
		switch {
		case why != "":
		case previous != 0 && e.Version != previous+1, e.Version > s.version+1:
			why = fmt.Sprintf("version %d stands where %d belongs", e.Version, max(previous, s.version)+1)
		}
		if why != "" {
			return at, &Damage{File: path, Offset: at, Msg: why}
		}
		previous = e.Version
		if e.Deleted {
			e.Value = nil
		}
		if e.Version > s.version {
			s.apply(e)
		}
	}
}
