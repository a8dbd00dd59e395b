package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
)

// asked is a request as JSON tells it: what is wanted, and not how to decide it.
type asked struct {
	ID        executor.RunID       `json:"id"`
	Kind      executor.RequestKind `json:"kind"`
	Summary   string               `json:"summary"`
	Address   executor.Address     `json:"address"`
	Effect    executor.Effect      `json:"effect"`
	Args      json.RawMessage      `json:"args"`
	Asks      []executor.Principal `json:"asks"`
	Decision  executor.Decision    `json:"decision"`
	Created   string               `json:"created"`
	ExpiresAt string               `json:"expiresAt"`
}

func askedIn(r executor.Request) *asked {
	return &asked{
		ID: r.ID, Kind: r.Kind, Summary: r.Summary, Address: r.Address, Effect: effectOf(r.Effect), Args: r.Args,
		Asks: r.Asks, Decision: r.Decision, Created: stamp(r.Created), ExpiresAt: stamp(r.Binding.Expires),
	}
}

func (a *app) inboxCommand() *cobra.Command {
	return group("inbox", "What waits for a person", a.inboxListCommand(), a.inboxShowCommand(),
		a.decideCommand(true), a.decideCommand(false))
}

func (a *app) inboxListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List what waits, oldest first",
		Args:  wants(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(e *executor.Executor) error {
				requests, err := waiting(cmd.Context(), e)
				if err != nil {
					return err
				}
				a.listRequests(requests)
				return nil
			})
		},
	}
}

func (a *app) listRequests(requests []executor.Request) {
	if a.json() {
		for _, r := range requests {
			a.out.value(askedIn(r))
		}
		return
	}
	if len(requests) == 0 {
		a.note("nothing waits")
		return
	}
	t := &table{head: []string{"run", "effect", "what", "by", "expires in"}, whole: []int{0}, paint: []func(string) string{
		1: func(cell string) string { return a.style.effect(executor.Effect(cell)) },
		4: nil,
	}}
	now := time.Now()
	for _, r := range requests {
		t.add(string(r.ID), string(effectOf(r.Effect)), r.Summary, lastOf(r.Asks), roughly(r.Binding.Expires.Sub(now)))
	}
	a.table(t)
	if a.personHere() {
		a.next("executor inbox approve --last")
	}
}

func (a *app) inboxShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "show <run>",
		Short:             "Show one request, with all its arguments",
		Args:              wants("<run>"),
		ValidArgsFunction: a.completeWaiting,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(e *executor.Executor) error {
				c, err := cardOf(cmd.Context(), e, executor.RunID(args[0]))
				if err != nil {
					return err
				}
				if a.json() {
					a.out.value(askedIn(c.request))
				} else {
					a.out.text(c.text(a.style, time.Now(), false))
					if a.personHere() {
						a.next("executor inbox approve "+args[0], "executor inbox deny "+args[0])
					}
				}
				return nil
			})
		},
	}
}

func (a *app) decideCommand(approve bool) *cobra.Command {
	var last bool
	var reason string
	cmd := &cobra.Command{
		Use:   "deny <run>",
		Short: "Deny a waiting run",
		Long: `Deny a waiting run. The decision is taken at the controlling terminal, by a
person; an agent cannot.`,
		ValidArgsFunction: a.completeWaiting,
		RunE: func(cmd *cobra.Command, args []string) error {
			if last != (len(args) == 0) || len(args) > 1 {
				return usageError("one run is to be decided", "write: "+cmd.CommandPath()+" <run>, or --last for the newest")
			}
			var id executor.RunID
			if len(args) == 1 {
				id = executor.RunID(args[0])
			}
			return a.decided(a.decide(cmd.Context(), id, approve, reason))
		},
	}
	cmd.Flags().BoolVar(&last, "last", false, "the newest that waits")
	if approve {
		cmd.Use, cmd.Short = "approve <run>", "Approve a waiting run and let it go on"
		cmd.Long = `Approve a waiting run, once. It runs at once, and its result is shown as call
would have shown it. The decision is taken at the controlling terminal, by a
person; an agent cannot. What was typed before the question does not count.`
		return cmd
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why; the asker sees it")
	return cmd
}

// decide shows a request on the controlling terminal, and does what the person
// there types. The data directory is not held while the person thinks.
func (a *app) decide(ctx context.Context, id executor.RunID, approve bool, reason string) error {
	tty, err := a.deciding()
	if err != nil {
		return err
	}
	defer tty.close()

	var c card
	err = a.with(ctx, func(e *executor.Executor) (err error) {
		if id == "" {
			if id, err = newest(ctx, e); err != nil {
				return err
			}
		}
		c, err = cardOf(ctx, e, id)
		return err
	})
	if err != nil {
		return err
	}
	tty.print(c.text(tty.style, time.Now(), true))
	if err := c.confirm(ctx, tty, approve); err != nil {
		return err
	}
	var out answer
	var cause error
	err = a.withAs(ctx, a.decider(), func(e *executor.Executor) error {
		if _, err := e.Answer(ctx, id, approve, reason); err != nil || !approve {
			return err
		}
		stop := a.progress(c.request.Address.String())
		res, err := e.Resume(ctx, id)
		stop()
		out, cause, err = a.answerTo(ctx, e, res, err, nil)
		return err
	})
	if err != nil {
		return err
	}
	if !approve {
		a.say(map[string]any{"status": statusDenied, "run": id, "reason": reason}, "denied")
		return nil
	}
	return a.tell(ctx, out, cause)
}

// newest gives the request that came last.
func newest(ctx context.Context, e *executor.Executor) (executor.RunID, error) {
	requests, err := waiting(ctx, e)
	if err != nil {
		return "", err
	}
	if len(requests) == 0 {
		return "", &executor.Error{Code: executor.Conflict, Op: "inbox", Msg: "nothing is waiting: decided runs are not waiting any more"}
	}
	return slices.MaxFunc(requests, func(a, b executor.Request) int { return a.Created.Compare(b.Created) }).ID, nil
}

// waiting gives the requests that nobody has answered, oldest first.
func waiting(ctx context.Context, e *executor.Executor) ([]executor.Request, error) {
	requests, err := e.Requests(ctx)
	return slices.DeleteFunc(requests, func(r executor.Request) bool { return r.Answer != nil }), err
}

// requestOf gives the request of a run that waits for an answer. Any other run is
// Conflict.
func requestOf(ctx context.Context, e *executor.Executor, id executor.RunID) (executor.Request, error) {
	requests, err := waiting(ctx, e)
	if err != nil {
		return executor.Request{}, err
	}
	for _, r := range requests {
		if r.ID == id {
			return r, nil
		}
	}
	run, err := e.Run(ctx, id)
	if err != nil {
		return executor.Request{}, err
	}
	msg := fmt.Sprintf("run %q is not waiting: it is %s", id, run.Status)
	if run.Status == executor.Waiting {
		msg = fmt.Sprintf("run %q is not waiting any more: it has been decided", id)
	}
	return executor.Request{}, &executor.Error{
		Code: executor.Conflict, Op: "inbox", Run: id, Msg: msg, Hint: "run: executor runs show " + string(id),
	}
}
