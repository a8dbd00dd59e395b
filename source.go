package executor

import (
	"context"
	"encoding/json"
	"time"
)

// A Source is where tools come from.
type Source struct {
	ID           SourceID          `json:"id"`
	Kind         string            `json:"kind"` // the Name of a Kind
	Title        string            `json:"title,omitempty"`
	Config       json.RawMessage   `json:"config"`                 // the kind's own; the executor never reads it
	Headers      map[string]string `json:"headers,omitempty"`      // static, sent beside the sign-in; never a secret
	Hosts        []string          `json:"hosts,omitempty"`        // origins that its calls may reach; from the manifest when empty
	AllowPrivate bool              `json:"allowPrivate,omitempty"` // may reach loopback, private and link-local addresses
	Limits       Limits            `json:"limits,omitzero"`
	Auth         []Auth            `json:"auth,omitempty"`     // ways to sign in; from the manifest
	Manifest     string            `json:"manifest,omitempty"` // digest; empty when tools differ by connection
	Added        time.Time         `json:"added,omitzero"`
	Refreshed    time.Time         `json:"refreshed,omitzero"`
	Version      uint64            `json:"-"` // of the stored record
}

// Limits bound one call. A zero field takes its default.
type Limits struct {
	Timeout  Duration `json:"timeout,omitempty"`  // for one call, retries included; 0: 60 s
	MaxBytes int64    `json:"maxBytes,omitempty"` // of one answer, decompressed; 0: 128 MiB
}

// A Duration is a time.Duration that is text ("30s") in JSON.
type Duration time.Duration

// MarshalText writes the form of time.Duration.String.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// A Kind teaches the executor one kind of source. It does not retry, validate,
// log, cache, apply policy or see a secret: those happen around it. Safe for
// concurrent use.
type Kind interface {
	// Name is the word in Source.Kind, for example "openapi".
	Name() string

	// Resolve reads the source's description and gives its tools. It is called
	// when a source is added or refreshed, first with a Credential that signs
	// nothing; if that gives NeedsAuth, again through each connection. A
	// description of which only a part is usable gives that part, with Notes.
	Resolve(ctx context.Context, src Source, cred Credential) (Manifest, error)

	// Invoke runs one tool. Upstream's no is Result.Fault, not an error. An error
	// is no answer; it is an *Error with Unsent set when nothing left.
	Invoke(ctx context.Context, call Call) (Result, error)
}

// A Call is one tool about to run: allowed, with valid arguments.
type Call struct {
	Source     Source
	Tool       Tool
	Args       json.RawMessage // a JSON object; valid, defaults applied
	Credential Credential
}

// A Checker is a Kind that can tell whether a connection still works.
type Checker interface {
	// Check makes the cheapest call that needs the sign-in. A refused
	// credential is NeedsAuth. Where no such call is known it is NotFound.
	Check(ctx context.Context, src Source, m Manifest, cred Credential) error
}
