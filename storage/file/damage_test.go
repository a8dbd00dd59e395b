package file_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/storage/file"
)

// filled makes a storage with a snapshot, events, several segments and a blob,
// and without an index, so that Open reads all of it.
func filled(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, dir, file.Options{SnapshotBytes: 400, SegmentBytes: 1200})
	ctx := context.Background()
	for i := range 12 {
		if _, err := s.Table(executor.Sources).Put(ctx, fmt.Sprint("k", i), json.RawMessage(fmt.Sprintf(`{"n":%d}`, i)), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Runs().Append(ctx, testRun(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.Blobs().Put(ctx, strings.NewReader("content")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "runs", "index")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// count gives how many records and entries a storage has.
func count(t *testing.T, s *file.Storage) (records, entries int) {
	t.Helper()
	list, err := s.Table(executor.Sources).List(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	return len(list), int(proveChain(t, s))
}

// lastFiles are those whose last line may be unfinished.
func lastFiles(t *testing.T, dir string) []string {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(dir, "runs", "*.jsonl"))
	if err != nil || len(segments) < 3 {
		t.Fatalf("segments %v, %v, want 3 or more", segments, err)
	}
	return []string{filepath.Join(dir, "events.jsonl"), segments[len(segments)-1]}
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestUnfinishedLastLineIsCutAtWhateverByteItEnds(t *testing.T) {
	dir := filled(t)
	for _, path := range lastFiles(t, dir) {
		whole := content(t, path)
		start := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
		tails := [][]byte{[]byte("garbage"), make([]byte, 4096), []byte("12345678 3 {}\n"), []byte("\n")}
		for end := start; end < len(whole); end++ {
			tails = append(tails, whole[start:end])
		}
		for _, tail := range tails {
			write(t, path, append(bytes.Clone(whole[:start]), tail...))
			var log bytes.Buffer
			s := open(t, dir, file.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
			records, entries := count(t, s)
			events := strings.HasSuffix(path, "events.jsonl")
			if want := [2]bool{events, !events}; [2]bool{records == 11, entries == 11} != want || records+entries != 23 {
				t.Errorf("%s with %d bytes of its last line: %d records and %d entries, want one less of its own kind", path, len(tail), records, entries)
			}
			if told := strings.Contains(log.String(), path) && strings.Contains(log.String(), fmt.Sprint("offset=", start)); told != (len(tail) > 0) {
				t.Errorf("the log after a tail of %d bytes is %q", len(tail), log.String())
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if got := content(t, path); !bytes.Equal(got, whole[:start]) {
				t.Errorf("%s has %d bytes after the cut, want %d", path, len(got), start)
			}
		}
		write(t, path, whole)
	}
}

// lines gives where each line begins.
func lineStarts(b []byte) []int64 {
	starts := []int64{0}
	for i, c := range b[:len(b)-1] {
		if c == '\n' {
			starts = append(starts, int64(i)+1)
		}
	}
	return starts
}

func TestFlippedByteIsFoundWhereItStandsAndRepaired(t *testing.T) {
	dir := filled(t)
	events, last := lastFiles(t, dir)[0], lastFiles(t, dir)[1]
	for _, path := range []string{filepath.Join(dir, "snapshot.json"), events, filepath.Join(dir, "runs", "000001.jsonl"), filepath.Join(dir, "runs", "000002.jsonl"), last} {
		whole := content(t, path)
		starts := lineStarts(whole)
		for at := range whole {
			line := len(starts) - 1
			for starts[line] > int64(at) {
				line--
			}
			broken := bytes.Clone(whole)
			broken[at] ^= byte(1 << (at % 8))
			write(t, path, broken)
			if (path == events || path == last) && line == len(starts)-1 {
				continue // taken for an unfinished line
			}
			_, err := file.Open(dir, file.Options{})
			want := fmt.Sprintf("%s is damaged at byte %d", path, starts[line])
			if executor.CodeOf(err) != executor.Internal || !strings.Contains(err.Error(), want) {
				t.Fatalf("byte %d flipped: %v, want %s", at, err, want)
			}
			if at%37 == 0 {
				repairCopy(t, dir, path, starts[line])
			}
		}
		write(t, path, whole)
	}
}

// repairCopy repairs a copy of dir, whose damage is known.
func repairCopy(t *testing.T, dir, path string, offset int64) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(to, strings.TrimPrefix(path, dir))
	found, err := file.Check(to)
	if err != nil || len(found) == 0 || found[0].File != path || found[0].Offset != offset {
		t.Fatalf("Check = %v, %v, want damage of %s at %d", found, err, path, offset)
	}
	before := content(t, path)
	repaired, err := file.Repair(to)
	if err != nil || len(repaired) != len(found) {
		t.Fatalf("Repair = %v, %v, want what Check gave: %v", repaired, err, found)
	}
	var aside []byte
	for _, name := range []string{filepath.Base(path), fmt.Sprintf("%s.%d", filepath.Base(path), offset)} {
		b, _ := os.ReadFile(filepath.Join(to, "damaged-1", name)) // one of the two is there
		aside = append(aside, b...)
	}
	if !bytes.HasSuffix(before, aside) || len(aside) < len(before)-int(offset) {
		t.Errorf("%d bytes were put aside of %d from %d on", len(aside), len(before), offset)
	}
	s := open(t, to, file.Options{})
	records, entries := count(t, s)
	inRuns, headOnly := strings.Contains(path, "runs"), strings.HasSuffix(path, "snapshot.json") && offset == 0
	if (entries < 12) != inRuns || (records < 12) == inRuns && !headOnly || records < 1 {
		t.Errorf("%d records and %d entries after damage of %s at %d", records, entries, path, offset)
	}
	r, err := s.Table(executor.Sources).Put(context.Background(), "new", json.RawMessage(`1`), 0)
	if err != nil || r.Version < 13 {
		t.Errorf("Put after a repair = %+v, %v, want a version that was not used: 13 or higher", r, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if found, err := file.Check(to); len(found) > 0 || err != nil {
		t.Errorf("Check after Repair = %v, %v, want no damage", found, err)
	}
}

func TestMissingSegmentIsDamageWithAnIndexAsWell(t *testing.T) {
	dir := t.TempDir()
	manyRuns(t, dir, 12, file.Options{SegmentBytes: 1200})
	if _, err := os.Stat(filepath.Join(dir, "runs", "index")); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "runs", "000002.jsonl")
	if err := os.Remove(missing); err != nil {
		t.Fatal(err)
	}
	_, err := file.Open(dir, file.Options{})
	if executor.CodeOf(err) != executor.Internal || !strings.Contains(err.Error(), missing) {
		t.Errorf("Open = %v, want Internal with %s", err, missing)
	}
	if _, err := file.Repair(dir); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, file.Options{})
	if _, entries := count(t, s); entries == 0 || entries >= 24 {
		t.Errorf("%d entries, want those of the first segment", entries)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if moved, err := filepath.Glob(filepath.Join(dir, "damaged-1", "*.jsonl")); len(moved) == 0 || err != nil {
		t.Errorf("put aside: %v, %v, want the later segments", moved, err)
	}
}

func TestAlteredContentIsNotGiven(t *testing.T) {
	for _, size := range []int{100, 3 << 20} {
		dir := t.TempDir()
		s := open(t, dir, file.Options{})
		original := bytes.Repeat([]byte("x"), size)
		digest, _, err := s.Blobs().Put(context.Background(), bytes.NewReader(original))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "blobs", digest[:2], digest)
		for name, altered := range map[string][]byte{
			"a flipped byte": append(bytes.Clone(original[1:]), 'y'), "a shorter file": original[:size/2], "a longer file": append(bytes.Clone(original), 'x'), "nothing": {},
		} {
			write(t, path, altered)
			for _, from := range []int64{0, 10} {
				if err := readFrom(s, digest, from); executor.CodeOf(err) != executor.Internal {
					t.Errorf("%s of %d, read from %d: %v, want Internal", name, size, from, err)
				}
			}
		}
		if found, err := file.Check(dir); executor.CodeOf(err) != executor.Conflict {
			t.Errorf("Check of an open storage = %v, %v, want Conflict", found, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		found, err := file.Repair(dir)
		if err != nil || len(found) != 1 || found[0].File != path || filepath.Base(found[0].Moved) != digest {
			t.Errorf("Repair = %v, %v, want %s put aside", found, err, path)
		}
		s = open(t, dir, file.Options{})
		if err := readFrom(s, digest, 0); executor.CodeOf(err) != executor.NotFound {
			t.Errorf("Open after Repair: %v, want NotFound", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func readFrom(s *file.Storage, digest string, from int64) error {
	r, err := s.Blobs().Open(context.Background(), digest)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	if _, err := r.Seek(from, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	return err
}
