package executor_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/storage/file"
)

// What waits on disk is answered and resumed by another process.
func TestWaitingRunSurvivesOnDisk(t *testing.T) {
	dir := t.TempDir()
	open := func() *file.Storage {
		s, err := file.Open(dir, file.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := open()
	w := newWorld(t, func(c *executor.Config) { c.Storage, c.Sealer = first, xor{} })
	plain := w.waiting("write", `{"n":12345678901234567890}`)
	sealed := w.waiting("login", `{"password":"hunter2"}`)
	w.must(w.Answer(t.Context(), plain, true, ""))
	_, err := w.Execute(t.Context(), at("a/b"), nil) // leaves nothing that could not be read back
	wantCode(t, err, executor.Invalid)
	w.must(nil, first.Close())

	second := open()
	defer second.Close() //nolint:errcheck // a test's directory
	w.config.Storage = second
	e := w.open()
	n, err := e.Recover(t.Context())
	if n != 0 || err != nil {
		t.Fatalf("Recover = %d, %v; want nothing to settle", n, err)
	}
	w.must(e.Resume(t.Context(), plain))
	w.must(e.Answer(t.Context(), sealed, true, ""))
	res, err := e.Resume(t.Context(), sealed)
	w.must(res, err)
	if got, want := w.bodies, []string{`{"n":12345678901234567890}`, `{"password":"hunter2"}`}; got[0] != want[0] || got[1] != want[1] {
		t.Errorf("upstream got %q, want %q", got, want)
	}
	run, err := e.Run(t.Context(), sealed)
	w.must(run, err)
	if string(run.Input.Args) != `{"password":"[secret]"}` || !json.Valid(run.Output.Value) {
		t.Errorf("run = %+v", run)
	}
	v, err := e.VerifyRuns(t.Context())
	if err != nil || v.Runs != 2 || v.Entries != 8 {
		t.Errorf("VerifyRuns = %+v, %v; want 8 entries of 2 runs", v, err)
	}
}

func TestARequestWhoseRunDoesNotWaitGoes(t *testing.T) {
	w := newWorld(t)
	id := w.waiting("write", `{}`)
	requests := w.config.Storage.Table(executor.Requests)
	r, err := requests.Get(t.Context(), string(id))
	w.must(r, err)
	lost := strings.ReplaceAll(string(r.Value), string(id), "run_lost")
	w.must(requests.Put(t.Context(), "run_lost", json.RawMessage(lost), 0)) // a kill before the run's record
	gone := w.waiting("write", `{}`)
	run := w.run(gone)
	run.Status, run.Version = executor.Running, run.Version+1
	w.must(w.config.Storage.Runs().Append(t.Context(), run)) // a kill after the claim
	w.must(w.Recover(t.Context()))
	left, err := requests.List(t.Context(), "")
	if err != nil || len(left) != 1 || left[0].Key != string(id) {
		t.Errorf("List = %v, %v; want the request of %s only", left, err, id)
	}
}
