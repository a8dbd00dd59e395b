package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/open-executor/executor"
)

// A spot is where a line of the chain stands. With length 0 it is a place
// between lines.
type spot struct {
	segment int
	offset  int64
	length  int
}

// A link is the first half of an entry's line: its place in the chain and what
// lists are filtered by.
type link struct {
	Seq     uint64            `json:"seq"`
	Prev    string            `json:"prev"`
	Hash    string            `json:"hash"`
	ID      executor.RunID    `json:"id"`
	Version uint64            `json:"version"`
	Status  executor.Status   `json:"status"`
	Source  executor.SourceID `json:"source"`
	Parent  executor.RunID    `json:"parent,omitempty"`
	Askers  []string          `json:"askers,omitempty"`
}

func newLink(e executor.Entry, run executor.Run) link {
	l := link{
		Seq: e.Seq, Prev: e.Prev, Hash: e.Hash,
		ID: run.ID, Version: run.Version, Status: run.Status, Source: run.Address.Source, Parent: run.Parent,
	}
	for _, p := range run.Principal {
		l.Askers = append(l.Askers, p.ID)
	}
	return l
}

func (l link) entry(run []byte) executor.Entry {
	return executor.Entry{Seq: l.Seq, Prev: l.Prev, Hash: l.Hash, Run: run}
}

// splitLine gives both halves of the text of a line of the chain.
func splitLine(text []byte) (l link, run []byte, why string) {
	first, run, ok := bytes.Cut(text, []byte("\t"))
	if !ok {
		return link{}, nil, "the text is not two values with a tab between them"
	}
	return l, run, decode(first, &l)
}

func segmentName(n int) string { return fmt.Sprintf("%06d.jsonl", n) }

// segments lists the numbers of the segments in dir, rising.
func segments(dir string) ([]int, error) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, name := range names {
		digits, ok := strings.CutSuffix(name.Name(), ".jsonl")
		if n, err := strconv.Atoi(digits); ok && err == nil && segmentName(n) == name.Name() {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// A walk goes over the chain, entry by entry, and proves each.
type walk struct {
	dir  string
	at   spot           // behind the last entry proven
	head executor.Entry // that entry, without its Run
	stop spot           // go no further; segment 0: to the end
}

// all calls visit for each entry, until it returns false. What is damaged, also an unfinished last
// line, ends it with a *Damage.
func (w *walk) all(ctx context.Context, visit func(l link, run []byte, at spot) bool) error {
	numbers, err := segments(w.dir)
	if err != nil {
		return err
	}
	for i, n := range numbers {
		if w.stop.segment != 0 && n > w.stop.segment {
			return nil
		}
		if n < w.at.segment {
			continue
		}
		if n > w.at.segment {
			if n != w.at.segment+1 {
				return &Damage{File: filepath.Join(w.dir, segmentName(w.at.segment+1)), Msg: "the segment is missing"}
			}
			w.at = spot{segment: n}
		}
		more, err := w.one(ctx, i == len(numbers)-1, visit)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// one goes over the rest of the segment w.at is in.
func (w *walk) one(ctx context.Context, last bool, visit func(link, []byte, spot) bool) (more bool, err error) {
	path := filepath.Join(w.dir, segmentName(w.at.segment))
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // it was only read
	var content io.Reader = f
	if _, err := f.Seek(w.at.offset, io.SeekStart); err != nil {
		return false, err
	}
	if w.at.segment == w.stop.segment {
		content = io.LimitReader(f, w.stop.offset-w.at.offset)
	}
	lines := newLineReader(content, w.at.offset)
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		text, at, err := lines.next()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, unlessLast(damageOf(path, err), last)
		}
		l, run, why := splitLine(text)
		if why == "" {
			why = w.prove(l.entry(run))
		}
		if why != "" {
			return false, &Damage{File: path, Offset: at, Msg: why}
		}
		w.at.offset = lines.at
		if !visit(l, run, spot{w.at.segment, at, int(lines.at - at)}) {
			return false, nil
		}
	}
}

// prove makes e the head if it follows.
func (w *walk) prove(e executor.Entry) (why string) {
	if err := e.Check(w.head); err != nil {
		var known *executor.Error
		if errors.As(err, &known) {
			return known.Msg
		}
		return err.Error()
	}
	e.Run = nil
	w.head = e
	return ""
}

// unlessLast takes the excuse of being unfinished from a line that others
// follow in the next segment.
func unlessLast(err error, last bool) error {
	var damage *Damage
	if errors.As(err, &damage) && !last {
		damage.Torn = false
	}
	return err
}
