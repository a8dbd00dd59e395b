package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A repair puts aside what is damaged.
type repair struct {
	disk  disk
	dir   string
	aside string // the directory for it, under dir
}

// Repair makes dir fit to be opened. It takes nothing away: what is damaged is
// put aside into damaged-1, damaged-2 …, and the damage given says where. The
// tables keep what stands before the damage, a snapshot all its good records;
// the chain ends before the damage.
func Repair(dir string) ([]Damage, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, diskError("repair", dir, err)
	}
	r := repair{dir: dir}
	lock, _, err := acquire(r.disk, dir, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = release(lock) }() // an unclean end costs the next Open a sync
	e, err := examine(dir)
	if err == nil && len(e.damage) > 0 {
		err = r.all(&e)
	}
	if err != nil {
		return nil, explain("repair", dir, err)
	}
	return e.damage, nil
}

func (r *repair) all(e *examination) error {
	if err := r.begin(); err != nil {
		return err
	}
	if len(e.tables) > 0 {
		if err := r.tables(e.state, e.tables); err != nil {
			return err
		}
	}
	for i := range e.runs {
		if err := r.runs(&e.runs[i]); err != nil {
			return err
		}
	}
	for i := range e.blobs {
		d := &e.blobs[i]
		d.Moved = filepath.Join(r.aside, filepath.Base(d.File))
		if err := r.disk.rename(d.File, d.Moved); err != nil {
			return err
		}
		if err := r.disk.syncDir(filepath.Dir(d.File)); err != nil {
			return err
		}
	}
	e.damage = append(append(e.tables, e.runs...), e.blobs...)
	return nil
}

// begin makes the next damaged-n.
func (r *repair) begin() error {
	for n := 1; ; n++ {
		r.aside = filepath.Join(r.dir, "damaged-"+strconv.Itoa(n))
		err := os.Mkdir(r.aside, 0o700)
		if err == nil {
			return r.disk.syncDir(r.dir)
		}
		if !errors.Is(err, os.ErrExist) {
			return err
		}
	}
}

// tables keeps copies of both files and writes what is good as a new snapshot.
func (r *repair) tables(s *state, damage []Damage) error {
	for _, name := range []string{"snapshot.json", "events.jsonl"} {
		err := r.copy(filepath.Join(r.dir, name), 0, name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	for i := range damage {
		damage[i].Moved = filepath.Join(r.aside, filepath.Base(damage[i].File))
	}
	if err := s.skipUsed(filepath.Join(r.dir, "events.jsonl"), damage); err != nil {
		return err
	}
	content, err := s.snapshot()
	if err != nil {
		return err
	}
	if err := r.disk.replace(filepath.Join(r.dir, "snapshot.json"), content); err != nil {
		return err
	}
	return r.cut(filepath.Join(r.dir, "events.jsonl"), 0)
}

// skipUsed raises the version above all that lost changes may have had, since a
// version is never used twice.
func (s *state) skipUsed(events string, damage []Damage) error {
	content, err := os.ReadFile(events)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	lost := uint64(0)
	for line := range bytes.Lines(content) {
		var e event
		text, why := parseLine(line)
		if why != "" || decode(text, &e) != "" {
			lost++
			continue
		}
		s.version = max(s.version, e.Version)
	}
	s.version += lost
	for _, d := range damage {
		if strings.HasSuffix(d.File, "snapshot.json") && d.Offset == 0 {
			s.version += 1 << 20 // its version is lost; deletions may have used more than records show
		}
	}
	return nil
}

// runs ends the chain where the damage begins.
func (r *repair) runs(d *Damage) error {
	dir, name := filepath.Dir(d.File), filepath.Base(d.File)
	err := os.Remove(indexPath(dir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	d.Moved = r.aside
	err = r.copy(d.File, d.Offset, fmt.Sprintf("%s.%d", name, d.Offset))
	missing := errors.Is(err, os.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	numbers, err := segments(dir)
	if err != nil {
		return err
	}
	for i := len(numbers) - 1; i >= 0 && segmentName(numbers[i]) > name; i-- {
		later := segmentName(numbers[i])
		if err := r.disk.rename(filepath.Join(dir, later), filepath.Join(r.aside, later)); err != nil {
			return err
		}
	}
	if err := r.disk.syncDir(dir); err != nil || missing {
		return err
	}
	return r.cut(d.File, d.Offset)
}

// copy keeps a file from a place on as name.
func (r *repair) copy(path string, from int64, name string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return err
	}
	to, err := r.disk.create(filepath.Join(r.aside, name))
	if err != nil {
		return err
	}
	_, err = io.Copy(to, f)
	if err == nil {
		err = r.disk.sync(to)
	}
	return errors.Join(err, to.Close(), r.disk.syncDir(r.aside))
}

func (r *repair) cut(path string, size int64) error {
	f, err := r.disk.create(path)
	if err != nil {
		return err
	}
	err = r.disk.truncate(f, size)
	if err == nil {
		err = r.disk.sync(f)
	}
	return errors.Join(err, f.Close())
}
