package file_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/storage/file"
)

// onSmallDisk runs the test that calls it again, as root of a process with its
// own mounts, and there inside with a disk of one megabyte.
func onSmallDisk(t *testing.T, inside func(t *testing.T, disk string)) {
	t.Helper()
	const there = "EXECUTOR_FILE_TEST_OWN_MOUNTS"
	if os.Getenv(there) != "" {
		disk := t.TempDir()
		if err := syscall.Mount("none", disk, "tmpfs", 0, "size=1m"); err != nil {
			t.Fatalf("a tmpfs cannot be mounted here: %v", err)
		}
		inside(t, disk)
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), there+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("this test needs root or user namespaces for a mount of its own; there: %v\n%s", err, out)
	}
}

// A filling is a storage on a small disk and what it has acknowledged.
type filling struct {
	t             *testing.T
	s             *file.Storage
	runs, records int
}

func (f *filling) append() {
	f.t.Helper()
	for ctx := context.Background(); ; f.runs++ {
		run := testRun(fmt.Sprint(f.runs))
		run.Reason = strings.Repeat("r", 3000)
		if _, err := f.s.Runs().Append(ctx, run); err != nil {
			wantFull(f.t, "Append", err)
			return
		}
	}
}

func (f *filling) put() {
	f.t.Helper()
	value := json.RawMessage(`"` + strings.Repeat("v", 2000) + `"`)
	for ctx := context.Background(); ; f.records++ {
		if _, err := f.s.Table(executor.Sources).Put(ctx, fmt.Sprint(f.records), value, 0); err != nil {
			wantFull(f.t, "Put", err)
			return
		}
	}
}

func (f *filling) check() {
	f.t.Helper()
	ctx := context.Background()
	list, err := f.s.Table(executor.Sources).List(ctx, "")
	if len(list) != f.records || err != nil {
		f.t.Errorf("List gives %d records, %v, want %d", len(list), err, f.records)
	}
	if got := proveChain(f.t, f.s); got != uint64(f.runs) {
		f.t.Errorf("the chain has %d entries, want %d", got, f.runs)
	}
	if digests, err := f.s.Blobs().List(ctx); len(digests) != 0 || err != nil {
		f.t.Errorf("Blobs.List = %v, %v, want none", digests, err)
	}
}

func TestFullDiskRefusesAndGoesOnWhenThereIsRoom(t *testing.T) {
	onSmallDisk(t, func(t *testing.T, disk string) {
		dir, filler := filepath.Join(disk, "storage"), filepath.Join(disk, "filler")
		if err := os.WriteFile(filler, make([]byte, 256<<10), 0o600); err != nil {
			t.Fatal(err)
		}
		opts := file.Options{SnapshotBytes: 8 << 10}
		f := &filling{t: t, s: open(t, dir, opts)}
		f.append()
		f.put()
		_, _, err := f.s.Blobs().Put(context.Background(), bytes.NewReader(make([]byte, 64<<10)))
		wantFull(t, "Put of content", err)
		f.check()
		if err := f.s.Close(); err != nil {
			t.Error(err)
		}
		f.s = open(t, dir, opts)
		f.check()
		before := f.runs
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		f.append()
		if f.runs-before < 50 {
			t.Errorf("%d more entries in 256 KiB, want at least 50", f.runs-before)
		}
		f.check()
		if err := f.s.Close(); err != nil {
			t.Error(err)
		}
		if damage, err := file.Check(dir); len(damage) > 0 || err != nil {
			t.Errorf("Check = %v, %v, want no damage", damage, err)
		}
	})
}

func wantFull(t *testing.T, what string, err error) {
	t.Helper()
	if executor.CodeOf(err) != executor.Unavailable || !strings.Contains(err.Error(), "no space left for /") {
		t.Errorf("%s on a full disk: %v, want Unavailable with the path", what, err)
	}
}

func TestReadOnlyDirectoryIsUnavailable(t *testing.T) {
	onSmallDisk(t, func(t *testing.T, disk string) {
		dir := filepath.Join(disk, "storage")
		if err := open(t, dir, file.Options{}).Close(); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mount("none", disk, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=1m"); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{dir, filepath.Join(disk, "new")} {
			_, err := file.Open(path, file.Options{})
			if executor.CodeOf(err) != executor.Unavailable || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "not writable") {
				t.Errorf("Open(%s) = %v, want Unavailable with the path", path, err)
			}
		}
		if damage, err := file.Check(dir); len(damage) > 0 || err != nil {
			t.Errorf("Check = %v, %v, want no damage", damage, err)
		}
	})
}
