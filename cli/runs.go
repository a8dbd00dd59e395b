package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
)

func (a *app) runsCommand() *cobra.Command {
	return group("runs", "What was done, by whom, and what came of it", a.runsListCommand(), a.runsShowCommand(),
		a.runsSettleCommand())
}

// statuses are those that a run can have.
var statuses = []string{
	string(executor.Running), string(executor.Waiting), string(executor.Done),
	string(executor.Failed), string(executor.Denied), string(executor.Ambiguous),
}

func (a *app) runsListCommand() *cobra.Command {
	var f executor.RunFilter
	var status, source, parent, before string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List runs, latest first",
		Example: "  executor runs list --source sample --status waiting",
		Args:    wants(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if status != "" && !slices.Contains(statuses, status) {
				return usageError(fmt.Sprintf("%q is not a status", status), "use one of: "+strings.Join(statuses, ", "))
			}
			if f.Limit < 1 {
				return usageError("--limit is less than 1", "")
			}
			f.Status, f.Source = executor.Status(status), executor.SourceID(source)
			f.Parent, f.Before = executor.RunID(parent), executor.RunID(before)
			return a.with(cmd.Context(), func(e *executor.Executor) error {
				runs, err := e.Runs(cmd.Context(), f)
				if err != nil {
					return err
				}
				a.listRuns(runs)
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&f.Limit, "limit", 20, "at most this many")
	cmd.Flags().StringVar(&status, "status", "", "running, waiting, done, failed, denied or ambiguous")
	completeWords(cmd, "status", statuses...)
	cmd.Flags().StringVar(&source, "source", "", "of this source")
	cmd.Flags().StringVar(&f.Asker, "asker", "", "asked for by the person or agent of this name")
	cmd.Flags().StringVar(&parent, "parent", "", "called by this run")
	cmd.Flags().StringVar(&before, "before", "", "started before this run")
	_ = cmd.RegisterFlagCompletionFunc("source", a.completeSource) // the flag was just made
	return cmd
}

func (a *app) listRuns(runs []executor.Run) {
	if a.json() {
		for _, run := range runs {
			a.out.value(run)
		}
		return
	}
	if len(runs) == 0 {
		a.note("no runs")
		return
	}
	a.table(runTable(a.style, runs))
}

func runTable(s style, runs []executor.Run) *table {
	t := &table{
		head:  []string{"run", "status", "tool", "by", "started", "reason"},
		whole: []int{0, 2},
		paint: []func(string) string{
			1: func(cell string) string { return s.status(executor.Status(cell)) },
			5: nil,
		},
	}
	now := time.Now()
	for _, run := range runs {
		reason := run.Reason
		if run.Output != nil && run.Output.Fault != nil && reason == "" {
			reason = faultHead(run.Output.Fault) + ": " + run.Output.Fault.Message
		}
		t.add(string(run.ID), string(run.Status), run.Address.String(), lastOf(run.Principal), ago(run.Started, now), reason)
	}
	return t
}

// lastOf names who acts in a chain.
func lastOf(chain []executor.Principal) string {
	if len(chain) == 0 {
		return ""
	}
	return chain[len(chain)-1].ID
}

func (a *app) runsShowCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:               "show <run>",
		Short:             "Show one run",
		Args:              wants("<run>"),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return a.with(ctx, func(e *executor.Executor) error {
				run, err := e.Run(ctx, executor.RunID(args[0]))
				if err != nil {
					return err
				}
				if file != "" {
					return a.saveRun(ctx, e, run, file)
				}
				if a.json() {
					a.out.value(run)
				} else {
					a.showRun(run)
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "write the result of the run to a file (- for stdout)")
	return cmd
}

// saveRun writes the result of a run to a file.
func (a *app) saveRun(ctx context.Context, e *executor.Executor, run executor.Run, file string) error {
	to, err := openSink(file)
	if err != nil {
		return err
	}
	defer to.close()
	var value json.RawMessage
	if run.Output != nil {
		value = run.Output.Value
	}
	out, err := a.save(ctx, e, run.ID, value, to)
	if err == nil && file != "-" {
		a.say(out, "%d bytes written to %s", out.Bytes, out.Path)
	}
	return err
}

func (a *app) showRun(run executor.Run) {
	s := a.style
	var b strings.Builder
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s %s\n", s.dim(fmt.Sprintf("%-9s", name)), value)
		}
	}
	row("run", string(run.ID))
	row("status", s.status(run.Status)+note(run.Reason))
	row("tool", run.Address.String()+"  "+s.effect(run.Effect))
	row("by", line(chainText(run.Principal)))
	row("started", stamp(run.Started))
	if !run.Ended.IsZero() {
		row("took", run.Ended.Sub(run.Started).Round(time.Millisecond).String())
	}
	row("parent", string(run.Parent))
	if run.Decision != nil {
		row("policy", s.verdict(run.Decision.Verdict))
		for _, r := range run.Decision.Reasons {
			row("", "  "+clean(r.Text))
		}
	}
	if run.Approval != nil {
		row("decided", line(decidedText(run.Approval.Answer)))
	}
	for _, r := range run.Requests {
		row("request", line(requestText(r)))
	}
	a.out.text(b.String())
	a.out.text(s.dim("arguments") + "\n" + s.pretty(run.Input.Args) + "\n")
	a.showOutput(run)
	if run.Status == executor.Ambiguous {
		a.nextToSettle(run.ID)
	}
}

func (a *app) showOutput(run executor.Run) {
	if run.Output == nil {
		return
	}
	switch o := run.Output; {
	case o.Fault != nil:
		a.out.text(a.style.dim("fault") + "\n" + faultHead(o.Fault) + ": " + clean(o.Fault.Message) + "\n")
	case o.Handle != nil:
		a.out.text(a.style.dim("result") + "\n" + fmt.Sprintf("%d bytes, %s\n", o.Handle.Size, line(o.Handle.MediaType)))
		a.next("executor runs show " + string(run.ID) + " --output FILE")
	case o.Value != nil:
		a.out.text(a.style.dim("result") + "\n")
		a.showValue(o.Value)
	}
}

func note(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + line(reason) + ")"
}

// chainText names everybody in a chain, who asks first.
func chainText(chain []executor.Principal) string {
	var names []string
	for i := len(chain) - 1; i >= 0; i-- {
		names = append(names, string(chain[i].Kind)+" "+chain[i].ID)
	}
	return strings.Join(names, " for ")
}

func decidedText(a executor.Answer) string {
	word := "denied"
	if a.Approve {
		word = "approved"
	}
	text := fmt.Sprintf("%s by %s at %s", word, a.By.ID, stamp(a.At))
	if a.Reason != "" {
		text += ": " + a.Reason
	}
	return text
}

func requestText(r executor.RequestRecord) string {
	text := r.Method + " " + r.URL
	if r.Status != 0 {
		text += fmt.Sprintf(" → %d, %d bytes", r.Status, r.Bytes)
	}
	if r.Error != "" {
		text += " → " + r.Error
	}
	return text + ", " + time.Duration(r.Took).Round(time.Millisecond).String()
}
