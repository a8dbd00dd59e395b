package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
)

func (a *app) policyCommand() *cobra.Command {
	return group("policy", "What may be called, and when a person is asked",
		a.policySetCommand(), a.policyShowCommand(), a.policyExplainCommand(), a.policyRemoveCommand())
}

// policyFlags place a rule.
type policyFlags struct{ scope, when, note string }

func (a *app) policySetCommand() *cobra.Command {
	var f policyFlags
	cmd := &cobra.Command{
		Use:   "set <source>[.<scope>.<connection>] <tools> <verdict>",
		Short: "Set a rule",
		Long: `Set a rule for the tools of a source, or of one connection of it. In <tools>, *
stands for any characters. The verdict is allow, require_approval or block.
An exact name stands before a pattern, a connection's rule before its source's;
over several scopes the strictest holds. Without a rule, reads are allowed and
everything else asks.`,
		Example: `  executor policy set github 'issues.*' allow --note "bots may file issues"
  executor policy set stripe.user.live refunds.create require_approval --when 'args.body.amount > 5000'`,
		Args:              wants("<source>", "<tools>", "<verdict>"),
		ValidArgsFunction: a.completePolicy,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := ruleOf(args[0], args[1], f)
			if err != nil {
				return err
			}
			if err := p.Verdict.UnmarshalText([]byte(args[2])); err != nil {
				return err
			}
			return a.setPolicy(cmd.Context(), p)
		},
	}
	cmd.Flags().StringVar(&f.scope, "scope", "", "scope the rule stands in; the connection's, or the innermost (user), if not given")
	cmd.Flags().StringVar(&f.when, "when", "", "condition in CEL over args, principal, labels, address, effect")
	cmd.Flags().StringVar(&f.note, "note", "", "why, for people")
	return cmd
}

// ruleOf reads what a rule is about. A scope that is not given is left to the
// executor.
func ruleOf(on, tools string, f policyFlags) (executor.Policy, error) {
	p := executor.Policy{Scope: executor.ScopeID(f.scope), Tools: tools, When: f.when, Note: f.note}
	parts := strings.Split(on, ".")
	switch {
	case len(parts) == 1:
		p.Source = executor.SourceID(on)
		return p, nil
	case len(parts) == 3 && (f.scope == "" || f.scope == parts[1]):
		p.Source, p.Scope, p.Connection = executor.SourceID(parts[0]), executor.ScopeID(parts[1]), executor.ConnectionName(parts[2])
		return p, nil
	}
	return p, usageError(fmt.Sprintf("%q is neither a source nor a connection", on), "write <source>, or <source>.<scope>.<connection>")
}

func (a *app) setPolicy(ctx context.Context, p executor.Policy) error {
	return a.with(ctx, func(e *executor.Executor) error {
		if p.Scope == "" {
			p.Scope = e.Scopes().Inner()
		}
		matches, err := e.SetPolicy(ctx, p)
		if err != nil {
			return err
		}
		a.say(struct {
			executor.Policy
			Matches int `json:"matches"`
		}{p, matches}, "%s of %s: %s (%s now)", clean(p.Tools), onText(p), a.style.verdict(p.Verdict), count(matches, "tool"))
		if matches == 0 {
			a.note("warning: the rule matches no tool; executor tools list --source %s shows the names", p.Source)
		}
		return nil
	})
}

func onText(p executor.Policy) string {
	if p.Connection == "" {
		return string(p.Source)
	}
	return fmt.Sprintf("%s.%s.%s", p.Source, p.Scope, p.Connection)
}

func (a *app) policyRemoveCommand() *cobra.Command {
	var f policyFlags
	cmd := &cobra.Command{
		Use: "remove <source>[.<scope>.<connection>] <tools>", Short: "Remove a rule",
		Args: wants("<source>", "<tools>"), ValidArgsFunction: a.completePolicy,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := ruleOf(args[0], args[1], f)
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), func(e *executor.Executor) error {
				if p.Scope == "" {
					p.Scope = e.Scopes().Inner()
				}
				rules, err := e.Policies(cmd.Context())
				if err != nil {
					return err
				}
				for _, rule := range rules {
					if policyPlace(rule) == policyPlace(p) {
						p = rule // with its verdict and note
					}
				}
				if err := e.RemovePolicy(cmd.Context(), p); err != nil {
					return err
				}
				a.say(map[string]any{"removed": p}, "removed the rule on %s of %s", clean(p.Tools), onText(p))
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&f.scope, "scope", "", "scope the rule stands in; the connection's, or the innermost (user), if not given")
	cmd.Flags().StringVar(&f.when, "when", "", "condition of the rule, where it has one")
	return cmd
}

// policyPlace is what one rule has and no other.
func policyPlace(p executor.Policy) [5]string {
	return [5]string{string(p.Scope), string(p.Source), string(p.Connection), p.Tools, p.When}
}

func (a *app) policyShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show [<source>]", Short: "Show the rules", Args: wants("[<source>]"), ValidArgsFunction: a.completeSource,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(e *executor.Executor) error {
				policies, err := e.Policies(cmd.Context())
				if err != nil {
					return err
				}
				t := &table{head: []string{"scope", "on", "tools", "verdict", "matches", "when", "note"}, paint: []func(string) string{
					3: a.paintVerdict, 6: nil,
				}}
				for _, p := range policies {
					if len(args) == 1 && string(p.Source) != args[0] {
						continue
					}
					matches, err := e.Matches(cmd.Context(), p)
					if err != nil {
						return err
					}
					if a.json() {
						a.out.value(struct {
							executor.Policy
							Matches int `json:"matches"`
						}{p, matches})
					}
					t.add(string(p.Scope), onText(p), p.Tools, p.Verdict.String(), fmt.Sprint(matches), p.When, p.Note)
				}
				a.showRules(t)
				return nil
			})
		},
	}
}

func (a *app) paintVerdict(cell string) string {
	var v executor.Verdict
	if v.UnmarshalText([]byte(cell)) != nil { // it was cut
		return cell
	}
	return a.style.verdict(v)
}

func (a *app) showRules(t *table) {
	switch {
	case a.json():
	case len(t.rows) == 0:
		a.note("no rules: reads are allowed, everything else asks")
	default:
		a.table(t)
	}
}

func (a *app) policyExplainCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "explain <address> [<argument>…]",
		Short:             "Tell whether a call may run, and why",
		Example:           "  executor policy explain sample.user.public.pets.delete petId=1",
		ValidArgsFunction: a.completeCall,
		RunE: func(cmd *cobra.Command, words []string) error {
			ctx := cmd.Context()
			at, words, err := address(words)
			if err != nil {
				return err
			}
			return a.with(ctx, func(e *executor.Executor) error {
				args, err := a.argumentsFor(ctx, e, at, words)
				if err != nil {
					return err
				}
				if len(words) == 0 {
					args = nil
				}
				d, err := e.Explain(ctx, at, args)
				if err != nil {
					return err
				}
				a.say(d, "%s", a.style.verdict(d.Verdict))
				if !a.json() {
					for _, r := range d.Reasons {
						a.out.text(a.reasonText(r))
					}
				}
				return nil
			})
		},
	}
}

func (a *app) reasonText(r executor.Reason) string {
	mark := "  "
	if r.Decides {
		mark = "→ "
	}
	text := mark + clean(r.Text)
	if r.Held != "" {
		text += a.style.dim(" (" + line(r.Held) + ")")
	}
	if r.Rule != nil && r.Rule.Note != "" {
		text += a.style.dim(" — " + line(r.Rule.Note))
	}
	return text + "\n"
}
