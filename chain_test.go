package executor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"testing"

	"github.com/open-executor/executor"
)

// forged shows a chain that somebody has worked on.
type forged struct {
	executor.Storage
	forge func([]executor.Entry) []executor.Entry
}

func (f forged) Runs() executor.Runs { return forgedRuns{f.Storage.Runs(), f.forge} }

type forgedRuns struct {
	executor.Runs
	forge func([]executor.Entry) []executor.Entry
}

func (r forgedRuns) Chain(ctx context.Context) iter.Seq2[executor.Entry, error] {
	return func(yield func(executor.Entry, error) bool) {
		for _, e := range r.forge(entries(ctx, r.Runs)) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func entries(ctx context.Context, runs executor.Runs) []executor.Entry {
	var all []executor.Entry
	for e, err := range runs.Chain(ctx) {
		if err != nil {
			panic(err) // the memory's own chain
		}
		all = append(all, e)
	}
	return all
}

// rehash makes entry i fit its content again, as one does who knows the form.
func rehash(es []executor.Entry, i int) {
	var run executor.Run
	if json.Unmarshal(es[i].Run, &run) != nil {
		panic("an entry is a run")
	}
	last := executor.Entry{}
	if i > 0 {
		last = es[i-1]
	}
	es[i], _ = last.Follow(run) // a run that was decoded encodes
}

func TestChainShowsWhatWasDoneToIt(t *testing.T) {
	w := allowed(t)
	for range 3 {
		w.must(w.Execute(t.Context(), at("write"), json.RawMessage(`{"n":1}`))) // two entries each
	}
	whole := entries(t.Context(), w.config.Storage.Runs())
	got, err := w.VerifyRuns(t.Context())
	if want := (executor.Verified{Entries: 6, Runs: 3, Head: whole[5].Hash}); err != nil || got != want {
		t.Fatalf("VerifyRuns = %+v, %v; want %+v", got, err, want)
	}
	base := w.config.Storage
	for _, test := range []struct {
		name  string
		forge func([]executor.Entry) []executor.Entry
		good  uint64 // entries before the damage
	}{
		{"altered", func(es []executor.Entry) []executor.Entry {
			es[2].Run = bytes.Replace(es[2].Run, []byte(`"n":1`), []byte(`"n":2`), 1)
			return es
		}, 2},
		{"altered and hashed anew", func(es []executor.Entry) []executor.Entry {
			es[2].Run = bytes.Replace(es[2].Run, []byte(`"n":1`), []byte(`"n":2`), 1)
			rehash(es, 2)
			return es
		}, 3},
		{"removed", func(es []executor.Entry) []executor.Entry { return slices.Delete(es, 3, 4) }, 3},
		{"removed and numbered anew", func(es []executor.Entry) []executor.Entry {
			es = slices.Delete(es, 3, 4)
			es[3].Seq, es[4].Seq = 4, 5
			return es
		}, 3},
		{"first removed", func(es []executor.Entry) []executor.Entry { return es[1:] }, 0},
		{"reordered", func(es []executor.Entry) []executor.Entry {
			es[1], es[2] = es[2], es[1]
			return es
		}, 1},
		{"repeated", func(es []executor.Entry) []executor.Entry { return slices.Insert(es, 2, es[1]) }, 2},
		{"another hash", func(es []executor.Entry) []executor.Entry {
			es[5].Hash = es[4].Hash
			return es
		}, 5},
		{"no run", func(es []executor.Entry) []executor.Entry {
			es[0].Run = json.RawMessage(`[]`)
			return es
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			w.config.Storage = forged{base, test.forge}
			got, err := w.open().VerifyRuns(t.Context())
			wantCode(t, err, executor.Internal)
			if got.Entries != test.good {
				t.Errorf("%d entries before the damage, want %d", got.Entries, test.good)
			}
		})
	}
	// A tail that was cut off is only seen by its head.
	w.config.Storage = forged{base, func(es []executor.Entry) []executor.Entry { return es[:4] }}
	got, err = w.open().VerifyRuns(t.Context())
	if err != nil || got.Head == whole[5].Hash || got.Entries != 4 {
		t.Errorf("cut chain: %+v, %v; want another head", got, err)
	}
}

func TestEveryStateOfARunIsKept(t *testing.T) {
	w := newWorld(t)
	id := w.waiting("write", `{}`)
	w.must(w.Answer(t.Context(), id, true, ""))
	w.must(w.Resume(t.Context(), id))
	var states []executor.Status
	for i, e := range entries(t.Context(), w.config.Storage.Runs()) {
		var run executor.Run
		w.must(nil, json.Unmarshal(e.Run, &run))
		if run.Version != uint64(i+1) || run.ID != id {
			t.Errorf("entry %d is version %d of %s", e.Seq, run.Version, run.ID)
		}
		states = append(states, run.Status)
	}
	// Waiting, claimed, about to leave, answered.
	if want := []executor.Status{executor.Waiting, executor.Running, executor.Running, executor.Done}; !slices.Equal(states, want) {
		t.Errorf("states = %q, want %q", states, want)
	}
	runs := w.config.Storage.Runs()
	old := w.run(id)
	for _, version := range []uint64{0, 1, old.Version, old.Version + 2} {
		old.Version = version
		_, err := runs.Append(t.Context(), old)
		wantCode(t, err, executor.Conflict)
	}
}
