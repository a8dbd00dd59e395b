package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/catalog"
)

func (a *app) toolsCommand() *cobra.Command {
	return group("tools", "Find out what can be called", a.toolsSearchCommand(), a.toolsListCommand(), a.toolsDescribeCommand())
}

// toolView is a tool as it is listed. Score is nil outside a search.
type toolView struct {
	Address     executor.Address `json:"address"`
	Description string           `json:"description"`
	Effect      executor.Effect  `json:"effect"`
	Score       *float64         `json:"score,omitempty"`
}

func (a *app) toolsSearchCommand() *cobra.Command {
	var f catalog.Filter
	var source, scope, connection, effect string
	cmd := &cobra.Command{
		Use:   "search <query>",
		Short: "Find tools by what they do",
		Long: `Find tools by what they do, best first: words in any order, a whole sentence, the
beginning of a word, or a tool's name.`,
		Example: `  executor tools search "list pets"
  executor tools search close a dispute --effect write --limit 5`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("<query> is missing", `write: executor tools search "list pets"`)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.Limit < 1 {
				return usageError("--limit is less than 1", "")
			}
			if source != "" {
				f.Sources = []executor.SourceID{executor.SourceID(source)}
			}
			f.Scope, f.Connection = executor.ScopeID(scope), executor.ConnectionName(connection)
			f.Effect = executor.Effect(effect)
			if effect != "" && effectOf(f.Effect) != f.Effect {
				return usageError(fmt.Sprintf("%q is not an effect", effect), "use read, write or destroy")
			}
			return a.search(cmd.Context(), strings.Join(args, " "), f)
		},
	}
	cmd.Flags().IntVar(&f.Limit, "limit", 10, "at most this many")
	cmd.Flags().StringVar(&source, "source", "", "of this source")
	cmd.Flags().StringVar(&scope, "scope", "", "of connections in this scope")
	cmd.Flags().StringVar(&connection, "connection", "", "of connections of this name")
	cmd.Flags().StringVar(&effect, "effect", "", "read, write or destroy")
	completeWords(cmd, "effect", string(executor.Read), string(executor.Write), string(executor.Destroy))
	_ = cmd.RegisterFlagCompletionFunc("source", a.completeSource) // the flag was just made
	return cmd
}

func (a *app) search(ctx context.Context, query string, f catalog.Filter) error {
	return a.with(ctx, func(e *executor.Executor) error {
		for _, id := range f.Sources {
			if _, err := e.Source(ctx, id); err != nil {
				return err
			}
		}
		var c catalog.Catalog
		index, err := c.Index(ctx, e)
		if index == nil {
			return err
		}
		a.warn(err)
		f.Visible = e.Sees
		tools := []toolView{}
		for _, hit := range index.Search(query, f) {
			tools = append(tools, toolView{hit.Address, firstLine(hit.Tool.Description), effectOf(hit.Tool.Effect), pointer(hit.Score)})
		}
		if a.json() {
			a.out.value(map[string][]toolView{"tools": tools})
			return nil
		}
		if len(tools) == 0 {
			a.note("no tool does that")
			next, err := unconnected(ctx, e)
			a.next(next...)
			return err
		}
		a.listTools(tools)
		a.next("executor tools describe " + tools[0].Address.String())
		return nil
	})
}

// unconnected gives the commands that connect the sources which offer no tool yet,
// because they have no connection.
func unconnected(ctx context.Context, e *executor.Executor) ([]string, error) {
	sources, err := viewSources(ctx, e)
	if err != nil {
		return nil, err
	}
	var commands []string
	for _, src := range sources {
		if len(src.Connections) == 0 {
			commands = append(commands, nextFor(src, "")...)
		}
	}
	return commands, nil
}

func (a *app) toolsListCommand() *cobra.Command {
	var source string
	cmd := &cobra.Command{
		Use: "list", Short: "List all tools", Args: wants(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(e *executor.Executor) error {
				if source != "" {
					if _, err := e.Source(cmd.Context(), executor.SourceID(source)); err != nil {
						return err
					}
				}
				var tools []toolView
				for found, err := range e.Tools(cmd.Context()) {
					if err != nil {
						a.warn(err)
						continue
					}
					if source == "" || string(found.Address.Source) == source {
						tools = append(tools, toolView{found.Address, firstLine(found.Tool.Description), effectOf(found.Tool.Effect), nil})
					}
				}
				a.listTools(tools)
				if len(tools) > 0 {
					return nil
				}
				next, err := unconnected(cmd.Context(), e)
				a.next(next...)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&source, "source", "", "of this source")
	_ = cmd.RegisterFlagCompletionFunc("source", a.completeSource) // the flag was just made
	return cmd
}

func (a *app) listTools(tools []toolView) {
	if a.json() {
		for _, t := range tools {
			a.out.value(t)
		}
		return
	}
	if len(tools) == 0 {
		a.note("no tools; a source that wants sign-in has none before it is connected")
		return
	}
	t := &table{head: []string{"address", "effect", "description"}, whole: []int{0}, paint: []func(string) string{
		1: func(cell string) string { return a.style.effect(executor.Effect(cell)) },
		2: nil,
	}}
	for _, tool := range tools {
		t.add(tool.Address.String(), string(tool.Effect), tool.Description)
	}
	a.table(t)
}
