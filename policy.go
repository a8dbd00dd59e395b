package executor

import (
	"bytes"
	"context"
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

// SetPolicy places a rule. It replaces the one with the same scope, source,
// connection, tools and condition, and tells how many tools that e sees it
// matches; 0 is no error, but hardly what was meant. Agents are Blocked.
func (e *Executor) SetPolicy(ctx context.Context, p Policy) (matches int, err error) {
	if err := e.people("change policy"); err != nil {
		return 0, err
	}
	if err := e.checkPolicy(ctx, p); err != nil {
		return 0, err
	}
	table, key := e.storage.Table(Policies), policyKey(p)
	old, err := table.Get(ctx, key)
	if err != nil && !isAbsent(err) {
		return 0, err
	}
	if _, err := put(ctx, e.house, Policies, key, p, old.Version); err != nil {
		return 0, err
	}
	return e.Matches(ctx, p)
}

func (e *Executor) checkPolicy(ctx context.Context, p Policy) error {
	if !e.scopes.Holds(p.Scope) {
		return &Error{Code: NotFound, Op: "policy", Msg: fmt.Sprintf("there is no scope %q", p.Scope)}
	}
	if _, err := e.Source(ctx, p.Source); err != nil {
		return err
	}
	if p.Connection != "" {
		if _, _, err := get[Connection](ctx, e.house, Connections, connectionKey(p.Source, p.Scope, p.Connection)); err != nil {
			return e.noConnection(ctx, p.Source, p.Scope, p.Connection, err)
		}
	}
	if _, err := path.Match(p.Tools, ""); err != nil || p.Tools == "" {
		return &Error{Code: Invalid, Op: "policy", Msg: fmt.Sprintf("tool pattern %q is not usable", p.Tools), Hint: `write a tool name, or a pattern such as "issues.*"`}
	}
	if p.Verdict < Allow || p.Verdict > Block {
		return &Error{Code: Invalid, Op: "policy", Msg: "the verdict is none", Hint: "use allow, require_approval or block"}
	}
	_, err := e.compile(p.When)
	return err
}

// compile compiles a condition; nil for none.
func (h *house) compile(when string) (Condition, error) {
	if when == "" {
		return nil, nil
	}
	if h.conditions == nil {
		return nil, &Error{Code: Invalid, Op: "policy", Msg: "conditions are not supported here", Hint: "set Config.Conditions"}
	}
	return h.conditions(when)
}

// RemovePolicy removes the rule with p's scope, source, connection, tools and
// condition. None is NotFound. Agents are Blocked.
func (e *Executor) RemovePolicy(ctx context.Context, p Policy) error {
	if err := e.people("change policy"); err != nil {
		return err
	}
	table, key := e.storage.Table(Policies), policyKey(p)
	if _, err := table.Get(ctx, key); err != nil {
		return &Error{Code: CodeOf(err), Op: "policy", Msg: fmt.Sprintf("there is no rule %q there", p.Tools), Hint: "run: executor policy show", Err: err}
	}
	return table.Delete(ctx, key)
}

// Policies gives all rules in e's scopes, by scope, source, connection and tools.
func (e *Executor) Policies(ctx context.Context) ([]Policy, error) {
	policies, _, err := e.policies(ctx, "")
	return policies, err
}

// policies gives the rules of a source ("": of all), compiled, and their version.
func (e *Executor) policies(ctx context.Context, source SourceID) ([]Policy, string, error) {
	policies := []Policy{}
	var text bytes.Buffer
	for _, scope := range e.scopes {
		prefix := string(scope) + "/"
		if source != "" {
			prefix += string(source) + "/"
		}
		records, err := e.storage.Table(Policies).List(ctx, prefix)
		if err != nil {
			return nil, "", err
		}
		for _, r := range records {
			p, err := e.policy(r)
			if err != nil {
				return nil, "", err
			}
			policies = append(policies, *p)
			text.Write(r.Value)
			text.WriteByte('\n')
		}
	}
	return policies, digest(text.Bytes())[:16], nil
}

// compiled is where the memo keeps rules that have their condition; elsewhere they
// are plain records.
const compiled Noun = "policies, compiled"

// policy decodes a rule and compiles its condition, once a version.
func (h *house) policy(r Record) (*Policy, error) {
	if v, ok := h.decoded.get(compiled, r); ok {
		return v.(*Policy), nil
	}
	var p Policy
	if err := json.Unmarshal(r.Value, &p); err != nil {
		return nil, &Error{Code: Internal, Op: "policy", Msg: fmt.Sprintf("rule %q cannot be read", r.Key), Err: err}
	}
	c, err := h.compile(p.When)
	if err != nil {
		h.log.Warn("policy", "rule", r.Key, "condition", err.Error()) // the rule goes on without: applies() is strict then
	}
	p.condition = c
	h.decoded.put(compiled, r, &p)
	return &p, nil
}

// Matches counts the tools that e sees and the rule is about, conditions aside.
func (e *Executor) Matches(ctx context.Context, p Policy) (int, error) {
	n := 0
	for f, err := range e.Tools(ctx) {
		if err != nil {
			return 0, err
		}
		if p.covers(f.Address) {
			n++
		}
	}
	return n, nil
}

// covers tells whether the rule is about a.
func (p Policy) covers(a Address) bool {
	if p.Source != a.Source || p.Connection != "" && (p.Connection != a.Connection || p.Scope != a.Scope) {
		return false
	}
	ok, err := path.Match(p.Tools, string(a.Tool))
	return err == nil && ok
}

// policyKey places rules by scope, then source, then connection.
func policyKey(p Policy) string {
	key := string(p.Scope) + "/" + string(p.Source) + "/" + string(p.Connection) + "/" + digest([]byte(p.Tools + "\n" + p.When))[:16]
	return key
}
