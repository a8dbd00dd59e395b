package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-executor/executor"
)

// allowed lets writes pass, so that a test sees what becomes of them.
func allowed(t *testing.T, change ...func(*executor.Config)) *world {
	t.Helper()
	w := newWorld(t, change...)
	w.rule("*", executor.Allow)
	return w
}

func hangUp(rw http.ResponseWriter, _ *http.Request) {
	conn, _, err := rw.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.Close() // that is the point
	}
}

func TestLostAnswer(t *testing.T) {
	for _, test := range []struct {
		name   string
		tool   executor.ToolName
		answer http.HandlerFunc
		want   executor.Status
	}{
		{"to a write is ambiguous", "write", hangUp, executor.Ambiguous},
		{"to a destroy is ambiguous", "destroy", hangUp, executor.Ambiguous},
		{"to a tool of unknown effect is ambiguous", "unknown", hangUp, executor.Ambiguous},
		{"to a read is failed", "read", hangUp, executor.Failed},
		{"cut in the middle of a write's body is ambiguous", "write", func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Length", "100")
			_, _ = rw.Write([]byte("ten bytes!"))
		}, executor.Ambiguous},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := allowed(t)
			w.answers(test.answer)
			res, err := w.Execute(t.Context(), at(test.tool), nil)
			if err == nil {
				t.Fatal("no error")
			}
			wantStatus(t, res.Status, test.want)
			wantStatus(t, w.run(res.Run).Status, test.want)
		})
	}
}

func TestCallThatDidNotLeaveIsFailed(t *testing.T) {
	w := allowed(t)
	w.server.Close() // the dial is refused
	res, err := w.Execute(t.Context(), at("write"), nil)
	if err == nil {
		t.Fatal("no error")
	}
	wantStatus(t, res.Status, executor.Failed)
	if run := w.run(res.Run); len(run.Requests) != 1 || run.Requests[0].Error == "" {
		t.Errorf("requests = %+v, want the one that was refused", run.Requests)
	}
}

// A kind that does not go through the wire tells by its error whether it sent.
func TestKindWithoutHTTPSaysWhetherItSent(t *testing.T) {
	w := allowed(t)
	for _, test := range []struct {
		err  error
		want executor.Status
	}{
		{&executor.Error{Code: executor.Unavailable, Msg: "x"}, executor.Ambiguous},
		{&executor.Error{Code: executor.Unavailable, Msg: "x", Unsent: true}, executor.Failed},
		{errors.New("x"), executor.Ambiguous},
		{&net.OpError{Op: "dial", Err: errors.New("x")}, executor.Failed},
		{&net.OpError{Op: "read", Err: errors.New("x")}, executor.Ambiguous},
		{&executor.Error{Code: executor.Invalid, Msg: "x"}, executor.Failed},
	} {
		w.kind.invoke = func(context.Context, executor.Call) (executor.Result, error) { return executor.Result{}, test.err }
		res, err := w.Execute(t.Context(), at("write"), nil)
		if err == nil || res.Status != test.want {
			t.Errorf("%v: %s with %v, want %s", test.err, res.Status, err, test.want)
		}
	}
}

func TestUpstreamsNoIsAFaultOfADoneRun(t *testing.T) {
	w := allowed(t)
	w.answers(func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "no such thing", 404) })
	res, err := w.Execute(t.Context(), at("write"), nil)
	w.must(res, err)
	wantStatus(t, res.Status, executor.Done)
	if res.Fault == nil || res.Fault.Status != 404 || w.run(res.Run).Output.Fault.Status != 404 {
		t.Errorf("result = %+v", res)
	}
}

// dutiful refuses a context that is done, as a disk or a database does.
type dutiful struct{ executor.Storage }

func (d dutiful) Runs() executor.Runs { return dutifulRuns{d.Storage.Runs()} }

type dutifulRuns struct{ executor.Runs }

func (d dutifulRuns) Append(ctx context.Context, run executor.Run) (executor.Run, error) {
	if err := ctx.Err(); err != nil {
		return executor.Run{}, err
	}
	return d.Runs.Append(ctx, run)
}

func TestRecordIsWrittenAfterTheCallerHungUp(t *testing.T) {
	for tool, want := range map[executor.ToolName]executor.Status{"write": executor.Ambiguous, "read": executor.Failed} {
		w := allowed(t, func(c *executor.Config) { c.Storage = dutiful{executor.Memory()} })
		ctx, cancel := context.WithCancel(t.Context())
		w.answers(func(_ http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done()
		})
		res, err := w.Execute(ctx, at(tool), nil)
		wantCode(t, err, executor.Unavailable)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v does not tell that the caller cancelled", err)
		}
		run := w.run(res.Run)
		wantStatus(t, run.Status, want)
		if run.Ended.IsZero() || run.Reason == "" {
			t.Errorf("run = %+v", run)
		}
	}
}

func TestPanicOfAKindIsItsDefectOnly(t *testing.T) {
	w := allowed(t)
	for tool, want := range map[executor.ToolName]executor.Status{"write": executor.Ambiguous, "read": executor.Failed} {
		for _, invoke := range []func(context.Context, executor.Call) (executor.Result, error){
			func(context.Context, executor.Call) (executor.Result, error) { panic("boom") },
			func(context.Context, executor.Call) (executor.Result, error) {
				return executor.Result{Body: &executor.Body{Content: bomb{}}}, nil
			},
		} {
			w.kind.invoke = invoke
			res, err := w.Execute(t.Context(), at(tool), nil)
			wantCode(t, err, executor.Internal)
			wantStatus(t, w.run(res.Run).Status, want)
		}
	}
}

type bomb struct{}

func (bomb) Read([]byte) (int, error) { panic("boom") }
func (bomb) Close() error             { return nil }

// A failing storage runs out of appends.
type failing struct {
	executor.Storage
	left *int // appends that still succeed
}

func (f failing) Runs() executor.Runs { return failingRuns{f.Storage.Runs(), f.left} }

type failingRuns struct {
	executor.Runs
	left *int
}

var errDisk = errors.New("disk full")

func (f failingRuns) Append(ctx context.Context, run executor.Run) (executor.Run, error) {
	*f.left--
	if *f.left < 0 {
		return executor.Run{}, errDisk
	}
	return f.Runs.Append(ctx, run)
}

func TestNoRecordNoCall(t *testing.T) {
	left := 100
	w := allowed(t, func(c *executor.Config) { c.Storage = failing{executor.Memory(), &left} })
	left = 0
	for _, tool := range []executor.ToolName{"read", "write"} {
		_, err := w.Execute(t.Context(), at(tool), nil)
		if !errors.Is(err, errDisk) {
			t.Errorf("error = %v, want the disk's", err)
		}
	}
	w.wantHits(0)
}

func TestCallThatCannotBeRecordedSaysSo(t *testing.T) {
	left := 100
	w := allowed(t, func(c *executor.Config) { c.Storage = failing{executor.Memory(), &left} })
	left = 1
	res, err := w.Execute(t.Context(), at("write"), json.RawMessage(`{"n":1}`))
	wantCode(t, err, executor.Internal)
	if !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "the call ended as done but could not be recorded") || string(res.Value) != `{"n":1}` {
		t.Errorf("Execute = %+v, %v", res, err)
	}
	w.wantHits(1)
	wantStatus(t, w.run(res.Run).Status, executor.Running) // and ambiguous at the next start
}

func TestRequestThatCannotBeRecordedAsksNobody(t *testing.T) {
	left := 0
	w := newWorld(t, func(c *executor.Config) { c.Storage = failing{executor.Memory(), &left} })
	_, err := w.Execute(t.Context(), at("write"), nil)
	if !errors.Is(err, errDisk) {
		t.Errorf("error = %v, want the disk's", err)
	}
	requests, err := w.Requests(t.Context())
	w.must(requests, err)
	if len(requests) != 0 {
		t.Errorf("requests = %+v, want none", requests)
	}
}

func TestRestartSettlesWhatWasRunning(t *testing.T) {
	w := allowed(t)
	w.rule("destroy", executor.RequireApproval)
	running := map[executor.ToolName]executor.RunID{}
	w.kind.invoke = func(_ context.Context, c executor.Call) (executor.Result, error) {
		runs, err := w.Runs(context.Background(), executor.RunFilter{Status: executor.Running})
		w.must(runs, err)
		running[c.Tool.Name] = runs[0].ID
		panic("the machine stops") // recovered; what is recorded after is taken away below
	}
	left := 1
	w.config.Storage = failing{w.config.Storage, &left}
	for _, tool := range []executor.ToolName{"read", "write"} {
		left = 1
		_, _ = w.open().Execute(t.Context(), at(tool), nil)
	}
	left = 1 << 30
	waits := w.waiting("destroy", `{"n":2}`)
	approved := w.waiting("destroy", `{"n":3}`)
	w.must(w.Answer(t.Context(), approved, true, ""))

	w.kind.invoke = post
	again := w.open()
	n, err := again.Recover(t.Context())
	w.must(n, err)
	if n != 2 {
		t.Errorf("%d runs were settled, want 2", n)
	}
	for id, want := range map[executor.RunID]executor.Status{
		running["read"]: executor.Failed, running["write"]: executor.Ambiguous, waits: executor.Waiting, approved: executor.Waiting,
	} {
		run := w.run(id)
		wantStatus(t, run.Status, want)
		if want != executor.Waiting && run.Reason != "restart" {
			t.Errorf("reason = %q, want restart", run.Reason)
		}
	}
	n, err = again.Recover(t.Context())
	if n != 0 || err != nil {
		t.Errorf("a second Recover = %d, %v; want 0", n, err)
	}
	w.must(again.Answer(t.Context(), waits, true, ""))
	w.must(again.Resume(t.Context(), waits))
	w.must(again.Resume(t.Context(), approved))
	w.wantHits(2)
}

func TestOnlyAPersonSettlesAnAmbiguousRun(t *testing.T) {
	w := allowed(t)
	w.answers(hangUp)
	res, _ := w.Execute(t.Context(), at("write"), nil)
	_, err := w.agent("bot").Settle(t.Context(), res.Run, executor.Done, "")
	wantCode(t, err, executor.Blocked)
	for _, s := range []executor.Status{"", executor.Running, executor.Waiting, executor.Denied, executor.Ambiguous} {
		_, err := w.Settle(t.Context(), res.Run, s, "")
		wantCode(t, err, executor.Invalid)
	}
	w.must(w.Settle(t.Context(), res.Run, executor.Failed, "looked"))
	if run := w.run(res.Run); run.Code != "" {
		t.Errorf("a settled run keeps the code %q of the answer it lost", run.Code)
	}
	wantStatus(t, w.run(res.Run).Status, executor.Failed)
	_, err = w.Settle(t.Context(), res.Run, executor.Done, "")
	wantCode(t, err, executor.Conflict)
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestTimeouts(t *testing.T) {
	for _, test := range []struct {
		name           string
		limit, patient time.Duration // of the source, of the caller
		tool           executor.ToolName
		want           executor.Status
		takes          time.Duration
		says           string
	}{
		{"a read that takes too long has failed", 3 * time.Second, time.Hour, "read", executor.Failed, 3 * time.Second, "no answer within 3s"},
		{"a write that takes too long is ambiguous", 3 * time.Second, time.Hour, "write", executor.Ambiguous, 3 * time.Second, "no answer within 3s"},
		{"the standard is a minute", 0, time.Hour, "read", executor.Failed, time.Minute, "no answer within 1m0s"},
		{"the caller may be less patient", 0, time.Second, "write", executor.Ambiguous, time.Second, "no answer before the caller's deadline"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				silent := transport(func(req *http.Request) (*http.Response, error) {
					<-req.Context().Done()
					return nil, req.Context().Err()
				})
				e, err := executor.New(executor.Config{
					Kinds:     []executor.Kind{&script{invoke: post, manifest: executor.Manifest{Public: true, Tools: tools()}}},
					Transport: func(bool) http.RoundTripper { return silent },
				})
				if err != nil {
					t.Fatal(err)
				}
				s := (&world{t: t}).source("up", "http://up.test")
				s.Limits.Timeout = executor.Duration(test.limit)
				if _, err := e.AddSource(t.Context(), s); err != nil {
					t.Fatal(err)
				}
				if _, err := e.SetPolicy(t.Context(), executor.Policy{Scope: "user", Source: "up", Tools: "*"}); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), test.patient)
				defer cancel()
				start := time.Now()
				res, err := e.Execute(ctx, at(test.tool), nil)
				wantCode(t, err, executor.Unavailable)
				wantStatus(t, res.Status, test.want)
				if took := time.Since(start); took != test.takes || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("after %v: %v; want a deadline after %v", took, err, test.takes)
				}
				if !strings.Contains(err.Error(), test.says) {
					t.Errorf("error %q does not say %q", err, test.says)
				}
			})
		})
	}
}

func TestAnswerPastItsLimitIsRefused(t *testing.T) {
	w := allowed(t)
	s := w.source("small", w.server.URL)
	s.Limits.MaxBytes = 10
	w.must(w.AddSource(t.Context(), s))
	a := at("read")
	a.Source = "small"
	for size, want := range map[int]executor.Code{9: "", 10: "", 11: executor.Unavailable, 1 << 20: executor.Unavailable} {
		w.answers(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, strings.Repeat("x", size)) })
		_, err := w.Execute(t.Context(), a, nil)
		wantCode(t, err, want)
	}
}

func TestSourceOfAKindThatIsGone(t *testing.T) {
	w := allowed(t)
	w.config.Kinds = nil
	res, err := w.open().Execute(t.Context(), at("write"), nil)
	wantCode(t, err, executor.Invalid)
	wantStatus(t, res.Status, executor.Failed)
}
