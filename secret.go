package executor

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/open-executor/executor/internal/redact"
)

// A SecretRef points to a secret: "<scheme>://<rest>", for example
// "env://GITHUB_TOKEN". It is safe to store and to print; it is still kept from
// agents.
type SecretRef string

// Scheme gives the part before "://", or "".
func (r SecretRef) Scheme() string {
	scheme, _, ok := strings.Cut(string(r), "://")
	if !ok {
		return ""
	}
	return scheme
}

// Rest gives the part after "://".
func (r SecretRef) Rest() string {
	_, rest, _ := strings.Cut(string(r), "://")
	return rest
}

// A Provider resolves secret references of one scheme. Safe for concurrent use.
type Provider interface {
	// Scheme is the word before "://", for example "env".
	Scheme() string

	// Secret gives the value behind ref. An absent secret is NotFound; a vault
	// that is locked or out of reach is Unavailable. No error holds a value.
	Secret(ctx context.Context, ref SecretRef) (Secret, error)
}

// A Keeper is a Provider that can also store.
type Keeper interface {
	// Keep stores value under name and gives the reference to it. An existing
	// secret of that name is replaced.
	Keep(ctx context.Context, name string, value Secret) (SecretRef, error)

	// Forget removes what ref points to. An absent secret is not an error.
	Forget(ctx context.Context, ref SecretRef) error
}

// A Secret is a value that must not be seen. However it is printed, logged or
// encoded it says "[secret]". The zero value is empty. Two secrets are not compared
// with ==.
type Secret struct {
	value *string // behind a pointer: in an unexported field of another struct, fmt prints what it finds
}

// NewSecret wraps value.
func NewSecret(value string) Secret { return Secret{&value} }

// Reveal gives the value. It is called where the value goes onto the wire, and
// where a provider stores it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

const masked = redact.Masked

func (Secret) String() string               { return masked }
func (Secret) GoString() string             { return masked }
func (Secret) Format(f fmt.State, _ rune)   { _, _ = f.Write([]byte(masked)) } // a State that does not write has nowhere to report it
func (Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }
func (Secret) LogValue() slog.Value         { return slog.StringValue(masked) }
