package executor_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/open-executor/executor"
)

const token = "t0k3n/with+odd=chars"

// signed gives an address whose connection signs as parts say.
func (w *world) signed(parts ...executor.AuthPart) executor.Address {
	w.t.Helper()
	c := executor.Connection{
		Source: "up", Scope: "user", Name: "work", Headers: map[string]string{"X-Static": "connection"},
		Auth: executor.Auth{Name: "test", Parts: parts}, Secrets: map[string]executor.SecretRef{},
	}
	for _, key := range c.Auth.Keys() {
		c.Secrets[key] = executor.SecretRef("v://" + key)
	}
	w.must(w.Connect(w.t.Context(), c))
	return executor.Address{Source: "up", Scope: "user", Connection: "work", Tool: "read"}
}

func vaulted(c *executor.Config) {
	c.Providers = []executor.Provider{vault{"token": token, "username": "ann", "password": "p4ssw0rd:x", "other": "0th3r"}}
}

// shown is a request as upstream or a redirect's target saw it.
type shown struct {
	url    string
	header http.Header
}

func TestEachPlaceOfACredential(t *testing.T) {
	bearer := executor.AuthPart{In: executor.Bearer, Secret: "token"}
	for _, test := range []struct {
		name  string
		parts []executor.AuthPart
		want  map[string]string // header → value; "?" → query
	}{
		{"none", nil, map[string]string{"Authorization": "", "X-Static": "connection"}},
		{"bearer", []executor.AuthPart{bearer}, map[string]string{"Authorization": "Bearer " + token}},
		{"basic", []executor.AuthPart{{In: executor.Basic}}, map[string]string{"Authorization": "Basic YW5uOnA0c3N3MHJkOng="}},
		{"header", []executor.AuthPart{{In: executor.InHeader, Name: "X-Key", Secret: "token"}}, map[string]string{"X-Key": token}},
		{"header with a prefix", []executor.AuthPart{{In: executor.InHeader, Name: "Authorization", Prefix: "Bot ", Secret: "token"}}, map[string]string{"Authorization": "Bot " + token}},
		{"query", []executor.AuthPart{{In: executor.InQuery, Name: "api key", Secret: "token"}}, map[string]string{"?": "api+key=t0k3n%2Fwith%2Bodd%3Dchars"}},
		{"cookie", []executor.AuthPart{{In: executor.InCookie, Name: "sid", Secret: "token"}}, map[string]string{"Cookie": "sid=" + token}},
		{"several at once", []executor.AuthPart{
			bearer, {In: executor.InHeader, Name: "X-Key", Secret: "other"}, {In: executor.InQuery, Name: "a", Secret: "other"}, {In: executor.InQuery, Name: "b", Secret: "token"},
		}, map[string]string{"Authorization": "Bearer " + token, "X-Key": "0th3r", "?": "a=0th3r&b=t0k3n%2Fwith%2Bodd%3Dchars"}},
		{"a signature stands over a static header", []executor.AuthPart{{In: executor.InHeader, Name: "X-Static", Secret: "other"}}, map[string]string{"X-Static": "0th3r"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, vaulted)
			a := w.signed(test.parts...)
			var got shown
			w.answers(func(_ http.ResponseWriter, r *http.Request) { got = shown{r.URL.RawQuery, r.Header} })
			res, err := w.Execute(t.Context(), a, nil)
			w.must(res, err)
			for name, want := range test.want {
				have := strings.Join(got.header.Values(name), "|")
				if name == "?" {
					have = got.url
				}
				if have != want {
					t.Errorf("%s = %q, want %q", name, have, want)
				}
			}
			wantNothingOf(t, printed(w.run(res.Run))+printed(res)+w.log.String(), token, "t0k3n%2Fwith", "p4ssw0rd", "YW5uOnA0c3N3", "0th3r")
		})
	}
}

// hop answers the first request with a redirect and keeps every request.
func hop(seen *[]shown, to func() string, status int) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		*seen = append(*seen, shown{r.URL.String(), r.Header})
		if len(*seen) == 1 {
			http.Redirect(rw, r, to(), status)
		}
	}
}

var allPlaces = []executor.AuthPart{
	{In: executor.Bearer, Secret: "token"}, {In: executor.InHeader, Name: "X-Key", Secret: "token"},
	{In: executor.InCookie, Name: "sid", Secret: "token"}, {In: executor.InQuery, Name: "key", Secret: "token"},
}

func TestRedirectToTheSameOriginIsSigned(t *testing.T) {
	for _, status := range []int{302, 307, 308} {
		w := newWorld(t, vaulted)
		a := w.signed(allPlaces...)
		var seen []shown
		w.answers(hop(&seen, func() string { return "/elsewhere" }, status))
		w.must(w.Execute(t.Context(), a, nil))
		if len(seen) != 2 || seen[1].header.Get("Authorization") != "Bearer "+token || len(seen[1].header.Values("Cookie")) != 1 ||
			seen[1].header.Get("X-Static") != "connection" || strings.Count(seen[1].url, "key=") != 1 {
			t.Errorf("%d: requests = %+v, want the second signed once", status, seen)
		}
		for _, s := range seen {
			if s.header.Get("Referer") != "" {
				t.Errorf("Referer %q was sent", s.header.Get("Referer"))
			}
		}
	}
}

func TestRedirectToAnotherAllowedHostGoesBare(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		w := newWorld(t, vaulted)
		var there []shown
		other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			there = append(there, shown{r.URL.String(), r.Header})
		}))
		t.Cleanup(other.Close)
		s := w.source("two", w.server.URL, other.URL)
		s.Headers = map[string]string{"X-Source": "1"}
		w.must(w.AddSource(t.Context(), s))
		a := w.signed(allPlaces...)
		c, err := w.Connections(t.Context())
		w.must(c, err)
		for _, c := range c {
			if c.Name == "work" {
				c.Source, a.Source = "two", "two"
				w.must(w.Connect(t.Context(), c))
			}
		}
		var here []shown
		w.answers(hop(&here, func() string { return other.URL + "/there" }, status))
		w.must(w.Execute(t.Context(), a, json.RawMessage(`{"n":1}`)))
		if len(here) != 1 || len(there) != 1 || here[0].header.Get("X-Source") != "1" {
			t.Fatalf("%d: %d here, %d there", status, len(here), len(there))
		}
		if there[0].url != "/there" {
			t.Errorf("%d: url %q carries more than upstream named", status, there[0].url)
		}
		for name := range there[0].header {
			switch name {
			case "Accept-Encoding", "User-Agent", "Content-Length", "Content-Type", "Accept", "Accept-Language", "Range":
			default:
				t.Errorf("%d: header %s went to another host", status, name)
			}
		}
	}
}

func TestRedirectToAHostThatIsNotAllowedIsRefused(t *testing.T) {
	w := newWorld(t, vaulted)
	called := false
	evil := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	t.Cleanup(evil.Close)
	a := w.signed(allPlaces...)
	w.answers(func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, evil.URL+"/?"+r.URL.RawQuery, 307) })
	res, err := w.Execute(t.Context(), a, nil)
	wantCode(t, err, executor.Blocked)
	wantStatus(t, res.Status, executor.Failed)
	wantNothingOf(t, printed(err)+printed(w.run(res.Run))+w.log.String(), token, "t0k3n%2Fwith")
	if called {
		t.Error("the other host was called")
	}
	// A write that was answered so may have happened.
	w.rule("*", executor.Allow)
	a.Tool = "write"
	res, err = w.Execute(t.Context(), a, nil)
	wantCode(t, err, executor.Blocked)
	wantStatus(t, res.Status, executor.Ambiguous)
}

func TestFirstRequestToAHostThatIsNotAllowedIsRefused(t *testing.T) {
	w := allowed(t)
	for _, base := range []string{"http://evil.test", w.server.URL + "0", strings.Replace(w.server.URL, "127.0.0.1", "127.0.0.1.evil.test", 1), w.server.URL + "@evil.test"} {
		w.kind.invoke = func(ctx context.Context, c executor.Call) (executor.Result, error) {
			c.Source = w.source("up", base)
			return post(ctx, c)
		}
		res, err := w.Execute(t.Context(), at("write"), nil)
		if executor.CodeOf(err) != executor.Blocked || res.Status != executor.Failed {
			t.Errorf("%s: %s with %v, want it blocked", base, res.Status, err)
		}
	}
	w.wantHits(0)
}

func TestRedirectFromHTTPSToHTTPIsRefused(t *testing.T) {
	var asked []string
	w := newWorld(t, vaulted, func(c *executor.Config) {
		c.Transport = func(bool) http.RoundTripper {
			return transport(func(req *http.Request) (*http.Response, error) {
				asked = append(asked, req.URL.Scheme)
				h := http.Header{"Location": {"http://up.test/plain"}}
				return &http.Response{StatusCode: 302, Header: h, Body: http.NoBody, Request: req}, nil
			})
		}
	})
	w.must(w.AddSource(t.Context(), w.source("tls", "https://up.test", "http://up.test")))
	a := at("read")
	a.Source = "tls"
	_, err := w.Execute(t.Context(), a, nil)
	wantCode(t, err, executor.Blocked)
	if len(asked) != 1 || asked[0] != "https" {
		t.Errorf("asked %q, want https once", asked)
	}
}

func TestRedirectsEnd(t *testing.T) {
	w := newWorld(t)
	w.answers(func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/again", 302) })
	_, err := w.Execute(t.Context(), at("read"), nil)
	wantCode(t, err, executor.Unavailable)
	w.wantHits(10)
}

// watched fails the test when it is asked.
type watched struct{ t *testing.T }

func (watched) Scheme() string { return "v" }

func (w watched) Secret(context.Context, executor.SecretRef) (executor.Secret, error) {
	w.t.Error("a secret was resolved")
	return executor.Secret{}, nil
}

func TestDryRunMasksAndTouchesNothing(t *testing.T) {
	w := newWorld(t, vaulted)
	a := w.signed(append(allPlaces, executor.AuthPart{In: executor.InHeader, Name: "X-Other", Secret: "other"})...)
	before, err := w.Runs(t.Context(), executor.RunFilter{})
	w.must(before, err)
	w.config.Providers = []executor.Provider{watched{t}}
	e := w.open()
	for _, tool := range []executor.ToolName{"read", "write"} {
		a.Tool = tool
		plan, err := e.DryRun(t.Context(), a, json.RawMessage(`{"n":1}`))
		if err != nil {
			t.Fatal(err)
		}
		if plan.Request == nil || plan.Request.Method != "POST" || plan.Request.Body != `{"n":1}` || plan.Request.Size != 7 ||
			plan.Request.Header.Get("Authorization") != "Bearer [secret]" || plan.Request.Header.Get("X-Other") != "[secret]" ||
			!strings.HasSuffix(plan.Request.URL, "/"+string(tool)+"?key=%5Bsecret%5D") || plan.Request.Header.Get("Cookie") != "sid=[secret]" {
			t.Errorf("plan = %+v", plan.Request)
		}
	}
	a.Tool = "login"
	plan, err := e.DryRun(t.Context(), a, json.RawMessage(`{"password":"hunter2"}`))
	if err != nil || string(plan.Args) != `{"password":"[secret]"}` || plan.Decision.Verdict != executor.RequireApproval {
		t.Errorf("plan = %+v, %v", plan, err)
	}
	w.rule("*", executor.Block)
	plan, err = e.DryRun(t.Context(), a, nil)
	if err != nil || plan.Request != nil || plan.Decision.Verdict != executor.Block {
		t.Errorf("blocked plan = %+v, %v", plan, err)
	}
	w.wantHits(0)
	after, err := w.Runs(t.Context(), executor.RunFilter{})
	w.must(after, err)
	if len(after) != len(before) {
		t.Errorf("a dry run left %d runs", len(after)-len(before))
	}
}

func TestSecretThatIsGoneNeedsAuthAndSendsNothing(t *testing.T) {
	w := newWorld(t, vaulted)
	a := w.signed(executor.AuthPart{In: executor.Bearer, Secret: "token"})
	w.config.Providers = []executor.Provider{vault{}}
	_, err := w.open().Execute(t.Context(), a, nil)
	wantCode(t, err, executor.NeedsAuth)
	w.config.Providers = nil
	_, err = w.open().Execute(t.Context(), a, nil)
	wantCode(t, err, executor.NeedsAuth)
	w.wantHits(0)
}

func TestNothingLeavesWithoutATransport(t *testing.T) {
	w := newWorld(t, func(c *executor.Config) { c.Transport = nil })
	_, err := w.Execute(t.Context(), at("read"), nil)
	wantCode(t, err, executor.Invalid)
	resp, err := executor.Credential{}.Client().Get(w.server.URL)
	if err == nil {
		_ = resp.Body.Close() // the test has failed already
	}
	wantCode(t, err, executor.Invalid)
	w.wantHits(0)
}
