package file

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/open-executor/executor"
)

// Options of a storage; the zero value works.
type Options struct {
	Log           *slog.Logger  // what was cut off when opening, and what went wrong behind a caller's back; nil: none
	Wait          time.Duration // how long Open waits for another process to close the directory; 0: not at all
	SyncReads     bool          // also sync the entries of plain reads before they are acknowledged
	SnapshotBytes int64         // events.jsonl larger than this goes into a snapshot; 0: 4 MiB
	SegmentBytes  int64         // a segment of runs larger than this is followed by the next; 0: 64 MiB

	disk disk
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.SnapshotBytes == 0 {
		o.SnapshotBytes = 4 << 20
	}
	if o.SegmentBytes == 0 {
		o.SegmentBytes = 64 << 20
	}
	return o
}

// A Storage is an [executor.Storage] in a directory. Safe for concurrent use.
type Storage struct {
	lock      *os.File
	tables    *tables
	runs      *runs
	blobs     blobs
	artifacts blobs

	close    sync.Once
	closeErr error
}

// Open opens the storage in dir and makes it when there is none. The caller
// closes it. Another process that has it open is Conflict; a directory that
// cannot be written is Unavailable; damage is Internal.
func Open(dir string, opts Options) (*Storage, error) {
	opts = opts.withDefaults()
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, diskError("open", dir, err)
	}
	if err := layOut(opts.disk, dir); err != nil {
		return nil, diskError("open", dir, err)
	}
	lock, clean, err := acquire(opts.disk, dir, opts.Wait)
	if err != nil {
		return nil, err
	}
	s, err := open(dir, opts, clean)
	if err != nil {
		if !clean {
			return nil, errors.Join(err, lock.Close())
		}
		return nil, errors.Join(err, release(lock))
	}
	s.lock = lock
	return s, nil
}

// open does the part of Open that needs the lock. clean tells whether the last
// process has closed the storage.
func open(dir string, opts Options, clean bool) (*Storage, error) {
	s := &Storage{
		blobs:     blobs{opts.disk, filepath.Join(dir, "blobs")},
		artifacts: blobs{opts.disk, filepath.Join(dir, "artifacts")},
	}
	for _, b := range []blobs{s.blobs, s.artifacts} {
		if err := b.sweep(); err != nil {
			return nil, diskError("open", b.dir, err)
		}
	}
	var err error
	if s.tables, err = openTables(dir, opts, clean); err != nil {
		return nil, explain("open", dir, err)
	}
	if s.runs, err = openRuns(filepath.Join(dir, "runs"), opts, clean); err != nil {
		_ = s.tables.close() // nothing was written
		return nil, explain("open", filepath.Join(dir, "runs"), err)
	}
	return s, nil
}

// layOut makes the directories. A name in a directory lasts once that is synced.
func layOut(d disk, dir string) error {
	made := false
	for _, path := range []string{dir, filepath.Join(dir, "runs"), filepath.Join(dir, "blobs"), filepath.Join(dir, "artifacts")} {
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := d.mkdir(path); err != nil {
			return err
		}
		made = true
	}
	if !made {
		return nil
	}
	return errors.Join(d.syncDir(dir), d.syncDir(filepath.Dir(dir)))
}

// Table gives the table of a noun.
func (s *Storage) Table(noun executor.Noun) executor.Table { return table{s.tables, noun} }

// Runs gives the chain of runs.
func (s *Storage) Runs() executor.Runs { return s.runs }

// Blobs gives the results.
func (s *Storage) Blobs() executor.Blobs { return s.blobs }

// Artifacts gives the manifests.
func (s *Storage) Artifacts() executor.Blobs { return s.artifacts }

// Close syncs what is not synced yet, ends all watchers and lets another process
// in. Changes of tables and runs are Unavailable from then on. Closing twice is
// not an error.
func (s *Storage) Close() error {
	s.close.Do(func() {
		s.closeErr = errors.Join(s.runs.close(), s.tables.close(), release(s.lock))
	})
	return s.closeErr
}
