package openapi_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
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

func TestADeadlineEndsTheWait(t *testing.T) {
	held := make(chan struct{})
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/half" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"a":`) // the client tells what it read
			w.(http.Flusher).Flush()
		}
		select {
		case <-held:
		case <-r.Context().Done():
		}
	})
	defer close(held)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := invoke(t, ctx, u.Client(), binding{Method: "POST", Base: u.URL, Path: "/"}, `{}`)
	wantError(t, err, executor.Unavailable, false, "no answer from ")

	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = invoke(t, ctx, u.Client(), binding{Method: "GET", Base: u.URL, Path: "/half"}, `{}`)
	wantError(t, err, executor.Unavailable, false, "broke off after 5 bytes")

	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	_, err = invoke(t, ctx, u.Client(), binding{Method: "POST", Base: u.URL, Path: "/"}, `{}`)
	wantError(t, err, executor.Unavailable, true, "ended before it was sent")
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
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\ndata: 2\n\ndata: unfin") // the client tells what it read
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	r, err := invoke(t, ctx, u.Client(), binding{Method: "GET", Base: u.URL, Path: "/"}, `{}`)
	if err != nil || string(r.Value) != "[1,2]" || len(r.Notes) != 1 {
		t.Errorf("Invoke = %s, notes %q, %v; want [1,2] and a note", r.Value, r.Notes, err)
	}
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
