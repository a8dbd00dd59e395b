package executor

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"
)

const (
	standardTimeout  = 60 * time.Second
	standardMaxBytes = 128 << 20
	vaultTimeout     = 30 * time.Second // for all secrets of one call; a person may have to unlock the vault
)

// unlocked is a call with its credential. Only unlock makes one, and it takes a
// permit.
type unlocked struct {
	permit
	wire *wire
}

// unlock resolves the connection's secrets and readies the wire that signs with
// them.
func (e *Executor) unlock(ctx context.Context, p permit) (unlocked, error) {
	sign, err := e.signatures(ctx, p.Connection)
	if err != nil {
		return unlocked{}, err
	}
	w := e.wire(p.Source, p.Connection)
	w.sign = sign
	return unlocked{p, w}, nil
}

// wire readies a transport for the source's hosts; it signs nothing yet.
func (e *Executor) wire(src Source, c Connection) *wire {
	headers := maps.Clone(src.Headers)
	if headers == nil {
		headers = map[string]string{}
	}
	maps.Copy(headers, c.Headers)
	var base http.RoundTripper = noTransport
	if e.transport != nil {
		base = e.transport(src.AllowPrivate)
	}
	limit := src.Limits.MaxBytes
	if limit <= 0 {
		limit = standardMaxBytes
	}
	return &wire{base: base, hosts: src.Hosts, headers: headers, limit: limit, now: e.now}
}

// signatures fills the blanks of the connection's template.
func (e *Executor) signatures(ctx context.Context, c Connection) ([]signature, error) {
	ctx, cancel := context.WithTimeout(ctx, vaultTimeout)
	defer cancel()
	values := map[string]string{}
	for _, key := range c.Auth.Keys() {
		s, err := e.reveal(ctx, c, key)
		if err != nil {
			return nil, err
		}
		values[key] = s
	}
	signs := make([]signature, 0, len(c.Auth.Parts))
	var learnt []string
	for key, value := range values {
		if key != "username" || len(value) >= 16 || values["password"] == "" { // a name is no secret, and often a common word; a key in its place is one
			learnt = append(learnt, value)
		}
	}
	for _, part := range c.Auth.Parts {
		value := values[part.Secret]
		if part.In == Basic {
			value = values["username"] + ":" + values["password"]
			learnt = append(learnt, value)
		}
		signs = append(signs, signature{part, value})
	}
	e.secrets.Learn(connectionKey(c.Source, c.Scope, c.Name), learnt)
	return signs, nil
}

func (e *Executor) reveal(ctx context.Context, c Connection, key string) (string, error) {
	ref := c.Secrets[key]
	locked := func(cause error) error {
		return &Error{
			Code: NeedsAuth, Op: "unlock", Unsent: true, Err: cause,
			Msg:  fmt.Sprintf("connection %q of source %q cannot be unlocked: no %s", c.Name, c.Source, key),
			Hint: fmt.Sprintf("run: executor connect %s %s", c.Source, c.Name),
		}
	}
	if ref == "" {
		return "", locked(nil)
	}
	p := e.providers[ref.Scheme()]
	if p == nil {
		return "", locked(&Error{Code: Invalid, Op: "unlock", Msg: fmt.Sprintf("nothing resolves %q references", ref.Scheme()+"://")})
	}
	s, err := p.Secret(ctx, ref)
	if err != nil {
		return "", locked(err)
	}
	return s.Reveal(), nil
}

// credential is what a kind gets.
func (w *wire) credential() Credential { return Credential{w.client()} }

// left tells whether a failed invocation may have changed something upstream.
func (w *wire) left(err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sent {
		return true
	}
	// A kind that does not go through the wire has to say so itself.
	return len(w.requests) == 0 && !unsent(err) && CodeOf(err) != Invalid && CodeOf(err) != Blocked
}

func (w *wire) log() []RequestRecord {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.requests)
}

// limited reads no more than n bytes and tells whether that was all.
func limited(r io.Reader, n int) (data []byte, whole bool, err error) {
	data, err = io.ReadAll(io.LimitReader(r, int64(n)+1))
	if len(data) > n {
		return data, false, err
	}
	return data, true, err
}
