package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/open-executor/executor"
)

// Check reads everything in dir and changes nothing. It gives the damage found, in each
// file up to where it cannot go on. While another process has the storage open
// it is Conflict.
func Check(dir string) ([]Damage, error) {
	lock, err := os.Open(filepath.Join(dir, "lock"))
	clean := false
	if err == nil {
		defer func() { _ = lock.Close() }() // it was only read
		err = tryLock(lock)
		clean = owner(lock) == 0
	}
	switch {
	case errors.Is(err, errHeld):
		return nil, held(lock, dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, diskError("check", dir, err)
	}
	e, err := examine(dir)
	if err != nil {
		return nil, explain("check", dir, err)
	}
	for i := range e.damage {
		_ = settled(&e.damage[i], clean) // it changes the damage
	}
	return e.damage, nil
}

// An examination is what is known of a directory after reading all of it.
type examination struct {
	state  *state   // what is good of the tables
	tables []Damage // of snapshot.json and events.jsonl
	runs   []Damage // none or one
	blobs  []Damage
	damage []Damage // all of it
}

func examine(dir string) (e examination, err error) {
	note := func(d *Damage) error {
		e.tables = append(e.tables, *d)
		return nil
	}
	if e.state, err = loadSnapshot(filepath.Join(dir, "snapshot.json"), note); err != nil {
		return e, err
	}
	_, err = loadEvents(filepath.Join(dir, "events.jsonl"), e.state)
	if e.tables, err = collect(e.tables, err); err != nil {
		return e, err
	}
	if e.runs, err = collect(nil, examineRuns(filepath.Join(dir, "runs"))); err != nil {
		return e, err
	}
	for _, name := range []string{"blobs", "artifacts"} {
		found, err := examineBlobs(blobs{dir: filepath.Join(dir, name)})
		if err != nil {
			return e, err
		}
		e.blobs = append(e.blobs, found...)
	}
	e.damage = slices.Concat(e.tables, e.runs, e.blobs)
	return e, nil
}

// collect adds err to list if it is damage.
func collect(list []Damage, err error) ([]Damage, error) {
	var damage *Damage
	if errors.As(err, &damage) {
		return append(list, *damage), nil
	}
	return list, err
}

// examineRuns proves the chain, and that what lists are filtered by is what the
// runs say. What is wrong is a *Damage.
func examineRuns(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	w := walk{dir: dir}
	versions := map[executor.RunID]uint64{}
	why, where := "", spot{}
	err := w.all(context.Background(), func(l link, body []byte, at spot) bool {
		var run executor.Run
		if why = decode(body, &run); why == "" {
			want := newLink(l.entry(nil), run)
			switch {
			case len(l.Askers) != len(want.Askers), len(want.Askers) > 0 && !slices.Equal(l.Askers, want.Askers):
				why = "the entry names other askers than its run"
			case l.Version != versions[l.ID]+1:
				why = "the state does not follow the one before of its run"
			}
			l.Askers, want.Askers = nil, nil
			if why == "" && !reflect.DeepEqual(l, want) {
				why = "the entry does not hold the run it names"
			}
		}
		versions[l.ID], where = l.Version, at
		return why == ""
	})
	if err == nil && why != "" {
		return &Damage{File: filepath.Join(dir, segmentName(where.segment)), Offset: where.offset, Msg: why}
	}
	return err
}

func examineBlobs(b blobs) ([]Damage, error) {
	if _, err := os.Stat(b.dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	digests, err := b.List(context.Background())
	if err != nil {
		return nil, err
	}
	var found []Damage
	for _, digest := range digests {
		f, err := os.Open(b.path(digest))
		if err != nil {
			return nil, err
		}
		if err := (&blob{f: f, digest: digest}).prove(); executor.CodeOf(err) == executor.Internal {
			found = append(found, Damage{File: f.Name(), Msg: "the content does not match its digest"})
		}
		_ = f.Close() // it was only read
	}
	return found, nil
}
