package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
)

func (a *app) runsSettleCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "settle <run> done|failed",
		Short: "Say what became of an ambiguous run",
		Long: `Say what became of an ambiguous run: one that was sent, and whose answer was
lost. Look at upstream first. done: it happened. failed: nothing was changed, and
it may be called again. Nothing is sent. This is said at the controlling terminal,
by a person; an agent cannot. What was typed before the question does not count.`,
		Example:           `  executor runs settle run_01JD2Q7M5C9V0E4W8XZ6KTB3NA done --reason "the invoice is there"`,
		Args:              wants("<run>", "done|failed"),
		ValidArgsFunction: a.completeSettle,
		RunE: func(cmd *cobra.Command, args []string) error {
			as := executor.Status(args[1])
			if as != executor.Done && as != executor.Failed {
				return usageError(fmt.Sprintf("a run cannot be settled as %q", as), "write done or failed")
			}
			return a.decided(a.settle(cmd.Context(), executor.RunID(args[0]), as, reason))
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "how it is known; kept in the record")
	return cmd
}

// settle shows an ambiguous run on the controlling terminal, and records what the
// person there says of it. The data directory is not held while the person thinks.
func (a *app) settle(ctx context.Context, id executor.RunID, as executor.Status, reason string) error {
	tty, err := a.deciding()
	if err != nil {
		return err
	}
	defer tty.close()

	var run executor.Run
	err = a.with(ctx, func(e *executor.Executor) (err error) {
		run, err = ambiguous(ctx, e, id)
		return err
	})
	if err != nil {
		return err
	}
	tty.print(sentCard(tty.style, run, time.Now()))
	what := "It happened"
	if as == executor.Failed {
		what = "Nothing was changed"
	}
	if err := tty.confirm(ctx, fmt.Sprintf("%s? To settle it, type %s: ", what, tty.style.bold(string(as))), string(as)); err != nil {
		return err
	}
	err = a.withAs(ctx, a.decider(), func(e *executor.Executor) (err error) {
		run, err = e.Settle(ctx, id, as, reason)
		return err
	})
	if err != nil {
		return err
	}
	a.say(map[string]any{"status": run.Status, "run": id, "reason": run.Reason}, "%s", line(run.Reason))
	return nil
}

// ambiguous gives an ambiguous run. Any other is Conflict.
func ambiguous(ctx context.Context, e *executor.Executor, id executor.RunID) (executor.Run, error) {
	run, err := e.Run(ctx, id)
	if err == nil && run.Status != executor.Ambiguous {
		err = &executor.Error{
			Code: executor.Conflict, Op: "settle", Run: id,
			Msg:  fmt.Sprintf("run %q is not ambiguous: it is %s", id, run.Status),
			Hint: "run: executor runs show " + string(id),
		}
	}
	return run, err
}

// sentCard is what a person has to see before settling: who asked, what was called
// as which account, with which arguments, what went to upstream, and when.
func sentCard(s style, run executor.Run, now time.Time) string {
	t := rows{style: s}
	t.add("asked by", line(chainText(run.Principal)))
	t.call(run.Address, run.Effect, nil, run.Input.Args, "runs show")
	name := "sent"
	for _, r := range run.Requests {
		t.add(name, line(requestText(r)))
		name = ""
	}
	if len(run.Requests) == 0 {
		t.add(name, "not known: the process ended before it could tell")
	}
	t.add("started", fmt.Sprintf("%s (%s)", ago(run.Started, now), stamp(run.Started)))
	t.add("reason", line(run.Reason))
	return t.under("It may or may not have happened: " + string(run.ID))
}

// nextToSettle tells a person how to settle a run.
func (a *app) nextToSettle(id executor.RunID) {
	if a.personHere() {
		a.next("executor runs settle "+string(id)+" done", "executor runs settle "+string(id)+" failed")
	}
}
