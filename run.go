package executor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A RunID names a run: "run_" and 26 characters that sort by time, 80 bits of
// them random. It is never used twice.
type RunID string

// A Status is how far a run has come.
type Status string

const (
	Running   Status = "running"
	Waiting   Status = "waiting"   // for a person
	Done      Status = "done"      // upstream answered; its no is a fault
	Failed    Status = "failed"    // no answer, and nothing was changed by it
	Denied    Status = "denied"    // by policy or by a person
	Ambiguous Status = "ambiguous" // it may or may not have changed something upstream; never retried blindly
)

// Ended tells whether the run will not change any more, except that a person may
// settle an Ambiguous one.
func (s Status) Ended() bool { return s != Running && s != Waiting }

// A Run is the record of one execution on any surface.
type Run struct {
	ID        RunID       `json:"id"`
	Version   uint64      `json:"version"` // 1 for the first state, then one more each time
	Parent    RunID       `json:"parent,omitempty"`
	Root      RunID       `json:"root"` // of the tree; its own ID without a parent
	Address   Address     `json:"address"`
	Effect    Effect      `json:"effect"`
	Principal []Principal `json:"principal"` // the chain: who acts, last; for whom, before
	Status    Status      `json:"status"`
	Reason    string      `json:"reason,omitempty"` // why it is not done, one clause
	Code      Code        `json:"code,omitempty"`   // of the error that ended it

	Input    Input           `json:"input"`
	Decision *Decision       `json:"decision,omitempty"` // the last one asked for
	Approval *Approval       `json:"approval,omitempty"` // the one used
	Requests []RequestRecord `json:"requests,omitempty"` // what went to upstream, in order
	Output   *Output         `json:"output,omitempty"`

	Started time.Time `json:"started"`        // UTC
	Ended   time.Time `json:"ended,omitzero"` // UTC; zero while Running or Waiting
}

// Input is what a run was asked to do.
type Input struct {
	Args     json.RawMessage `json:"args"`             // secrets and sensitive values replaced by "[secret]"
	Digest   string          `json:"digest"`           // SHA-256 of the canonical arguments before that
	Manifest string          `json:"manifest"`         // digest of the manifest the tool was found in
	Policy   string          `json:"policy,omitempty"` // version of the rules asked
}

// Output is what came back.
type Output struct {
	Digest string          `json:"digest"`           // SHA-256 of the value, or of the handle's content
	Value  json.RawMessage `json:"value,omitempty"`  // when small enough
	Handle *Handle         `json:"handle,omitempty"` // otherwise
	Fault  *Fault          `json:"fault,omitempty"`
	Page   *Page           `json:"page,omitempty"`
}

// A RequestRecord is one message to upstream, without its credential and body.
type RequestRecord struct {
	Method string   `json:"method"`
	URL    string   `json:"url"` // credentials masked
	Status int      `json:"status,omitempty"`
	Bytes  int64    `json:"bytes,omitempty"` // of the answer's body as read
	Took   Duration `json:"took,omitempty"`
	Error  string   `json:"error,omitempty"`
}

// A Result is what a tool answered.
type Result struct {
	Run     RunID             // the run that records it; set by the executor, also beside an error once there is a run
	Status  Status            // of that run
	Value   json.RawMessage   // the answer as JSON; nil when there is a Handle or nothing
	Handle  *Handle           // the answer, when it is large or not JSON
	Fault   *Fault            // upstream said no
	Page    *Page             // there is more
	Headers map[string]string // of the answer, those worth having, names in lower case
	Labels  []Label           // of the data
	Notes   []string          // what the caller should know about the answer: cut, decoded otherwise

	// Body is how a kind hands over what is not JSON, or may be large. The
	// executor reads it to the end, closes it and puts Value or Handle in its
	// place; callers never see it.
	Body *Body
}

// Body is content on its way from a kind to storage.
type Body struct {
	Content   io.ReadCloser
	MediaType string // "application/json" is put into Value when it is small
	Name      string // file name, when upstream told one
}

// A Fault is upstream saying no: an HTTP 404, a GraphQL error, an exit status.
type Fault struct {
	Status  int               `json:"status,omitempty"` // HTTP status or exit status
	Message string            `json:"message"`          // one line
	Headers map[string]string `json:"headers,omitempty"`
	Body    json.RawMessage   `json:"body,omitempty"` // JSON as it came, or a JSON string; cut at 64 KiB
}

// A Page says how to go on after a partial answer.
type Page struct {
	Next string          `json:"next,omitempty"` // URL of the next page, as upstream told it
	Args json.RawMessage `json:"args,omitempty"` // arguments to set for the next call, where they could be told
	More bool            `json:"more"`
}

// A Handle refers to a result too large or too rich for the channel. Its content
// is read with [Executor.Open].
type Handle struct {
	Run       RunID  `json:"run"`
	Digest    string `json:"digest"` // SHA-256, lower-case hex
	Size      int64  `json:"size"`   // bytes
	MediaType string `json:"mediaType"`
	Name      string `json:"name,omitempty"`
	Preview   string `json:"preview,omitempty"` // the beginning, or the shape; at most 1 KiB; "" for binary content
}

// Run gives the newest state of a run. A run that does not exist, whose tool e may
// not see, or that is another's and e acts for an agent, is NotFound.
func (e *Executor) Run(ctx context.Context, id RunID) (Run, error) {
	run, err := e.storage.Runs().Get(ctx, id)
	if err == nil && !e.mayRead(run) {
		err = &Error{Code: NotFound}
	}
	if isAbsent(err) {
		return Run{}, &Error{Code: NotFound, Op: "run", Msg: fmt.Sprintf("there is no run %q", id), Hint: "run: executor runs list"}
	}
	return run, err
}

// mayRead tells whether e may know of run: people of all in their scopes, others
// of their own. Of a chain each principal since the first that is no person has to
// be in the run's, so that a narrower executor never reads more.
func (e *Executor) mayRead(run Run) bool {
	if !e.Sees(run.Address) {
		return false
	}
	first := slices.IndexFunc(e.chain, func(p Principal) bool { return p.Kind != Human })
	if first < 0 {
		return true
	}
	for _, mine := range e.chain[first:] {
		if !slices.ContainsFunc(run.Principal, func(p Principal) bool { return p.Kind == mine.Kind && p.ID == mine.ID }) {
			return false
		}
	}
	return true
}

// Runs gives the newest states of the runs that e may read and the filter selects,
// latest started first.
func (e *Executor) Runs(ctx context.Context, f RunFilter) ([]Run, error) {
	limit := cmp.Or(f.Limit, 100)
	readable := []Run{}
	for len(readable) < limit {
		page, err := e.storage.Runs().List(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, run := range page {
			if e.mayRead(run) && len(readable) < limit {
				readable = append(readable, run)
			}
		}
		if len(page) < cmp.Or(f.Limit, 100) {
			break
		}
		f.Before = page[len(page)-1].ID
	}
	return readable, nil
}

// Verified is the extent of an intact chain.
type Verified struct {
	Entries uint64 `json:"entries"`
	Runs    int    `json:"runs"`
	Head    string `json:"head"` // hash of the last entry; keep it elsewhere to notice a tail that was cut off
}

// VerifyRuns reads the whole chain of run records. One that was altered, removed
// from or added to is Internal.
func (e *Executor) VerifyRuns(ctx context.Context) (Verified, error) {
	if err := e.people("read other principals' runs"); err != nil {
		return Verified{}, err
	}
	var v Verified
	var last Entry
	for entry, err := range e.storage.Runs().Chain(ctx) {
		if err == nil {
			err = entry.Check(last)
		}
		if err != nil {
			return v, err
		}
		var run struct {
			Version uint64 `json:"version"`
		}
		if err := json.Unmarshal(entry.Run, &run); err != nil {
			return v, chainError(fmt.Sprintf("entry %d is not a run", entry.Seq))
		}
		if run.Version == 1 {
			v.Runs++
		}
		last, v.Entries, v.Head = entry, entry.Seq, entry.Hash
	}
	return v, nil
}

// Recover settles what a process that died left behind: a read that was running has
// failed; a write that was running may have happened and is ambiguous. It gives
// how many runs it settled. Requests whose run does not wait go too. Call it once, at the
// start of the only process that uses the storage.
func (e *Executor) Recover(ctx context.Context) (int, error) {
	settled := 0
	for {
		runs, err := e.storage.Runs().List(ctx, RunFilter{Status: Running})
		if err == nil && len(runs) == 0 {
			e.sweep(ctx)
		}
		if err != nil || len(runs) == 0 {
			return settled, err
		}
		for _, run := range runs {
			run.Status, run.Reason, run.Ended = Failed, "restart", e.now().UTC()
			if run.Effect != Read {
				run.Status = Ambiguous
			}
			if _, err := e.append(ctx, run); err != nil {
				return settled, err
			}
			settled++
		}
	}
}

// sweep removes the requests that a process left between two writes: nobody can
// answer them, and they hold arguments. One that cannot be removed is in nobody's way.
func (e *Executor) sweep(ctx context.Context) {
	err := drop(ctx, e.house, Requests, "", func(r *Request) bool {
		run, err := e.storage.Runs().Get(ctx, r.ID)
		return isAbsent(err) || err == nil && run.Status != Waiting
	})
	if err != nil {
		e.log.Warn("requests not swept", "error", err)
	}
}

// Settle says what became of an Ambiguous run, after somebody looked: Done, or
// Failed when nothing was changed. It is a person's word, as [Executor.Answer] is;
// any other run is Conflict.
func (e *Executor) Settle(ctx context.Context, id RunID, as Status, why string) (Run, error) {
	if !person(e.chain) {
		return Run{}, &Error{
			Code: Blocked, Op: "settle", Run: id, Msg: fmt.Sprintf("%s %q may not settle", e.Principal().Kind, e.Principal().ID),
			Hint: "a person does this, at a terminal of their own",
		}
	}
	if as != Done && as != Failed {
		return Run{}, &Error{Code: Invalid, Op: "settle", Run: id, Msg: fmt.Sprintf("a run cannot be settled as %q", as), Hint: "use done or failed"}
	}
	run, err := e.Run(ctx, id)
	if err != nil {
		return Run{}, err
	}
	if run.Status != Ambiguous {
		return Run{}, &Error{Code: Conflict, Op: "settle", Run: id, Msg: fmt.Sprintf("%s is not ambiguous: it is %s", id, run.Status)}
	}
	run.Status, run.Code, run.Reason = as, "", strings.TrimSuffix(fmt.Sprintf("settled by %s: %s", e.Principal().ID, why), ": ")
	return e.append(ctx, run)
}
