package storagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/open-executor/executor"
)

var watchClaims = []claim{
	{"watch gives the table's changes from now on, in order", func(t *testing.T, s executor.Storage) {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		table := s.Table(executor.Sources)
		put(t, table, "before", `1`, 0)
		changes := table.Watch(ctx)
		a := put(t, table, "a", `1`, 0)
		put(t, s.Table(executor.Policies), "elsewhere", `1`, 0)
		b := put(t, table, "a", `2`, a.Version)
		remove(t, table, "a")
		remove(t, table, "a") // changes nothing
		c := put(t, table, "c", `3`, 0)
		wantEqual(t, "first change", <-changes, executor.Change{Record: a})
		wantEqual(t, "second change", <-changes, executor.Change{Record: b})
		gone := <-changes
		if gone.Key != "a" || !gone.Deleted || gone.Value != nil || gone.Version <= b.Version || gone.Version >= c.Version {
			t.Errorf("third change = %+v, want the deletion of a with a version between %d and %d", gone, b.Version, c.Version)
		}
		wantEqual(t, "fourth change", <-changes, executor.Change{Record: c})
	}},
	{"the channel closes when the context is done", func(t *testing.T, s executor.Storage) {
		ctx, stop := context.WithCancel(context.Background())
		table := s.Table(executor.Sources)
		changes, other := table.Watch(ctx), table.Watch(context.Background())
		stop()
		if c, open := <-changes; open {
			t.Errorf("a change after the end: %+v", c)
		}
		want := put(t, table, "k", `1`, 0)
		wantEqual(t, "change for another watcher", <-other, executor.Change{Record: want})
		if c, open := <-table.Watch(ctx); open {
			t.Errorf("a change for a context that was done before: %+v", c)
		}
	}},
	{"a slow reader does not hold up writers, and misses nothing before its channel closes", func(t *testing.T, s executor.Storage) {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		table := s.Table(executor.Sources)
		changes := table.Watch(ctx)
		var records []executor.Record
		was := uint64(0)
		for i := range 2000 {
			r := put(t, table, "k", fmt.Sprint(i), was)
			was = r.Version
			records = append(records, r)
		}
		n := 0
		for ; n < len(records); n++ {
			c, open := <-changes
			if !open {
				break
			}
			wantEqual(t, fmt.Sprint("change ", n), c, executor.Change{Record: records[n]})
		}
		got := must[executor.Record](t)(table.Get(ctx, "k"))
		wantEqual(t, "Get", got, records[len(records)-1])
	}},
	{"every watcher sees concurrent changes in the order of their versions", func(t *testing.T, s executor.Storage) {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		table := s.Table(executor.Sources)
		first, second := table.Watch(ctx), table.Watch(ctx)
		for _, err := range race(func(i int) error {
			for n := range 5 {
				if _, err := table.Put(ctx, fmt.Sprintf("%d/%d", i, n), json.RawMessage(`1`), 0); err != nil {
					return err
				}
			}
			return nil
		}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		last := uint64(0)
		for range callers * 5 {
			a, b := <-first, <-second
			wantEqual(t, "change of the second watcher", b, a)
			if a.Version <= last {
				t.Errorf("version %d comes after %d", a.Version, last)
			}
			last = a.Version
		}
	}},
}
