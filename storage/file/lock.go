package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/open-executor/executor"
)

var errHeld = errors.New("lock is held")

// acquire takes the directory for this process. While another one has it,
// acquire tries again until wait is over; then it is Conflict. clean tells
// whether the last owner has released it.
func acquire(d disk, dir string, wait time.Duration) (lock *os.File, clean bool, err error) {
	path := filepath.Join(dir, "lock")
	f, err := d.create(path)
	if err != nil {
		return nil, false, diskError("open", path, err)
	}
	end := time.Now().Add(wait)
	for {
		err = tryLock(f)
		if !errors.Is(err, errHeld) || !time.Now().Before(end) {
			break
		}
		time.Sleep(min(10*time.Millisecond, time.Until(end)))
	}
	switch {
	case errors.Is(err, errHeld):
		err = held(f, dir)
	case err == nil:
		clean = owner(f) == 0
		err = sign(d, f, os.Getpid())
	}
	if err != nil {
		_ = f.Close() // nothing was written that matters
		return nil, false, diskError("open", path, err)
	}
	return f, clean, nil
}

// release lets go of the directory and notes that all is in order.
func release(lock *os.File) error {
	return errors.Join(sign(disk{}, lock, 0), lock.Close())
}

// sign writes the process id into the lock, always at the same width, so that a
// full disk does not keep anybody from opening.
func sign(d disk, f *os.File, pid int) error {
	return d.write(f, fmt.Appendf(nil, "%-10d\n", pid), 0)
}

// owner gives the process id in the lock; 0: none.
func owner(f *os.File) int {
	text := make([]byte, 32)
	n, _ := f.ReadAt(text, 0) // a shorter file is the usual case
	pid, err := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	if err != nil {
		return 0
	}
	return pid
}

func held(f *os.File, dir string) error {
	by := ""
	if pid := owner(f); pid != 0 {
		by = fmt.Sprintf(" as process %d", pid)
	}
	return &executor.Error{
		Code: executor.Conflict, Op: "open",
		Msg:  fmt.Sprintf("already running%s on %s", by, dir),
		Hint: "use the one that runs, or end it first",
	}
}
