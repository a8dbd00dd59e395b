package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/open-executor/executor"
)

// A disk takes the steps that change the directory. Tests make single steps
// fail; otherwise the zero value is used.
type disk struct {
	fail func(step, path string) error // asked before each step; nil: none fails
}

func (d disk) before(step, path string) error {
	if d.fail == nil {
		return nil
	}
	return d.fail(step, path)
}

// create opens a file for reading and writing and makes it when it is missing.
func (d disk) create(path string) (*os.File, error) {
	if err := d.before("create", path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}

func (d disk) mkdir(path string) error {
	if err := d.before("mkdir", path); err != nil {
		return err
	}
	return os.MkdirAll(path, 0o700)
}

func (d disk) write(f *os.File, p []byte, at int64) error {
	if err := d.before("write", f.Name()); err != nil {
		_, _ = f.WriteAt(p[:len(p)/2], at) // a full disk takes a part
		return err
	}
	_, err := f.WriteAt(p, at)
	return err
}

func (d disk) sync(f *os.File) error {
	if err := d.before("sync", f.Name()); err != nil {
		return err
	}
	return f.Sync()
}

func (d disk) truncate(f *os.File, size int64) error {
	if err := d.before("truncate", f.Name()); err != nil {
		return err
	}
	return f.Truncate(size)
}

// rename makes the new name last.
func (d disk) rename(from, to string) error {
	if err := d.before("rename", to); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return d.syncDir(filepath.Dir(to))
}

// syncDir makes names in a directory last. Windows has no such call.
func (d disk) syncDir(path string) error {
	if err := d.before("syncdir", path); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// replace writes a file as a whole: after a crash the old content is there, or
// the new.
func (d disk) replace(path string, content []byte) error {
	temp := path + ".new"
	err := d.fill(temp, content)
	if err == nil {
		err = d.rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp) // it is not read, and written over the next time
	}
	return err
}

func (d disk) fill(path string, content []byte) error {
	f, err := d.create(path)
	if err != nil {
		return err
	}
	err = d.truncate(f, 0)
	if err == nil {
		err = d.write(f, content, 0)
	}
	if err == nil {
		err = d.sync(f)
	}
	return errors.Join(err, f.Close())
}

// diskError is the answer for a step that was refused: Unavailable where room or
// a permission is missing, Internal otherwise.
func diskError(op, path string, err error) error {
	var known *executor.Error
	if errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &executor.Error{Code: executor.Internal, Op: op, Msg: path + " cannot be used", Hint: "check the disk; run: executor doctor", Err: err}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		e.Code, e.Msg, e.Hint = executor.Unavailable, "no space left for "+path, "make room on the disk and try again"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		e.Code, e.Msg, e.Hint = executor.Unavailable, path+" is not writable", "check owner and mode of the directory, and how its disk is mounted"
	}
	return e
}

func closedError() error {
	return &executor.Error{Code: executor.Unavailable, Op: "storage", Msg: "storage is closed"}
}
