package openapi_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-executor/executor"
)

func TestSilenceSaysWhyAndWhetherAnythingLeft(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + free.Addr().String()
	free.Close()
	hangup := serve(t, func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) })
	secure := httptest.NewUnstartedServer(nil)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // the handshake is meant to break
	secure.StartTLS()
	defer secure.Close()
	away := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, closed, http.StatusTemporaryRedirect)
	})

	for _, c := range []struct {
		name   string
		base   string
		method string
		unsent bool
		says   string
	}{
		{"a port where nobody listens", closed, "GET", true, "refused the connection"},
		{"a host that is not", "http://no-such-host.invalid", "GET", true, "no-such-host.invalid"},
		{"a server that hangs up", hangup.URL, "POST", false, "closed the connection without an answer"},
		{"a certificate nobody signed", secure.URL, "GET", true, "is not trusted"},
		{"plain HTTP where TLS was meant", "https" + hangup.URL[len("http"):], "GET", true, "does not speak TLS"},
		{"a redirect to nowhere, after something left", away.URL, "POST", false, "refused the connection"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			_, err := invoke(t, t.Context(), client, binding{Method: c.method, Base: c.base, Path: "/secret"}, `{}`)
			wantError(t, err, executor.Unavailable, c.unsent, c.says)
		})
	}
}

func TestTheClientsOwnRefusalGoesOn(t *testing.T) {
	mine := &executor.Error{Code: executor.Blocked, Op: "invoke", Msg: "not one of the source's hosts", Unsent: true}
	client := &http.Client{Transport: failing{mine}}
	_, err := invoke(t, t.Context(), client, binding{Method: "GET", Base: "https://a.example", Path: "/"}, `{}`)
	if err != error(mine) {
		t.Errorf("error = %v, want the client's %v", err, mine)
	}
	planned := errors.New("dry run")
	_, err = invoke(t, t.Context(), &http.Client{Transport: failing{planned}}, binding{Method: "GET", Base: "https://a.example", Path: "/"}, `{}`)
	if !errors.Is(err, planned) {
		t.Errorf("error = %v, want one that is %v", err, planned)
	}
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// stalling answers with a text that never ends, or with nothing at all.
type stalling struct{ media, text string }

func (s stalling) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.media == "" {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return &http.Response{
		StatusCode: 200, Request: r, Header: http.Header{"Content-Type": {s.media}},
		Body: io.NopCloser(io.MultiReader(strings.NewReader(s.text), until{r.Context()})),
	}, nil
}

// until is a reader that waits for its context's end.
type until struct{ ctx context.Context }

func (u until) Read([]byte) (int, error) {
	<-u.ctx.Done()
	return 0, u.ctx.Err()
}

func TestADeadlineEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := binding{Method: "POST", Base: "http://a.example", Path: "/"}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := invoke(t, ctx, &http.Client{Transport: stalling{}}, b, `{}`)
		wantError(t, err, executor.Unavailable, false, "no answer from a.example within 30s")

		_, err = invoke(t, ctx, http.DefaultClient, b, `{}`)
		wantError(t, err, executor.Unavailable, true, "ended before it was sent")

		ctx, cancel = context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err = invoke(t, ctx, &http.Client{Transport: stalling{"application/json", `{"a":`}}, b, `{}`)
		wantError(t, err, executor.Unavailable, false, "broke off after 5 bytes")
	})
}

func TestACallGivenUpWhileConnectingIsUnsent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}}}
	_, err := invoke(t, ctx, client, binding{Method: "POST", Base: "http://a.example", Path: "/"}, `{}`)
	wantError(t, err, executor.Unavailable, true, "was given up before a.example answered")
}

func TestEventsUntilTheDeadlineAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		client := &http.Client{Transport: stalling{"text/event-stream", "data: 1\n\ndata: 2\n\ndata: unfin"}}
		r, err := invoke(t, ctx, client, binding{Method: "GET", Base: "http://a.example", Path: "/"}, `{}`)
		if err != nil || string(r.Value) != "[1,2]" || len(r.Notes) != 1 {
			t.Errorf("Invoke = %s, notes %q, %v; want [1,2] and a note", r.Value, r.Notes, err)
		}
	})
}

func TestOneCallIsOneMessage(t *testing.T) {
	u := serve(t, nil)
	u.ask(t, binding{Method: "POST", Path: "/", Bodies: []body{{Media: "application/json"}}}, `{"body":1}`)
	if len(u.seen) != 1 {
		t.Errorf("%d messages, want 1: %+v", len(u.seen), u.seen)
	}
}

func TestABrokenBindingIsNoPanic(t *testing.T) {
	for name, b := range map[string]binding{
		"no server":             {Method: "GET", Path: "/"},
		"a relative one":        {Method: "GET", Base: "/v1", Path: "/"},
		"another protocol":      {Method: "GET", Base: "file:///etc", Path: "/passwd"},
		"a bad method":          {Method: "G T", Base: "https://a.example", Path: "/"},
		"an open brace":         {Method: "GET", Base: "https://a.example", Path: "/{id"},
		"an unknown blank":      {Method: "GET", Base: "https://a.example", Path: "/{id}"},
		"a header with a space": {Method: "GET", Base: "https://a.example", Path: "/", Params: []param{{Arg: "h", Name: "X H", In: "header"}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := invoke(t, t.Context(), http.DefaultClient, b, `{"h":1}`)
			wantError(t, err, executor.Invalid, true, "")
		})
	}
}
