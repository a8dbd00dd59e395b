package file_test

import (
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/storage/file"
	"github.com/open-executor/executor/storage/storagetest"
)

func open(t *testing.T, dir string, opts file.Options) *file.Storage {
	t.Helper()
	s, err := file.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStorage(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) executor.Storage { return open(t, t.TempDir(), file.Options{}) })
}

func TestStorageThatCompactsAndRollsAllTheTime(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) executor.Storage {
		return open(t, t.TempDir(), file.Options{SnapshotBytes: 300, SegmentBytes: 1000})
	})
}

func TestReopen(t *testing.T) {
	for _, opts := range []file.Options{{}, {SnapshotBytes: 300, SegmentBytes: 1000}} {
		storagetest.Reopen(t, func(t *testing.T, dir string) executor.Storage { return open(t, dir, opts) })
	}
}
