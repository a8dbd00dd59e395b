package cli

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
)

const completeWithin = 2 * time.Second // a shell waits for it

// complete gives what list yields and begins with prefix. It makes no data directory, and
// stays silent about errors: there is nowhere to show them.
func (a *app) complete(ctx context.Context, prefix string, list func(context.Context, *executor.Executor, func(word, about string)) error) ([]string, cobra.ShellCompDirective) {
	if _, err := os.Stat(a.Home); err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(ctx, completeWithin)
	defer cancel()
	var words []string
	_ = a.with(ctx, func(e *executor.Executor) error {
		return list(ctx, e, func(word, about string) {
			if strings.HasPrefix(word, prefix) {
				words = append(words, word+"\t"+about)
			}
		})
	})
	return words, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeSource(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.complete(cmd.Context(), prefix, eachSource)
}

func eachSource(ctx context.Context, e *executor.Executor, yield func(word, about string)) error {
	sources, err := e.Sources(ctx)
	for _, src := range sources {
		yield(string(src.ID), line(src.Title))
	}
	return err
}

func (a *app) completeConnection(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return a.completeSource(cmd, args, prefix)
	}
	return a.complete(cmd.Context(), prefix, func(ctx context.Context, e *executor.Executor, yield func(word, about string)) error {
		connections, err := e.Connections(ctx)
		for _, c := range connections {
			if string(c.Source) == args[0] {
				yield(string(c.Name), string(c.Scope))
			}
		}
		return err
	})
}

// completeAddress completes the first argument. It goes a part at a time as
// long as the tool is not reached, so that a shell is not given ten thousand lines.
func (a *app) completeAddress(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault // a file, after @
	}
	wholly := strings.Count(prefix, ".") >= 3
	words, directive := a.complete(cmd.Context(), prefix, func(ctx context.Context, e *executor.Executor, yield func(word, about string)) error {
		if !wholly {
			connections, err := e.Connections(ctx)
			for _, c := range connections {
				yield(strings.Join([]string{string(c.Source), string(c.Scope), string(c.Name), ""}, "."), line(c.Auth.Name))
			}
			return err
		}
		for found, err := range e.Tools(ctx) {
			if err != nil {
				return err
			}
			yield(found.Address.String(), firstLine(found.Tool.Description))
		}
		return nil
	})
	if !wholly {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return words, directive
}

// completeCall completes an address, then the names of the tool's arguments.
func (a *app) completeCall(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return a.completeAddress(cmd, args, prefix)
	}
	at, _, err := address(args)
	if err != nil || strings.ContainsAny(prefix, "=@{") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	words, directive := a.complete(cmd.Context(), prefix, func(ctx context.Context, e *executor.Executor, yield func(word, about string)) error {
		found, err := e.Find(ctx, at)
		if err != nil {
			return err
		}
		input := shapeOf(found.Manifest, found.Tool.Input)
		for _, name := range input.names() {
			at, _ := input.property(name)
			about, _ := at.node["description"].(string)
			yield(name+"=", firstLine(about))
		}
		return nil
	})
	return words, directive | cobra.ShellCompDirectiveNoSpace
}

func (a *app) completeRun(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeRuns(cmd, prefix, "")
}

// completeSettle completes an ambiguous run, then what became of it.
func (a *app) completeSettle(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return a.completeRuns(cmd, prefix, executor.Ambiguous)
	case 1:
		return []string{"done\tit happened", "failed\tnothing was changed"}, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeRuns(cmd *cobra.Command, prefix string, status executor.Status) ([]string, cobra.ShellCompDirective) {
	return a.complete(cmd.Context(), prefix, func(ctx context.Context, e *executor.Executor, yield func(word, about string)) error {
		runs, err := e.Runs(ctx, executor.RunFilter{Status: status, Limit: 50})
		for _, run := range runs {
			yield(string(run.ID), string(run.Status)+" "+run.Address.String())
		}
		return err
	})
}

func (a *app) completeWaiting(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.complete(cmd.Context(), prefix, func(ctx context.Context, e *executor.Executor, yield func(word, about string)) error {
		requests, err := waiting(ctx, e)
		for _, r := range requests {
			yield(string(r.ID), line(r.Summary))
		}
		return err
	})
}

func (a *app) completePolicy(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return a.complete(cmd.Context(), prefix, func(ctx context.Context, e *executor.Executor, yield func(word, about string)) error {
			connections, err := e.Connections(ctx)
			for _, c := range connections {
				yield(strings.Join([]string{string(c.Source), string(c.Scope), string(c.Name)}, "."), "connection")
			}
			if err != nil {
				return err
			}
			return eachSource(ctx, e, yield)
		})
	case 1:
		return a.completeRule(cmd, args[0], prefix)
	case 2:
		return []string{"allow", "require_approval", "block"}, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeWords completes a flag that takes one of a few words.
func completeWords(cmd *cobra.Command, flag string, words ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}) // the flag was just made
}

// completeScheme completes the ways to sign in to the source that is the first
// argument.
func (a *app) completeScheme(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return a.complete(cmd.Context(), prefix, func(ctx context.Context, e *executor.Executor, yield func(word, about string)) error {
		for _, word := range []string{"none", "bearer", "basic", "header:", "query:", "cookie:"} {
			yield(word, "built in")
		}
		if len(args) == 0 {
			return nil
		}
		src, err := e.Source(ctx, executor.SourceID(args[0]))
		for _, auth := range src.Auth {
			yield(auth.Name, firstLine(auth.Description))
		}
		return err
	})
}

// completeRule completes the tools that a rule may be about.
func (a *app) completeRule(cmd *cobra.Command, on, prefix string) ([]string, cobra.ShellCompDirective) {
	source, _, _ := strings.Cut(on, ".")
	seen := map[string]bool{}
	return a.complete(cmd.Context(), prefix, func(ctx context.Context, e *executor.Executor, yield func(word, about string)) error {
		for found, err := range e.Tools(ctx) {
			if err != nil {
				return err
			}
			name := string(found.Address.Tool)
			if string(found.Address.Source) == source && !seen[name] {
				seen[name] = true
				yield(name, firstLine(found.Tool.Description))
			}
		}
		return nil
	})
}
