package file_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/storage/file"
)

// manyRuns makes a storage with n runs of two states each and closes it.
func manyRuns(t testing.TB, dir string, n int, opts file.Options) {
	t.Helper()
	s, err := file.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		run := testRun(fmt.Sprint(i))
		run.Address.Source = executor.SourceID(fmt.Sprint("s", i%3))
		for _, run.Status = range []executor.Status{executor.Running, executor.Done} {
			if _, err := s.Runs().Append(context.Background(), run); err != nil {
				t.Fatal(err)
			}
			run.Version++
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func ids(t *testing.T, s *file.Storage, f executor.RunFilter) string {
	t.Helper()
	list, err := s.Runs().List(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, run := range list {
		fmt.Fprintf(&b, "%s %d %s\n", run.ID, run.Version, run.Status)
	}
	return b.String()
}

func TestIndexOfRunsCanBeMissingDamagedOrOld(t *testing.T) {
	dir := t.TempDir()
	opts := file.Options{SegmentBytes: 300 << 10}
	manyRuns(t, dir, 600, opts)
	path := filepath.Join(dir, "runs", "index")
	old := content(t, path)
	filter := executor.RunFilter{Source: "s1", Status: executor.Done, Asker: "ada"}
	var want string
	look := func(name string, change func(index []byte)) {
		t.Helper()
		index := content(t, path)
		change(index)
		s := open(t, dir, opts)
		if got := ids(t, s, filter); want == "" {
			want = got
		} else if got != want {
			t.Errorf("%s: List = %s, want %s", name, got, want)
		}
		if got := proveChain(t, s); got != 1200 {
			t.Errorf("%s: the chain has %d entries, want 1200", name, got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		write(t, path, index)
	}
	look("whole", func([]byte) {})
	look("missing", func([]byte) { _ = os.Remove(path) })
	look("shorter", func(index []byte) { write(t, path, index[:len(index)-20]) })
	look("a flipped byte", func(index []byte) {
		write(t, path, []byte(strings.Replace(string(index), "\ts2\t", "\ts1\t", 1)))
	})
	look("empty", func([]byte) { write(t, path, nil) })

	s := open(t, dir, opts)
	for i := range 600 {
		run := testRun(fmt.Sprint("later", i))
		if _, err := s.Runs().Append(context.Background(), run); err != nil {
			t.Fatal(err)
		}
	}
	list := ids(t, s, executor.RunFilter{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, path, old)
	s = open(t, dir, opts)
	if got := ids(t, s, executor.RunFilter{}); got != list {
		t.Errorf("with an old index List = %s, want %s", got, list)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestDamageBehindTheIndexIsFoundWhenRead(t *testing.T) {
	dir := t.TempDir()
	manyRuns(t, dir, 600, file.Options{})
	path := filepath.Join(dir, "runs", "000001.jsonl")
	b := content(t, path)
	at := strings.Index(string(b), `"version":2`) // the newest state of the first run
	line := strings.LastIndex(string(b[:at]), "\n") + 1
	b[at+len(`"version":`)] = '3'
	write(t, path, b)
	s := open(t, dir, file.Options{})
	want := fmt.Sprintf("%s is damaged at byte %d", path, line)
	_, err := s.Runs().Get(context.Background(), "run_0")
	if executor.CodeOf(err) != executor.Internal || !strings.Contains(err.Error(), want) {
		t.Errorf("Get = %v, want %s", err, want)
	}
	err = nil
	for _, err = range s.Runs().Chain(context.Background()) {
	}
	if executor.CodeOf(err) != executor.Internal || !strings.Contains(err.Error(), want) {
		t.Errorf("Chain ends with %v, want %s", err, want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestClockThatGoesBackwardsDoesNotMatter(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		s := open(t, dir, file.Options{})
		for i := range 3 {
			run := testRun(fmt.Sprint(9 - i)) // ids sort backwards as well
			run.Started = run.Started.Add(-time.Duration(i) * time.Hour)
			if now, err := s.Runs().Get(context.Background(), run.ID); err == nil {
				run.Version = now.Version + 1
			}
			if _, err := s.Runs().Append(context.Background(), run); err != nil {
				t.Fatal(err)
			}
		}
		got := strings.Join(strings.Fields(strings.NewReplacer(" 1 running", "", " 2 running", "").Replace(ids(t, s, executor.RunFilter{}))), " ")
		if got != "run_7 run_8 run_9" {
			t.Errorf("List = %s, want the latest appended first: run_7 run_8 run_9", got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPlainReadIsNotSyncedBeforeItIsAcknowledgedButSoonAfter(t *testing.T) {
	dir := t.TempDir()
	synced := make(chan string, 100)
	opts := file.Failing(file.Options{}, func(step, path string) error {
		if step == "sync" && strings.HasSuffix(path, ".jsonl") && strings.Contains(path, "runs") {
			synced <- path
		}
		return nil
	})
	s := open(t, dir, opts)
	for _, c := range []struct {
		effect executor.Effect
		status executor.Status
		syncs  int
	}{
		{executor.Read, executor.Running, 0}, {executor.Read, executor.Done, 0}, {executor.Read, executor.Failed, 0},
		{executor.Read, executor.Waiting, 1}, {executor.Read, executor.Denied, 1}, {executor.Read, executor.Ambiguous, 1},
		{executor.Write, executor.Running, 1}, {executor.Destroy, executor.Done, 1}, {"", executor.Done, 1},
	} {
		run := testRun(fmt.Sprintf("%s-%s", c.effect, c.status))
		run.Effect, run.Status = c.effect, c.status
		if _, err := s.Runs().Append(context.Background(), run); err != nil {
			t.Fatal(err)
		}
		if got := len(synced); c.syncs > got {
			t.Errorf("%s %s: %d syncs before it was acknowledged, want %d", c.effect, c.status, got, c.syncs)
		}
		for len(synced) > 0 {
			<-synced
		}
	}
	if _, err := s.Runs().Append(context.Background(), testRun("late")); err != nil {
		t.Fatal(err)
	}
	<-synced // by itself; otherwise the test never ends
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "storage")
	manyRuns(t, dir, 600, file.Options{SegmentBytes: 100 << 10})
	s := open(t, dir, file.Options{SnapshotBytes: 1})
	for range 3 {
		r, _ := s.Table(executor.Sources).Get(context.Background(), "k") // absent is version 0
		if _, err := s.Table(executor.Sources).Put(context.Background(), "k", []byte("1"), r.Version); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.Blobs().Put(context.Background(), strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	err := filepath.Walk(dir, func(path string, st os.FileInfo, err error) error {
		want := os.FileMode(0o600)
		if err == nil && st.IsDir() {
			want = 0o700
		}
		if err == nil && st.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", path, st.Mode().Perm(), want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
