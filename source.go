package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// A Source is where tools come from.
type Source struct {
	ID           SourceID          `json:"id"`
	Kind         string            `json:"kind"` // the Name of a Kind
	Title        string            `json:"title,omitempty"`
	Config       json.RawMessage   `json:"config"`                 // the kind's own; the executor never reads it
	Headers      map[string]string `json:"headers,omitempty"`      // static, sent beside the sign-in; never a secret
	Hosts        []string          `json:"hosts,omitempty"`        // origins that its calls may reach: the manifest's and those given
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

	// Open gives the output of an earlier run, for arguments that refer to one
	// (see File); the caller closes it.
	Open func(ctx context.Context, id RunID) (io.ReadCloser, Handle, error)
}

// A Planner is a Kind that can tell what it would send. Where it is not one, a dry
// run shows the decision only.
type Planner interface {
	// Plan builds the request that Invoke would send, and sends nothing.
	// call.Credential signs nothing and reaches nothing.
	Plan(ctx context.Context, call Call) (*http.Request, error)
}

// A Checker is a Kind that can tell whether a connection still works.
type Checker interface {
	// Check makes the cheapest call that needs the sign-in. A refused
	// credential is NeedsAuth. Where no such call is known it is NotFound.
	Check(ctx context.Context, src Source, m Manifest, cred Credential) error
}

// AddSource resolves a source's description and keeps it. A description that asks
// for no sign-in gets its public connection at once, in e's innermost scope. An ID
// that is taken is Conflict. The description itself may be fetched from anywhere;
// what the tools then reach are Source.Hosts.
func (e *Executor) AddSource(ctx context.Context, s Source) (Source, error) {
	if err := e.checkSource(s); err != nil {
		return Source{}, err
	}
	if _, err := e.Source(ctx, s.ID); !isAbsent(err) {
		if err == nil {
			err = &Error{Code: Conflict, Op: "source", Msg: fmt.Sprintf("source %q exists", s.ID), Hint: "choose another id, or run: executor source remove " + string(s.ID)}
		}
		return Source{}, err
	}
	m, err := e.resolve(ctx, s, nil)
	public := err == nil && m.Public
	switch {
	case CodeOf(err) == NeedsAuth: // resolved through each connection
	case err != nil:
		return Source{}, e.clean(err, "")
	default:
		if s.Manifest, err = e.keepManifest(ctx, &m); err != nil {
			return Source{}, err
		}
		s.learn(m)
	}
	s.Added, s.Refreshed = e.now().UTC(), e.now().UTC()
	s.Version, err = put(ctx, e.house, Sources, string(s.ID), s, 0)
	if err != nil || !public {
		return s, err
	}
	_, err = e.Connect(ctx, Connection{Source: s.ID, Scope: e.scopes.Inner(), Name: Public, Auth: Auth{Name: "none"}})
	return s, err
}

func (e *Executor) checkSource(s Source) error {
	if err := checkName("source", string(s.ID)); err != nil {
		return err
	}
	if s.AllowPrivate || len(e.chain) > 1 {
		if err := e.people("add such a source"); err != nil {
			return err
		}
	}
	if e.kinds[s.Kind] == nil {
		return &Error{
			Code: Invalid, Op: "source", Msg: fmt.Sprintf("kind %q is not one", s.Kind),
			Hint: "use one of: " + strings.Join(e.Kinds(), ", "),
		}
	}
	return nil
}

// learn takes over what the manifest says of the source as a whole. Hosts are
// only learnt when the source is added.
func (s *Source) learn(m Manifest) {
	s.Auth = m.Auth
	if s.Title == "" {
		s.Title = m.Title
	}
	for _, h := range m.Hosts {
		if !slices.Contains(s.Hosts, h) {
			s.Hosts = append(s.Hosts, h)
		}
	}
}

// resolve asks the kind. Without signatures the description may be fetched from any
// host; with them, from the source's only.
func (e *Executor) resolve(ctx context.Context, s Source, sign []signature) (Manifest, error) {
	w := e.wire(s, Connection{})
	w.sign, w.anywhere = sign, sign == nil
	var m Manifest
	err := guarded(s.Kind, func() (err error) {
		m, err = e.kinds[s.Kind].Resolve(ctx, s, w.credential())
		return err
	})
	return m, err
}

// guarded makes a panic of a kind its defect, not the end of the process.
func guarded(kind string, call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &Error{Code: Internal, Op: "invoke", Msg: fmt.Sprintf("kind %q panicked", kind), Err: fmt.Errorf("%v", r)}
		}
	}()
	return call()
}

// Source gives one source. None, or one of which e's toolkits select nothing, is
// NotFound.
func (e *Executor) Source(ctx context.Context, id SourceID) (Source, error) {
	s, version, err := get[Source](ctx, e.house, Sources, string(id))
	if isAbsent(err) || err == nil && !e.offers(id) {
		return Source{}, &Error{Code: NotFound, Op: "source", Msg: fmt.Sprintf("there is no source %q", id), Hint: "run: executor source list"}
	} else if err != nil {
		return Source{}, err
	}
	out := *s
	out.Version = version
	return out, nil
}

// offers tells whether e's toolkits may select a tool of the source.
func (e *Executor) offers(id SourceID) bool {
	return !slices.ContainsFunc(e.toolkits, func(t Toolkit) bool {
		return !slices.ContainsFunc(t.Tools, func(pattern string) bool {
			first, _, _ := strings.Cut(pattern, ".")
			return globs(first, string(id))
		})
	})
}

// Sources gives the sources of which e's toolkits may select something, by ID.
func (e *Executor) Sources(ctx context.Context) ([]Source, error) {
	records, err := e.storage.Table(Sources).List(ctx, "")
	if err != nil {
		return nil, err
	}
	sources := []Source{}
	for _, r := range records {
		s, err := decode[Source](e.house, Sources, r)
		if err != nil {
			return nil, err
		}
		if e.offers(s.ID) {
			out := *s
			out.Version = r.Version
			sources = append(sources, out)
		}
	}
	return sources, nil
}

// Removed counts what went with a source.
type Removed struct {
	Connections int `json:"connections"`
	Policies    int `json:"policies"`
}

// RemoveSource removes a source with its connections and rules. Its runs stay.
// None is NotFound. Agents are Blocked.
func (e *Executor) RemoveSource(ctx context.Context, id SourceID) (Removed, error) {
	if err := e.people("remove a source"); err != nil {
		return Removed{}, err
	}
	s, err := e.Source(ctx, id)
	if err != nil {
		return Removed{}, err
	}
	var r Removed
	manifests := []string{s.Manifest}
	err = drop(ctx, e.house, Connections, string(id)+"/", func(c *Connection) bool {
		manifests = append(manifests, c.Manifest)
		r.Connections++
		return true
	})
	if err != nil {
		return r, err
	}
	err = drop(ctx, e.house, Policies, "", func(p *Policy) bool {
		if p.Source == id {
			r.Policies++
		}
		return p.Source == id
	})
	if err != nil {
		return r, err
	}
	if err := e.storage.Table(Sources).Delete(ctx, string(id)); err != nil {
		return r, err
	}
	for _, m := range manifests {
		if err := e.dropManifest(ctx, m); err != nil {
			return r, err
		}
	}
	return r, nil
}
