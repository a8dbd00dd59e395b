package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/open-executor/executor"
)

// unsure is a condition that cannot be told.
type unsure struct{}

func (unsure) Holds(executor.Facts) (bool, error) { return false, errors.New("absent") }

func TestAConditionThatCannotBeToldSoftensNothing(t *testing.T) {
	w := newWorld(t, func(c *executor.Config) {
		c.Conditions = func(string) (executor.Condition, error) { return unsure{}, nil }
	})
	w.rule("*", executor.Block)
	w.must(w.SetPolicy(t.Context(), executor.Policy{Scope: "user", Source: "up", Tools: "write", When: "args.n > 1", Verdict: executor.RequireApproval}))
	d, err := w.Explain(t.Context(), at("write"), nil)
	if err != nil || d.Verdict != executor.Block || len(d.Reasons) != 2 {
		t.Errorf("Explain = %v with %d reasons, %v, want block with both rules", d.Verdict, len(d.Reasons), err)
	}
}

func TestAnApprovalDoesNotReachASourceThatTookTheName(t *testing.T) {
	w := newWorld(t)
	id := w.waiting("write", `{"n":1}`)
	w.must(w.Answer(t.Context(), id, true, ""))
	w.must(w.RemoveSource(t.Context(), "up"))
	other := w.source("up", w.server.URL)
	other.AllowPrivate = true
	w.must(w.AddSource(t.Context(), other))
	_, err := w.Resume(t.Context(), id)
	wantCode(t, err, executor.Conflict)
	w.wantHits(0)
}

func TestAShellActingForATerminalDoesNotDecide(t *testing.T) {
	w := newWorld(t, func(c *executor.Config) {
		c.Principal = executor.Principal{Kind: executor.Human, ID: "ann", Assurance: executor.Shell}
	})
	id := w.waiting("write", `{}`)
	n := w.Narrow(everything, executor.Principal{Kind: executor.Human, ID: "ann", Assurance: executor.Terminal})
	_, err := n.Answer(t.Context(), id, true, "")
	wantCode(t, err, executor.Blocked)
	wantStatus(t, w.run(id).Status, executor.Waiting)
}

func TestAnAgentSeesNoReferencesAndNoForeignConnections(t *testing.T) {
	w := newWorld(t, vaulted)
	w.signed(executor.AuthPart{In: executor.Bearer, Secret: "token"})
	agent := w.Narrow(executor.Toolkit{Name: "work", Tools: []string{"up.user.work.read"}}, executor.Principal{Kind: executor.Agent, ID: "a"})
	got, err := agent.Connections(t.Context())
	if err != nil || len(got) != 1 || got[0].Name != "work" || got[0].Secrets != nil {
		t.Errorf("Connections = %+v, %v, want work without its secrets", got, err)
	}
}

func TestALockedVaultDoesNotUseUpAnApproval(t *testing.T) {
	w := newWorld(t, vaulted)
	a := w.signed(executor.AuthPart{In: executor.Bearer, Secret: "token"})
	a.Tool = "write"
	res, err := w.Execute(t.Context(), a, json.RawMessage(`{}`))
	wantCode(t, err, executor.NeedsApproval)
	w.must(w.Answer(t.Context(), res.Run, true, ""))
	open := w.config.Providers
	w.config.Providers = []executor.Provider{vault{}}
	_, err = w.Executor.Resume(t.Context(), res.Run)
	w.must(nil, err) // the executor that is open still has its vault
	w.wantHits(1)

	res, err = w.Execute(t.Context(), a, json.RawMessage(`{}`))
	wantCode(t, err, executor.NeedsApproval)
	w.must(w.Answer(t.Context(), res.Run, true, ""))
	_, err = w.open().Resume(t.Context(), res.Run)
	wantCode(t, err, executor.NeedsAuth)
	wantStatus(t, w.run(res.Run).Status, executor.Waiting)
	w.config.Providers = open
	w.must(w.open().Resume(t.Context(), res.Run))
	w.wantHits(2)
}

// opaque is a kind that cannot tell what it would send.
type opaque struct{ kind *script }

func (o opaque) Name() string { return "opaque" }

func (o opaque) Resolve(ctx context.Context, s executor.Source, c executor.Credential) (executor.Manifest, error) {
	return o.kind.Resolve(ctx, s, c)
}

func (o opaque) Invoke(ctx context.Context, c executor.Call) (executor.Result, error) {
	return o.kind.Invoke(ctx, c)
}

func TestADryRunInvokesNothing(t *testing.T) {
	w := newWorld(t)
	w.config.Kinds = []executor.Kind{opaque{&script{manifest: w.kind.manifest, invoke: func(context.Context, executor.Call) (executor.Result, error) {
		t.Error("the kind was invoked")
		return executor.Result{}, nil
	}}}}
	w.config.Storage = executor.Memory()
	e := w.open()
	w.must(e.AddSource(t.Context(), executor.Source{ID: "up", Kind: "opaque", Config: json.RawMessage(`{}`)}))
	plan, err := e.DryRun(t.Context(), at("destroy"), nil)
	if err != nil || plan.Request != nil || plan.Decision.Verdict != executor.RequireApproval {
		t.Errorf("plan = %+v, %v, want a decision and no request", plan, err)
	}
}

func TestAKindThatPanicsWhileResolvingIsItsDefectOnly(t *testing.T) {
	w := newWorld(t)
	w.kind.resolve = func(executor.Credential) error { panic("boom") }
	_, err := w.AddSource(t.Context(), w.source("other", w.server.URL))
	wantCode(t, err, executor.Internal)
}

func TestASourceThatWantsASignInIsRefreshedThroughItsConnections(t *testing.T) {
	w := newWorld(t, vaulted)
	signedOnly := func(c executor.Credential) error {
		req, err := http.NewRequest("GET", w.server.URL+"/tools", nil)
		if err != nil {
			return err
		}
		resp, err := c.Client().Do(req)
		if err != nil {
			return err
		}
		_ = resp.Body.Close() // it is empty
		if resp.StatusCode == http.StatusUnauthorized {
			return &executor.Error{Code: executor.NeedsAuth, Msg: "sign in"}
		}
		return nil
	}
	w.answers(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			rw.WriteHeader(http.StatusUnauthorized)
		}
	})
	w.kind.resolve = signedOnly
	w.must(w.AddSource(t.Context(), w.source("private", w.server.URL)))
	w.must(w.Connect(t.Context(), executor.Connection{
		Source: "private", Scope: "user", Name: "work", Secrets: map[string]executor.SecretRef{"token": "v://token"},
		Auth: executor.Auth{Parts: []executor.AuthPart{{In: executor.Bearer, Secret: "token"}}},
	}))
	w.kind.manifest.Tools = append(tools(), executor.Tool{Name: "new", Effect: executor.Read})
	_, drift, err := w.RefreshSource(t.Context(), "private")
	if err != nil || len(drift.Added) != 1 || drift.Added[0] != "new" {
		t.Errorf("RefreshSource = %+v, %v, want one tool added", drift, err)
	}
	w.must(w.Find(t.Context(), executor.Address{Source: "private", Scope: "user", Connection: "work", Tool: "new"}))
}

func TestAUsernameIsASecretWhereItIsTheKey(t *testing.T) {
	for _, c := range []struct {
		username, password, echo, want string
	}{
		{"ann", "p4ssw0rd", "ann p4ssw0rd", `"ann [secret]"`},
		{"sk_test_12345678", "x4x4", "sk_test_12345678", `"[secret]"`},
		{"short-key", "", "short-key", `"[secret]"`},
		{"same-thing", "same-thing", "same-thing", `"[secret]"`},
	} {
		w := newWorld(t, func(cfg *executor.Config) {
			cfg.Providers = []executor.Provider{vault{"username": c.username, "password": c.password}}
		})
		w.answers(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			_, _ = rw.Write([]byte(`"` + c.echo + `"`)) // a test's answer
		})
		res, err := w.Execute(t.Context(), w.signed(executor.AuthPart{In: executor.Basic}), nil)
		if err != nil || string(res.Value) != c.want {
			t.Errorf("%s: upstream's echo comes back as %s, %v, want %s", c.username, res.Value, err, c.want)
		}
	}
}
