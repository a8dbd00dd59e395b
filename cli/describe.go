package cli

import (
	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/catalog"
)

// description is everything about a tool that a caller needs.
type description struct {
	catalog.Description
	Policy policyView `json:"policy"`
}

type policyView struct {
	Verdict executor.Verdict  `json:"verdict"`
	Reasons []executor.Reason `json:"reasons"`
}

func (a *app) toolsDescribeCommand() *cobra.Command {
	var expand []string
	cmd := &cobra.Command{
		Use:   "describe <address>",
		Short: "Show a tool: its arguments, its result, and whether it may be called",
		Long: `Show a tool: its arguments and its result as TypeScript and, with --json, as JSON
Schema, and whether it may be called. A type that is left out for its size is
shown with --expand.`,
		Example:           "  executor tools describe sample.user.public.pets.list",
		ValidArgsFunction: a.completeAddress,
		RunE: func(cmd *cobra.Command, words []string) error {
			ctx := cmd.Context()
			at, rest, err := address(words)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return bareWord(rest[0], shape{})
			}
			return a.with(ctx, func(e *executor.Executor) error {
				found, err := e.Find(ctx, at)
				if err != nil {
					return err
				}
				decision, err := e.Explain(ctx, at, nil)
				if err != nil {
					return err
				}
				d := description{
					catalog.Describe(found, catalog.Options{Expand: expand}),
					policyView{decision.Verdict, decision.Reasons},
				}
				if a.json() {
					a.out.value(d)
				} else {
					a.showDescription(d)
				}
				return nil
			})
		},
	}
	cmd.Flags().StringArrayVar(&expand, "expand", nil, "write out a `part` that is left out for its size")
	return cmd
}

func (a *app) showDescription(d description) {
	s := a.style
	a.out.text(s.bold(d.Address.String()) + "  " + s.effect(d.Effect) + "  " + s.verdict(d.Policy.Verdict) + "\n")
	if d.Text != "" {
		a.out.text("\n" + clean(d.Text) + "\n")
	}
	if d.Deprecated {
		a.out.text(s.yellow("deprecated") + "\n")
	}
	a.out.text("\n" + clean(d.TypeScript) + "\n\n")
	for _, r := range d.Policy.Reasons {
		a.out.text(a.reasonText(r))
	}
}
