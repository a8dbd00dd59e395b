//go:build unix

package e2e_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long a prompt may take to appear.
const patience = 30 * time.Second

// tty [PROMPT ANSWER]… -- executor ARGS… runs the program as a person does who
// sits at a terminal: in a session of its own, with a pseudo terminal as the
// controlling one. Each ANSWER and Enter is typed when PROMPT has been shown.
func ttyCommand(ts *testscript.TestScript, neg bool, args []string) {
	split := slices.Index(args, "--")
	if split < 0 || split%2 != 0 || len(args) < split+2 || args[split+1] != "executor" {
		ts.Fatalf("usage: tty [PROMPT ANSWER]… -- executor ARGS…")
	}
	cmd := command(ts, args[split+2:])
	master, err := pty.StartWithAttrs(cmd, &pty.Winsize{Rows: 40, Cols: 120}, &syscall.SysProcAttr{Setsid: true, Setctty: true})
	ts.Check(err)
	screen := &screen{shown: make(chan struct{}, 1)}
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(screen, master)
		close(screen.shown)
		done <- err
	}()
	for i := 0; i < split; i += 2 {
		if !screen.waitFor(args[i], time.After(patience)) {
			_ = cmd.Process.Kill() // it may have ended
			_ = cmd.Wait()
			ts.Fatalf("the terminal never showed %q:\n%s", args[i], screen)
		}
		_, err := master.WriteString(args[i+1] + "\r")
		ts.Check(err)
	}
	code := exitCode(ts, cmd.Wait())
	// The terminal's other side is closed; a read says so with EIO on Linux.
	if err := <-done; err != nil && !errors.Is(err, syscall.EIO) {
		ts.Fatalf("terminal: %v", err)
	}
	ts.Check(master.Close())
	s := storyOf(ts)
	said := strings.ReplaceAll(screen.String(), "\r\n", "\n")
	s.note(args, []byte(said))
	_, _ = ts.Stdout().Write([]byte(said)) // into a buffer
	s.ended(ts, neg, code, said)
}

// A screen collects what a terminal shows. Safe for concurrent use.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	read int // what an earlier prompt has used up

	shown chan struct{} // something new; closed when nothing more will come
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.shown <- struct{}{}:
	default:
	}
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// waitFor waits until prompt stands behind the one before.
func (s *screen) waitFor(prompt string, late <-chan time.Time) bool {
	for {
		s.mu.Lock()
		i := strings.Index(s.text.String()[s.read:], prompt)
		if i >= 0 {
			s.read += i + len(prompt)
		}
		s.mu.Unlock()
		if i >= 0 {
			return true
		}
		select {
		case _, more := <-s.shown:
			if !more {
				return false
			}
		case <-late:
			return false
		}
	}
}
