package file_test

import (
	"context"
	"encoding/json"
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

func TestValueBelongsToWhoeverHoldsIt(t *testing.T) {
	s := open(t, t.TempDir(), file.Options{})
	table, ctx := s.Table(executor.Sources), context.Background()
	changes := table.Watch(ctx)
	value := json.RawMessage(`"mine"`)
	spoil := func(v json.RawMessage) { copy(v, `"gone"`) }
	put, err := table.Put(ctx, "k", value, 0)
	if err != nil {
		t.Fatal(err)
	}
	spoil(value)
	spoil(put.Value)
	spoil((<-changes).Value)
	for range 2 {
		got, err := table.Get(ctx, "k")
		if err != nil || string(got.Value) != `"mine"` {
			t.Errorf("Get = %s, %v, want \"mine\"", got.Value, err)
		}
		spoil(got.Value)
		list, err := table.List(ctx, "")
		if err != nil || string(list[0].Value) != `"mine"` {
			t.Errorf("List = %s, %v, want \"mine\"", list[0].Value, err)
		}
		spoil(list[0].Value)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestChainEndsWithTheErrorOfItsContext(t *testing.T) {
	dir := t.TempDir()
	manyRuns(t, dir, 2, file.Options{})
	s := open(t, dir, file.Options{})
	ctx, stop := context.WithCancel(context.Background())
	n := 0
	var last error
	for _, err := range s.Runs().Chain(ctx) {
		stop()
		n++
		last = err
	}
	if n != 2 || last != context.Canceled {
		t.Errorf("Chain gave %d entries and errors, the last %v, want one entry and %v", n, last, context.Canceled)
	}
	stop()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestClosedStorageChangesNothing(t *testing.T) {
	s := open(t, t.TempDir(), file.Options{})
	changes := s.Table(executor.Sources).Watch(context.Background())
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, put := s.Table(executor.Sources).Put(context.Background(), "k", json.RawMessage(`1`), 0)
	_, add := s.Runs().Append(context.Background(), testRun("1"))
	for _, err := range []error{put, add, s.Table(executor.Sources).Delete(context.Background(), "k")} {
		if executor.CodeOf(err) != executor.Unavailable {
			t.Errorf("a change after Close: %v, want Unavailable", err)
		}
	}
	for _, watched := range []<-chan executor.Change{changes, s.Table(executor.Sources).Watch(context.Background())} {
		if c, open := <-watched; open {
			t.Errorf("a change after Close: %+v", c)
		}
	}
}
