package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// Execute calls the tool at a with args, a JSON object. It is the only way to a tool:
//
//	find → decide → unlock → invoke → record
//
// Upstream's no is Result.Fault. A call that needs a person is an *Error with
// NeedsApproval whose Run waits; [Executor.Answer] and [Executor.Resume] go on
// with it. Once there is a run, Result.Run and Result.Status are set beside an
// error too.
func (e *Executor) Execute(ctx context.Context, a Address, args json.RawMessage) (Result, error) {
	run, err := e.begin(ctx, a)
	if err != nil {
		return Result{}, err
	}
	return e.walk(ctx, run, args, nil)
}

// begin makes a run that is not recorded yet: it is as soon as it is known what
// to write, and before anything can leave.
func (e *Executor) begin(ctx context.Context, a Address) (Run, error) {
	if err := a.check(); err != nil {
		return Run{}, err // such an address could not be read back from the record
	}
	id, err := e.newRunID()
	if err != nil {
		return Run{}, err
	}
	root := id
	if e.parent != "" {
		parent, err := e.Run(ctx, e.parent)
		if err != nil {
			return Run{}, err
		}
		root = parent.Root
	}
	run := Run{
		ID: id, Parent: e.parent, Root: root, Address: a, Principal: e.chain,
		Status: Running, Started: e.now().UTC(),
	}
	return run, nil
}

// walk takes a run along the path. approval is the one a resumed run was given; nil
// for a new one.
func (e *Executor) walk(ctx context.Context, run Run, args json.RawMessage, approval *Approval) (Result, error) {
	f, err := e.find(ctx, run.Address)
	if err != nil {
		return e.refuse(ctx, run, err)
	}
	run.Effect, run.Input.Manifest = f.Tool.Effect.known(), f.digest
	p, err := e.decide(ctx, f, &run, args, approval)
	if err != nil {
		return e.refuse(ctx, run, err)
	}
	if p.waits {
		return e.wait(ctx, run, p)
	}
	u, err := e.unlock(ctx, p)
	if err != nil {
		return e.refuse(ctx, run, err)
	}
	run.Input.Args = e.maskedJSON(run.Input.Args)
	if run, err = e.append(ctx, run); err != nil { // no record, no call
		return Result{}, err
	}
	res, err := e.invoke(ctx, u)
	return e.record(ctx, run, u, res, err)
}

// A permit is a tool that may run, with arguments that fit it, or that may run
// once a person has said so. Only decide makes one.
type permit struct {
	found
	args     arguments
	decision Decision
	policy   string // version of the rules that were asked
	waits    bool   // for a person
}

// decide checks the arguments, asks the policy, and where that requires it, the
// approval. It notes in run what it found out.
func (e *Executor) decide(ctx context.Context, f found, run *Run, raw json.RawMessage, approval *Approval) (permit, error) {
	args, err := f.held.arguments(f.Address, f.Tool, raw)
	if err != nil {
		return permit{}, err
	}
	run.Input.Args, run.Input.Digest = e.maskedJSON(args.masked), args.digest
	decision, version, err := e.law(ctx, f, args, run.Principal[len(run.Principal)-1])
	if err != nil {
		return permit{}, err
	}
	run.Decision, run.Input.Policy = &decision, version
	p := permit{found: f, args: args, decision: decision, policy: version}
	switch {
	case decision.Verdict == Block:
		return permit{}, &Error{
			Code: Blocked, Op: "decide",
			Msg:  fmt.Sprintf("%q is blocked: %s", f.Address, decision.first().Text),
			Hint: fmt.Sprintf("run: executor policy explain %s", f.Address),
		}
	case decision.Verdict == RequireApproval && approval == nil:
		p.waits = true
	case decision.Verdict == RequireApproval:
		if err := p.binding(approval.Binding.Expires).honours(approval.Binding, e.now()); err != nil {
			return permit{}, err
		}
	}
	run.Approval = approval
	return p, nil
}

// first gives the reason that decides.
func (d Decision) first() Reason {
	for _, r := range d.Reasons {
		if r.Decides {
			return r
		}
	}
	return Reason{}
}

// invoke hands the call to its kind.
func (e *Executor) invoke(ctx context.Context, u unlocked) (res Result, err error) {
	kind := e.kinds[u.Source.Kind]
	if kind == nil {
		return Result{}, &Error{Code: Invalid, Op: "invoke", Unsent: true, Msg: fmt.Sprintf("nothing here speaks %q", u.Source.Kind)}
	}
	timeout := time.Duration(u.Source.Limits.Timeout)
	if timeout <= 0 {
		timeout = standardTimeout
	}
	caller := ctx
	ctx, cancel := context.WithTimeout(caller, timeout)
	defer cancel()
	err = guarded(u.Source.Kind, func() (err error) {
		res, err = kind.Invoke(ctx, Call{Source: u.Source, Tool: *u.Tool, Args: u.args.text, Credential: u.wire.credential(), Open: e.Open})
		if err == nil {
			res, err = e.take(ctx, res)
		}
		return err
	})
	if err != nil {
		return Result{}, explainTimeout(caller, ctx, timeout, err)
	}
	return res, nil
}

func explainTimeout(caller, ctx context.Context, timeout time.Duration, err error) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	if caller.Err() != nil {
		return &Error{Code: Unavailable, Op: "invoke", Unsent: unsent(err), Err: context.DeadlineExceeded, Msg: "no answer before the caller's deadline"}
	}
	return &Error{
		Code: Unavailable, Op: "invoke", Unsent: unsent(err), Err: context.DeadlineExceeded,
		Msg:  fmt.Sprintf("no answer within %v", timeout),
		Hint: "give the source more time: executor source add … --timeout",
	}
}

// refuse ends a run that did not get as far as upstream.
func (e *Executor) refuse(ctx context.Context, run Run, cause error) (Result, error) {
	run.Status = Failed
	if c := CodeOf(cause); c == Blocked || c == Conflict {
		run.Status = Denied
	}
	return e.finish(ctx, run, Result{}, cause)
}

// record ends a run that was sent to upstream.
func (e *Executor) record(ctx context.Context, run Run, u unlocked, res Result, cause error) (Result, error) {
	run.Requests = u.wire.log()
	for i := range run.Requests {
		run.Requests[i].URL = e.secrets.Text(run.Requests[i].URL)
		run.Requests[i].Error = e.secrets.Text(run.Requests[i].Error)
	}
	run.Status = Done
	if cause != nil {
		run.Status = Failed
		if run.Effect != Read && u.wire.left(cause) {
			run.Status = Ambiguous
		}
	} else {
		run.Output = output(res)
	}
	if res.Handle != nil {
		res.Handle.Run = run.ID
	}
	return e.finish(ctx, run, res, cause)
}

// finish writes the last state of a run and gives what the caller gets. The record
// outlives the caller: a call that was made is recorded, also when nobody waits
// for it any more.
func (e *Executor) finish(ctx context.Context, run Run, res Result, cause error) (Result, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	cause = e.clean(cause, run.ID)
	if cause != nil {
		run.Code, run.Reason = CodeOf(cause), reason(cause)
	}
	run.Ended = e.now().UTC()
	res.Run, res.Status = run.ID, run.Status
	e.log.LogAttrs(ctx, slog.LevelInfo, "run",
		slog.String("id", string(run.ID)), slog.String("address", run.Address.String()), slog.String("status", string(run.Status)),
		slog.String("principal", e.Principal().ID), slog.String("reason", run.Reason), slog.Duration("took", run.Ended.Sub(run.Started)))
	if _, err := e.append(ctx, run); err != nil {
		return res, &Error{
			Code: Internal, Op: "record", Run: run.ID, Err: errors.Join(err, cause),
			Msg:  fmt.Sprintf("the call ended as %s but could not be recorded", run.Status),
			Hint: "run: executor doctor",
		}
	}
	return res, cause
}

// append writes the next state of a run.
func (e *Executor) append(ctx context.Context, run Run) (Run, error) {
	run.Version++
	return e.storage.Runs().Append(ctx, run)
}

// DryRun tells what Execute would do, without asking anybody, unlocking anything
// or sending anything. It leaves no run.
func (e *Executor) DryRun(ctx context.Context, a Address, args json.RawMessage) (Plan, error) {
	f, err := e.find(ctx, a)
	if err != nil {
		return Plan{}, err
	}
	run := Run{Principal: e.chain}
	p, err := e.decide(ctx, f, &run, args, nil)
	plan := Plan{Address: a, Effect: f.Tool.Effect.known(), Args: run.Input.Args}
	if run.Decision != nil {
		plan.Decision = *run.Decision
	}
	if CodeOf(err) == Blocked {
		return plan, nil
	} else if err != nil {
		return Plan{}, err
	}
	plan.Request, err = e.planned(ctx, p)
	return plan, e.clean(err, "")
}

// planned gives the request that a permitted call would send; nil where its kind
// cannot tell.
func (e *Executor) planned(ctx context.Context, p permit) (*Planned, error) {
	planner, ok := e.kinds[p.Source.Kind].(Planner)
	if !ok {
		return nil, nil
	}
	w := e.wire(p.Source, p.Connection)
	for _, part := range p.Connection.Auth.Parts {
		w.sign = append(w.sign, signature{part: part})
	}
	var req *http.Request
	err := guarded(p.Source.Kind, func() (err error) {
		req, err = planner.Plan(ctx, Call{Source: p.Source, Tool: *p.Tool, Args: p.args.text, Open: e.Open})
		return err
	})
	if err != nil {
		return nil, err
	}
	return w.plan(req)
}

// A Plan is what a call would do.
type Plan struct {
	Address  Address         `json:"address"`
	Effect   Effect          `json:"effect"`
	Args     json.RawMessage `json:"args"` // with defaults, sensitive values masked
	Decision Decision        `json:"decision"`
	Request  *Planned        `json:"request,omitempty"` // nil: blocked, or the kind cannot tell
}
