package executor

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/open-executor/executor/internal/redact"
)

// Config is what an [Executor] is made of. The zero value works: it has no kinds,
// keeps its records in memory and acts for a person.
type Config struct {
	Kinds      []Kind
	Providers  []Provider
	Storage    Storage                                   // nil: Memory()
	Scopes     Scopes                                    // outer to inner; nil: "user"
	Principal  Principal                                 // zero: a person, vouched for by the embedding program
	Transport  func(allowPrivate bool) http.RoundTripper // how calls leave; nil: not at all
	Conditions func(expr string) (Condition, error)      // compiles Policy.When; nil: conditions are refused
	Sealer     Sealer                                    // nil: a gated call with sensitive arguments is refused
	Log        *slog.Logger                              // one line a run; nil: none

	InlineBytes int              // results larger than this become a Handle; 0: 64 KiB
	ApprovalTTL time.Duration    // how long a request waits for its answer; 0: 24 h
	Now         func() time.Time // nil: time.Now
	Random      io.Reader        // for ids; nil: crypto/rand
}

// An Executor finds, decides, unlocks, invokes and records. What it may do is
// what it was made with: its scopes, its toolkits and its chain of principals.
// Safe for concurrent use.
type Executor struct {
	*house
	toolkits []Toolkit   // a tool must be in all of them
	chain    []Principal // who acts, last; for whom, before
	parent   RunID       // of the runs it makes
}

// A house is what all executors made from one New share.
type house struct {
	kinds      map[string]Kind
	providers  map[string]Provider
	storage    Storage
	scopes     Scopes
	transport  func(allowPrivate bool) http.RoundTripper
	conditions func(expr string) (Condition, error)
	sealer     Sealer
	log        *slog.Logger
	inline     int
	ttl        time.Duration
	now        func() time.Time
	random     io.Reader
	manifests  shelf
	secrets    redact.Secrets
	decoded    memo
}

// New makes an Executor. A kind or a scheme that occurs twice, or a scope name
// that is not usable, is Invalid.
func New(c Config) (*Executor, error) {
	h := &house{
		kinds: map[string]Kind{}, providers: map[string]Provider{},
		storage: c.Storage, scopes: slices.Clone(c.Scopes),
		transport: c.Transport, conditions: c.Conditions, sealer: c.Sealer, log: c.Log,
		inline: cmp.Or(c.InlineBytes, 64<<10), ttl: cmp.Or(c.ApprovalTTL, 24*time.Hour),
		now: c.Now, random: c.Random,
	}
	if h.storage == nil {
		h.storage = Memory()
	}
	if h.scopes == nil {
		h.scopes = Scopes{"user"}
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.now == nil {
		h.now = time.Now
	}
	if h.random == nil {
		h.random = rand.Reader
	}
	p := c.Principal
	if p == (Principal{}) {
		p = Principal{Kind: Human, ID: "owner", Assurance: Embedded}
	}
	return &Executor{house: h, chain: []Principal{p}}, h.fill(c)
}

func (h *house) fill(c Config) error {
	for _, k := range c.Kinds {
		if h.kinds[k.Name()] != nil {
			return &Error{Code: Invalid, Op: "new", Msg: fmt.Sprintf("kind %q is given twice", k.Name())}
		}
		h.kinds[k.Name()] = k
	}
	for _, p := range c.Providers {
		if h.providers[p.Scheme()] != nil {
			return &Error{Code: Invalid, Op: "new", Msg: fmt.Sprintf("provider %q is given twice", p.Scheme())}
		}
		h.providers[p.Scheme()] = p
	}
	for _, s := range h.scopes {
		if err := checkName("scope", string(s)); err != nil {
			return err
		}
	}
	return nil
}

// Narrow gives an executor that sees what e and the toolkit both select, and acts
// as p for e's principal. It never widens: whoever acts for an agent decides
// nothing, whatever p claims to be.
func (e *Executor) Narrow(t Toolkit, p Principal) *Executor {
	n := *e
	n.toolkits = append(slices.Clone(e.toolkits), t)
	n.chain = append(slices.Clone(e.chain), p)
	return &n
}

// Under gives e with every run it makes a child of parent.
func (e *Executor) Under(parent RunID) *Executor {
	n := *e
	n.parent = parent
	return &n
}

// Principal gives who e acts as.
func (e *Executor) Principal() Principal { return e.chain[len(e.chain)-1] }

// Scopes gives the scopes e holds, outer to inner.
func (e *Executor) Scopes() Scopes { return slices.Clone(e.scopes) }

// Schemes gives the secret reference schemes that have a provider, sorted.
func (e *Executor) Schemes() []string { return sortedKeys(e.providers) }

// Kinds gives the names of the kinds of source, sorted.
func (e *Executor) Kinds() []string { return sortedKeys(e.kinds) }

// people refuses what only people may do.
func (e *Executor) people(what string) error {
	if people(e.chain) {
		return nil
	}
	return &Error{
		Code: Blocked, Op: "configure",
		Msg:  fmt.Sprintf("%s %q may not %s", e.Principal().Kind, e.Principal().ID, what),
		Hint: "a person does this at a terminal of their own",
	}
}

// crockford is the alphabet of ids: no I, L, O, U.
const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// newRunID gives 48 bits of time in milliseconds and 80 random bits.
func (h *house) newRunID() (RunID, error) {
	var b [16]byte
	ms := uint64(h.now().UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	if _, err := io.ReadFull(h.random, b[6:]); err != nil {
		return "", &Error{Code: Internal, Op: "id", Msg: "no randomness", Err: err}
	}
	out := make([]byte, 0, 26)
	var acc, bits uint
	bits = 2 // 130 bits in 26 characters: two zero bits stand in front
	for _, c := range b {
		acc, bits = acc<<8|uint(c), bits+8
		for bits >= 5 {
			bits -= 5
			out = append(out, crockford[acc>>bits&31])
		}
	}
	return RunID("run_" + string(out)), nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// get reads and decodes one record; what it gives is shared: do not change it.
func get[T any](ctx context.Context, h *house, noun Noun, key string) (*T, uint64, error) {
	r, err := h.storage.Table(noun).Get(ctx, key)
	if err != nil {
		return nil, 0, err
	}
	v, err := decode[T](h, noun, r)
	return v, r.Version, err
}

// decode decodes a record once a version.
func decode[T any](h *house, noun Noun, r Record) (*T, error) {
	if v, ok := h.decoded.get(noun, r); ok {
		return v.(*T), nil
	}
	v := new(T)
	if err := json.Unmarshal(r.Value, v); err != nil {
		return nil, &Error{Code: Internal, Op: "storage", Msg: fmt.Sprintf("record %q of %s cannot be read", r.Key, noun), Err: err}
	}
	h.decoded.put(noun, r, v)
	return v, nil
}

// put encodes and writes one record.
func put(ctx context.Context, h *house, noun Noun, key string, v any, was uint64) (uint64, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return 0, &Error{Code: Internal, Op: "storage", Msg: fmt.Sprintf("record %q of %s cannot be encoded", key, noun), Err: err}
	}
	r, err := h.storage.Table(noun).Put(ctx, key, data, was)
	return r.Version, err
}

// drop deletes the records under prefix that unwanted picks.
func drop[T any](ctx context.Context, h *house, noun Noun, prefix string, unwanted func(*T) bool) error {
	table := h.storage.Table(noun)
	records, err := table.List(ctx, prefix)
	if err != nil {
		return err
	}
	for _, r := range records {
		v, err := decode[T](h, noun, r)
		if err != nil {
			return err
		}
		if !unwanted(v) {
			continue
		}
		if err := table.Delete(ctx, r.Key); err != nil {
			return err
		}
	}
	return nil
}
