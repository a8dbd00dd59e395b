package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/open-executor/executor"
)

func TestSourceWithoutSignInHasItsPublicConnectionAtOnce(t *testing.T) {
	w := newWorld(t, func(c *executor.Config) { c.Scopes = executor.Scopes{"org", "user"} })
	connections, err := w.Connections(t.Context())
	w.must(connections, err)
	if len(connections) != 1 || connections[0].Name != executor.Public || connections[0].Scope != "user" || connections[0].Source != "up" {
		t.Errorf("connections = %+v, want public in the innermost scope", connections)
	}
	_, err = w.AddSource(t.Context(), w.source("up", "http://elsewhere.test"))
	wantCode(t, err, executor.Conflict)
	if s, err := w.Source(t.Context(), "up"); err != nil || s.Hosts[0] != w.server.URL {
		t.Errorf("source = %+v, %v; want it as it was", s, err)
	}
}

func TestSourceThatWantsASignInIsResolvedThroughItsConnection(t *testing.T) {
	w := newWorld(t, vaulted)
	w.kind.resolve = func(cred executor.Credential) error {
		resp, err := cred.Client().Get(w.server.URL + "/describe")
		if err != nil {
			return err
		}
		defer resp.Body.Close() //nolint:errcheck // nothing is read
		if resp.StatusCode == 401 {
			return &executor.Error{Code: executor.NeedsAuth, Msg: "who are you"}
		}
		return nil
	}
	w.answers(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			rw.WriteHeader(401)
		}
	})
	w.must(w.AddSource(t.Context(), w.source("shy", w.server.URL)))
	c := executor.Connection{
		Source: "shy", Scope: "user", Name: "work", Secrets: map[string]executor.SecretRef{"token": "v://token"},
		Auth: executor.Auth{Name: "bearer", Parts: []executor.AuthPart{{In: executor.Bearer, Secret: "token"}}},
	}
	got, err := w.Connect(t.Context(), c)
	w.must(got, err)
	if got.Manifest == "" {
		t.Error("the connection has no manifest of its own")
	}
	w.must(w.Execute(t.Context(), executor.Address{Source: "shy", Scope: "user", Connection: "work", Tool: "read"}, nil))
	// With another token it stays as it was.
	c.Secrets = map[string]executor.SecretRef{"token": "v://other"}
	_, err = w.Connect(t.Context(), c)
	wantCode(t, err, executor.NeedsAuth)
	connections, err := w.Connections(t.Context())
	w.must(connections, err)
	if connections[0].Secrets["token"] != "v://token" {
		t.Errorf("connection = %+v, want it as it was", connections[0])
	}
}

func TestSourceThatCannotBeIsRefused(t *testing.T) {
	w := newWorld(t)
	for name, s := range map[string]executor.Source{
		"no id": w.source("", w.server.URL), "bad id": w.source("a.b", w.server.URL), "path": w.source("../x", w.server.URL),
		"no kind": {ID: "x"}, "another kind": {ID: "x", Kind: "telepathy"},
	} {
		_, err := w.AddSource(t.Context(), s)
		if executor.CodeOf(err) != executor.Invalid {
			t.Errorf("%s: %v, want invalid", name, err)
		}
	}
	for name, bad := range map[string][]executor.Tool{"twice": {{Name: "a"}, {Name: "a"}}, "bad name": {{Name: "a/b"}}} {
		w.kind.manifest.Tools = bad
		if _, err := w.AddSource(t.Context(), w.source("x", w.server.URL)); err == nil {
			t.Errorf("%s: a manifest that cannot be was kept", name)
		}
	}
	w.kind.resolve = func(executor.Credential) error { return errors.New("out of reach") }
	if _, err := w.AddSource(t.Context(), w.source("x", w.server.URL)); err == nil {
		t.Error("a source that does not resolve was added")
	}
	_, err := w.Source(t.Context(), "x")
	wantCode(t, err, executor.NotFound)
}

func TestAgentsDoNotConfigure(t *testing.T) {
	w := newWorld(t, vaulted)
	bot := w.agent("bot")
	private := w.source("mine", w.server.URL)
	private.AllowPrivate = true
	connection := executor.Connection{Source: "up", Scope: "user", Name: "work"}
	secret := connection
	secret.Secrets = map[string]executor.SecretRef{"token": "v://token"}
	public := connection
	public.Name, public.Headers = executor.Public, map[string]string{"X-As": "root"}
	rule := executor.Policy{Scope: "user", Source: "up", Tools: "*", Verdict: executor.Allow}
	w.rule("*", executor.Block)
	for _, e := range []*executor.Executor{bot, bot.Narrow(everything, w.Principal())} {
		for name, do := range map[string]func() error{
			"set policy":         func() error { _, err := e.SetPolicy(t.Context(), rule); return err },
			"remove policy":      func() error { return e.RemovePolicy(t.Context(), rule) },
			"refresh":            func() error { _, _, err := e.RefreshSource(t.Context(), "up"); return err },
			"remove source":      func() error { _, err := e.RemoveSource(t.Context(), "up"); return err },
			"disconnect":         func() error { return e.Disconnect(t.Context(), "up", "user", "public") },
			"connect a secret":   func() error { _, err := e.Connect(t.Context(), secret); return err },
			"connect another":    func() error { _, err := e.Connect(t.Context(), connection); return err },
			"add a source":       func() error { _, err := e.AddSource(t.Context(), w.source("own", w.server.URL)); return err },
			"change public":      func() error { _, err := e.Connect(t.Context(), public); return err },
			"private source":     func() error { _, err := e.AddSource(t.Context(), private); return err },
			"store a secret":     func() error { _, err := e.Keep(t.Context(), "v", "x", executor.NewSecret("y")); return err },
			"verify the records": func() error { _, err := e.VerifyRuns(t.Context()); return err },
		} {
			if err := do(); executor.CodeOf(err) != executor.Blocked {
				t.Errorf("%s: %v, want blocked", name, err)
			}
		}
	}
	policies, err := w.Policies(t.Context())
	w.must(policies, err)
	if len(policies) != 1 || policies[0].Verdict != executor.Block {
		t.Errorf("policies = %+v, want the block alone", policies)
	}
}

// An agent at a shell may try things; it may not get around a rule that way.
func TestAnAgentThatActsForItselfConnectsOnlyWhereNoConnectionHasRules(t *testing.T) {
	w := newWorld(t)
	w.config.Principal = executor.Principal{Kind: executor.Agent, ID: "bot"}
	bot := w.open()
	mine := executor.Connection{Source: "up", Scope: "user", Name: "mine"}
	w.must(bot.Connect(t.Context(), mine))
	w.must(bot.AddSource(t.Context(), w.source("own", w.server.URL)))
	mine.Name, mine.Headers = "other", map[string]string{"Authorization": "Bearer x"}
	_, err := bot.Connect(t.Context(), mine)
	wantCode(t, err, executor.Blocked)

	w.must(w.SetPolicy(t.Context(), executor.Policy{Scope: "user", Source: "up", Connection: "public", Tools: "*", Verdict: executor.Block}))
	_, err = bot.Connect(t.Context(), executor.Connection{Source: "up", Scope: "user", Name: "third"})
	wantCode(t, err, executor.Blocked)
}

func TestANarrowedExecutorKnowsItsSourcesOnly(t *testing.T) {
	w := newWorld(t)
	w.must(w.AddSource(t.Context(), w.source("hidden", w.server.URL)))
	n := w.Narrow(executor.Toolkit{Name: "up", Tools: []string{"up.*.*.read"}}, executor.Principal{Kind: executor.Agent, ID: "bot"})
	sources, err := n.Sources(t.Context())
	if err != nil || len(sources) != 1 || sources[0].ID != "up" {
		t.Errorf("Sources = %v, %v, want up alone", sources, err)
	}
	_, err = n.Source(t.Context(), "hidden")
	wantCode(t, err, executor.NotFound)
}

func TestAnApprovalThatNobodyUsesExpires(t *testing.T) {
	now := &clock{t: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	w := newWorld(t, func(c *executor.Config) { c.Now = now.now })
	id := w.waiting("write", `{}`)
	w.must(w.Answer(t.Context(), id, true, ""))
	now.pass(25 * time.Hour)
	requests, err := w.Requests(t.Context())
	if err != nil || len(requests) != 0 {
		t.Errorf("Requests = %v, %v, want none", requests, err)
	}
	wantStatus(t, w.run(id).Status, executor.Denied)
	_, err = w.Resume(t.Context(), id)
	wantCode(t, err, executor.Conflict)
	w.wantHits(0)
}

func TestACookieIsSentAsTheSecretIs(t *testing.T) {
	w := newWorld(t, func(c *executor.Config) { c.Providers = []executor.Provider{vault{"token": `a "b", c\d`}} })
	var got string
	w.answers(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Cookie") })
	w.must(w.Execute(t.Context(), w.signed(executor.AuthPart{In: executor.InCookie, Name: "sid", Secret: "token"}), nil))
	if want := `sid=a "b", c\d`; got != want {
		t.Errorf("Cookie is %q, want %q", got, want)
	}
}

func TestRemovedSourceTakesEverythingAlong(t *testing.T) {
	w := newWorld(t, vaulted)
	w.must(w.AddSource(t.Context(), w.source("up-2", "http://other.test"))) // same manifest, similar name
	w.signed(executor.AuthPart{In: executor.Bearer, Secret: "token"})
	w.rule("*", executor.Block)
	w.must(w.SetPolicy(t.Context(), executor.Policy{Scope: "user", Source: "up", Connection: "work", Tools: "read", Verdict: executor.Allow}))
	w.must(w.SetPolicy(t.Context(), executor.Policy{Scope: "user", Source: "up-2", Tools: "read", Verdict: executor.Block}))
	res, _ := w.Execute(t.Context(), at("read"), nil)

	removed, err := w.RemoveSource(t.Context(), "up")
	w.must(removed, err)
	if removed != (executor.Removed{Connections: 2, Policies: 2}) {
		t.Errorf("removed = %+v, want 2 connections and 2 rules", removed)
	}
	blobs, err := w.config.Storage.Artifacts().List(t.Context())
	w.must(blobs, err)
	if len(blobs) != 1 {
		t.Errorf("%d manifests, want the one that up-2 names too", len(blobs))
	}
	w.must(w.Find(t.Context(), executor.Address{Source: "up-2", Scope: "user", Connection: "public", Tool: "read"}))
	w.run(res.Run) // runs stay
	_, err = w.RemoveSource(t.Context(), "up")
	wantCode(t, err, executor.NotFound)
	w.must(w.RemoveSource(t.Context(), "up-2"))
	if blobs, _ = w.config.Storage.Artifacts().List(t.Context()); len(blobs) != 0 {
		t.Errorf("%d manifests are left", len(blobs))
	}
	// What comes back under the name has no rules of before.
	w.must(w.AddSource(t.Context(), w.source("up", w.server.URL)))
	w.must(w.Execute(t.Context(), at("read"), nil))
}

func TestRefreshTellsTheDriftAndWidensNothing(t *testing.T) {
	w := newWorld(t)
	w.rule("write", executor.Block)
	w.kind.manifest.Tools = append(tools()[1:], executor.Tool{Name: "fresh"})
	w.kind.manifest.Tools[0].Effect = executor.Read
	w.kind.manifest.Hosts = []string{"http://evil.test"}
	w.kind.manifest.Defs = map[string]json.RawMessage{"A": []byte(`{"type":"string"}`)}
	s, drift, err := w.RefreshSource(t.Context(), "up")
	w.must(s, err)
	want := executor.Drift{
		Added: []executor.ToolName{"fresh"}, Removed: []executor.ToolName{"read"}, Changed: []executor.ToolName{"login", "loop", "write"},
		Hosts: []string{"http://evil.test"},
	}
	if !reflect.DeepEqual(drift, want) {
		t.Errorf("drift = %+v, want %+v", drift, want)
	}
	if !reflect.DeepEqual(s.Hosts, []string{w.server.URL}) {
		t.Errorf("hosts = %q, want them as they were", s.Hosts)
	}
	_, err = w.Execute(t.Context(), at("write"), nil)
	wantCode(t, err, executor.Blocked)
	_, again, err := w.RefreshSource(t.Context(), "up")
	w.must(nil, err)
	want = executor.Drift{Added: []executor.ToolName{}, Removed: []executor.ToolName{}, Changed: []executor.ToolName{}, Hosts: want.Hosts}
	if !reflect.DeepEqual(again, want) {
		t.Errorf("second drift = %+v, want %+v", again, want)
	}
	blobs, err := w.config.Storage.Artifacts().List(t.Context())
	w.must(blobs, err)
	if len(blobs) != 1 {
		t.Errorf("%d manifests, want 1", len(blobs))
	}
}

func TestConnectChecks(t *testing.T) {
	w := newWorld(t, vaulted)
	bearer := executor.Auth{Name: "bearer", Parts: []executor.AuthPart{{In: executor.Bearer, Secret: "token"}}}
	ref := func(s string) map[string]executor.SecretRef {
		return map[string]executor.SecretRef{"token": executor.SecretRef(s)}
	}
	for _, test := range []struct {
		name string
		c    executor.Connection
		want executor.Code
	}{
		{"unknown source", executor.Connection{Source: "nil", Scope: "user", Name: "a"}, executor.NotFound},
		{"unknown scope", executor.Connection{Source: "up", Scope: "org", Name: "a"}, executor.NotFound},
		{"bad name", executor.Connection{Source: "up", Scope: "user", Name: "a/b"}, executor.Invalid},
		{"no name", executor.Connection{Source: "up", Scope: "user"}, executor.Invalid},
		{"missing secret", executor.Connection{Source: "up", Scope: "user", Name: "a", Auth: bearer}, executor.NeedsAuth},
		{"secret that is not wanted", executor.Connection{Source: "up", Scope: "user", Name: "a", Secrets: ref("v://token")}, executor.Invalid},
		{"value for a reference", executor.Connection{Source: "up", Scope: "user", Name: "a", Auth: bearer, Secrets: ref("t0p-s3cret")}, executor.Invalid},
		{"unknown provider", executor.Connection{Source: "up", Scope: "user", Name: "a", Auth: bearer, Secrets: ref("nope://x")}, executor.NeedsAuth},
		{"absent secret", executor.Connection{Source: "up", Scope: "user", Name: "a", Auth: bearer, Secrets: ref("v://nil")}, executor.NeedsAuth},
		{"all there", executor.Connection{Source: "up", Scope: "user", Name: "a", Auth: bearer, Secrets: ref("v://token")}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := w.Connect(t.Context(), test.c)
			wantCode(t, err, test.want)
			wantNothingOf(t, printed(err), "t0p-s3cret", token)
		})
	}
	wantCode(t, w.Disconnect(t.Context(), "up", "user", "b"), executor.NotFound)
	wantCode(t, w.Disconnect(t.Context(), "up", "org", "a"), executor.NotFound)
	w.must(nil, w.Disconnect(t.Context(), "up", "user", "a"))
	wantCode(t, w.CheckConnection(context.Background(), "up", "user", "a"), executor.NotFound)
}

func TestPolicyIsCheckedAndCounted(t *testing.T) {
	w := newWorld(t, func(c *executor.Config) { c.Conditions = conditions })
	for _, test := range []struct {
		p    executor.Policy
		want int
		code executor.Code
	}{
		{p: executor.Policy{Scope: "user", Source: "up", Tools: "*"}, want: len(tools())},
		{p: executor.Policy{Scope: "user", Source: "up", Tools: "book.*"}, want: 2},
		{p: executor.Policy{Scope: "user", Source: "up", Connection: "public", Tools: "read"}, want: 1},
		{p: executor.Policy{Scope: "user", Source: "up", Tools: "raed"}, want: 0},
		{p: executor.Policy{Scope: "user", Source: "up", Tools: "read", When: "false"}, want: 1},
		{p: executor.Policy{Scope: "org", Source: "up", Tools: "*"}, code: executor.NotFound},
		{p: executor.Policy{Scope: "user", Source: "nil", Tools: "*"}, code: executor.NotFound},
		{p: executor.Policy{Scope: "user", Source: "up", Connection: "nil", Tools: "*"}, code: executor.NotFound},
		{p: executor.Policy{Scope: "user", Source: "up", Tools: ""}, code: executor.Invalid},
		{p: executor.Policy{Scope: "user", Source: "up", Tools: "[a"}, code: executor.Invalid},
		{p: executor.Policy{Scope: "user", Source: "up", Tools: `a\`}, code: executor.Invalid},
		{p: executor.Policy{Scope: "user", Source: "up", Tools: "*", Verdict: 3}, code: executor.Invalid},
		{p: executor.Policy{Scope: "user", Source: "up", Tools: "*", Verdict: -1}, code: executor.Invalid},
		{p: executor.Policy{Scope: "user", Source: "up", Tools: "*", When: "1 +"}, code: executor.Invalid},
	} {
		n, err := w.SetPolicy(t.Context(), test.p)
		if n != test.want || executor.CodeOf(err) != test.code {
			t.Errorf("SetPolicy(%+v) = %d, %v; want %d, %q", test.p, n, err, test.want, test.code)
		}
	}
	policies, err := w.Policies(t.Context())
	w.must(policies, err)
	if len(policies) != 5 {
		t.Errorf("%d rules, want 5", len(policies))
	}
	// The same place again is the same rule.
	w.must(w.SetPolicy(t.Context(), executor.Policy{Scope: "user", Source: "up", Tools: "*", Verdict: executor.Block}))
	_, err = w.Execute(t.Context(), at("write"), nil)
	wantCode(t, err, executor.Blocked)
	w.must(nil, w.RemovePolicy(t.Context(), executor.Policy{Scope: "user", Source: "up", Tools: "*"}))
	wantCode(t, w.RemovePolicy(t.Context(), executor.Policy{Scope: "user", Source: "up", Tools: "*"}), executor.NotFound)
}

func TestAConnectionThatCouldNotBeRemovedKeepsItsBlocks(t *testing.T) {
	storage := &stuck{Storage: executor.Memory()}
	w := newWorld(t, func(c *executor.Config) { c.Storage = storage })
	for tools, verdict := range map[string]executor.Verdict{"read": executor.Block, "write": executor.Allow} {
		w.must(w.SetPolicy(t.Context(), executor.Policy{Scope: "user", Source: "up", Connection: "public", Tools: tools, Verdict: verdict}))
	}
	storage.noun = executor.Connections
	wantCode(t, w.Disconnect(t.Context(), "up", "user", "public"), executor.Unavailable)
	_, err := w.Execute(t.Context(), at("read"), nil)
	wantCode(t, err, executor.Blocked)
	_, err = w.Execute(t.Context(), at("write"), nil)
	wantCode(t, err, executor.NeedsApproval)
}

// stuck is a storage that deletes no record of a noun.
type stuck struct {
	executor.Storage
	noun executor.Noun
}

func (s *stuck) Table(noun executor.Noun) executor.Table {
	if noun == s.noun {
		return stuckTable{s.Storage.Table(noun)}
	}
	return s.Storage.Table(noun)
}

type stuckTable struct{ executor.Table }

func (stuckTable) Delete(context.Context, string) error {
	return &executor.Error{Code: executor.Unavailable, Msg: "no space left"}
}
