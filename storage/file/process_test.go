package file_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/storage/file"
)

// beHolder keeps a storage open until its input ends.
func beHolder(dir string) {
	s, err := file.Open(dir, file.Options{})
	fmt.Println("opened", err)
	_, _ = io.Copy(io.Discard, os.Stdin) // the end is all that counts
	if err == nil {
		_ = s.Close() // the parent finds out
	}
}

func hold(t *testing.T, dir string) (cmd *exec.Cmd, let func()) {
	t.Helper()
	cmd = start("holder", dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "opened <nil>\n" || err != nil {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	return cmd, func() {
		_ = in.Close() // Wait tells
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

func TestSecondProcessIsTurnedAwayWithThePidOfTheFirst(t *testing.T) {
	dir := t.TempDir()
	first, let := hold(t, dir)
	want := fmt.Sprintf("already running as process %d on ", first.Process.Pid)
	_, err := file.Open(dir, file.Options{Wait: time.Millisecond})
	if executor.CodeOf(err) != executor.Conflict || !strings.Contains(err.Error(), want) {
		t.Errorf("Open = %v, want Conflict with %q", err, want)
	}
	for name, examine := range map[string]func(string) ([]file.Damage, error){"Check": file.Check, "Repair": file.Repair} {
		if _, err := examine(dir); executor.CodeOf(err) != executor.Conflict {
			t.Errorf("%s = %v, want Conflict", name, err)
		}
	}
	let()
	if err := open(t, dir, file.Options{}).Close(); err != nil {
		t.Error(err)
	}
}

func TestSecondProcessWaitsForTheFirst(t *testing.T) {
	dir := t.TempDir()
	_, let := hold(t, dir)
	opened := make(chan error, 1)
	go func() {
		s, err := file.Open(dir, file.Options{Wait: time.Minute})
		if err == nil {
			err = s.Close()
		}
		opened <- err
	}()
	let()
	if err := <-opened; err != nil {
		t.Error(err)
	}
}
