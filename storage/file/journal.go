package file

import (
	"os"
	"path/filepath"
)

// A journal is a file that grows by whole lines. What append has refused is not
// in it. Not safe for concurrent use, except that bytes before size may be read
// at any time.
type journal struct {
	disk   disk
	f      *os.File
	size   int64 // bytes of lines that append has accepted
	synced int64 // of these, what is known to last
	doubt  error // what went wrong with bytes not yet mended; nil: nothing
}

// openJournal opens a file to be appended to and cuts off what is behind good. A
// new file's name lasts when it returns; so does the content, unless clean says
// that it does already.
func openJournal(d disk, path string, good int64, clean bool) (journal, error) {
	_, missing := os.Stat(path)
	f, err := d.create(path)
	if err != nil {
		return journal{}, err
	}
	st, err := f.Stat()
	cut := err == nil && st.Size() > good
	if cut {
		err = d.truncate(f, good)
	}
	if err == nil && (cut || !clean) {
		err = d.sync(f)
	}
	if err == nil && missing != nil {
		err = d.syncDir(filepath.Dir(path))
	}
	if err != nil {
		_ = f.Close() // the error tells more
		return journal{}, err
	}
	return journal{disk: d, f: f, size: good, synced: good}, nil
}

// ready tells whether lines can be appended: nothing refused is left in the file.
func (j *journal) ready() error {
	if j.doubt == nil {
		return nil
	}
	if err := j.mend(); err != nil {
		return diskError("append", j.f.Name(), err)
	}
	return nil
}

// append writes lines, and with sync makes everything written last.
func (j *journal) append(lines []byte, sync bool) error {
	if err := j.ready(); err != nil {
		return err
	}
	err := j.disk.write(j.f, lines, j.size)
	if err == nil && sync {
		err = j.disk.sync(j.f)
	}
	if err != nil {
		j.doubt = err
		_ = j.mend() // the next append tries again, and refuses when it cannot
		return diskError("append", j.f.Name(), err)
	}
	j.size += int64(len(lines))
	if sync {
		j.synced = j.size
	}
	return nil
}

// mend takes away what a refused append has left. It also writes accepted lines
// that are not synced once more: after a sync that did not succeed the system
// takes them for written.
func (j *journal) mend() error {
	if err := j.disk.truncate(j.f, j.size); err != nil {
		return err
	}
	if j.size > j.synced {
		accepted := make([]byte, j.size-j.synced)
		if _, err := j.f.ReadAt(accepted, j.synced); err != nil {
			return err
		}
		if err := j.disk.write(j.f, accepted, j.synced); err != nil {
			return err
		}
	}
	if err := j.disk.sync(j.f); err != nil {
		return err
	}
	j.synced, j.doubt = j.size, nil
	return nil
}

// flush makes all accepted lines last.
func (j *journal) flush() error {
	if j.synced == j.size && j.doubt == nil {
		return nil
	}
	return j.append(nil, true)
}

// reset empties the file.
func (j *journal) reset() error {
	if err := j.disk.truncate(j.f, 0); err != nil {
		return err
	}
	j.size, j.synced, j.doubt = 0, 0, nil
	return j.disk.sync(j.f)
}
