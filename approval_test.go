package executor_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/open-executor/executor"
)

func TestGatedCallWaitsAndRunsOnce(t *testing.T) {
	w := newWorld(t)
	id := w.waiting("write", `{"n":1}`)
	w.wantHits(0)

	_, err := w.Resume(t.Context(), id)
	wantCode(t, err, executor.NeedsApproval)
	req, err := w.Answer(t.Context(), id, true, "fine")
	w.must(req, err)
	if req.Answer == nil || !req.Answer.Approve || req.Answer.By != w.Principal() || req.Summary != "Writes a thing (up, as public)" {
		t.Errorf("answered request = %+v", req)
	}
	w.wantHits(0) // an answer runs nothing

	_, err = w.Answer(t.Context(), id, false, "no, wait")
	wantCode(t, err, executor.Conflict)
	res, err := w.Resume(t.Context(), id)
	w.must(res, err)
	wantStatus(t, res.Status, executor.Done)
	if string(res.Value) != `{"n":1}` || res.Run != id {
		t.Errorf("Resume = %s of %s, want the answer of %s", res.Value, res.Run, id)
	}
	_, err = w.Resume(t.Context(), id)
	wantCode(t, err, executor.Conflict)
	_, err = w.Answer(t.Context(), id, true, "")
	wantCode(t, err, executor.Conflict)
	w.wantHits(1)
	if run := w.run(id); run.Approval == nil || run.Approval.Answer.Reason != "fine" || run.Status != executor.Done {
		t.Errorf("run = %+v, want it done with its approval", run)
	}
}

func TestOnlyAPersonWhoIsSurelyThereAnswers(t *testing.T) {
	w := newWorld(t)
	id := w.waiting("write", `{}`)
	for name, p := range map[string]executor.Principal{
		"an agent":                  {Kind: executor.Agent, ID: "bot"},
		"an agent at a terminal":    {Kind: executor.Agent, ID: "owner", Assurance: executor.Terminal},
		"a trigger":                 {Kind: executor.Trigger, ID: "cron"},
		"a view":                    {Kind: executor.View, ID: "page"},
		"a shell":                   {Kind: executor.Human, ID: "owner", Assurance: executor.Shell},
		"a person without a proof":  {Kind: executor.Human, ID: "owner"},
		"a principal of no kind":    {ID: "owner", Assurance: executor.Terminal},
		"a person of another proof": {Kind: executor.Human, ID: "owner", Assurance: "sworn"},
	} {
		t.Run(name, func(t *testing.T) {
			n := w.Narrow(everything, p)
			for _, approve := range []bool{true, false} {
				_, err := n.Answer(t.Context(), id, approve, "")
				wantCode(t, err, executor.Blocked)
			}
			// Whoever acts for it is no better, whatever it claims.
			if p.Kind != executor.Human {
				up := n.Narrow(everything, executor.Principal{Kind: executor.Human, ID: "owner", Assurance: executor.Terminal})
				_, err := up.Answer(t.Context(), id, true, "")
				wantCode(t, err, executor.Blocked)
			}
			wantStatus(t, w.run(id).Status, executor.Waiting)
		})
	}
	w.wantHits(0)
}

func TestDeniedRunEnds(t *testing.T) {
	w := newWorld(t)
	id := w.waiting("destroy", `{}`)
	w.must(w.Answer(t.Context(), id, false, "not on a Friday"))
	run := w.run(id)
	if run.Status != executor.Denied || run.Code != executor.Blocked || run.Reason != "denied by owner: not on a Friday" || run.Ended.IsZero() {
		t.Errorf("run = %+v, want it denied with the reason", run)
	}
	_, err := w.Resume(t.Context(), id)
	wantCode(t, err, executor.Conflict)
	_, err = w.Answer(t.Context(), id, true, "")
	wantCode(t, err, executor.Conflict)
	w.wantHits(0)
}

func TestUnansweredRequestExpires(t *testing.T) {
	c := &clock{t: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	w := newWorld(t, func(cfg *executor.Config) { cfg.Now, cfg.ApprovalTTL = c.now, time.Hour })
	id := w.waiting("write", `{}`)
	c.pass(time.Hour - 1)
	requests, err := w.Requests(t.Context())
	w.must(requests, err)
	if len(requests) != 1 {
		t.Fatalf("%d requests just before they expire, want 1", len(requests))
	}
	c.pass(1)
	_, err = w.Answer(t.Context(), id, true, "")
	wantCode(t, err, executor.NotFound)
	wantStatus(t, w.run(id).Status, executor.Denied)
	_, err = w.Resume(t.Context(), id)
	wantCode(t, err, executor.Conflict)
	w.wantHits(0)
}

func TestApprovalExpires(t *testing.T) {
	c := &clock{t: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	w := newWorld(t, func(cfg *executor.Config) { cfg.Now, cfg.ApprovalTTL = c.now, time.Hour })
	id := w.waiting("write", `{}`)
	w.must(w.Answer(t.Context(), id, true, ""))
	c.pass(time.Hour)
	_, err := w.Resume(t.Context(), id)
	wantCode(t, err, executor.Conflict)
	wantStatus(t, w.run(id).Status, executor.Denied)
	w.wantHits(0)
}

func TestApprovalIsVoidWhenWhatItCoversHasChanged(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(w *world)
		code   executor.Code
	}{
		{"a block was set", func(w *world) { w.rule("*", executor.Block) }, executor.Blocked},
		{"another rule was set", func(w *world) { w.rule("other", executor.Allow) }, executor.Conflict},
		{"the connection sends another header", func(w *world) {
			w.must(w.Connect(context.Background(), executor.Connection{Source: "up", Scope: "user", Name: "public", Headers: map[string]string{"X-As": "root"}}))
		}, executor.Conflict},
		{"the connection signs", func(w *world) {
			w.must(w.Connect(context.Background(), executor.Connection{
				Source: "up", Scope: "user", Name: "public", Secrets: map[string]executor.SecretRef{"token": "v://t"},
				Auth: executor.Auth{Parts: []executor.AuthPart{{In: executor.Bearer, Secret: "token"}}},
			}))
		}, executor.Conflict},
		{"the tool was described anew", func(w *world) {
			w.kind.manifest.Tools = tools()
			w.kind.manifest.Tools[1].Description = "Sells the house."
			_, _, err := w.RefreshSource(context.Background(), "up")
			w.must(nil, err)
		}, executor.Conflict},
		{"the tool is gone", func(w *world) {
			w.kind.manifest.Tools = tools()[:1]
			_, _, err := w.RefreshSource(context.Background(), "up")
			w.must(nil, err)
		}, executor.NotFound},
		{"the connection is gone", func(w *world) {
			w.must(nil, w.Disconnect(context.Background(), "up", "user", "public"))
		}, executor.NotFound},
		{"the waiting arguments were altered", func(w *world) {
			table := w.config.Storage.Table(executor.Requests)
			records, err := table.List(context.Background(), "")
			w.must(records, err)
			var req executor.Request
			w.must(nil, json.Unmarshal(records[0].Value, &req))
			req.Args = json.RawMessage(`{"n":1000}`)
			data, err := json.Marshal(req)
			w.must(data, err)
			w.must(table.Put(context.Background(), records[0].Key, data, records[0].Version))
		}, executor.Conflict},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, func(c *executor.Config) { c.Providers = []executor.Provider{vault{"t": "t0k3n-t0k3n"}} })
			id := w.waiting("write", `{"n":1}`)
			w.must(w.Answer(t.Context(), id, true, ""))
			test.change(w)
			res, err := w.Resume(t.Context(), id)
			wantCode(t, err, test.code)
			if !res.Status.Ended() || res.Status == executor.Done {
				t.Errorf("status is %q, want an end without a call", res.Status)
			}
			w.wantHits(0)
			_, err = w.Resume(t.Context(), id)
			wantCode(t, err, executor.Conflict)
		})
	}
}

func TestProbeThroughANarrowViewLeavesTheRunWaiting(t *testing.T) {
	w := newWorld(t)
	id := w.waiting("write", `{}`)
	w.must(w.Answer(t.Context(), id, true, ""))
	other := w.waiting("write", `{}`)
	owner := executor.Principal{Kind: executor.Human, ID: "owner", Assurance: executor.Terminal}
	blind := w.Narrow(executor.Toolkit{Tools: []string{"up.user.public.read"}}, owner)
	_, err := blind.Resume(t.Context(), id)
	wantCode(t, err, executor.NotFound)
	_, err = blind.Answer(t.Context(), other, true, "")
	wantCode(t, err, executor.NotFound)
	_, err = blind.Run(t.Context(), id)
	wantCode(t, err, executor.NotFound)
	requests, err := blind.Requests(t.Context())
	w.must(requests, err)
	if len(requests) != 0 {
		t.Errorf("a narrow view sees %+v", requests)
	}
	wantStatus(t, w.run(id).Status, executor.Waiting)
	w.must(w.Resume(t.Context(), id))
	w.wantHits(1)
}

// A gate lets through, together, everyone who reads; so all see the run waiting
// before any claims it.
type gate struct {
	executor.Storage
	mu   sync.Mutex
	open *sync.WaitGroup // nil: no gate
}

func (g *gate) Runs() executor.Runs { return gatedRuns{g.Storage.Runs(), g} }

type gatedRuns struct {
	executor.Runs
	gate *gate
}

func (r gatedRuns) Append(ctx context.Context, run executor.Run) (executor.Run, error) {
	r.gate.mu.Lock()
	wg := r.gate.open
	r.gate.mu.Unlock()
	if wg != nil && run.Status == executor.Running && run.Version == 2 { // the claim
		wg.Done()
		wg.Wait()
	}
	return r.Runs.Append(ctx, run)
}

func TestOfSixteenWhoResumeOneCalls(t *testing.T) {
	const racers = 16
	g := &gate{Storage: executor.Memory()}
	w := newWorld(t, func(c *executor.Config) { c.Storage = g })
	id := w.waiting("write", `{"n":1}`)
	w.must(w.Answer(t.Context(), id, true, ""))
	g.open = &sync.WaitGroup{}
	g.open.Add(racers)
	codes := make(chan executor.Code, racers)
	for range racers {
		go func() {
			_, err := w.Resume(t.Context(), id)
			codes <- executor.CodeOf(err)
		}()
	}
	count := map[executor.Code]int{}
	for range racers {
		count[<-codes]++
	}
	if count[""] != 1 || count[executor.Conflict] != racers-1 {
		t.Errorf("outcomes = %v, want one call and %d conflicts", count, racers-1)
	}
	w.wantHits(1)
	wantStatus(t, w.run(id).Status, executor.Done)
}

func TestOfSixteenWhoAnswerOneDecides(t *testing.T) {
	w := newWorld(t)
	id := w.waiting("write", `{}`)
	var wg sync.WaitGroup
	var mu sync.Mutex
	decided := []bool{}
	for i := range 16 {
		wg.Go(func() {
			if _, err := w.Answer(t.Context(), id, i%2 == 0, ""); err == nil {
				mu.Lock()
				defer mu.Unlock()
				decided = append(decided, i%2 == 0)
			}
		})
	}
	wg.Wait()
	if len(decided) != 1 {
		t.Fatalf("%d answers held, want 1", len(decided))
	}
	want := executor.Denied
	if decided[0] {
		want = executor.Waiting
	}
	wantStatus(t, w.run(id).Status, want)
}
