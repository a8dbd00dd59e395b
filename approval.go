package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Request is what the inbox holds: something wanted from a person.
type Request struct {
	ID       RunID           `json:"id"`   // of the waiting run; a run waits for one thing at a time
	Kind     RequestKind     `json:"kind"` // approval is the only one a call makes
	Address  Address         `json:"address"`
	Effect   Effect          `json:"effect"`
	Asks     []Principal     `json:"asks"`             // who wants it: the run's chain
	Summary  string          `json:"summary"`          // one sentence for people
	Args     json.RawMessage `json:"args"`             // as in the run: sensitive values masked
	Sealed   []byte          `json:"sealed,omitempty"` // the arguments, encrypted, where Args is masked; nil otherwise
	Decision Decision        `json:"decision"`         // which rule asked
	Binding  Binding         `json:"binding"`
	Created  time.Time       `json:"created"`
	Answer   *Answer         `json:"answer,omitempty"` // nil while it waits
	Version  uint64          `json:"-"`                // of the stored record
}

// RequestKind is what a person is wanted for.
type RequestKind string

// ForApproval asks whether one call may run.
const ForApproval RequestKind = "approval"

// A Binding is what an approval is good for. If anything in it has changed when
// the call would run, the approval is void.
type Binding struct {
	Args       string    `json:"args"`       // digest of the arguments
	Source     string    `json:"source"`     // digest of the source: where calls go, and how
	Connection string    `json:"connection"` // digest of the connection: how it signs, with which references
	Tool       string    `json:"tool"`       // digest of the tool as described, shared schemas included
	Policy     string    `json:"policy"`     // version of the rules
	Expires    time.Time `json:"expires"`    // UTC
}

// An Answer is a person's decision of a request.
type Answer struct {
	Approve bool      `json:"approve"`
	Reason  string    `json:"reason,omitempty"` // the asker sees it
	By      Principal `json:"by"`               // set by Executor.Answer
	At      time.Time `json:"at"`               // likewise; UTC
}

// An Approval is an answer as the run keeps it: single use, because the run it
// belongs to is claimed once.
type Approval struct {
	Request RunID   `json:"request"`
	Answer  Answer  `json:"answer"`
	Binding Binding `json:"binding"`
}

// A Sealer encrypts what must wait on disk. Safe for concurrent use.
type Sealer interface {
	Seal(plain []byte) ([]byte, error)
	Unseal(sealed []byte) ([]byte, error)
}

// binding gives what an approval of p is good for.
func (p permit) binding(expires time.Time) Binding {
	return Binding{
		Args: p.args.digest, Source: p.Source.digest(), Connection: p.Connection.digest(),
		Tool: p.Manifest.whole(p.Tool), Policy: p.policy, Expires: expires,
	}
}

// honours tells whether an approval given for was still fits what b would run at now.
func (b Binding) honours(was Binding, now time.Time) error {
	what := ""
	switch {
	case !now.Before(was.Expires):
		what = "it has expired"
	case b.Args != was.Args:
		what = "the arguments are others"
	case b.Source != was.Source:
		what = "the source was changed"
	case b.Connection != was.Connection:
		what = "the connection was changed"
	case b.Tool != was.Tool:
		what = "the tool was changed"
	case b.Policy != was.Policy:
		what = "the policy was changed"
	}
	if what == "" {
		return nil
	}
	return &Error{Code: Conflict, Op: "decide", Unsent: true, Msg: "the approval no longer holds: " + what, Hint: "call again to ask anew"}
}

// digest covers what an approver relies on: where calls go, and with which limits.
// What refreshing changes is covered by the tool's own.
func (s Source) digest() string {
	s.Manifest, s.Auth, s.Added, s.Refreshed, s.Version = "", nil, time.Time{}, time.Time{}, 0
	data, _ := json.Marshal(s) // its raw config was decoded once
	return digest(data)
}

// digest covers what an approver relies on: how the account signs, with which
// references.
func (c Connection) digest() string {
	c.Created, c.Version = time.Time{}, 0
	data, _ := json.Marshal(c) // plain values always encode
	return digest(data)
}

// digest covers what an approver relies on: what the tool is said to do, and what
// invoking it sends.
func (t Tool) digest() string {
	data, _ := json.Marshal(t) // its raw parts were decoded once
	return digest(data)
}

// wait records a run that waits for a person and asks for one.
func (e *Executor) wait(ctx context.Context, run Run, p permit) (Result, error) {
	req := Request{
		ID: run.ID, Kind: ForApproval, Address: run.Address, Effect: run.Effect, Asks: run.Principal,
		Summary: summary(p), Args: run.Input.Args, Decision: p.decision,
		Binding: p.binding(e.now().UTC().Add(e.ttl)), Created: e.now().UTC(),
	}
	if string(req.Args) != string(p.args.text) {
		sealed, err := e.seal(p.args.text)
		if err != nil {
			return e.refuse(ctx, run, err)
		}
		req.Sealed = sealed
	}
	if _, err := put(ctx, e.house, Requests, string(run.ID), req, 0); err != nil {
		return Result{}, err
	}
	run.Status, run.Reason = Waiting, "a person is asked"
	run, err := e.append(ctx, run)
	if err != nil {
		return Result{}, err
	}
	return Result{Run: run.ID, Status: Waiting}, &Error{
		Code: NeedsApproval, Op: "decide", Run: run.ID, Unsent: true,
		Msg:  fmt.Sprintf("%q waits for a person: %s", run.Address, p.decision.first().Text),
		Hint: fmt.Sprintf("to wait for the answer, run: executor wait %s", run.ID),
	}
}

func (h *house) seal(plain []byte) ([]byte, error) {
	if h.sealer == nil {
		return nil, &Error{
			Code: Invalid, Op: "decide", Unsent: true,
			Msg: "the call would have to wait with sensitive arguments, and nothing here can encrypt them", Hint: "set Config.Sealer",
		}
	}
	return h.sealer.Seal(plain)
}

// summary says in one sentence what is asked for.
func summary(p permit) string {
	what, _, _ := strings.Cut(strings.TrimSpace(p.Tool.Description), "\n")
	if what == "" {
		what = string(p.Tool.Name)
	}
	return fmt.Sprintf("%s (%s, as %s)", strings.TrimSuffix(what, "."), p.Source.ID, p.Connection.Name)
}

// Requests gives what waits for a person, or was approved and has not run yet,
// oldest first. An agent sees its own.
func (e *Executor) Requests(ctx context.Context) ([]Request, error) {
	records, err := e.storage.Table(Requests).List(ctx, "")
	if err != nil {
		return nil, err
	}
	requests := []Request{}
	for _, r := range records { // keys are run ids, which sort by time
		req, run, err := e.request(ctx, RunID(r.Key))
		if isAbsent(err) || CodeOf(err) == Conflict { // it has expired
			continue
		} else if err != nil {
			return nil, err
		}
		if run.Status == Waiting {
			requests = append(requests, req)
		}
	}
	return requests, nil
}

// request gives a request with its run, if e may see it.
func (e *Executor) request(ctx context.Context, id RunID) (Request, Run, error) {
	run, err := e.Run(ctx, id)
	if err != nil {
		return Request{}, Run{}, err
	}
	req, version, err := get[Request](ctx, e.house, Requests, string(id))
	if isAbsent(err) {
		return Request{}, run, notWaiting(run)
	} else if err != nil {
		return Request{}, run, err
	}
	out := *req
	out.Version = version
	if run.Status == Waiting && !e.now().Before(out.Binding.Expires) {
		return out, run, e.expire(ctx, run, out.Answer)
	}
	return out, run, nil
}

// expire denies a run whose request nobody answered in time, or whose approval nobody
// used in time.
func (e *Executor) expire(ctx context.Context, run Run, answer *Answer) error {
	gone := &Error{Code: NotFound, Op: "approval", Run: run.ID, Msg: fmt.Sprintf("the request of %s has expired", run.ID), Hint: "call again to ask anew"}
	run.Status, run.Reason, run.Code, run.Ended = Denied, "the request expired unanswered", NeedsApproval, e.now().UTC()
	if answer != nil {
		gone.Code, gone.Msg = Conflict, fmt.Sprintf("the approval of %s no longer holds: it has expired", run.ID)
		run.Reason, run.Code = "the approval expired unused", Conflict
	}
	if _, err := e.append(ctx, run); err != nil {
		return err
	}
	if err := e.storage.Table(Requests).Delete(ctx, string(run.ID)); err != nil {
		return err
	}
	return gone
}

func notWaiting(run Run) error {
	err := &Error{Code: Conflict, Op: "approval", Run: run.ID, Msg: fmt.Sprintf("%s is not waiting: it is %s", run.ID, run.Status)}
	if a := run.Approval; a != nil {
		err.Msg += fmt.Sprintf(", decided by %s at %s", a.Answer.By.ID, a.Answer.At.Format(time.RFC3339))
	}
	return err
}

// Answer takes a person's decision of the request of a waiting run. It runs
// nothing: an approved run goes on with [Executor.Resume], a denied one has ended.
// The first answer holds, later ones are Conflict. Whoever acts for an agent, or
// is not surely a person, is Blocked.
func (e *Executor) Answer(ctx context.Context, id RunID, approve bool, why string) (Request, error) {
	if !person(e.chain) {
		e.log.Warn("answer refused", "run", id, "principal", e.Principal().ID, "kind", string(e.Principal().Kind))
		return Request{}, &Error{
			Code: Blocked, Op: "approval", Run: id,
			Msg:  fmt.Sprintf("%s %q may not decide", e.Principal().Kind, e.Principal().ID),
			Hint: "a person decides, at a terminal of their own",
		}
	}
	req, run, err := e.request(ctx, id)
	if err != nil {
		return Request{}, err
	}
	if run.Status != Waiting || req.Answer != nil {
		return Request{}, notWaiting(run)
	}
	req.Answer = &Answer{Approve: approve, Reason: why, By: e.Principal(), At: e.now().UTC()}
	if _, err := put(ctx, e.house, Requests, string(id), req, req.Version); err != nil {
		return Request{}, err
	}
	if approve {
		return req, nil
	}
	return req, e.deny(ctx, run, req)
}

func (e *Executor) deny(ctx context.Context, run Run, req Request) error {
	run.Status, run.Reason, run.Code, run.Ended = Denied, "denied by "+req.Answer.By.ID, Blocked, e.now().UTC()
	if req.Answer.Reason != "" {
		run.Reason += ": " + req.Answer.Reason
	}
	run.Approval = &Approval{Request: req.ID, Answer: *req.Answer, Binding: req.Binding}
	if _, err := e.append(ctx, run); err != nil {
		return err
	}
	return e.storage.Table(Requests).Delete(ctx, string(run.ID))
}

// Resume goes on with a waiting run that a person approved: it claims the run, so
// that of any number of callers one succeeds and the others get Conflict, asks
// the policy again, and calls. A run still unanswered is NeedsApproval.
func (e *Executor) Resume(ctx context.Context, id RunID) (Result, error) {
	req, run, err := e.request(ctx, id)
	if err != nil {
		return Result{}, err
	}
	if run.Status != Waiting {
		return Result{}, notWaiting(run)
	}
	if req.Answer == nil {
		return Result{Run: id, Status: Waiting}, &Error{
			Code: NeedsApproval, Op: "resume", Run: id, Unsent: true, Msg: fmt.Sprintf("%s still waits for a person", id),
			Hint: fmt.Sprintf("to wait for the answer, run: executor wait %s", id),
		}
	}
	if !req.Answer.Approve { // the process died between the answer and its record
		return Result{}, errors.Join(e.deny(ctx, run, req), notWaiting(run))
	}
	args, err := e.unseal(req)
	if err != nil {
		return Result{}, err
	}
	if err := e.ready(ctx, run.Address); err != nil {
		return Result{Run: id, Status: Waiting}, err
	}
	run.Status, run.Reason = Running, ""
	if run, err = e.append(ctx, run); err != nil { // the claim
		return Result{}, err
	}
	if err := e.storage.Table(Requests).Delete(ctx, string(id)); err != nil {
		e.log.Warn("request not removed", "run", id, "error", err) // Requests leaves out what does not wait any more
	}
	return e.walk(ctx, run, args, &Approval{Request: req.ID, Answer: *req.Answer, Binding: req.Binding})
}

// ready tells whether the connection of a tool can be unlocked. A vault that is
// locked must not use up an approval.
func (e *Executor) ready(ctx context.Context, a Address) error {
	f, err := e.find(ctx, a)
	if err != nil {
		return nil //nolint:nilerr // walk finds that out again, and ends the run
	}
	_, err = e.signatures(ctx, f.Connection)
	return e.clean(err, "")
}

func (h *house) unseal(req Request) (json.RawMessage, error) {
	if req.Sealed == nil {
		return req.Args, nil
	}
	if h.sealer == nil {
		return nil, &Error{Code: Unavailable, Op: "resume", Run: req.ID, Msg: "the arguments are encrypted, and nothing here can decrypt them", Hint: "set Config.Sealer"}
	}
	return h.sealer.Unseal(req.Sealed)
}
