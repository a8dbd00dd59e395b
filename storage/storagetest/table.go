package storagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/open-executor/executor"
)

var tableClaims = []claim{
	{"get of an absent key is not found", func(t *testing.T, s executor.Storage) {
		_, err := s.Table(executor.Sources).Get(context.Background(), "absent")
		wantCode(t, "Get", err, executor.NotFound)
	}},
	{"put gives what get and list give", func(t *testing.T, s executor.Storage) {
		table := s.Table(executor.Sources)
		for i, value := range []string{`{"a":1}`, `[]`, `"x"`, `12345678901234567890.5`, `{"html":"<b>&amp;</b>","line":"\u2028"}`, `{"b":1,"a":2,"b":3}`} {
			key := fmt.Sprint("k", i)
			want := put(t, table, key, value, 0)
			if want.Key != key || string(want.Value) != value {
				t.Errorf("Put(%s) = %+v, want that key and value", value, want)
			}
			got := must[executor.Record](t)(table.Get(context.Background(), key))
			wantEqual(t, "Get", got, want)
			list := must[[]executor.Record](t)(table.List(context.Background(), key))
			wantEqual(t, "List", list, []executor.Record{want})
		}
	}},
	{"put replaces the version it names and nothing else", func(t *testing.T, s executor.Storage) {
		table, ctx := s.Table(executor.Policies), context.Background()
		_, err := table.Put(ctx, "k", json.RawMessage(`0`), 7)
		wantCode(t, "Put of version 7 where there is none", err, executor.Conflict)
		first := put(t, table, "k", `1`, 0)
		_, err = table.Put(ctx, "k", json.RawMessage(`2`), 0)
		wantCode(t, "Put of a new record where there is one", err, executor.Conflict)
		second := put(t, table, "k", `2`, first.Version)
		for _, was := range []uint64{first.Version, second.Version + 1} {
			_, err = table.Put(ctx, "k", json.RawMessage(`3`), was)
			wantCode(t, "Put of another version", err, executor.Conflict)
		}
		wantEqual(t, "Get", must[executor.Record](t)(table.Get(ctx, "k")), second)
		remove(t, table, "k")
		_, err = table.Put(ctx, "k", json.RawMessage(`3`), second.Version)
		wantCode(t, "Put of a deleted version", err, executor.Conflict)
		put(t, table, "k", `3`, 0)
	}},
	{"versions rise over all tables and deletions and are never used twice", func(t *testing.T, s executor.Storage) {
		last := uint64(0)
		rises := func(r executor.Record) executor.Record {
			t.Helper()
			if r.Version <= last {
				t.Errorf("version %d comes after %d", r.Version, last)
			}
			last = r.Version
			return r
		}
		sources, requests := s.Table(executor.Sources), s.Table(executor.Requests)
		for i := range 5 {
			a := rises(put(t, sources, "a", `1`, 0))
			rises(put(t, requests, "a", fmt.Sprint(i), 0))
			rises(put(t, sources, "a", `2`, a.Version))
			remove(t, sources, "a")
			remove(t, requests, "a")
		}
	}},
	{"list gives the keys with a prefix in order", func(t *testing.T, s executor.Storage) {
		table := s.Table(executor.Connections)
		want := map[string][]executor.Record{}
		records := map[string]executor.Record{}
		for _, key := range []string{"b/2", "a", "b/10", "é", "b", "b/1", "z", "B", "b0"} {
			records[key] = put(t, table, key, `{}`, 0)
		}
		for prefix, keys := range map[string]string{"": "B a b b/1 b/10 b/2 b0 z é", "b": "b b/1 b/10 b/2 b0", "b/1": "b/1 b/10", "é": "é", "b/10": "b/10"} {
			for _, key := range strings.Fields(keys) {
				want[prefix] = append(want[prefix], records[key])
			}
			wantEqual(t, fmt.Sprintf("List(%q)", prefix), must[[]executor.Record](t)(table.List(context.Background(), prefix)), want[prefix])
		}
		if none := must[[]executor.Record](t)(table.List(context.Background(), "c")); len(none) != 0 {
			t.Errorf("List of a prefix without keys = %v, want none", none)
		}
	}},
	{"tables are apart", func(t *testing.T, s executor.Storage) {
		put(t, s.Table(executor.Sources), "k", `1`, 0)
		_, err := s.Table(executor.Toolkits).Get(context.Background(), "k")
		wantCode(t, "Get from another table", err, executor.NotFound)
		remove(t, s.Table(executor.Toolkits), "k")
		if _, err := s.Table(executor.Sources).Get(context.Background(), "k"); err != nil {
			t.Errorf("Get after Delete in another table: %v", err)
		}
	}},
	{"delete removes any version, and nothing twice", func(t *testing.T, s executor.Storage) {
		table := s.Table(executor.Sources)
		first := put(t, table, "k", `1`, 0)
		put(t, table, "k", `2`, first.Version)
		for range 2 {
			remove(t, table, "k")
			_, err := table.Get(context.Background(), "k")
			wantCode(t, "Get after Delete", err, executor.NotFound)
		}
		remove(t, table, "never")
	}},
	{"a key is 1 to 512 bytes of UTF-8 without control characters", func(t *testing.T, s executor.Storage) {
		table := s.Table(executor.Sources)
		for _, key := range []string{"", strings.Repeat("k", 513), "a\xff", "a\nb", "a\x00", "\x7f", "\u0085"} {
			_, err := table.Put(context.Background(), key, json.RawMessage(`1`), 0)
			wantCode(t, fmt.Sprintf("Put(%.20q)", key), err, executor.Invalid)
		}
		for _, key := range []string{strings.Repeat("k", 512), "../..", "a b\u2028c", `"\`, "日本"} {
			want := put(t, table, key, `1`, 0)
			wantEqual(t, "Get", must[executor.Record](t)(table.Get(context.Background(), key)), want)
		}
	}},
	{"of callers that put the same version of a key one wins", func(t *testing.T, s executor.Storage) {
		table := s.Table(executor.Sources)
		for was := uint64(0); was < 20; {
			records := make([]executor.Record, callers)
			winner := oneWins(t, race(func(i int) (err error) {
				records[i], err = table.Put(context.Background(), "k", json.RawMessage(fmt.Sprint(i)), was)
				return err
			}))
			got := must[executor.Record](t)(table.Get(context.Background(), "k"))
			wantEqual(t, "Get", got, records[winner])
			was = got.Version
		}
	}},
	{"concurrent changes of many keys are all there, each with its own version", func(t *testing.T, s executor.Storage) {
		table := s.Table(executor.Requests)
		written := make([]map[string]executor.Record, callers)
		for _, err := range race(func(i int) error {
			written[i] = map[string]executor.Record{}
			for n := range 20 {
				key := fmt.Sprintf("%d/%d", i, n)
				r, err := table.Put(context.Background(), key, json.RawMessage(fmt.Sprint(n)), 0)
				if err != nil {
					return err
				}
				written[i][key] = r
				if n%4 == 0 {
					delete(written[i], key)
					err = table.Delete(context.Background(), key)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		versions := map[uint64]bool{}
		list := must[[]executor.Record](t)(table.List(context.Background(), ""))
		for _, r := range list {
			var i, n int
			_, _ = fmt.Sscanf(r.Key, "%d/%d", &i, &n) // another key differs below
			if !reflect.DeepEqual(written[i][r.Key], r) || versions[r.Version] {
				t.Errorf("record %+v, want %+v with a version of its own", r, written[i][r.Key])
			}
			versions[r.Version] = true
		}
		wantEqual(t, "number of records", len(list), callers*15)
	}},
}
