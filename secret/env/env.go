// Package env is the secret provider "env": a reference env://NAME is the value
// of the environment variable NAME of this process. It imports executor and the
// standard library, and stores nothing.
package env

import (
	"context"
	"fmt"
	"os"

	"github.com/open-executor/executor"
)

// A Provider reads environment variables. The zero value reads those of the
// process. Safe for concurrent use if Lookup is.
type Provider struct {
	Lookup func(name string) (string, bool) // nil: os.LookupEnv
}

// Scheme gives "env".
func (Provider) Scheme() string { return "env" }

// Secret gives the value of the variable that ref names. A variable that is
// empty counts as absent: an empty credential signs nothing.
func (p Provider) Secret(ctx context.Context, ref executor.SecretRef) (executor.Secret, error) {
	if err := ctx.Err(); err != nil {
		return executor.Secret{}, &executor.Error{
			Code: executor.Unavailable, Op: "secret", Msg: fmt.Sprintf("nobody waits for %s any more", ref), Err: err,
		}
	}
	name := ref.Rest()
	if ref.Scheme() != p.Scheme() || !variable(name) {
		return executor.Secret{}, &executor.Error{
			Code: executor.Invalid, Op: "secret",
			Msg:  fmt.Sprintf("secret reference %q does not name an environment variable", ref),
			Hint: "write env://NAME with letters, digits and _, for example env://GITHUB_TOKEN",
		}
	}
	lookup := p.Lookup
	if lookup == nil {
		lookup = os.LookupEnv
	}
	value, set := lookup(name)
	switch {
	case !set:
		return executor.Secret{}, absent("environment variable %s is not set", name)
	case value == "":
		return executor.Secret{}, absent("environment variable %s is empty", name)
	}
	return executor.NewSecret(value), nil
}

func absent(format, name string) error {
	return &executor.Error{
		Code: executor.NotFound, Op: "secret",
		Msg:  fmt.Sprintf(format, name),
		Hint: fmt.Sprintf("set %s for the process that makes the calls, and start it again", name),
	}
}

// variable tells whether name is one that every shell can set (POSIX.1-2017,
// section 8.1, with lower case allowed).
func variable(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= 255
}
