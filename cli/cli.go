// Package cli is the command line. It reads words, talks to an
// executor.Executor and writes what came back: JSON for programs and agents,
// tables and sentences for people.
//
// It imports the root package, the catalog, a command parser and the terminal.
// Where records are kept, where secrets lie and what kinds exist is none of its
// business: it gets an executor, and a few functions, in a [Config].
package cli

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
)

// Config is what the command line works with. Everything is needed, except
// where a comment says otherwise.
type Config struct {
	Args    []string // without the program's name
	Env     []string // "NAME=value"; tells agents, colour and terminal
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Version Version
	Home    string // the data directory; it need not exist
	Person  string // name of the user, for the record

	// Open opens the data directory, acting as p. The data directory is taken
	// until the returned function is called. No command calls it that can do
	// without.
	Open func(ctx context.Context, p executor.Principal) (*executor.Executor, func() error, error)

	// Terminal opens the controlling terminal. An error: there is none. nil: /dev/tty.
	Terminal func() (*os.File, error)

	// Resolve tells whether a secret reference leads to a secret.
	Resolve func(ctx context.Context, ref executor.SecretRef) error

	// Check looks after the installation, below the executor. It is called while
	// the data directory is not open.
	Check func(ctx context.Context, repair bool) []Check

	Sample Sample
}

// A Sample is an API to try things with.
type Sample struct {
	Config func() json.RawMessage // of an openapi source that answers from inside this program

	// Serve answers on a TCP address until ctx is done. It calls ready with the
	// base URL once it listens.
	Serve func(ctx context.Context, listen string, ready func(base string)) error
}

// app is one command as it runs.
type app struct {
	Config
	env   map[string]string
	agent string // name of the agent that typed the command; "" for a person
	out   output
	style style // of Out

	asJSON, forPeople, quiet bool // flags
}

// Main runs one command and gives its exit code. ctx being done counts as an
// interrupt.
func Main(ctx context.Context, c Config) int {
	a := newApp(c)
	root := a.root()
	root.SetArgs(append([]string{}, c.Args...)) // nil would mean those of the process
	root.SetIn(c.In)
	root.SetOut(c.Out)
	root.SetErr(c.Err)
	cmd, err := root.ExecuteContextC(ctx)
	return a.finish(ctx, cmd.Name(), err)
}

func newApp(c Config) *app {
	if c.Terminal == nil {
		c.Terminal = func() (*os.File, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }
	}
	a := &app{Config: c, env: environment(c.Env)}
	a.agent = agentIn(a.env)
	a.style = style{on: a.colours(c.Out)}
	a.out = output{w: c.Out}
	return a
}

const (
	groupUse   = "use"
	groupSetUp = "set up"
	groupWatch = "watch"
	groupCare  = "care"
)

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "executor",
		Short: "Call the tools of any API, under policy, with the credentials kept here",
		Long: `Executor stands between whoever acts and the software it acts on. Every
operation of every API is a tool with one address:

  <source>.<scope>.<connection>.<tool>     sample.user.public.pets.list

Alone, it shows what there is and what to do next.`,
		Args:          noSuch,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          a.home,
	}
	root.AddGroup(
		&cobra.Group{ID: groupUse, Title: "Find and call tools:"},
		&cobra.Group{ID: groupSetUp, Title: "Set up:"},
		&cobra.Group{ID: groupWatch, Title: "Watch and decide:"},
		&cobra.Group{ID: groupCare, Title: "Look after it:"},
	)
	flags := root.PersistentFlags()
	flags.BoolVar(&a.asJSON, "json", false, "write JSON, also to a terminal")
	flags.BoolVar(&a.forPeople, "human", false, "write text, also to a pipe or an agent")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "write nothing to stderr but errors")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if a.asJSON && a.forPeople {
			return usageError("--json and --human exclude each other", "give one of them")
		}
		return nil
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		a.asJSON = a.asJSON || slices.Contains(a.Args, "--json") // what follows the flag was not read
		a.forPeople = !a.asJSON && (a.forPeople || slices.Contains(a.Args, "--human"))
		return usageError(err.Error(), "run: "+cmd.CommandPath()+" --help")
	})
	version := root.Flags().Bool("version", false, "print the version")
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *version {
			return a.version(cmd, args)
		}
		return a.home(cmd, args)
	}

	add(root, groupUse, a.toolsCommand(), a.callCommand(), a.waitCommand())
	add(root, groupSetUp, a.sourceCommand(), a.connectCommand(), a.connectionCommand(), a.policyCommand())
	add(root, groupWatch, a.inboxCommand(), a.runsCommand(), a.auditCommand())
	add(root, groupCare, a.doctorCommand(), a.sampleCommand(), a.versionCommand())
	root.SetHelpCommand(helpCommand(root))
	root.SetHelpCommandGroupID(groupCare)
	root.SetCompletionCommandGroupID(groupCare)
	add(root, "", exitCodesTopic(), a.environmentTopic())
	return root
}

func add(to *cobra.Command, group string, cmds ...*cobra.Command) {
	for _, cmd := range cmds {
		cmd.GroupID = group
		to.AddCommand(cmd)
	}
}

// group makes a command that only holds others.
func group(use, short string, cmds ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: use, Short: short, Args: noSuch, RunE: func(cmd *cobra.Command, _ []string) error {
		return cmd.Help()
	}}
	g.AddCommand(cmds...)
	return g
}

// principal is who types: the agent whose marker stands in the environment,
// else a person, for whom the shell is a weak witness.
func (a *app) principal() executor.Principal {
	if a.agent != "" {
		return executor.Principal{Kind: executor.Agent, ID: a.agent}
	}
	return executor.Principal{Kind: executor.Human, ID: a.Person, Assurance: executor.Shell}
}

// with runs f on the opened data directory and closes it again.
func (a *app) with(ctx context.Context, f func(*executor.Executor) error) error {
	return a.withAs(ctx, a.principal(), f)
}

func (a *app) withAs(ctx context.Context, p executor.Principal, f func(*executor.Executor) error) error {
	e, closing, err := a.Open(ctx, p)
	if err != nil {
		return err
	}
	err = f(e)
	if e := closing(); err == nil {
		err = e
	}
	return err
}
