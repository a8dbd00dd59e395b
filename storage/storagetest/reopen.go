package storagetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/open-executor/executor"
)

// Reopen checks what a storage that lasts longer than its process has to keep.
// open gives the storage in dir, a directory of the test's own; each call comes
// after the storage of the one before was closed.
func Reopen(t *testing.T, open func(t *testing.T, dir string) executor.Storage) {
	t.Helper()
	dir := t.TempDir()
	session := func(name string, check func(t *testing.T, s executor.Storage)) {
		t.Run(name, func(t *testing.T) {
			s := open(t, dir)
			check(t, s)
			if err := s.Close(); err != nil {
				t.Fatalf("Close: %v", err)
			}
		})
	}
	ctx := context.Background()
	records := map[executor.Noun]executor.Record{}
	nouns := []executor.Noun{executor.Sources, executor.Connections, executor.Policies, executor.Toolkits, executor.Requests}
	var last uint64
	session("a first process writes", func(t *testing.T, s executor.Storage) {
		for i, noun := range nouns {
			first := put(t, s.Table(noun), "k", `{"a":"<b>"}`, 0)
			records[noun] = put(t, s.Table(noun), "k", fmt.Sprint(i), first.Version)
		}
		last = put(t, s.Table(executor.Sources), "last", `1`, 0).Version
		remove(t, s.Table(executor.Sources), "last")
		sixRuns(t, s.Runs())
		putBlob(t, s.Blobs(), []byte("result"))
		putBlob(t, s.Artifacts(), large())
	})
	session("a second process finds everything and goes on", func(t *testing.T, s executor.Storage) {
		for _, noun := range nouns {
			list := must[[]executor.Record](t)(s.Table(noun).List(ctx, ""))
			wantEqual(t, "List", list, []executor.Record{records[noun]})
		}
		// The deletion has used a version as well.
		if r := put(t, s.Table(executor.Sources), "new", `1`, 0); r.Version <= last+1 {
			t.Errorf("version %d was used before: the last one was a deletion after %d", r.Version, last)
		}
		wantIDs(t, "List", must[[]executor.Run](t)(s.Runs().List(ctx, executor.RunFilter{})), 6, 5, 4, 3, 2, 1)
		wantIDs(t, "List", must[[]executor.Run](t)(s.Runs().List(ctx, executor.RunFilter{Source: "mail", Status: executor.Done})), 6, 4)
		wantEqual(t, "length of the chain", len(wantChain(t, s.Runs())), 10)
		run := must[executor.Run](t)(s.Runs().Get(ctx, newRun(2).ID))
		_, err := s.Runs().Append(ctx, run)
		wantCode(t, "Append of the newest state again", err, executor.Conflict)
		add(t, s.Runs(), next(run, executor.Failed))
		wantEqual(t, "content", string(read(t, s.Blobs(), digestOf([]byte("result")))), "result")
		wantDigests(t, s.Artifacts(), digestOf(large()))
	})
	session("a third process finds one chain of both", func(t *testing.T, s executor.Storage) {
		wantEqual(t, "length of the chain", len(wantChain(t, s.Runs())), 11)
		run := must[executor.Run](t)(s.Runs().Get(ctx, newRun(2).ID))
		wantEqual(t, "status", run.Status, executor.Failed)
	})
}
