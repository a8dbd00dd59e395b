package executor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/open-executor/executor"
)

// A script is a kind whose tools and answers a test writes.
type script struct {
	mu       sync.Mutex
	manifest executor.Manifest
	resolve  func(executor.Credential) error // nil: resolves
	invoke   func(context.Context, executor.Call) (executor.Result, error)
}

func (s *script) Name() string { return "script" }

func (s *script) Resolve(_ context.Context, _ executor.Source, cred executor.Credential) (executor.Manifest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resolve != nil {
		if err := s.resolve(cred); err != nil {
			return executor.Manifest{}, err
		}
	}
	return s.manifest, nil
}

func (s *script) Invoke(ctx context.Context, c executor.Call) (executor.Result, error) {
	return s.invoke(ctx, c)
}

func (s *script) Plan(ctx context.Context, c executor.Call) (*http.Request, error) {
	return message(ctx, c)
}

// message is the request that post sends.
func message(ctx context.Context, c executor.Call) (*http.Request, error) {
	var cfg struct{ Base string }
	if err := json.Unmarshal(c.Source.Config, &cfg); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, "POST", cfg.Base+"/"+string(c.Tool.Name), bytes.NewReader(c.Args))
	if err == nil {
		req.Header.Set("X-Call", "1")
	}
	return req, err
}

// post sends the arguments to upstream and hands its answer over as it streams.
func post(ctx context.Context, c executor.Call) (executor.Result, error) {
	req, err := message(ctx, c)
	if err != nil {
		return executor.Result{}, err
	}
	resp, err := c.Credential.Client().Do(req)
	if err != nil {
		return executor.Result{}, err
	}
	res := executor.Result{Headers: map[string]string{"x-echo": resp.Header.Get("X-Echo")}}
	if resp.StatusCode >= 400 {
		defer resp.Body.Close() //nolint:errcheck // a test's body
		body, err := io.ReadAll(resp.Body)
		text, _ := json.Marshal(string(body)) // a string always encodes
		res.Fault = &executor.Fault{Status: resp.StatusCode, Message: string(body), Body: text, Headers: map[string]string{"x-echo": resp.Header.Get("X-Echo")}}
		return res, err
	}
	res.Body = &executor.Body{Content: resp.Body, MediaType: resp.Header.Get("Content-Type")}
	return res, nil
}

var everything = executor.Toolkit{Name: "everything", Tools: []string{"*.*.*.*"}}

// A world is an executor with one source, "up", whose upstream counts.
type world struct {
	*executor.Executor
	t      *testing.T
	kind   *script
	config executor.Config
	server *httptest.Server
	hits   atomic.Int64
	log    *buffer

	mu     sync.Mutex
	answer http.HandlerFunc // nil: the request's body
	bodies []string         // of the requests
}

func tools() []executor.Tool {
	return []executor.Tool{
		{Name: "read", Effect: executor.Read},
		{Name: "write", Effect: executor.Write, Description: "Writes a thing.\nAt length."},
		{Name: "destroy", Effect: executor.Destroy},
		{Name: "unknown"},
		{Name: "book.find", Effect: executor.Read},
		{Name: "book.page.turn", Effect: executor.Read},
		{Name: "typed", Effect: executor.Read, Input: json.RawMessage(`{"type":"object","required":["id"],"additionalProperties":false,"properties":{
			"id":{"type":"integer"},"n":{"type":"number","minimum":0},"size":{"type":"integer","default":10},
			"a/b":{"type":"object","properties":{"c~d":{"type":"string"}}},"deep":{},"in":{"type":"object","properties":{"mode":{"default":"fast"}}}}}`)},
		{Name: "loop", Effect: executor.Read, Input: json.RawMessage(`{"type":"object","properties":{"x":{"$ref":"#/$defs/A"},"tree":{"$ref":"#/$defs/Tree"}}}`)},
		{Name: "login", Effect: executor.Write, Input: json.RawMessage(`{"type":"object","properties":{
			"user":{"type":"string"},"pin":{"type":"integer","writeOnly":true,"maximum":9999},
			"password":{"type":"string","format":"password","pattern":"^[a-z0-9]+$"},
			"all":{"type":"array","items":{"type":"object","properties":{"key":{"writeOnly":true}}}},"ref":{"$ref":"#/$defs/Tree","writeOnly":true}}}`)},
	}
}

func newWorld(t *testing.T, change ...func(*executor.Config)) *world {
	t.Helper()
	w := &world{t: t, log: &buffer{}, kind: &script{invoke: post, manifest: executor.Manifest{
		Public: true, Tools: tools(),
		Defs: map[string]json.RawMessage{
			"A": json.RawMessage(`{"$ref":"#/$defs/B"}`), "B": json.RawMessage(`{"$ref":"#/$defs/A"}`),
			"Tree": json.RawMessage(`{"type":"object","properties":{"next":{"$ref":"#/$defs/Tree"},"secret":{"writeOnly":true}}}`),
		},
	}}}
	w.server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.server.Close)
	w.config = executor.Config{
		Kinds: []executor.Kind{w.kind}, Storage: executor.Memory(),
		Transport: func(bool) http.RoundTripper { return w.server.Client().Transport },
		Log:       slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, f := range change {
		f(&w.config)
	}
	w.Executor = w.open()
	w.must(w.AddSource(t.Context(), w.source("up", w.server.URL)))
	return w
}

func (w *world) source(id executor.SourceID, base string, hosts ...string) executor.Source {
	cfg, _ := json.Marshal(map[string]string{"base": base}) // strings always encode
	return executor.Source{ID: id, Kind: "script", Config: cfg, Hosts: append([]string{base}, hosts...)}
}

// open makes an executor from the world's config, as a new process would.
func (w *world) open() *executor.Executor {
	w.t.Helper()
	e, err := executor.New(w.config)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	w.hits.Add(1)
	body, _ := io.ReadAll(r.Body) // a test's own request
	w.mu.Lock()
	answer := w.answer
	w.bodies = append(w.bodies, string(body))
	w.mu.Unlock()
	if answer != nil {
		answer(rw, r)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	_, _ = rw.Write(body) // the caller may have gone
}

func (w *world) answers(f http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = f
}

// must stops the test at an error; it takes what methods with one value give.
func (w *world) must(_ any, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) agent(id string) *executor.Executor {
	return w.Narrow(everything, executor.Principal{Kind: executor.Agent, ID: id})
}

func (w *world) rule(tools string, v executor.Verdict) {
	w.t.Helper()
	w.must(w.SetPolicy(w.t.Context(), executor.Policy{Scope: "user", Source: "up", Tools: tools, Verdict: v}))
}

// waiting makes a call that waits for a person.
func (w *world) waiting(tool executor.ToolName, args string) executor.RunID {
	w.t.Helper()
	res, err := w.Execute(w.t.Context(), at(tool), json.RawMessage(args))
	if executor.CodeOf(err) != executor.NeedsApproval || res.Status != executor.Waiting {
		w.t.Fatalf("Execute(%s) = %v, %v; want a waiting run", tool, res.Status, err)
	}
	return res.Run
}

func (w *world) run(id executor.RunID) executor.Run {
	w.t.Helper()
	run, err := w.Run(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return run
}

// wantHits tells what upstream must have seen.
func (w *world) wantHits(want int64) {
	w.t.Helper()
	if got := w.hits.Load(); got != want {
		w.t.Errorf("upstream was called %d times, want %d", got, want)
	}
}

func at(tool executor.ToolName) executor.Address {
	return executor.Address{Source: "up", Scope: "user", Connection: "public", Tool: tool}
}

func wantCode(t *testing.T, err error, want executor.Code) {
	t.Helper()
	if got := executor.CodeOf(err); got != want {
		t.Errorf("error is %q (%v), want %q", got, err, want)
	}
}

func wantStatus(t *testing.T, got, want executor.Status) {
	t.Helper()
	if got != want {
		t.Errorf("status is %q, want %q", got, want)
	}
}

// printed gives all that printing v or what lies behind it can show.
func printed(v any) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n%+v\n%#v\n", v, v, v)
	data, _ := json.Marshal(v) // what does not encode shows nothing
	b.Write(data)
	if err, ok := v.(error); ok {
		for ; err != nil; err = errors.Unwrap(err) {
			fmt.Fprintf(&b, "%v\n%+v\n%#v\n", err, err, err)
		}
	}
	return b.String()
}

// A buffer is safe for concurrent use.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// A clock stands still until it is moved.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// A vault resolves "v://" references from a map.
type vault map[string]string

func (vault) Scheme() string { return "v" }

func (v vault) Secret(_ context.Context, ref executor.SecretRef) (executor.Secret, error) {
	s, ok := v[ref.Rest()]
	if !ok {
		return executor.Secret{}, &executor.Error{Code: executor.NotFound, Msg: "no such secret"}
	}
	return executor.NewSecret(s), nil
}

// A xor seals well enough to tell sealed from plain.
type xor struct{}

func (xor) Seal(plain []byte) ([]byte, error) {
	out := bytes.Clone(plain)
	for i := range out {
		out[i] ^= 0x5a
	}
	return out, nil
}

func (x xor) Unseal(sealed []byte) ([]byte, error) { return x.Seal(sealed) }
