package executor

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// A Verdict is what a policy says of a call. Verdicts are ordered: the
// strictest of several is the greatest.
type Verdict int

const (
	Allow Verdict = iota
	RequireApproval
	Block
)

var verdictNames = [...]string{"allow", "require_approval", "block"}

func (v Verdict) String() string { return verdictNames[v] }

// MarshalText writes "allow", "require_approval" or "block".
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (v *Verdict) UnmarshalText(text []byte) error {
	for i, name := range verdictNames {
		if name == string(text) {
			*v = Verdict(i)
			return nil
		}
	}
	return &Error{
		Code: Invalid, Op: "policy",
		Msg:  fmt.Sprintf("verdict %q is not one", text),
		Hint: "use allow, require_approval or block",
	}
}

// A Policy is one rule, placed in a scope, on a source or on a connection of it.
type Policy struct {
	Scope      ScopeID        `json:"scope"`
	Source     SourceID       `json:"source"`
	Connection ConnectionName `json:"connection,omitempty"` // of this scope; empty: the rule is the source's
	Tools      string         `json:"tools"`                // tool name, or a pattern in which "*" is any run of characters
	When       string         `json:"when,omitempty"`       // condition in CEL over args, principal, labels, address; empty: always
	Verdict    Verdict        `json:"verdict"`
	Note       string         `json:"note,omitempty"` // why, for people

	condition Condition // compiled When; nil when When is empty
}

// A Condition is a compiled Policy.When.
type Condition interface {
	// Holds evaluates the condition. An error (an argument that is absent, say)
	// counts against the caller: the rule applies unless it would allow.
	Holds(Facts) (bool, error)
}

// Facts are what a condition may look at.
type Facts struct {
	Address   Address
	Args      json.RawMessage // the call's arguments; a JSON object
	Principal Principal       // who asks: the last of the chain
	Labels    []Label         // of the tool
	Effect    Effect
}

// exact tells whether the rule names one tool.
func (p Policy) exact() bool { return !strings.ContainsAny(p.Tools, `*?[\`) }

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
		d.Reasons = append(d.Reasons, speak(tool.Name, scope, policies, facts)...)
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

// speak gives what one scope has to say: the voices of its most specific rules.
func speak(name ToolName, scope ScopeID, policies []Policy, facts Facts) []Reason {
	const ranks = 4 // connection exact, connection pattern, source exact, source pattern
	var voices [ranks][]Reason
	for _, p := range policies {
		if p.Scope != scope || p.Source != facts.Address.Source {
			continue
		}
		rank := 2
		if p.Connection != "" {
			if p.Connection != facts.Address.Connection || scope != facts.Address.Scope {
				continue
			}
			rank = 0
		}
		if !p.exact() {
			rank++
		}
		if ok, err := path.Match(p.Tools, string(name)); err != nil || !ok {
			continue
		}
		applies, held := p.applies(facts)
		if applies {
			voices[rank] = append(voices[rank], Reason{Verdict: p.Verdict, Text: p.text(), Rule: &p, Held: held})
		}
	}
	for _, v := range voices {
		if len(v) > 0 {
			return v
		}
	}
	return nil
}

func (p Policy) applies(facts Facts) (applies bool, held string) {
	if p.When == "" {
		return true, ""
	}
	if p.condition == nil {
		return p.Verdict != Allow, "condition not compiled"
	}
	ok, err := p.condition.Holds(facts)
	if err != nil {
		return p.Verdict != Allow, err.Error()
	}
	return ok, "condition holds"
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
