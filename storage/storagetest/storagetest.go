// Package storagetest is the contract of [executor.Storage]. A storage is
// accepted when Run passes on it, and Reopen where it lasts longer than the
// process. It imports the root package and the standard library; how a storage
// keeps what it is given is left to that storage's own tests.
package storagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/open-executor/executor"
)

// Run checks every sentence of storage.go. open gives an empty storage; Run
// closes it.
func Run(t *testing.T, open func(t *testing.T) executor.Storage) {
	t.Helper()
	for _, claims := range []struct {
		about string
		list  []claim
	}{{"table", tableClaims}, {"watch", watchClaims}, {"runs", runClaims}, {"list", listClaims}, {"chain", chainClaims}, {"blobs", blobClaims}} {
		t.Run(claims.about, func(t *testing.T) {
			for _, c := range claims.list {
				t.Run(c.name, func(t *testing.T) {
					s := open(t)
					t.Cleanup(func() {
						if err := s.Close(); err != nil {
							t.Errorf("Close: %v", err)
						}
					})
					c.check(t, s)
				})
			}
		})
	}
}

// A claim is one sentence of the contract.
type claim struct {
	name  string
	check func(t *testing.T, s executor.Storage)
}

// callers is how many race for one thing.
const callers = 16

// race lets all callers do the same at once and gives what each got.
func race(do func(i int) error) []error {
	start, results := make(chan bool), make([]chan error, callers)
	for i := range results {
		results[i] = make(chan error, 1)
		go func() {
			<-start
			results[i] <- do(i)
		}()
	}
	close(start)
	errs := make([]error, callers)
	for i := range results {
		errs[i] = <-results[i]
	}
	return errs
}

// oneWins checks that one caller of a race succeeded and the others got
// Conflict; it gives the number of the winner.
func oneWins(t *testing.T, errs []error) int {
	t.Helper()
	winner, won := 0, 0
	for i, err := range errs {
		switch {
		case err == nil:
			winner = i
			won++
		case executor.CodeOf(err) != executor.Conflict:
			t.Errorf("caller %d: %v, want success or Conflict", i, err)
		}
	}
	if won != 1 {
		t.Fatalf("%d of %d callers succeeded, want 1", won, callers)
	}
	return winner
}

func wantCode(t *testing.T, what string, err error, want executor.Code) {
	t.Helper()
	if got := executor.CodeOf(err); got != want {
		t.Errorf("%s: %v (code %q), want code %q", what, err, got, want)
	}
}

func wantEqual(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func put(t *testing.T, table executor.Table, key, value string, was uint64) executor.Record {
	t.Helper()
	return must[executor.Record](t)(table.Put(context.Background(), key, json.RawMessage(value), was))
}

func remove(t *testing.T, table executor.Table, key string) {
	t.Helper()
	if err := table.Delete(context.Background(), key); err != nil {
		t.Fatalf("Delete(%q): %v", key, err)
	}
}

func add(t *testing.T, runs executor.Runs, run executor.Run) executor.Run {
	t.Helper()
	return must[executor.Run](t)(runs.Append(context.Background(), run))
}

// newRun gives the first state of the n-th run.
func newRun(n int) executor.Run {
	id := executor.RunID(fmt.Sprintf("run_%026d", n))
	return executor.Run{
		ID: id, Version: 1, Root: id,
		Address:   executor.Address{Source: "phone", Scope: "user", Connection: "work", Tool: "book.find"},
		Effect:    executor.Read,
		Principal: []executor.Principal{{Kind: executor.Human, ID: "ada", Assurance: executor.Terminal}},
		Status:    executor.Running,
		Input:     executor.Input{Args: json.RawMessage(`{"q":"<Äpfel & \u2028>"}`), Digest: "d1", Manifest: "m1"},
		Started:   time.Date(2031, 5, 6, 7, 8, 9, n, time.UTC),
	}
}

// next gives the state after run.
func next(run executor.Run, status executor.Status) executor.Run {
	run.Version++
	run.Status = status
	return run
}

// wantRun compares runs as they are recorded.
func wantRun(t *testing.T, what string, got, want executor.Run) {
	t.Helper()
	g, w := must[[]byte](t)(json.Marshal(got)), must[[]byte](t)(json.Marshal(want))
	if string(g) != string(w) {
		t.Errorf("%s = %s\nwant %s", what, g, w)
	}
}

func wantIDs(t *testing.T, what string, got []executor.Run, want ...int) {
	t.Helper()
	ids, wanted := []executor.RunID{}, []executor.RunID{}
	for _, run := range got {
		ids = append(ids, run.ID)
	}
	for _, n := range want {
		wanted = append(wanted, newRun(n).ID)
	}
	wantEqual(t, what, ids, wanted)
}

// wantChain proves the chain and gives the runs of its entries, in order.
func wantChain(t *testing.T, runs executor.Runs) []executor.Run {
	t.Helper()
	var last executor.Entry
	var all []executor.Run
	for e, err := range runs.Chain(context.Background()) {
		if err != nil {
			t.Fatalf("Chain after entry %d: %v", last.Seq, err)
		}
		if err := e.Check(last); err != nil {
			t.Fatalf("entry %d: %v", e.Seq, err)
		}
		var run executor.Run
		if err := json.Unmarshal(e.Run, &run); err != nil {
			t.Fatalf("entry %d: %v", e.Seq, err)
		}
		all = append(all, run)
		last = e
	}
	return all
}
