package openapi_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/source/openapi"
)

// book adds the phone book at u to a new executor that allows every call.
func book(t *testing.T, u *upstream, limits executor.Limits) (*executor.Executor, func(tool, args string) (executor.Result, error)) {
	t.Helper()
	e, err := executor.New(executor.Config{
		Kinds: []executor.Kind{openapi.Kind{}}, Transport: func(bool) http.RoundTripper { return u.Client().Transport },
	})
	if err != nil {
		t.Fatal(err)
	}
	config := encode(t, map[string]string{"base": u.URL, "text": `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"/"}],"paths":{
		"/x":{
			"get":{"operationId":"read","parameters":[{"name":"ids","in":"query","explode":false,"schema":{"type":"array","items":{"type":"integer"}}}],"responses":{"200":{"description":""}}},
			"put":{"operationId":"write","requestBody":{"content":{"image/*":{}}},"responses":{"200":{"description":""}}}}}}`})
	if _, err := e.AddSource(t.Context(), executor.Source{ID: "book", Kind: "openapi", Config: config, AllowPrivate: true, Limits: limits}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.SetPolicy(t.Context(), executor.Policy{Scope: "user", Source: "book", Tools: "*", Verdict: executor.Allow}); err != nil {
		t.Fatal(err)
	}
	return e, func(tool, args string) (executor.Result, error) {
		return e.Execute(t.Context(), executor.Address{Source: "book", Scope: "user", Connection: executor.Public, Tool: executor.ToolName(tool)}, json.RawMessage(args))
	}
}

func TestTheExecutorCarriesAnswersThrough(t *testing.T) {
	var answer http.HandlerFunc
	u := serve(t, func(w http.ResponseWriter, r *http.Request) { answer(w, r) })
	e, call := book(t, u, executor.Limits{})

	answer = says(200, "application/json", `{"n":1e21}`)
	r, err := call("read", `{"ids":[3,9007199254740993]}`)
	if err != nil || string(r.Value) != `{"n":1e21}` || u.seen[0].Line != "GET /x?ids=3,9007199254740993" {
		t.Errorf("read = %s, %v after %s", r.Value, err, u.seen[0].Line)
	}

	answer = says(404, "application/json", `{"message":"no"}`)
	if r, err = call("read", `{}`); err != nil || r.Fault == nil || r.Fault.Message != "no" || r.Status != executor.Done {
		t.Errorf("read = %+v, %v; want a fault, done", r, err)
	}

	large := `["` + strings.Repeat("x", 5<<20) + `"]`
	answer = says(200, "application/json", large)
	r, err = call("read", `{}`)
	if err != nil || r.Handle == nil || r.Handle.MediaType != "application/json" || r.Handle.Size != int64(len(large)) {
		t.Fatalf("read = %+v, %v; want a handle of %d bytes", r.Handle, err, len(large))
	}

	answer = says(200, "", "")
	if _, err = call("write", `{"body":{"type":"image/png","run":"`+string(r.Run)+`"}}`); err != nil {
		t.Fatal(err)
	}
	if got := u.seen[len(u.seen)-1]; got.Body != large || got.Header.Get("Content-Type") != "image/png" {
		t.Errorf("sent %d bytes of %s, want the %d of the run", len(got.Body), got.Header.Get("Content-Type"), len(large))
	}
	if _, err := e.VerifyRuns(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheExecutorsLimitEndsABomb(t *testing.T) {
	u := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for range 64 {
			if _, err := z.Write(make([]byte, 1<<20)); err != nil {
				return // the client had enough
			}
		}
		_ = z.Close() // the client had enough
	})
	for _, limit := range []int64{100 << 10, 8 << 20} {
		_, call := book(t, u, executor.Limits{MaxBytes: limit})
		if _, err := call("read", `{}`); executor.CodeOf(err) != executor.Unavailable || !strings.Contains(err.Error(), "larger than") {
			t.Errorf("limit %d: %v, want unavailable, larger than", limit, err)
		}
	}
}

func TestADryRunShowsTheRequestAndSendsNothing(t *testing.T) {
	u := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("something was sent") })
	e, _ := book(t, u, executor.Limits{})
	plan, err := e.DryRun(t.Context(), executor.Address{Source: "book", Scope: "user", Connection: executor.Public, Tool: "write"}, []byte(`{"body":"GIF"}`))
	if err != nil || plan.Request == nil || plan.Request.Method != "PUT" || plan.Request.URL != u.URL+"/x" || plan.Request.Body != "GIF" || plan.Request.Size != 3 {
		t.Errorf("DryRun = %+v, %v", plan.Request, err)
	}
}

func TestALostAnswerToAWriteIsAmbiguousAndARefusedConnectionIsNot(t *testing.T) {
	u := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "half") // the client tells what it read
	})
	_, call := book(t, u, executor.Limits{})
	if r, err := call("write", `{"body":"x"}`); err == nil || r.Status != executor.Ambiguous {
		t.Errorf("write = %s, %v; want ambiguous", r.Status, err)
	}
	u.Close()
	if r, err := call("write", `{"body":"x"}`); err == nil || r.Status != executor.Failed {
		t.Errorf("write = %s, %v; want failed", r.Status, err)
	}
}
