package executor

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"time"
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

// New makes an Executor. A duplicate kind or scheme, or a bad scope, is Invalid.
func New(c Config) (*Executor, error) { panic(0) }

// Narrow gives an executor that sees what e and the toolkit both select, and acts
// as p for e's principal. It never widens: an agent's executor narrowed to a person stays an agent's.
func (e *Executor) Narrow(t Toolkit, p Principal) *Executor { panic(0) }

// Principal gives who e acts as.
func (e *Executor) Principal() Principal { panic(0) }

// Scopes gives the scopes e holds, outer to inner.
func (e *Executor) Scopes() Scopes { panic(0) }

// the path (execute.go)
func (e *Executor) Execute(ctx context.Context, a Address, args json.RawMessage) (Result, error) {
	panic(0)
}
func (e *Executor) DryRun(ctx context.Context, a Address, args json.RawMessage) (Plan, error) {
	panic(0)
}
func (e *Executor) Resume(ctx context.Context, id RunID) (Result, error) { panic(0) }

// A Plan is what a call would do: DryRun's answer.
type Plan struct {
	Address  Address         `json:"address"`
	Effect   Effect          `json:"effect"`
	Args     json.RawMessage `json:"args"` // with defaults
	Decision Decision        `json:"decision"`
	Request  *Planned        `json:"request,omitempty"` // nil: the kind sends none
}

// approvals
func (e *Executor) Answer(ctx context.Context, id RunID, approve bool, reason string) (Request, error) {
	panic(0)
}                                                                   // a person's decision; runs nothing: Resume does. Agents: Blocked
func (e *Executor) Requests(ctx context.Context) ([]Request, error) { panic(0) } // waiting ones, oldest first

// sources
func (e *Executor) AddSource(ctx context.Context, s Source) (Source, error)               { panic(0) } // Resolves; adds the public connection when Manifest.Public (in scope e.Scopes().Inner()). Existing ID: Conflict
func (e *Executor) Source(ctx context.Context, id SourceID) (Source, error)               { panic(0) }
func (e *Executor) Sources(ctx context.Context) ([]Source, error)                         { panic(0) }
func (e *Executor) RefreshSource(ctx context.Context, id SourceID) (Source, Drift, error) { panic(0) }
func (e *Executor) RemoveSource(ctx context.Context, id SourceID) (Removed, error)        { panic(0) }
func (e *Executor) Manifest(ctx context.Context, digest string) (*Manifest, error)        { panic(0) } // parsed once, shared: do not change it

// A Drift is how a refreshed source differs from before.
type Drift struct {
	Added   []ToolName `json:"added"`
	Removed []ToolName `json:"removed"`
	Changed []ToolName `json:"changed"`
	Hosts   []string   `json:"hosts,omitempty"` // origins the description now names that calls may still not reach
}

// Removed counts what went with a source.
type Removed struct {
	Connections int `json:"connections"`
	Policies    int `json:"policies"`
}

// connections
func (e *Executor) Connect(ctx context.Context, c Connection) (Connection, error) { panic(0) } // c.Auth whole; every secret key it wants must be given; each ref must resolve. Replaces one of the same name
func (e *Executor) Connections(ctx context.Context) ([]Connection, error)         { panic(0) } // in e's scopes
func (e *Executor) CheckConnection(ctx context.Context, s SourceID, scope ScopeID, name ConnectionName) error {
	panic(0)
}
func (e *Executor) Disconnect(ctx context.Context, s SourceID, scope ScopeID, name ConnectionName) error {
	panic(0)
}
func (e *Executor) Keep(ctx context.Context, scheme, name string, value Secret) (SecretRef, error) {
	panic(0)
} // stores with a Keeper provider

// tools
func (e *Executor) Tools(ctx context.Context) iter.Seq2[Found, error]  { panic(0) } // everything e sees, by source, connection, name
func (e *Executor) Find(ctx context.Context, a Address) (Found, error) { panic(0) }

// Found is a tool as seen through a connection.
type Found struct {
	Address    Address
	Tool       *Tool     // shared: do not change it
	Manifest   *Manifest // likewise
	Source     Source
	Connection Connection
}

// policies
func (e *Executor) SetPolicy(ctx context.Context, p Policy) (matches int, err error) { panic(0) } // replaces the rule with same scope, source, connection, tools and condition
func (e *Executor) RemovePolicy(ctx context.Context, p Policy) error                 { panic(0) }
func (e *Executor) Policies(ctx context.Context) ([]Policy, error)                   { panic(0) }
func (e *Executor) Explain(ctx context.Context, a Address, args json.RawMessage) (Decision, error) {
	panic(0)
}                                                                      // args may be nil
func (e *Executor) Matches(ctx context.Context, p Policy) (int, error) { panic(0) }

// runs
func (e *Executor) Run(ctx context.Context, id RunID) (Run, error)                    { panic(0) }
func (e *Executor) Runs(ctx context.Context, f RunFilter) ([]Run, error)              { panic(0) }
func (e *Executor) Open(ctx context.Context, id RunID) (io.ReadCloser, Handle, error) { panic(0) } // the output of a run
func (e *Executor) VerifyRuns(ctx context.Context) (Verified, error)                  { panic(0) } // the chain; an altered one is Internal
func (e *Executor) Recover(ctx context.Context) (int, error)                          { panic(0) } // settles runs that a dead process left running; call once at start-up of the only process on a storage

// Verified is the extent of an intact chain.
type Verified struct {
	Entries uint64 `json:"entries"`
	Runs    int    `json:"runs"`
	Head    string `json:"head"` // hash of the last entry; keep it elsewhere to notice a removed tail
}

// An Executor finds, decides, unlocks, invokes and records. Safe for concurrent use.
type Executor struct{}
