package file_test

import (
	"bytes"
	"context"
	"encoding/json"
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

func TestFullDiskRefusesAndGoesOnWhenThereIsRoom(t *testing.T) {
	onSmallDisk(t, func(t *testing.T, disk string) {
		dir, filler := filepath.Join(disk, "storage"), filepath.Join(disk, "filler")
		if err := os.WriteFile(filler, make([]byte, 256<<10), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		s := open(t, dir, file.Options{SnapshotBytes: 8 << 10})
		var runs, records int
		appendUntilFull := func() {
			t.Helper()
			var err error
			for ; err == nil; runs++ {
				run := testRun(strings.Repeat("i", 20) + string(rune('a'+runs%26)) + strings.Repeat("x", runs))
				run.ID = executor.RunID(run.ID[:min(len(run.ID), 500)])
				run.Reason, run.Version = strings.Repeat("r", 3000), 1
				if now, missing := s.Runs().Get(ctx, run.ID); missing == nil {
					run.Version = now.Version + 1
				}
				_, err = s.Runs().Append(ctx, run)
			}
			runs--
			wantFull(t, "Append", err)
		}
		putUntilFull := func() {
			t.Helper()
			var err error
			for ; err == nil; records++ {
				value, _ := json.Marshal(strings.Repeat("v", 2000)) // a string always encodes
				_, err = s.Table(executor.Sources).Put(ctx, string(rune('A'+records)), value, 0)
			}
			records--
			wantFull(t, "Put", err)
		}
		appendUntilFull()
		putUntilFull()
		_, _, err := s.Blobs().Put(ctx, bytes.NewReader(make([]byte, 64<<10)))
		wantFull(t, "Put of content", err)
		check := func() {
			t.Helper()
			list, err := s.Table(executor.Sources).List(ctx, "")
			if len(list) != records || err != nil {
				t.Errorf("List gives %d records, %v, want %d", len(list), err, records)
			}
			if got := proveChain(t, s); got != uint64(runs) {
				t.Errorf("the chain has %d entries, want %d", got, runs)
			}
			if digests, err := s.Blobs().List(ctx); len(digests) != 0 || err != nil {
				t.Errorf("Blobs.List = %v, %v, want none", digests, err)
			}
		}
		check()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		s = open(t, dir, file.Options{SnapshotBytes: 8 << 10})
		check()
		before := runs
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		appendUntilFull()
		if runs-before < 50 {
			t.Errorf("%d more entries in 256 KiB, want at least 50", runs-before)
		}
		check()
		if err := s.Close(); err != nil {
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
