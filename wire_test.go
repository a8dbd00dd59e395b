package executor_test

import (
	"context"
	"encoding/json"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/open-executor/executor"
)

func TestAWriteThatNeverLeftHasFailed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, test := range map[string]struct {
		secret string
		dial   func(context.Context, string, string) (net.Conn, error)
	}{
		"nobody takes the connection before the caller hangs up": {token, func(ctx context.Context, _, _ string) (net.Conn, error) {
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		}},
		"the secret ends in a line break": {token + "\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(c *executor.Config) {
				c.Providers = []executor.Provider{vault{"token": test.secret}}
				c.Transport = func(bool) http.RoundTripper { return &http.Transport{DialContext: test.dial} }
			})
			a := w.signed(executor.AuthPart{In: executor.Bearer, Secret: "token"})
			a.Tool = "write"
			w.rule("write", executor.Allow)
			res, err := w.Execute(ctx, a, nil)
			if err == nil {
				t.Fatal("a call that cannot leave succeeds")
			}
			wantStatus(t, res.Status, executor.Failed)
			wantNothingOf(t, printed(err)+printed(w.run(res.Run)), token)
			w.wantHits(0)
		})
	}
}

func TestAPasswordInAURLIsNotRecorded(t *testing.T) {
	w := newWorld(t)
	base := strings.Replace(w.server.URL, "http://", "http://ann:p4ssw0rd@", 1)
	w.must(w.AddSource(t.Context(), w.source("named", base, w.server.URL)))
	a := executor.Address{Source: "named", Scope: "user", Connection: "public", Tool: "read"}
	res, err := w.Execute(t.Context(), a, nil)
	w.must(res, err)
	plan, err := w.DryRun(t.Context(), a, nil)
	w.must(plan, err)
	wantNothingOf(t, printed(w.run(res.Run))+printed(plan)+w.log.String(), "p4ssw0rd")
	w.wantHits(1)
}

func TestNoLimitIsTooLarge(t *testing.T) {
	w := newWorld(t)
	s := w.source("wide", w.server.URL)
	s.Limits.MaxBytes = math.MaxInt64
	w.must(w.AddSource(t.Context(), s))
	w.must(w.Execute(t.Context(), executor.Address{Source: "wide", Scope: "user", Connection: "public", Tool: "read"}, json.RawMessage(`{"a":1}`)))
}

func TestANarrowExecutorDoesNotCheckWhatItCannotSee(t *testing.T) {
	w := newWorld(t)
	narrow := w.Narrow(executor.Toolkit{Name: "others", Tools: []string{"*.*.other.*"}}, executor.Principal{Kind: executor.Agent, ID: "a"})
	unseen := narrow.CheckConnection(t.Context(), "up", "user", "public")
	absent := narrow.CheckConnection(t.Context(), "up", "user", "nobody")
	if got, want := printed(unseen), strings.ReplaceAll(printed(absent), "nobody", "public"); got != want {
		t.Errorf("CheckConnection gives %s, want %s", got, want)
	}
}
