package executor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Public is the name of the connection that signs nothing.
const Public ConnectionName = "public"

// A Connection is a credential, born wired: the account called Name, placed in
// Scope, of Source. It holds pointers to secrets, never values.
type Connection struct {
	Source   SourceID             `json:"source"`
	Scope    ScopeID              `json:"scope"`
	Name     ConnectionName       `json:"name"`
	Auth     Auth                 `json:"auth"` // how it signs; no parts: not at all
	Secrets  map[string]SecretRef `json:"secrets,omitempty"`
	Headers  map[string]string    `json:"headers,omitempty"`  // static, over the source's; never a secret
	Manifest string               `json:"manifest,omitempty"` // digest, when this account sees tools of its own; else the source's
	Created  time.Time            `json:"created,omitzero"`
	Version  uint64               `json:"-"` // of the stored record
}

// Auth is a way to sign: a template whose blanks a connection's secrets fill. All
// parts are applied to every call.
type Auth struct {
	Name        string     `json:"name"` // as the description calls it; "none", "bearer" and "basic" exist for every source
	Description string     `json:"description,omitempty"`
	Parts       []AuthPart `json:"parts,omitempty"`
}

// An AuthPart puts one credential into a request.
type AuthPart struct {
	In     AuthPlace `json:"in"`
	Name   string    `json:"name,omitempty"`   // header, query parameter or cookie; unused for bearer and basic
	Prefix string    `json:"prefix,omitempty"` // stands before the value in a header: "Bot "
	Secret string    `json:"secret"`           // key in Connection.Secrets; basic: "username" and "password" always
}

// AuthPlace is where a credential goes.
type AuthPlace string

const (
	Bearer   AuthPlace = "bearer" // Authorization: Bearer … (RFC 6750)
	Basic    AuthPlace = "basic"  // Authorization: Basic … (RFC 7617)
	InHeader AuthPlace = "header"
	InQuery  AuthPlace = "query"
	InCookie AuthPlace = "cookie"
)

// Keys lists the secrets the template wants, in order, without doubles.
func (a Auth) Keys() []string {
	var keys []string
	seen := map[string]bool{}
	add := func(key string) {
		if !seen[key] {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	for _, p := range a.Parts {
		if p.In == Basic {
			add("username")
			add("password")
			continue
		}
		add(p.Secret)
	}
	return keys
}

// connectionKey places connections by source, then scope.
func connectionKey(source SourceID, scope ScopeID, name ConnectionName) string {
	return string(source) + "/" + string(scope) + "/" + string(name)
}

// Connect wires an account to a source. Every secret that its template wants must
// be given, and must resolve. A connection of that name is replaced. Agents may only
// connect without secrets or headers, and not for somebody.
func (e *Executor) Connect(ctx context.Context, c Connection) (Connection, error) {
	if err := e.mayConnect(ctx, c); err != nil {
		return Connection{}, err
	}
	src, err := e.Source(ctx, c.Source)
	if err != nil {
		return Connection{}, err
	}
	if err := e.checkConnection(c); err != nil {
		return Connection{}, err
	}
	sign, err := e.signatures(ctx, c)
	if err != nil {
		return Connection{}, e.clean(err, "")
	}
	if src.Manifest == "" {
		m, err := e.resolve(ctx, src, sign)
		if err != nil {
			return Connection{}, e.clean(err, "")
		}
		if c.Manifest, err = e.keepManifest(ctx, &m); err != nil {
			return Connection{}, err
		}
	}
	key := connectionKey(c.Source, c.Scope, c.Name)
	old, was, err := get[Connection](ctx, e.house, Connections, key)
	if err != nil && !isAbsent(err) {
		return Connection{}, err
	}
	if old != nil {
		if err := e.people("change a connection"); err != nil {
			return Connection{}, err
		}
	}
	c.Created = e.now().UTC()
	c.Version, err = put(ctx, e.house, Connections, key, c, was)
	return c, err
}

// mayConnect tells whether e may make such a connection. A program that acts for
// itself may make one that signs nothing, unless that would get it around a rule
// on another connection of the source.
func (e *Executor) mayConnect(ctx context.Context, c Connection) error {
	if len(c.Secrets) > 0 || len(c.Headers) > 0 || len(e.chain) > 1 {
		return e.people("connect an account")
	}
	rules, _, err := e.policies(ctx, c.Source)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(rules, func(p Policy) bool { return p.Connection != "" }) {
		return e.people("connect to a source whose connections have rules")
	}
	return nil
}

func (e *Executor) checkConnection(c Connection) error {
	if !e.scopes.Holds(c.Scope) {
		return &Error{Code: NotFound, Op: "connect", Msg: fmt.Sprintf("there is no scope %q", c.Scope), Hint: "scopes here: " + joined(e.scopes)}
	}
	if err := checkName("connection", string(c.Name)); err != nil {
		return err
	}
	wants := c.Auth.Keys()
	for _, key := range wants {
		if c.Secrets[key] == "" {
			return &Error{
				Code: NeedsAuth, Op: "connect", Msg: fmt.Sprintf("sign-in %q of %q wants the secret %q", c.Auth.Name, c.Source, key),
				Hint: fmt.Sprintf("add --secret %s=env://NAME, or type it at a terminal", key),
			}
		}
	}
	for _, key := range sortedKeys(c.Secrets) {
		if !slices.Contains(wants, key) {
			return &Error{
				Code: Invalid, Op: "connect", Msg: fmt.Sprintf("sign-in %q of %q does not want a secret %q", c.Auth.Name, c.Source, key),
				Hint: "it wants: " + strings.Join(wants, ", "),
			}
		}
		if c.Secrets[key].Scheme() == "" {
			return &Error{
				Code: Invalid, Op: "connect", Msg: fmt.Sprintf("the secret %q is not a reference", key),
				Hint: "write a reference such as env://NAME; a value does not belong here",
			}
		}
	}
	return nil
}

func joined[T ~string](names []T) string {
	texts := make([]string, len(names))
	for i, n := range names {
		texts[i] = string(n)
	}
	return strings.Join(texts, ", ")
}

// Connections gives the connections in e's scopes that its toolkits let it know of,
// by source, scope and name. References to secrets are for people only.
func (e *Executor) Connections(ctx context.Context) ([]Connection, error) {
	records, err := e.storage.Table(Connections).List(ctx, "")
	if err != nil {
		return nil, err
	}
	connections := []Connection{}
	for _, r := range records {
		c, err := decode[Connection](e.house, Connections, r)
		if err != nil {
			return nil, err
		}
		if !e.knows(*c) {
			continue
		}
		out := *c
		out.Version = r.Version
		if !people(e.chain) {
			out.Secrets = nil
		}
		connections = append(connections, out)
	}
	return connections, nil
}

// knows tells whether scopes and toolkits let e know of a connection.
func (e *Executor) knows(c Connection) bool {
	return e.scopes.Holds(c.Scope) && !slices.ContainsFunc(e.toolkits, func(t Toolkit) bool { return !t.touches(c) })
}

// CheckConnection makes the cheapest call that shows whether the sign-in works. A
// refused one is NeedsAuth. Where the source offers no such call it is NotFound.
func (e *Executor) CheckConnection(ctx context.Context, s SourceID, scope ScopeID, name ConnectionName) error {
	c, _, err := get[Connection](ctx, e.house, Connections, connectionKey(s, scope, name))
	if err != nil || !e.knows(*c) {
		return e.noConnection(ctx, s, scope, name, err)
	}
	src, m, _, err := e.through(ctx, *c)
	if err != nil {
		return err
	}
	sign, err := e.signatures(ctx, *c)
	if err != nil {
		return e.clean(err, "")
	}
	checker, ok := e.kinds[src.Kind].(Checker)
	if !ok {
		return &Error{Code: NotFound, Op: "check", Msg: fmt.Sprintf("kind %q cannot check a connection", src.Kind)}
	}
	w := e.wire(*src, *c)
	w.sign = sign
	return e.clean(checker.Check(ctx, *src, *m.Manifest, w.credential()), "")
}

// Disconnect removes a connection with its rules. Secrets stay where they are.
// None is NotFound. Agents are Blocked.
func (e *Executor) Disconnect(ctx context.Context, s SourceID, scope ScopeID, name ConnectionName) error {
	if err := e.people("remove a connection"); err != nil {
		return err
	}
	key := connectionKey(s, scope, name)
	c, _, err := get[Connection](ctx, e.house, Connections, key)
	if err != nil || !e.scopes.Holds(scope) {
		return e.noConnection(ctx, s, scope, name, err)
	}
	// Whatever step is the last one done, the connection is ruled as strictly as before.
	rules := string(scope) + "/" + string(s) + "/" + string(name) + "/"
	if err := drop(ctx, e.house, Policies, rules, func(p *Policy) bool { return p.Verdict == Allow }); err != nil {
		return err
	}
	if err := e.storage.Table(Connections).Delete(ctx, key); err != nil {
		return err
	}
	if err := drop(ctx, e.house, Policies, rules, func(*Policy) bool { return true }); err != nil {
		return err
	}
	return e.dropManifest(ctx, c.Manifest)
}

func (e *Executor) noConnection(ctx context.Context, s SourceID, scope ScopeID, name ConnectionName, cause error) error {
	if cause != nil && !isAbsent(cause) {
		return cause
	}
	if _, err := e.Source(ctx, s); err != nil {
		return err
	}
	return &Error{
		Code: NotFound, Op: "connection", Msg: fmt.Sprintf("source %q has no connection %q in scope %q", s, name, scope),
		Hint: fmt.Sprintf("run: executor connect %s %s", s, name),
	}
}

// Keep stores a secret with the provider of scheme, and gives the reference to it.
// A provider that cannot store is Invalid. Agents are Blocked.
func (e *Executor) Keep(ctx context.Context, scheme, name string, value Secret) (SecretRef, error) {
	if err := e.people("store a secret"); err != nil {
		return "", err
	}
	k, ok := e.providers[scheme].(Keeper)
	if !ok {
		return "", &Error{Code: Invalid, Op: "secret", Msg: fmt.Sprintf("nothing stores %q secrets", scheme+"://")}
	}
	return k.Keep(ctx, name, value)
}
