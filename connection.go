package executor

import "time"

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
