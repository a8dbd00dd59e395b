package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Storage is the executor's own memory. What it acknowledges survives the
// process; [Runs] says what survives the machine. Safe for concurrent use.
// The package storagetest holds the contract.
type Storage interface {
	Table(noun Noun) Table
	Runs() Runs
	Blobs() Blobs     // results; may be removed when their time is over
	Artifacts() Blobs // manifests; kept as long as a record names them
	Close() error
}

// A Noun names a table.
type Noun string

const (
	Sources     Noun = "sources"
	Connections Noun = "connections"
	Policies    Noun = "policies"
	Toolkits    Noun = "toolkits"
	Requests    Noun = "requests"
)

// A Record is one entry of a table.
type Record struct {
	Key     string          `json:"key"` // 1 to 512 bytes of UTF-8 without control characters
	Version uint64          `json:"version"`
	Value   json.RawMessage `json:"value"`
}

// A Change is one step of a table's history, in order.
type Change struct {
	Record
	Deleted bool `json:"deleted,omitempty"` // Value is nil then
}

// A Table keeps the records of one noun. Versions rise with every change of any
// table of the storage and are never used twice.
type Table interface {
	// Get gives the record at key. None is NotFound.
	Get(ctx context.Context, key string) (Record, error)

	// List gives the records whose key begins with prefix, by key.
	List(ctx context.Context, prefix string) ([]Record, error)

	// Put writes a record and gives it with its new version. was is the version
	// it replaces; 0 means there is none yet. Anything else is Conflict.
	Put(ctx context.Context, key string, value json.RawMessage, was uint64) (Record, error)

	// Delete removes the record at key, whatever its version. A missing record
	// is not an error.
	Delete(ctx context.Context, key string) error

	// Watch gives changes of the table from now on, until ctx is done; then the
	// channel closes. A reader that is slow does not hold up writers: when it
	// falls too far behind the channel closes early, and it has to List again.
	Watch(ctx context.Context) <-chan Change
}

// Runs keeps every state of every run in one chain, in which each entry names
// the hash of the one before.
type Runs interface {
	// Append adds a state of a run and gives it back. run.Version is one more than
	// that of the state it follows, 1 for a new run; anything else is Conflict.
	// When Append returns, the entry survives a kill of this process. Except
	// for a plain read that is running, done or failed, it is also synced to
	// disk; such a read's entry is within a second.
	Append(ctx context.Context, run Run) (Run, error)

	// Get gives the newest state of a run. None is NotFound.
	Get(ctx context.Context, id RunID) (Run, error)

	// List gives newest states, latest started first.
	List(ctx context.Context, filter RunFilter) ([]Run, error)

	// Chain gives all entries in order. An entry that cannot be read, or does not
	// follow from the one before, ends it with an error that says where.
	Chain(ctx context.Context) iter.Seq2[Entry, error]
}

// A RunFilter selects runs. The zero value selects the latest 100.
type RunFilter struct {
	Status Status   // empty: any
	Source SourceID // empty: any
	Asker  string   // ID of a principal in the chain; empty: any
	Parent RunID    // children of this run; empty: any
	Before RunID    // only runs that started before this one; empty: from the latest
	Limit  int      // 0: 100
}

// Blobs keeps content by its SHA-256.
type Blobs interface {
	// Put stores content read to its end and gives digest (lower-case hex) and
	// size. The same content is stored once. After an error of the reader
	// nothing is stored.
	Put(ctx context.Context, content io.Reader) (digest string, size int64, err error)

	// Open gives the content; the caller closes it. None is NotFound. Content that
	// does not match its digest any more is Internal, found at Open or while reading.
	Open(ctx context.Context, digest string) (io.ReadSeekCloser, error)

	// Delete removes content. None is not an error.
	Delete(ctx context.Context, digest string) error

	// List gives all digests, in any order.
	List(ctx context.Context) ([]string, error)
}

// Selects tells whether the filter wants run, Before and Limit aside.
func (f RunFilter) Selects(run Run) bool {
	return (f.Status == "" || f.Status == run.Status) &&
		(f.Source == "" || f.Source == run.Address.Source) &&
		(f.Parent == "" || f.Parent == run.Parent) &&
		(f.Asker == "" || slices.ContainsFunc(run.Principal, func(p Principal) bool { return p.ID == f.Asker }))
}

// CheckKey tells whether key may be a record's: Invalid if not.
func CheckKey(key string) error {
	if len(key) >= 1 && len(key) <= 512 && utf8.ValidString(key) && !strings.ContainsFunc(key, unicode.IsControl) {
		return nil
	}
	return &Error{
		Code: Invalid, Op: "storage",
		Msg:  fmt.Sprintf("record key %.40q is not usable", key),
		Hint: "use 1 to 512 bytes of UTF-8 without control characters",
	}
}

func absent(what, key string) error {
	return &Error{Code: NotFound, Op: "storage", Msg: fmt.Sprintf("%s %q does not exist", what, key)}
}
