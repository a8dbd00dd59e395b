package storagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/open-executor/executor"
)

var runClaims = []claim{
	{"get of an absent run is not found", func(t *testing.T, s executor.Storage) {
		_, err := s.Runs().Get(context.Background(), newRun(1).ID)
		wantCode(t, "Get", err, executor.NotFound)
	}},
	{"append gives the state back and get the newest one", func(t *testing.T, s executor.Storage) {
		ctx, runs := context.Background(), s.Runs()
		state := newRun(1)
		for _, status := range []executor.Status{executor.Running, executor.Waiting, executor.Running, executor.Done} {
			state.Status = status
			wantRun(t, "Append", add(t, runs, state), state)
			wantRun(t, "Get", must[executor.Run](t)(runs.Get(ctx, state.ID)), state)
			state.Version++
		}
	}},
	{"every field of a run is kept", func(t *testing.T, s executor.Storage) {
		want := fullRun()
		add(t, s.Runs(), want)
		wantRun(t, "Get", must[executor.Run](t)(s.Runs().Get(context.Background(), want.ID)), want)
		list := must[[]executor.Run](t)(s.Runs().List(context.Background(), executor.RunFilter{}))
		if len(list) != 1 {
			t.Fatalf("List gives %d runs, want 1", len(list))
		}
		wantRun(t, "List", list[0], want)
		wantRun(t, "Chain", wantChain(t, s.Runs())[0], want)
	}},
	{"a state that does not follow is a conflict and changes nothing", func(t *testing.T, s executor.Storage) {
		ctx, runs := context.Background(), s.Runs()
		first := newRun(1)
		for _, version := range []uint64{0, 2} {
			run := first
			run.Version = version
			_, err := runs.Append(ctx, run)
			wantCode(t, fmt.Sprint("Append of a new run as version ", version), err, executor.Conflict)
		}
		add(t, runs, first)
		second := add(t, runs, next(first, executor.Done))
		for _, version := range []uint64{0, 1, 2, 4} {
			run := second
			run.Version, run.Status = version, executor.Failed
			_, err := runs.Append(ctx, run)
			wantCode(t, fmt.Sprintf("Append of version %d after 2", version), err, executor.Conflict)
		}
		wantRun(t, "Get", must[executor.Run](t)(runs.Get(ctx, first.ID)), second)
		wantEqual(t, "length of the chain", len(wantChain(t, runs)), 2)
	}},
	{"of callers that append the same version one wins", func(t *testing.T, s executor.Storage) {
		runs := s.Runs()
		base := newRun(1)
		base.Version = 0
		for range 10 {
			winner := oneWins(t, race(func(i int) error {
				run := next(base, executor.Waiting)
				run.Reason = fmt.Sprint(i)
				_, err := runs.Append(context.Background(), run)
				return err
			}))
			base = next(base, executor.Waiting)
			base.Reason = fmt.Sprint(winner)
			wantRun(t, "Get", must[executor.Run](t)(runs.Get(context.Background(), base.ID)), base)
		}
		wantEqual(t, "length of the chain", len(wantChain(t, runs)), 10)
	}},
}

// fullRun has a value in every field.
func fullRun() executor.Run {
	run := newRun(1)
	run.Parent, run.Root = newRun(8).ID, newRun(9).ID
	run.Effect, run.Status, run.Reason, run.Code = executor.Destroy, executor.Failed, "no <answer>", executor.Unavailable
	run.Principal = append(run.Principal, executor.Principal{Kind: executor.Agent, ID: "helper/1"})
	run.Decision = &executor.Decision{Verdict: executor.RequireApproval}
	at := run.Started.Add(time.Minute)
	answer := executor.Answer{Approve: true, Reason: "fine", By: run.Principal[0], At: at}
	run.Approval = &executor.Approval{Request: run.ID, Answer: answer, Binding: executor.Binding{Args: "a", Connection: "c", Tool: "t", Policy: "p", Expires: at}}
	run.Requests = []executor.RequestRecord{{Method: "GET", URL: "https://x.test/?a=1&b=2", Status: 404, Bytes: 1 << 40, Took: 5, Error: "late"}}
	run.Output = &executor.Output{
		Digest: "d2", Value: json.RawMessage(`{"n":12345678901234567890}`),
		Handle: &executor.Handle{Run: run.ID, Digest: "d3", Size: 9, MediaType: "text/plain", Name: "n", Preview: "p\tq\n"},
		Fault:  &executor.Fault{Status: 404, Message: "none", Headers: map[string]string{"x": "y"}, Body: json.RawMessage(`"b"`)},
		Page:   &executor.Page{Next: "n", Args: json.RawMessage(`{"page":2}`), More: true},
	}
	run.Input.Policy = "v1"
	run.Ended = at
	return run
}

var chainClaims = []claim{
	{"an empty storage has an empty chain", func(t *testing.T, s executor.Storage) {
		wantEqual(t, "length of the chain", len(wantChain(t, s.Runs())), 0)
	}},
	{"the chain holds every state in the order of the appends", func(t *testing.T, s executor.Storage) {
		runs := s.Runs()
		a, b := newRun(1), newRun(2)
		want := []executor.Run{a, b, next(b, executor.Done), next(a, executor.Waiting), next(next(a, executor.Waiting), executor.Denied)}
		for _, run := range want {
			add(t, runs, run)
		}
		got := wantChain(t, runs)
		wantEqual(t, "length of the chain", len(got), len(want))
		for i := range got {
			wantRun(t, fmt.Sprint("entry ", i+1), got[i], want[i])
		}
	}},
	{"a reader of the chain can stop early and go over it again", func(t *testing.T, s executor.Storage) {
		for n := range 3 {
			add(t, s.Runs(), newRun(n))
		}
		for range s.Runs().Chain(context.Background()) {
			break
		}
		wantEqual(t, "length of the chain", len(wantChain(t, s.Runs())), 3)
	}},
	{"concurrent appends make one chain", func(t *testing.T, s executor.Storage) {
		runs := s.Runs()
		for _, err := range race(func(i int) error {
			for n := range 10 {
				run := newRun(100*i + n)
				if n%2 == 0 {
					run.Effect = executor.Write
				}
				for _, state := range []executor.Run{run, next(run, executor.Done)} {
					if _, err := runs.Append(context.Background(), state); err != nil {
						return err
					}
					if _, err := runs.Get(context.Background(), run.ID); err != nil {
						return err
					}
				}
			}
			return nil
		}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		versions := map[executor.RunID]uint64{}
		chain := wantChain(t, runs)
		for _, run := range chain {
			if run.Version != versions[run.ID]+1 {
				t.Errorf("%s: version %d comes after %d", run.ID, run.Version, versions[run.ID])
			}
			versions[run.ID] = run.Version
		}
		wantEqual(t, "length of the chain", len(chain), callers*20)
	}},
}
