package openapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/source/openapi"
)

// binding, param, body, encoding and paging spell the kind's Tool.Binding, which
// is what a stored manifest holds.
type (
	binding struct {
		Method string   `json:"method"`
		Base   string   `json:"base"`
		Path   string   `json:"path"`
		Params []param  `json:"params,omitempty"`
		Bodies []body   `json:"bodies,omitempty"`
		Accept []string `json:"accept,omitempty"`
		Page   *paging  `json:"page,omitempty"`
	}
	param struct {
		Arg      string `json:"arg"`
		Name     string `json:"name"`
		In       string `json:"in"`
		Style    string `json:"style"`
		Explode  bool   `json:"explode,omitempty"`
		Reserved bool   `json:"reserved,omitempty"`
		Brackets bool   `json:"brackets,omitempty"`
		Media    string `json:"media,omitempty"`
	}
	body struct {
		Media    string              `json:"media"`
		Required bool                `json:"required,omitempty"`
		Encoding map[string]encoding `json:"encoding,omitempty"`
	}
	encoding struct {
		Media   string `json:"media,omitempty"`
		Style   string `json:"style,omitempty"`
		Explode bool   `json:"explode,omitempty"`
		Binary  bool   `json:"binary,omitempty"`
		Array   bool   `json:"array,omitempty"`
	}
	paging struct {
		Cursor string `json:"cursor,omitempty"`
		From   string `json:"from,omitempty"`
		More   string `json:"more,omitempty"`
		Number string `json:"number,omitempty"`
	}
)

// seen is a request as a server got it.
type seen struct {
	Line   string // method and request URI
	Header http.Header
	Body   string
	Length int64
}

// upstream is a server that notes what it is asked.
type upstream struct {
	*httptest.Server
	mu   sync.Mutex
	seen []seen
}

func serve(t testing.TB, answer http.HandlerFunc) *upstream {
	t.Helper()
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("reading the request: %v", err)
		}
		u.mu.Lock()
		u.seen = append(u.seen, seen{r.Method + " " + r.RequestURI, r.Header, string(content), r.ContentLength})
		u.mu.Unlock()
		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(u.Close)
	return u
}

// call invokes the operation on u.
func (u *upstream) call(t testing.TB, b binding, args string) (executor.Result, error) {
	t.Helper()
	b.Base = u.URL + b.Base
	return invoke(t, t.Context(), u.Client(), b, args)
}

// ask is call for a request that must be answered; it gives what the server got.
func (u *upstream) ask(t testing.TB, b binding, args string) seen {
	t.Helper()
	if _, err := u.call(t, b, args); err != nil {
		t.Fatalf("Invoke(%s) = %v", args, err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.seen[len(u.seen)-1]
}

func invoke(t testing.TB, ctx context.Context, client *http.Client, b binding, args string) (executor.Result, error) {
	t.Helper()
	return openapi.Kind{}.Invoke(ctx, executor.Call{
		Tool: executor.Tool{Name: "probe", Binding: encode(t, b)}, Args: json.RawMessage(args),
		Credential: executor.Unsigned(client),
	})
}

func encode(t testing.TB, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// wantError checks the code of err, whether anything left, and that it says what is
// wrong.
func wantError(t *testing.T, err error, code executor.Code, unsent bool, says string) {
	t.Helper()
	got, ok := err.(*executor.Error)
	if !ok {
		t.Fatalf("error = %T %v, want *executor.Error", err, err)
	}
	if got.Code != code || got.Unsent != unsent || !strings.Contains(got.Error(), says) {
		t.Errorf("error = %s, unsent %v, %q; want %s, unsent %v, with %q", got.Code, got.Unsent, got, code, unsent, says)
	}
}

// content reads and closes a Body.
func content(t *testing.T, r executor.Result) string {
	t.Helper()
	if r.Body == nil {
		t.Fatalf("result %+v has no body", r)
	}
	defer r.Body.Content.Close()
	all, err := io.ReadAll(r.Body.Content)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// differ says how got is not want, or "".
func differ(got, want any) string {
	if reflect.DeepEqual(got, want) {
		return ""
	}
	return fmt.Sprintf("got  %+v\nwant %+v", got, want)
}

// answering is a transport without a network.
type answering func(*http.Request) *http.Response

// RoundTrip implements http.RoundTripper.
func (f answering) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body.Close()
	}
	return f(r), nil
}
