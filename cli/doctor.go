package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
)

// A Check is one finding of the doctor.
type Check struct {
	Name   string `json:"name"`
	Status Health `json:"status"`
	Text   string `json:"message"`
	Hint   string `json:"hint,omitempty"`
}

// Health is how good a finding is.
type Health string

const (
	Healthy Health = "ok"
	Doubt   Health = "warn"
	Broken  Health = "fail"
)

func (a *app) doctorCommand() *cobra.Command {
	var repair bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out what is wrong with this installation",
		Long: `Find out what is wrong with this installation: its data directory, the records in
it, the key of the secrets, the sources, and the references to secrets. No secret
is shown. Exit code 1 means that something is broken.`,
		Args: wants(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			stop := a.progress("looking")
			checks := a.Check(ctx, repair)
			if _, err := os.Stat(a.Home); err == nil {
				checks = append(checks, a.checkInside(ctx)...)
			}
			checks = append(checks, Check{Name: "version", Status: Healthy, Text: a.Version.Version + " " + a.Version.Go})
			stop()
			return a.showChecks(checks)
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "repair damaged records; what is cut off is kept beside them")
	return cmd
}

// checkInside looks at what the executor knows.
func (a *app) checkInside(ctx context.Context) []Check {
	var checks []Check
	err := a.with(ctx, func(e *executor.Executor) error {
		sources, err := e.Sources(ctx)
		if err != nil {
			return err
		}
		for _, src := range sources {
			checks = append(checks, checkSource(ctx, e, src))
		}
		connections, err := e.Connections(ctx)
		if err != nil {
			return err
		}
		for _, c := range connections {
			checks = append(checks, a.checkRefs(ctx, c))
		}
		return nil
	})
	if err != nil {
		f := failureOf(err)
		checks = append(checks, Check{"executor", Broken, f.Message, f.Hint})
	}
	return checks
}

const staleAfter = 90 * 24 * time.Hour

func checkSource(ctx context.Context, e *executor.Executor, src executor.Source) Check {
	c := Check{Name: "source " + string(src.ID), Status: Healthy}
	refresh := "run: executor source refresh " + string(src.ID)
	if src.Manifest == "" {
		c.Text = "its tools depend on the connection"
		return c
	}
	m, err := e.Manifest(ctx, src.Manifest)
	switch {
	case err != nil:
		c.Status, c.Text, c.Hint = Broken, "what is known of its tools cannot be read: "+failureOf(err).Message, refresh
	case len(m.Tools) == 0:
		c.Status, c.Text, c.Hint = Doubt, "it has no tools", refresh
	case time.Since(src.Refreshed) > staleAfter:
		c.Status, c.Text, c.Hint = Doubt, fmt.Sprintf("its description was read %s", ago(src.Refreshed, time.Now())), refresh
	default:
		c.Text = count(len(m.Tools), "tool")
	}
	return c
}

// checkRefs tells whether a connection's references lead to secrets.
func (a *app) checkRefs(ctx context.Context, conn executor.Connection) Check {
	c := Check{Name: fmt.Sprintf("connection %s.%s.%s", conn.Source, conn.Scope, conn.Name), Status: Healthy, Text: "signs nothing"}
	if len(conn.Secrets) > 0 {
		c.Text = count(len(conn.Secrets), "secret") + " found"
	}
	for _, key := range sortedKeys(conn.Secrets) {
		if err := a.Resolve(ctx, conn.Secrets[key]); err != nil {
			f := failureOf(err)
			c.Status, c.Text, c.Hint = Broken, fmt.Sprintf("the secret %q is not there: %s", key, f.Message), f.Hint
		}
	}
	return c
}

func (a *app) showChecks(checks []Check) error {
	broken := 0
	for _, c := range checks {
		if c.Status == Broken {
			broken++
		}
	}
	if a.json() {
		a.out.value(struct {
			OK     bool    `json:"ok"`
			Checks []Check `json:"checks"`
		}{broken == 0, checks})
	} else {
		for _, c := range checks {
			a.out.text(a.checkText(c))
		}
	}
	if broken > 0 {
		return exit(exitFailure)
	}
	return nil
}

func (a *app) checkText(c Check) string {
	s := a.style
	mark := s.green("ok  ")
	switch c.Status {
	case Doubt:
		mark = s.yellow("warn")
	case Broken:
		mark = s.red("fail")
	}
	text := fmt.Sprintf("%s  %s: %s\n", mark, s.bold(clean(c.Name)), clean(c.Text))
	if c.Hint != "" {
		text += "      " + clean(c.Hint) + "\n"
	}
	return text
}
