package file

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/open-executor/executor"
)

// errHeld says that another holds the lock.
var errHeld = errors.New("held")

// lock makes the directory, and waits until nobody else writes in it. The lock is
// the system's: it ends with the process, and the file that carries it stays.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, unlockable(s.dir, err)
	}
	select {
	case s.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, abandoned(ctx.Err())
	}
	f, err := os.OpenFile(s.path(lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = hold(ctx, f)
	}
	if err == nil {
		return func() {
			_ = f.Close() // lets go of the lock
			<-s.turns
		}, nil
	}
	if f != nil {
		_ = f.Close() // nothing was written
	}
	<-s.turns
	if ctx.Err() != nil {
		return nil, abandoned(ctx.Err())
	}
	return nil, unlockable(s.path(lockName), err)
}

// hold tries until it has the lock: the system's own wait does not end with ctx.
func hold(ctx context.Context, f *os.File) error {
	for {
		if err := tryLock(f); !errors.Is(err, errHeld) {
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func unlockable(path string, err error) error {
	return &executor.Error{
		Code: executor.Unavailable, Op: "secret", Err: err,
		Msg: path + " is not writable", Hint: "check the owner and mode of the directory",
	}
}
