package file_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/storage/file"
)

// The last line of a storage that was closed in order is not unfinished: one of
// the right length was altered.
func TestAnAlteredLastLineIsUnfinishedOnlyAfterAKill(t *testing.T) {
	dir := filled(t)
	lock := content(t, filepath.Join(dir, "lock"))
	for _, path := range lastFiles(t, dir) {
		whole := content(t, path)
		start := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
		broken := bytes.Clone(whole)
		broken[len(broken)-3] ^= 1
		write(t, path, broken)

		_, err := file.Open(dir, file.Options{})
		if want := fmt.Sprintf("%s is damaged at byte %d", path, start); executor.CodeOf(err) != executor.Internal || !strings.Contains(err.Error(), want) {
			t.Errorf("Open gives %v, want %s", err, want)
		}
		found, err := file.Check(dir)
		if err != nil || len(found) != 1 || found[0].Torn {
			t.Errorf("Check gives %v, %v, want one damage that is not torn", found, err)
		}

		write(t, filepath.Join(dir, "lock"), []byte("4194304   \n")) // no process has such a number
		s := open(t, dir, file.Options{})
		if records, entries := count(t, s); records+entries != 23 {
			t.Errorf("after a kill: %d records and %d entries, want one less of 24", records, entries)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		write(t, path, whole)
		write(t, filepath.Join(dir, "lock"), lock)
	}
}
