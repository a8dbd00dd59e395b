package executor

import (
	"context"
	"encoding/json"
	"fmt"
)

// A Decision is a verdict with its reasons.
type Decision struct {
	Verdict Verdict  `json:"verdict"`
	Reasons []Reason `json:"reasons"` // every rule that said something, outer scope first; never empty
}

// A Reason is one voice in a decision.
type Reason struct {
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text"`           // one clause for people
	Rule    *Policy `json:"rule,omitempty"` // nil: the tool's effect spoke
	Decides bool    `json:"decides"`        // it is as strict as the whole
	Held    string  `json:"held,omitempty"` // how the condition came out, where there is one
}

// Decide is the law: what policies, seen from scopes (outer to inner), say of
// a call to tool. Within one scope a connection's rules stand before its
// source's, and an exact name before a pattern; of several patterns the
// strictest holds. The result is the strictest over all scopes that say anything.
// Where none does, the effect decides: a read is allowed, anything else asks.
func Decide(tool Tool, scopes Scopes, policies []Policy, facts Facts) Decision {
	var d Decision
	for _, scope := range scopes {
		d.Reasons = append(d.Reasons, speak(scope, policies, facts)...)
	}
	if len(d.Reasons) == 0 {
		d.Reasons = []Reason{byEffect(tool.Effect)}
	}
	for _, r := range d.Reasons {
		d.Verdict = max(d.Verdict, r.Verdict)
	}
	for i := range d.Reasons {
		d.Reasons[i].Decides = d.Reasons[i].Verdict == d.Verdict
	}
	return d
}

// speak gives what one scope has to say: the voices of its most specific rules. A
// rule whose condition cannot be told speaks too, but does not silence less
// specific ones: leaving an argument out must not soften a block.
func speak(scope ScopeID, policies []Policy, facts Facts) []Reason {
	const ranks = 4 // connection exact, connection pattern, source exact, source pattern
	var voices [ranks][]Reason
	var firm [ranks]bool
	for _, p := range policies {
		if p.Scope != scope || !p.covers(facts.Address) {
			continue
		}
		rank := 0
		if p.Connection == "" {
			rank = 2
		}
		if !p.exact() {
			rank++
		}
		applies, sure, held := p.applies(facts)
		if applies {
			voices[rank] = append(voices[rank], Reason{Verdict: p.Verdict, Text: p.text(), Rule: &p, Held: held})
			firm[rank] = firm[rank] || sure
		}
	}
	var said []Reason
	for rank, v := range voices {
		said = append(said, v...)
		if firm[rank] {
			break
		}
	}
	return said
}

// applies tells whether the rule speaks of a call, and whether that is sure. A
// condition that cannot be told counts against the caller.
func (p Policy) applies(facts Facts) (applies, sure bool, held string) {
	if p.When == "" {
		return true, true, ""
	}
	if p.condition == nil {
		return p.Verdict != Allow, false, "condition not compiled"
	}
	ok, err := p.condition.Holds(facts)
	if err != nil {
		return p.Verdict != Allow, false, err.Error()
	}
	return ok, true, "condition holds"
}

func (p Policy) text() string {
	on := fmt.Sprintf("source %q", p.Source)
	if p.Connection != "" {
		on = fmt.Sprintf("connection %q of source %q", p.Connection, p.Source)
	}
	text := fmt.Sprintf("scope %q: the rule %q on %s says %s", p.Scope, p.Tools, on, p.Verdict)
	if p.When != "" {
		text += fmt.Sprintf(" when %s", p.When)
	}
	return text
}

func byEffect(e Effect) Reason {
	v := RequireApproval
	text := fmt.Sprintf("no rule applies, and the tool's effect is %s", e.known())
	if e == Read {
		v = Allow
	}
	if e == "" {
		text = "no rule applies, and the tool's effect is unknown, which counts as write"
	}
	return Reason{Verdict: v, Text: text + ": " + v.String()}
}

// law asks the policies over a call by asker. It gives the version of the rules it
// asked with the decision.
func (e *Executor) law(ctx context.Context, f found, args arguments, asker Principal) (Decision, string, error) {
	policies, version, err := e.policies(ctx, f.Address.Source)
	if err != nil {
		return Decision{}, "", err
	}
	facts := Facts{Address: f.Address, Args: args.text, Principal: asker, Labels: f.Tool.Labels, Effect: f.Tool.Effect.known()}
	return Decide(*f.Tool, e.scopes, policies, facts), version, nil
}

// Explain gives the decision over a call to a with args (nil: none), and why.
// Nothing is called and nothing is recorded.
func (e *Executor) Explain(ctx context.Context, a Address, args json.RawMessage) (Decision, error) {
	f, err := e.find(ctx, a)
	if err != nil {
		return Decision{}, err
	}
	value, err := decodeArguments(args)
	if err != nil {
		return Decision{}, err
	}
	text, err := canonical(value)
	if err != nil {
		return Decision{}, &Error{Code: Invalid, Op: "decide", Msg: "the arguments cannot be encoded", Err: err}
	}
	d, _, err := e.law(ctx, f, arguments{text: text}, e.Principal())
	return d, err
}
