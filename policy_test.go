package executor_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/open-executor/executor"
	"pgregory.net/rapid"
)

// conditions compiles "true", "false" and "fails" to what they say.
func conditions(expr string) (executor.Condition, error) {
	switch expr {
	case "true", "false", "fails":
		return says(expr), nil
	}
	return nil, &executor.Error{Code: executor.Invalid, Msg: "not a condition"}
}

type says string

func (s says) Holds(executor.Facts) (bool, error) {
	if s == "fails" {
		return false, errors.New("no such key: limit")
	}
	return s == "true", nil
}

var laws = []struct {
	name     string
	policies []executor.Policy
	effect   executor.Effect
	tool     executor.ToolName // "": book.find
	want     executor.Verdict
	reasons  int
}{
	{name: "a read is allowed where nobody says anything", effect: executor.Read, want: executor.Allow, reasons: 1},
	{name: "a write asks where nobody says anything", effect: executor.Write, want: executor.RequireApproval, reasons: 1},
	{name: "a destroy asks where nobody says anything", effect: executor.Destroy, want: executor.RequireApproval, reasons: 1},
	{name: "an unknown effect counts as write", effect: "", want: executor.RequireApproval, reasons: 1},
	{name: "an effect that is no word counts as write", effect: "peek", want: executor.RequireApproval, reasons: 1},
	{
		name: "an inner allow does not lift an outer block", effect: executor.Read, want: executor.Block, reasons: 2,
		policies: []executor.Policy{
			{Scope: "acme", Source: "phone", Tools: "book.*", Verdict: executor.Block},
			{Scope: "rhys", Source: "phone", Connection: "work", Tools: "*", Verdict: executor.Allow},
		},
	},
	{
		name: "an inner exact allow does not lift an outer pattern that asks", effect: executor.Read, want: executor.RequireApproval, reasons: 2,
		policies: []executor.Policy{
			{Scope: "acme", Source: "phone", Tools: "*", Verdict: executor.RequireApproval},
			{Scope: "rhys", Source: "phone", Tools: "book.find", Verdict: executor.Allow},
		},
	},
	{
		name: "an inner block holds under an outer allow", effect: executor.Read, want: executor.Block, reasons: 2,
		policies: []executor.Policy{
			{Scope: "acme", Source: "phone", Tools: "book.find", Verdict: executor.Allow},
			{Scope: "rhys", Source: "phone", Tools: "*", Verdict: executor.Block},
		},
	},
	{
		name: "within a scope a connection's rule stands before its source's", effect: executor.Write, want: executor.Allow, reasons: 1,
		policies: []executor.Policy{
			{Scope: "rhys", Source: "phone", Tools: "book.find", Verdict: executor.Block},
			{Scope: "rhys", Source: "phone", Connection: "work", Tools: "*", Verdict: executor.Allow},
		},
	},
	{
		name: "within a record an exact name stands before a pattern", effect: executor.Write, want: executor.Allow, reasons: 1,
		policies: []executor.Policy{
			{Scope: "rhys", Source: "phone", Tools: "*", Verdict: executor.Block},
			{Scope: "rhys", Source: "phone", Tools: "book.find", Verdict: executor.Allow},
		},
	},
	{
		name: "of several patterns the strictest holds", effect: executor.Read, want: executor.Block, reasons: 3,
		policies: []executor.Policy{
			{Scope: "rhys", Source: "phone", Tools: "*", Verdict: executor.Allow},
			{Scope: "rhys", Source: "phone", Tools: "book.*", Verdict: executor.Block},
			{Scope: "rhys", Source: "phone", Tools: "*.find", Verdict: executor.RequireApproval},
		},
	},
	{
		name: "a connection rule of another scope says nothing", effect: executor.Read, want: executor.Allow, reasons: 1,
		policies: []executor.Policy{{Scope: "acme", Source: "phone", Connection: "work", Tools: "*", Verdict: executor.Block}},
	},
	{
		name: "a rule of a scope that is not held says nothing", effect: executor.Read, want: executor.Allow, reasons: 1,
		policies: []executor.Policy{{Scope: "other", Source: "phone", Tools: "*", Verdict: executor.Block}},
	},
	{
		name: "a rule of another source or connection says nothing", effect: executor.Read, want: executor.Allow, reasons: 1,
		policies: []executor.Policy{
			{Scope: "rhys", Source: "mail", Tools: "*", Verdict: executor.Block},
			{Scope: "rhys", Source: "phone", Connection: "home", Tools: "*", Verdict: executor.Block},
		},
	},
	{
		name: "a star spans dots", effect: executor.Read, tool: "book.page.turn", want: executor.Block, reasons: 1,
		policies: []executor.Policy{{Scope: "rhys", Source: "phone", Tools: "b*n", Verdict: executor.Block}},
	},
	{
		name: "a dot in a pattern is a dot", effect: executor.Read, tool: "bookxfind", want: executor.Allow, reasons: 1,
		policies: []executor.Policy{{Scope: "rhys", Source: "phone", Tools: "book.*", Verdict: executor.Block}},
	},
	{
		name: "names are compared with case", effect: executor.Read, want: executor.Allow, reasons: 1,
		policies: []executor.Policy{{Scope: "rhys", Source: "phone", Tools: "Book.find", Verdict: executor.Block}},
	},
	{
		name: "a condition that holds applies its rule", effect: executor.Read, want: executor.Block, reasons: 1,
		policies: []executor.Policy{{Scope: "rhys", Source: "phone", Tools: "*", Verdict: executor.Block, When: "true"}},
	},
	{
		name: "a condition that does not hold leaves the rule out", effect: executor.Read, want: executor.Allow, reasons: 1,
		policies: []executor.Policy{{Scope: "rhys", Source: "phone", Tools: "*", Verdict: executor.Block, When: "false"}},
	},
	{
		name: "a condition that fails does not allow", effect: executor.Write, want: executor.RequireApproval, reasons: 1,
		policies: []executor.Policy{{Scope: "rhys", Source: "phone", Tools: "*", Verdict: executor.Allow, When: "fails"}},
	},
	{
		name: "a condition that fails blocks where its rule would", effect: executor.Read, want: executor.Block, reasons: 1,
		policies: []executor.Policy{{Scope: "rhys", Source: "phone", Tools: "*", Verdict: executor.Block, When: "fails"}},
	},
}

// decided asks the law the way a caller can: through an executor with its rules.
func decided(t *testing.T, policies []executor.Policy, a executor.Address, effect executor.Effect) executor.Decision {
	t.Helper()
	w := newWorld(t, func(c *executor.Config) {
		c.Scopes = executor.Scopes{"acme", "rhys"}
		c.Conditions = conditions
	})
	w.kind.manifest.Tools = []executor.Tool{{Name: a.Tool, Effect: effect}}
	for _, id := range []executor.SourceID{"phone", "mail"} {
		w.must(w.AddSource(t.Context(), w.source(id, w.server.URL)))
	}
	for _, name := range []executor.ConnectionName{"work", "home"} {
		for _, scope := range []executor.ScopeID{"acme", "rhys"} {
			w.must(w.Connect(t.Context(), executor.Connection{Source: "phone", Scope: scope, Name: name}))
		}
	}
	for _, p := range policies {
		if p.Scope == "other" {
			continue // cannot be placed; Decide alone is asked
		}
		w.must(w.SetPolicy(t.Context(), p))
	}
	d, err := w.Explain(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestLaw(t *testing.T) {
	for _, test := range laws {
		t.Run(test.name, func(t *testing.T) {
			a := executor.Address{Source: "phone", Scope: "rhys", Connection: "work", Tool: test.tool}
			if a.Tool == "" {
				a.Tool = "book.find"
			}
			got := decided(t, test.policies, a, test.effect)
			if got.Verdict != test.want || len(got.Reasons) != test.reasons {
				t.Errorf("decision = %v for %d reasons, want %v for %d: %+v", got.Verdict, len(got.Reasons), test.want, test.reasons, got.Reasons)
			}
			if test.tool == "" && !hasConditions(test.policies) {
				pure := executor.Decide(executor.Tool{Name: a.Tool, Effect: test.effect}, executor.Scopes{"acme", "rhys"}, test.policies, executor.Facts{Address: a})
				if pure.Verdict != test.want {
					t.Errorf("Decide = %v, want %v", pure.Verdict, test.want)
				}
			}
		})
	}
}

func hasConditions(policies []executor.Policy) bool {
	return slices.ContainsFunc(policies, func(p executor.Policy) bool { return p.When != "" })
}

var (
	lawScopes = executor.Scopes{"root", "org", "user"}
	lawFacts  = executor.Facts{Address: executor.Address{Source: "up", Scope: "user", Connection: "work", Tool: "book.page.turn"}}
	aPolicy   = rapid.Custom(func(t *rapid.T) executor.Policy {
		return executor.Policy{
			Scope:      rapid.SampledFrom(lawScopes).Draw(t, "scope"),
			Source:     rapid.SampledFrom([]executor.SourceID{"up", "up", "up", "down"}).Draw(t, "source"),
			Connection: rapid.SampledFrom([]executor.ConnectionName{"", "", "work", "home"}).Draw(t, "connection"),
			Tools:      rapid.SampledFrom([]string{"*", "book.*", "*.turn", "book.page.turn", "book.page", "b?ok*", "other"}).Draw(t, "tools"),
			When:       rapid.SampledFrom([]string{"", "", "", "not compiled"}).Draw(t, "when"),
			Verdict:    executor.Verdict(rapid.IntRange(0, 2).Draw(t, "verdict")),
		}
	})
	anEffect = rapid.SampledFrom([]executor.Effect{executor.Read, executor.Write, executor.Destroy, ""})
)

func TestLawProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := rapid.SliceOfN(aPolicy, 0, 8).Draw(t, "policies")
		tool := executor.Tool{Name: lawFacts.Address.Tool, Effect: anEffect.Draw(t, "effect")}
		d := executor.Decide(tool, lawScopes, policies, lawFacts)

		strictest, deciding := executor.Allow, 0
		for _, r := range d.Reasons {
			strictest = max(strictest, r.Verdict)
			if r.Decides {
				deciding++
			}
			if r.Decides != (r.Verdict == d.Verdict) || r.Text == "" {
				t.Fatalf("reason %+v of a %v", r, d.Verdict)
			}
		}
		if d.Verdict != strictest || deciding == 0 {
			t.Fatalf("verdict %v, strictest reason %v, %d reasons decide", d.Verdict, strictest, deciding)
		}
		shuffled := executor.Decide(tool, lawScopes, rapid.Permutation(policies).Draw(t, "order"), lawFacts)
		if shuffled.Verdict != d.Verdict || len(shuffled.Reasons) != len(d.Reasons) {
			t.Fatalf("the order of rules matters: %v, then %v", d, shuffled)
		}
	})
}

// An authority that adds a rule never opens what was closed; where only the effect
// spoke before, an allow is a word where there was none.
func TestAnOuterBlockNeverLoosens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := rapid.SliceOfN(aPolicy, 0, 8).Draw(t, "policies")
		inner := slices.DeleteFunc(slices.Clone(policies), func(p executor.Policy) bool { return p.Scope == "root" })
		outer := aPolicy.Draw(t, "outer")
		outer.Scope, outer.Connection = "root", ""
		tool := executor.Tool{Name: lawFacts.Address.Tool, Effect: anEffect.Draw(t, "effect")}
		before := executor.Decide(tool, lawScopes, inner, lawFacts)
		after := executor.Decide(tool, lawScopes, append(inner, outer), lawFacts)
		spoken := before.Reasons[0].Rule != nil
		if after.Verdict < before.Verdict && (spoken || outer.Verdict != executor.Allow) {
			t.Fatalf("%v became %v through %+v", before, after, outer)
		}
		// And no rule inside lifts what the outer scopes say alone.
		alone := executor.Decide(tool, lawScopes, []executor.Policy{outer}, lawFacts)
		if alone.Reasons[0].Rule != nil && after.Verdict < alone.Verdict {
			t.Fatalf("outer %v was lifted to %v by %+v", alone.Verdict, after.Verdict, inner)
		}
	})
}

func TestDecisionSurvivesTheRecord(t *testing.T) {
	d := executor.Decide(executor.Tool{}, executor.Scopes{"user"}, nil, lawFacts)
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var back executor.Decision
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, d) {
		t.Errorf("decoded %+v, %v; want %+v", back, err, d)
	}
}

func TestVerdictReadsItsThreeWordsOnly(t *testing.T) {
	for _, word := range []string{"", "Allow", "allow ", "0", "deny"} {
		var v executor.Verdict
		wantCode(t, v.UnmarshalText([]byte(word)), executor.Invalid)
	}
}
