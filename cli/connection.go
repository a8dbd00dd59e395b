package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
)

// connectionView is a connection as it is shown. It names no secret, and to
// agents not even where secrets lie.
type connectionView struct {
	Source executor.SourceID       `json:"source"`
	Scope  executor.ScopeID        `json:"scope"`
	Name   executor.ConnectionName `json:"name"`
	Auth   string                  `json:"auth"`
	Keys   []string                `json:"keys"`
	Refs   map[string]string       `json:"refs,omitempty"`
	Next   []string                `json:"next,omitempty"`
}

func viewConnection(c executor.Connection) connectionView {
	v := connectionView{Source: c.Source, Scope: c.Scope, Name: c.Name, Auth: c.Auth.Name, Keys: c.Auth.Keys()}
	if v.Auth == "" {
		v.Auth = "none"
	}
	if v.Keys == nil {
		v.Keys = []string{}
	}
	return v
}

func (a *app) connectionCommand() *cobra.Command {
	return group("connection", "The accounts that calls are made with",
		a.connectionListCommand(), a.connectionCheckCommand(), a.connectionRemoveCommand())
}

func (a *app) connectionListCommand() *cobra.Command {
	var source string
	cmd := &cobra.Command{
		Use: "list", Short: "List connections", Args: wants(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(e *executor.Executor) error {
				connections, err := e.Connections(cmd.Context())
				if err != nil {
					return err
				}
				var views []connectionView
				for _, c := range connections {
					if source != "" && string(c.Source) != source {
						continue
					}
					v := viewConnection(c)
					if a.agent == "" && len(c.Secrets) > 0 {
						v.Refs = map[string]string{}
						for key, ref := range c.Secrets {
							v.Refs[key] = string(ref)
						}
					}
					views = append(views, v)
				}
				a.listConnections(views)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&source, "source", "", "of this source")
	_ = cmd.RegisterFlagCompletionFunc("source", a.completeSource) // the flag was just made
	return cmd
}

func (a *app) listConnections(views []connectionView) {
	if a.json() {
		for _, v := range views {
			a.out.value(v)
		}
		return
	}
	if len(views) == 0 {
		a.note("no connections")
		return
	}
	t := &table{head: []string{"source", "scope", "name", "sign-in", "secrets"}}
	for _, v := range views {
		var refs []string
		for _, key := range sortedKeys(v.Refs) {
			refs = append(refs, key+"="+v.Refs[key])
		}
		t.add(string(v.Source), string(v.Scope), string(v.Name), v.Auth, strings.Join(refs, " "))
	}
	a.table(t)
}

func (a *app) connectionCheckCommand() *cobra.Command {
	var scope string
	cmd := &cobra.Command{
		Use: "check <source> <name>", Short: "Find out whether a connection still signs in",
		Args: wants("<source>", "<name>"), ValidArgsFunction: a.completeConnection,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(e *executor.Executor) error {
				stop := a.progress("checking " + args[0] + " " + args[1])
				err := e.CheckConnection(cmd.Context(), executor.SourceID(args[0]), scopeOr(scope, e), executor.ConnectionName(args[1]))
				stop()
				if err != nil {
					return err
				}
				a.say(map[string]any{"source": args[0], "name": args[1], "ok": true}, "%s %s signs in", args[0], args[1])
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&scope, "scope", "", "scope of the connection; the innermost (user) if not given")
	return cmd
}

func (a *app) connectionRemoveCommand() *cobra.Command {
	var scope string
	cmd := &cobra.Command{
		Use: "remove <source> <name>", Short: "Remove a connection",
		Args: wants("<source>", "<name>"), ValidArgsFunction: a.completeConnection,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(e *executor.Executor) error {
				err := e.Disconnect(cmd.Context(), executor.SourceID(args[0]), scopeOr(scope, e), executor.ConnectionName(args[1]))
				if err != nil {
					return err
				}
				a.say(map[string]any{"removed": args[1], "source": args[0]}, "removed connection %s of %s", args[1], args[0])
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&scope, "scope", "", "scope of the connection; the innermost (user) if not given")
	return cmd
}

func scopeOr(scope string, e *executor.Executor) executor.ScopeID {
	if scope != "" {
		return executor.ScopeID(scope)
	}
	return e.Scopes().Inner()
}
