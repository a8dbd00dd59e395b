package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
)

func (a *app) callCommand() *cobra.Command {
	var dry bool
	var file string
	cmd := &cobra.Command{
		Use:   "call <address> [<argument>…]",
		Short: "Call a tool",
		Long: `Call a tool. An argument is one of

  key=value     text, or a number, boolean or list where the tool wants one
  key:=json     JSON
  key=@file     the text of a file, or the file itself where the tool takes one
  @file         a file with a JSON object
  -             a JSON object from stdin
  '{…}'         a JSON object

A list is given by repeating its key. A dot in a key goes one level down, unless
the tool has an argument of that very name: body.title=Hi.

A call that needs approval waits for a person; see "executor help exit-codes".`,
		Example: `  executor call sample.user.public.pets.list limit=2
  executor call sample user public pets.get petId=1
  executor call sample.user.public.pets.create '{"body":{"name":"Rex"}}' --dry-run`,
		ValidArgsFunction: a.completeCall,
		RunE: func(cmd *cobra.Command, words []string) error {
			at, words, err := address(words)
			switch {
			case err != nil:
				return err
			case cmd.Flags().Changed("output") && file == "":
				return usageError("--output names no file", "give --output a path, or - for stdout")
			case dry && file != "":
				return usageError("--dry-run has no result to write", "leave out --output")
			case dry:
				return a.dryRun(cmd.Context(), at, words)
			}
			return a.call(cmd.Context(), at, words, file)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would be sent, and send nothing")
	cmd.Flags().StringVarP(&file, "output", "o", "", "write the result to a file (- for stdout), whatever its size and type; text as it is")
	return cmd
}

// An answer is the outcome of a call as JSON tells it.
type answer struct {
	Status    string            `json:"status"`
	Run       executor.RunID    `json:"run,omitempty"`
	Result    json.RawMessage   `json:"result,omitempty"`
	Fault     *executor.Fault   `json:"fault,omitempty"`
	Request   *asked            `json:"request,omitempty"`
	ExpiresAt string            `json:"expiresAt,omitempty"`
	Wait      string            `json:"wait,omitempty"`
	Error     *failure          `json:"error,omitempty"`
	Page      *executor.Page    `json:"page,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	Notes     []string          `json:"notes,omitempty"`
	Handle    *executor.Handle  `json:"handle,omitempty"`
	Output    *written          `json:"output,omitempty"`
}

// written is a result that went to a file.
type written struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

const (
	statusOK        = "ok"
	statusFault     = "fault"
	statusPending   = "pending"
	statusDenied    = "denied"
	statusAmbiguous = "ambiguous"
	statusError     = "error"
)

// call runs a tool and tells the outcome, errors included.
func (a *app) call(ctx context.Context, at executor.Address, words []string, file string) error {
	var out answer
	var cause error
	err := a.with(ctx, func(e *executor.Executor) error {
		args, err := a.argumentsFor(ctx, e, at, words)
		if err != nil {
			return err
		}
		to, err := openSink(file)
		if err != nil {
			return err
		}
		defer to.close()
		stop := a.progress(at.String())
		res, err := e.Execute(ctx, at, args)
		stop()
		out, cause, err = a.answerTo(ctx, e, res, err, to)
		return err
	})
	if err != nil {
		return err
	}
	return a.tell(ctx, out, cause)
}

// argumentsFor reads the words as the tool's schema suggests. A tool that is not
// found suggests nothing; Execute will say that it is missing, and record it.
func (a *app) argumentsFor(ctx context.Context, e *executor.Executor, at executor.Address, words []string) (json.RawMessage, error) {
	var input shape
	if found, err := e.Find(ctx, at); err == nil {
		input = shapeOf(found.Manifest, found.Tool.Input)
	}
	return a.arguments(words, input)
}

// answerTo makes the answer of what Execute or Resume gave. cause is the error
// behind it, if any; err is one of writing the file. to may be nil.
func (a *app) answerTo(ctx context.Context, e *executor.Executor, res executor.Result, cause error, to *sink) (out answer, _, err error) {
	out = answer{
		Status: statusOK, Run: res.Run, Result: res.Value, Fault: res.Fault, Handle: res.Handle,
		Page: res.Page, Headers: res.Headers, Notes: res.Notes,
	}
	if cause != nil {
		return a.answerToError(ctx, e, res, cause), cause, nil
	}
	switch {
	case res.Fault != nil:
		out.Status = statusFault
	case to != nil && to.path != "":
		out.Result = nil
		out.Output, err = a.save(ctx, e, res.Run, res.Value, to)
	case res.Value == nil && res.Handle == nil:
		out.Result = json.RawMessage("null")
	}
	return out, nil, err
}

func (a *app) answerToError(ctx context.Context, e *executor.Executor, res executor.Result, cause error) answer {
	f := failureOf(cause)
	if f.Run == "" {
		f.Run = res.Run
	}
	out := answer{Status: statusError, Run: f.Run, Error: &f}
	f.Run = ""
	switch {
	case executor.CodeOf(cause) == executor.NeedsApproval:
		return pendingAnswer(ctx, e, out.Run)
	case res.Status == executor.Ambiguous:
		out.Status, f.Retryable = statusAmbiguous, false
	case executor.CodeOf(cause) == executor.Blocked:
		out.Status = statusDenied
	}
	return out
}

// pendingAnswer tells what a waiting run waits for. It never tells how to decide.
func pendingAnswer(ctx context.Context, e *executor.Executor, id executor.RunID) answer {
	out := answer{Status: statusPending, Run: id, Wait: "executor wait " + string(id)}
	if req, err := requestOf(ctx, e, id); err == nil {
		out.Request = askedIn(req)
		out.ExpiresAt = stamp(req.Binding.Expires)
	}
	return out
}

// tell writes an answer and gives the exit code that belongs to it.
func (a *app) tell(ctx context.Context, out answer, cause error) error {
	if ctx.Err() != nil && out.Status == statusError {
		out.Error.Code, out.Error.Message, out.Error.Retryable = "interrupted", "the command was interrupted", false
	}
	switch {
	case out.Output != nil && out.Output.Path == "-":
	case a.json():
		a.out.value(out)
	default:
		a.show(out, cause)
	}
	switch out.Status {
	case statusOK:
		return nil
	case statusFault, statusAmbiguous:
		return exit(exitUpstream)
	case statusPending:
		return exit(exitPending)
	}
	return exit(exitOf(cause))
}

// dryRun shows what a call would do.
func (a *app) dryRun(ctx context.Context, at executor.Address, words []string) error {
	return a.with(ctx, func(e *executor.Executor) error {
		args, err := a.argumentsFor(ctx, e, at, words)
		if err != nil {
			return err
		}
		plan, err := e.DryRun(ctx, at, args)
		if err != nil {
			return err
		}
		if a.json() {
			a.out.value(plan)
			return nil
		}
		a.showPlan(plan)
		return nil
	})
}

func (a *app) showPlan(plan executor.Plan) {
	s := a.style
	a.out.text(fmt.Sprintf("%s  %s  %s\n", s.bold(plan.Address.String()), s.effect(plan.Effect), s.verdict(plan.Decision.Verdict)))
	for _, r := range plan.Decision.Reasons {
		a.out.text(a.reasonText(r))
	}
	if plan.Request == nil {
		a.out.text("arguments:\n" + s.pretty(plan.Args) + "\n")
	} else {
		a.out.text("\n" + clean(plan.Request.Method+" "+plan.Request.URL) + "\n")
		for _, name := range sortedKeys(plan.Request.Header) {
			for _, value := range plan.Request.Header[name] {
				a.out.text(s.dim(clean(name)+": ") + line(value) + "\n")
			}
		}
		if plan.Request.Body != "" {
			a.out.text("\n" + clean(plan.Request.Body) + "\n")
		}
	}
	a.note("nothing was sent")
}

func pointer[T any](v T) *T { return &v }
