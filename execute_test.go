package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-executor/executor"
	"pgregory.net/rapid"
)

func TestReadIsDoneAndRecorded(t *testing.T) {
	w := newWorld(t)
	res, err := w.Execute(t.Context(), at("read"), json.RawMessage(`{"q":"x"}`))
	w.must(res, err)
	wantStatus(t, res.Status, executor.Done)
	if string(res.Value) != `{"q":"x"}` || res.Handle != nil || res.Fault != nil || res.Body != nil {
		t.Errorf("result = %+v", res)
	}
	run := w.run(res.Run)
	if run.Address != at("read") || run.Effect != executor.Read || run.Status != executor.Done || run.Root != run.ID || run.Parent != "" ||
		run.Decision == nil || run.Decision.Verdict != executor.Allow || run.Input.Manifest == "" || run.Input.Policy == "" ||
		run.Output == nil || string(run.Output.Value) != `{"q":"x"}` || run.Started.IsZero() || run.Ended.Before(run.Started) {
		t.Errorf("run = %+v", run)
	}
	if len(run.Requests) != 1 || run.Requests[0].Method != "POST" || run.Requests[0].Status != 200 || run.Requests[0].Bytes != 9 ||
		run.Requests[0].URL != w.server.URL+"/read" {
		t.Errorf("requests = %+v", run.Requests)
	}
}

func TestUnseenAndAbsentAreTheSame(t *testing.T) {
	w := newWorld(t)
	e := w.Narrow(executor.Toolkit{Tools: []string{"up.user.public.book.*"}}, executor.Principal{Kind: executor.Agent, ID: "bot"})
	texts := map[string]bool{}
	for _, a := range []executor.Address{
		at("write"), at("wrote"), at("book.zzzzzzzzzzzzzzzzzzzz"), // hidden, absent, absent where e may look
		{Source: "up", Scope: "user", Connection: "pablic", Tool: "write"},
		{Source: "op", Scope: "user", Connection: "public", Tool: "write"},
		{Source: "up", Scope: "usar", Connection: "public", Tool: "write"},
	} {
		for name, call := range map[string]func() error{
			"execute": func() error { _, err := e.Execute(t.Context(), a, nil); return err },
			"find":    func() error { _, err := e.Find(t.Context(), a); return err },
			"dry run": func() error { _, err := e.DryRun(t.Context(), a, nil); return err },
			"explain": func() error { _, err := e.Explain(t.Context(), a, nil); return err },
		} {
			err := call()
			wantCode(t, err, executor.NotFound)
			var ours *executor.Error
			if !errors.As(err, &ours) {
				t.Fatalf("%s of %s = %v", name, a, err)
			}
			texts[strings.ReplaceAll(ours.Error()+"|"+ours.Hint, a.String(), "ADDRESS")] = true
		}
	}
	if len(texts) != 1 {
		t.Errorf("what is hidden can be told from what is absent: %v", texts)
	}
	w.wantHits(0)
}

// An address that cannot be written down cannot be recorded either.
func TestAddressThatIsNoneLeavesNoRun(t *testing.T) {
	w := newWorld(t)
	for _, a := range []executor.Address{{}, {Source: "up"}, at("a/b"), at("a..b"), at(".."), {Source: "../up", Scope: "user", Connection: "public", Tool: "read"}} {
		res, err := w.Execute(t.Context(), a, nil)
		wantCode(t, err, executor.Invalid)
		if res.Run != "" {
			t.Errorf("Execute(%q) left run %s", a, res.Run)
		}
	}
	runs, err := w.Runs(t.Context(), executor.RunFilter{})
	w.must(runs, err)
	for _, run := range runs {
		data, err := json.Marshal(run)
		w.must(data, err)
		if err := json.Unmarshal(data, new(executor.Run)); err != nil {
			t.Errorf("run cannot be read back: %v", err)
		}
	}
}

func TestBlockedCallIsDeniedWithItsReasons(t *testing.T) {
	w := newWorld(t)
	w.rule("read", executor.Block)
	res, err := w.Execute(t.Context(), at("read"), json.RawMessage(`{"q":1}`))
	wantCode(t, err, executor.Blocked)
	wantStatus(t, res.Status, executor.Denied)
	run := w.run(res.Run)
	if run.Decision == nil || len(run.Decision.Reasons) != 1 || run.Decision.Reasons[0].Rule == nil || string(run.Input.Args) != `{"q":1}` {
		t.Errorf("run = %+v, want the rule and the arguments in it", run)
	}
	w.wantHits(0)
}

func TestGatedRunHoldsWhatWasAskedFor(t *testing.T) {
	w := newWorld(t)
	bot := w.agent("bot")
	res, err := bot.Execute(t.Context(), at("write"), json.RawMessage(`{"n":1}`))
	wantCode(t, err, executor.NeedsApproval)
	wantStatus(t, res.Status, executor.Waiting)
	if text := printed(err); strings.Contains(text, "approve") || strings.Contains(text, "inbox") {
		t.Errorf("an agent is told how to approve: %s", text)
	}
	requests, err := w.Requests(t.Context())
	w.must(requests, err)
	if len(requests) != 1 || requests[0].ID != res.Run || string(requests[0].Args) != `{"n":1}` || requests[0].Sealed != nil ||
		len(requests[0].Asks) != 2 || requests[0].Asks[1].ID != "bot" || requests[0].Effect != executor.Write {
		t.Errorf("requests = %+v", requests)
	}
	if run := w.run(res.Run); !run.Ended.IsZero() || run.Version != 1 {
		t.Errorf("waiting run = %+v", run)
	}
	w.wantHits(0)
}

func TestChildNamesItsParentAndRoot(t *testing.T) {
	w := newWorld(t)
	first, err := w.Execute(t.Context(), at("read"), nil)
	w.must(first, err)
	second, err := w.Under(first.Run).Execute(t.Context(), at("read"), nil)
	w.must(second, err)
	third, err := w.Under(second.Run).Execute(t.Context(), at("read"), nil)
	w.must(third, err)
	if run := w.run(third.Run); run.Parent != second.Run || run.Root != first.Run {
		t.Errorf("parent %s root %s, want %s and %s", run.Parent, run.Root, second.Run, first.Run)
	}
	children, err := w.Runs(t.Context(), executor.RunFilter{Parent: second.Run})
	w.must(children, err)
	if len(children) != 1 || children[0].ID != third.Run {
		t.Errorf("children = %+v", children)
	}
	_, err = w.Under("run_00000000000000000000000000").Execute(t.Context(), at("read"), nil)
	wantCode(t, err, executor.NotFound)
	w.wantHits(3)
}

func TestResultUpToInlineBytesIsAValueAndAboveAHandle(t *testing.T) {
	const inline = 1000
	w := newWorld(t, func(c *executor.Config) { c.InlineBytes = inline })
	for name, invoke := range map[string]func(size int) executor.Result{
		"value": func(size int) executor.Result { return executor.Result{Value: text(size)} },
		"body": func(size int) executor.Result {
			return executor.Result{Body: &executor.Body{Content: io.NopCloser(strings.NewReader(string(text(size)))), MediaType: "application/json; charset=utf-8"}}
		},
	} {
		for _, size := range []int{inline - 1, inline, inline + 1, 3 * inline} {
			w.kind.invoke = func(context.Context, executor.Call) (executor.Result, error) { return invoke(size), nil }
			res, err := w.Execute(t.Context(), at("read"), nil)
			w.must(res, err)
			if small := size <= inline; small != (res.Value != nil) || small == (res.Handle != nil) {
				t.Errorf("%s of %d bytes: value %d bytes, handle %v", name, size, len(res.Value), res.Handle)
			}
			content, h, err := w.Open(t.Context(), res.Run)
			w.must(content, err)
			got, err := io.ReadAll(content)
			w.must(got, err)
			if string(got) != string(text(size)) || h.Size != int64(size) || h.Run != res.Run || len(h.Preview) > 1024 {
				t.Errorf("%s: Open gives %d bytes and %+v, want %d", name, len(got), h, size)
			}
			w.must(nil, content.Close())
			_, _, err = w.agent("other").Open(t.Context(), res.Run)
			wantCode(t, err, executor.NotFound)
		}
	}
}

// text is a JSON string of size bytes.
func text(size int) json.RawMessage {
	return json.RawMessage(`"` + strings.Repeat("x", size-2) + `"`)
}

func TestRunIDsSortByTimeAndAreNeverUsedTwice(t *testing.T) {
	c := &clock{t: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	w := newWorld(t, func(cfg *executor.Config) { cfg.Now = c.now })
	form := regexp.MustCompile(`^run_[0-7][0-9a-hjkmnp-tv-z]{25}$`) // 130 bits, of which the first two are zero
	var ids []executor.RunID
	for range 200 {
		res, err := w.Execute(t.Context(), at("read"), nil)
		w.must(res, err)
		if !form.MatchString(string(res.Run)) {
			t.Fatalf("id %q has not the form %s", res.Run, form)
		}
		ids = append(ids, res.Run)
		c.pass(time.Millisecond)
	}
	if !slices.IsSorted(ids) || len(slices.Compact(ids)) != 200 {
		t.Errorf("ids do not rise: %v", ids)
	}
	c.pass(-time.Hour) // a clock that stands still
	same := map[executor.RunID]bool{}
	for range 1000 {
		res, err := w.Execute(t.Context(), at("read"), nil)
		w.must(res, err)
		same[res.Run] = true
	}
	if len(same) != 1000 {
		t.Errorf("1000 runs of one millisecond have %d ids", len(same))
	}
}

func TestWithoutRandomnessThereIsNoRun(t *testing.T) {
	w := newWorld(t)
	w.config.Random = strings.NewReader("nine byte")
	_, err := w.open().Execute(t.Context(), at("read"), nil)
	wantCode(t, err, executor.Internal)
	w.wantHits(0)
}

var (
	parts    = rapid.SampledFrom([]string{"up", "user", "public", "*", "u*", "p*", "?p", "read", "*.find", "book.*", "[bw]*", "x"})
	aToolkit = rapid.Custom(func(t *rapid.T) executor.Toolkit {
		return executor.Toolkit{Tools: rapid.SliceOfN(aPattern, 0, 4).Draw(t, "tools")}
	})
	aPattern  = rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(parts, 4, 4).Draw(t, "parts"), ".") })
	aNarrower = rapid.Custom(func(t *rapid.T) executor.Principal {
		return executor.Principal{
			Kind:      rapid.SampledFrom([]executor.PrincipalKind{executor.Human, executor.Agent, executor.View}).Draw(t, "kind"),
			ID:        rapid.SampledFrom([]string{"owner", "ann", "bot"}).Draw(t, "id"),
			Assurance: rapid.SampledFrom([]executor.Assurance{executor.Terminal, executor.Shell, executor.Embedded, ""}).Draw(t, "assurance"),
		}
	})
)

// seen is what an executor can reach: addresses and runs.
func seen(t *rapid.T, e *executor.Executor) map[string]bool {
	all := map[string]bool{}
	for f, err := range e.Tools(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Find(context.Background(), f.Address); err != nil {
			t.Fatalf("listed but not found: %v", err)
		}
		all[f.Address.String()] = true
	}
	runs, err := e.Runs(context.Background(), executor.RunFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		all[string(run.ID)] = true
	}
	return all
}

func TestNarrowNeverWidens(t *testing.T) {
	w := newWorld(t)
	owner := executor.Principal{Kind: executor.Human, ID: "owner", Assurance: executor.Terminal}
	for _, e := range []*executor.Executor{
		w.Executor, w.agent("bot"), w.agent("ann"), w.Narrow(everything, owner),
		w.agent("bot").Narrow(everything, owner), w.agent("ann").Narrow(everything, executor.Principal{Kind: executor.View, ID: "bot"}),
	} {
		for _, tool := range []executor.ToolName{"read", "book.find", "write"} {
			_, _ = e.Execute(t.Context(), at(tool), nil) // some wait
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		wide := w.Executor
		for range rapid.IntRange(1, 4).Draw(t, "times") {
			narrow := wide.Narrow(rapid.OneOf(rapid.Just(everything), aToolkit).Draw(t, "toolkit"), aNarrower.Draw(t, "principal"))
			before := seen(t, wide)
			for what := range seen(t, narrow) {
				if !before[what] {
					t.Fatalf("%+v narrowed to %+v sees %s", wide.Principal(), narrow.Principal(), what)
				}
			}
			wide = narrow
		}
	})
}
