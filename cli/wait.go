package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
)

const waitEvery = 500 * time.Millisecond

func (a *app) waitCommand() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "wait <run>",
		Short: "Wait until a run has ended, and show its result",
		Long: `Wait until a run has ended, and show its result as call would have done. A run
that waits for a person goes on once the person has decided. With --timeout the
command ends with exit code 124 when the time is over; the run keeps waiting.`,
		Example:           `  executor wait run_01JD2Q7M5C9V0E4W8XZ6KTB3NA --timeout 10m`,
		Args:              wants("<run>"),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if timeout < 0 {
				return usageError("--timeout is less than 0", "")
			}
			if timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, timeout)
				defer cancel()
			}
			return a.wait(ctx, executor.RunID(args[0]))
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "give up after this time; 0: never")
	return cmd
}

// wait looks again and again, and leaves the data directory to others between.
func (a *app) wait(ctx context.Context, id executor.RunID) error {
	stop := a.progress("waiting for " + string(id))
	defer stop()
	for {
		var out answer
		var cause error
		ended := false
		err := a.with(ctx, func(e *executor.Executor) (err error) {
			out, cause, ended, err = a.outcome(ctx, e, id)
			return err
		})
		if err != nil && ctx.Err() == nil {
			return err
		}
		if ended {
			stop()
			return a.tell(ctx, out, cause)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(waitEvery):
		}
	}
}

// outcome gives the answer of a run that has ended. One that a person has
// answered, and nobody has taken further, it takes further.
func (a *app) outcome(ctx context.Context, e *executor.Executor, id executor.RunID) (out answer, cause error, ended bool, err error) {
	run, err := e.Run(ctx, id)
	if err != nil {
		return answer{}, nil, false, err
	}
	switch {
	case run.Status.Ended():
		out, cause = answerOf(run)
		return out, cause, true, nil
	case run.Status == executor.Running:
		return answer{}, nil, false, nil
	}
	if _, err := requestOf(ctx, e, id); err == nil {
		return answer{}, nil, false, nil // nobody has answered
	}
	res, err := e.Resume(ctx, id)
	if executor.CodeOf(err) == executor.NeedsApproval || executor.CodeOf(err) == executor.Conflict {
		return answer{}, nil, false, nil // not answered after all, or somebody else goes on with it
	}
	out, cause, err = a.answerTo(ctx, e, res, err, nil)
	return out, cause, true, err
}

// answerOf gives the answer of an ended run from its record.
func answerOf(run executor.Run) (answer, error) {
	out := answer{Status: statusOK, Run: run.ID}
	if run.Output != nil {
		out.Result, out.Handle, out.Fault, out.Page = run.Output.Value, run.Output.Handle, run.Output.Fault, run.Output.Page
	}
	if run.Status == executor.Done {
		switch {
		case out.Fault != nil:
			out.Status = statusFault
		case out.Result == nil && out.Handle == nil:
			out.Result = []byte("null")
		}
		return out, nil
	}
	cause := &executor.Error{Code: run.Code, Msg: run.Reason}
	switch run.Status {
	case executor.Denied:
		out.Status = statusDenied
		if cause.Code == "" {
			cause.Code = executor.Blocked
		}
	case executor.Ambiguous:
		out.Status = statusAmbiguous
	default:
		out.Status = statusError
	}
	if cause.Code == "" {
		cause.Code = executor.Internal
	}
	if cause.Msg == "" {
		cause.Msg = "the run ended as " + string(run.Status)
	}
	f := failureOf(cause)
	f.Retryable = f.Retryable && run.Status != executor.Ambiguous
	out.Error = &f
	return out, cause
}
