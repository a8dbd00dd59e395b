package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
)

// overview is what there is.
type overview struct {
	Home        string       `json:"home"`
	Version     string       `json:"version"`
	Sources     []sourceView `json:"sources"`
	Connections int          `json:"connections"`
	Tools       int          `json:"tools"`
	Waiting     []*asked     `json:"waiting"`
	Runs        []runLine    `json:"runs"`
	Next        []string     `json:"next"`

	requests []executor.Request
	runs     []executor.Run
}

// runLine is a run in one line.
type runLine struct {
	ID      executor.RunID   `json:"id"`
	Address executor.Address `json:"address"`
	Status  executor.Status  `json:"status"`
	Started string           `json:"started"`
}

// firstSteps lead from nothing to a called tool.
var firstSteps = []string{
	"executor source add sample",
	`executor tools search "list pets"`,
	"executor call sample.user.public.pets.list limit=2",
}

// home shows what there is and what to do next. Where there is nothing, nothing
// is made.
func (a *app) home(cmd *cobra.Command, _ []string) error {
	v := overview{
		Home: a.Home, Version: a.Version.Version,
		Sources: []sourceView{}, Waiting: []*asked{}, Runs: []runLine{}, Next: firstSteps,
	}
	if _, err := os.Stat(a.Home); err == nil {
		err := a.with(cmd.Context(), func(e *executor.Executor) error { return v.look(cmd.Context(), e) })
		if err != nil {
			return err
		}
		v.Next = v.next(a.personHere())
	}
	if a.json() {
		a.out.value(v)
		return nil
	}
	a.showHome(v)
	return nil
}

const runsAtHome = 5

func (v *overview) look(ctx context.Context, e *executor.Executor) error {
	sources, err := viewSources(ctx, e)
	if err != nil {
		return err
	}
	for _, src := range sources {
		src.Config, src.Notes = nil, nil
		v.Sources = append(v.Sources, src)
		v.Connections += len(src.Connections)
		v.Tools += src.Tools * len(src.Connections)
	}
	if v.requests, err = waiting(ctx, e); err != nil {
		return err
	}
	for _, r := range v.requests {
		v.Waiting = append(v.Waiting, askedIn(r))
	}
	if v.runs, err = e.Runs(ctx, executor.RunFilter{Limit: runsAtHome}); err != nil {
		return err
	}
	for _, run := range v.runs {
		v.Runs = append(v.Runs, runLine{run.ID, run.Address, run.Status, stamp(run.Started)})
	}
	return nil
}

// next chooses what to do next. Only a person is sent to the inbox.
func (v *overview) next(person bool) []string {
	var next []string
	if len(v.Waiting) > 0 && person {
		next = append(next, "executor inbox approve --last")
	}
	try := ""
	for _, src := range v.Sources {
		if len(src.Connections) == 0 {
			next = append(next, nextFor(src, "")...)
		} else if try == "" {
			try = src.Try
		}
	}
	switch {
	case len(v.Sources) == 0:
		return append(next, firstSteps...)
	case len(v.Runs) == 0 && try != "":
		next = append(next, "executor call "+try)
	}
	return append(next, `executor tools search "…"`)
}

func (a *app) showHome(v overview) {
	s := a.style
	var b strings.Builder
	if len(v.Sources) == 0 {
		b.WriteString("Nothing is set up yet. Try it with the sample API, which needs no network:\n\n")
		for _, c := range v.Next {
			b.WriteString("  " + c + "\n")
		}
		b.WriteString("\nThen add an API of yours: executor source add <id> --spec <url or file>\n")
		a.out.text(b.String())
		return
	}
	fmt.Fprintf(&b, "%s, %s, %s\n", count(len(v.Sources), "source"), count(v.Connections, "connection"), count(v.Tools, "tool"))
	for _, src := range v.Sources {
		fmt.Fprintf(&b, "  %s %s\n", s.bold(string(src.ID)), s.dim(line(fmt.Sprintf("%s, %s", count(src.Tools, "tool"), sourceAccounts(src)))))
	}
	if len(v.requests) > 0 {
		fmt.Fprintf(&b, "\n%s\n", s.yellow(fmt.Sprintf("%d waiting for a person", len(v.requests))))
		for _, r := range v.requests {
			fmt.Fprintf(&b, "  %s  %s\n", r.ID, line(r.Summary))
		}
	}
	if len(v.runs) > 0 {
		b.WriteString("\nlast runs\n")
		runs, _ := runTable(s, v.runs).render(s, a.width()-2) // the address is never cut
		for _, l := range strings.Split(strings.TrimSpace(runs), "\n")[1:] {
			b.WriteString("  " + l + "\n")
		}
	}
	a.out.text(b.String())
	a.note("")
	a.next(v.Next...)
}

func sourceAccounts(v sourceView) string {
	if len(v.Connections) == 0 {
		return "not connected"
	}
	return strings.Join(v.Connections, ", ")
}
