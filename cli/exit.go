package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
)

// Exit codes are part of the command line's contract.
const (
	exitOK        = 0
	exitFailure   = 1
	exitUsage     = 2
	exitCancelled = 3
	exitAuth      = 4
	exitNotFound  = 5
	exitDenied    = 6
	exitUpstream  = 7
	exitPending   = 8
	exitConflict  = 9
	exitTimeout   = 124
	exitInterrupt = 130
)

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: `  0  done
  1  failure: a defect, a broken disk, a check that failed
  2  the command or its arguments are not valid
  3  cancelled by the person who was asked
  4  sign-in is missing or refused
  5  not found
  6  denied, by a policy or by a person
  7  upstream said no (status "fault"), gave no answer (status "error"), or may
     or may not have acted (status "ambiguous": look before you try again)
  8  waiting for a person's approval (status "pending")
  9  conflict: somebody else was first
124  timeout
130  interrupted`}
}

// exit ends the program with its code when everything has been said.
type exit int

func (x exit) Error() string { return fmt.Sprintf("exit %d", int(x)) }

// exitOf gives the exit code that stands for err.
func exitOf(err error) int {
	var x exit
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &x):
		return int(x)
	case errors.As(err, new(*cancelled)):
		return exitCancelled
	case errors.Is(err, context.DeadlineExceeded):
		return exitTimeout
	}
	switch executor.CodeOf(err) {
	case executor.Invalid:
		return exitUsage
	case executor.NotFound:
		return exitNotFound
	case executor.Blocked:
		return exitDenied
	case executor.NeedsAuth:
		return exitAuth
	case executor.NeedsApproval:
		return exitPending
	case executor.Conflict:
		return exitConflict
	case executor.Unavailable:
		return exitUpstream
	}
	return exitFailure
}

// A failure is an error as JSON tells it.
type failure struct {
	Code      string                `json:"code"`
	Message   string                `json:"message"`
	Hint      string                `json:"hint,omitempty"`
	Run       executor.RunID        `json:"run,omitempty"`
	Fields    []executor.FieldError `json:"fields,omitempty"`
	Retryable bool                  `json:"retryable"`
}

func failureOf(err error) failure {
	var e *executor.Error
	switch {
	case errors.As(err, new(*cancelled)):
		return failure{Code: "cancelled", Message: err.Error()}
	case errors.As(err, &e):
	case errors.Is(err, context.DeadlineExceeded):
		return failure{Code: "timeout", Message: "the time is over", Retryable: true}
	default:
		return failure{Code: string(executor.Internal), Message: err.Error()}
	}
	return failure{
		Code: string(e.Code), Message: e.Msg, Hint: e.Hint, Run: e.Run, Fields: e.Fields,
		Retryable: e.Code == executor.Unavailable,
	}
}

// finish tells err, unless it has been told, and gives the exit code.
func (a *app) finish(ctx context.Context, command string, err error) int {
	if errors.Is(ctx.Err(), context.Canceled) && err != nil {
		switch {
		case !failed(err):
		case a.json():
			a.out.value(envelope(command, &failure{Code: "interrupted", Message: "the command was interrupted"}))
		default:
			a.note("interrupted")
		}
		return exitInterrupt
	}
	if failed(err) {
		if a.json() {
			a.out.value(envelope(command, pointer(failureOf(err))))
		} else {
			a.complain(err)
		}
	}
	if err == nil && a.out.err != nil {
		if !errors.Is(a.out.err, syscall.EPIPE) { // else nobody reads on, and nobody minds
			a.complain(fmt.Errorf("the output cannot be written: %w", a.out.err))
		}
		return exitFailure
	}
	return exitOf(err)
}

// envelope is a failure as JSON tells it. Commands that answer with a status always
// do.
func envelope(command string, f *failure) any {
	if command == "call" || command == "wait" {
		out := answer{Status: statusError, Run: f.Run, Error: f}
		f.Run = ""
		return out
	}
	return map[string]*failure{"error": f}
}

// complain tells a person what went wrong.
func (a *app) complain(err error) {
	s := style{on: a.colours(a.Err)}
	f := failureOf(err)
	var b strings.Builder
	b.WriteString(s.red("error: ") + clean(f.Message) + "\n")
	for _, field := range f.Fields {
		pointer := field.Pointer
		if pointer == "" {
			pointer = "(arguments)"
		}
		b.WriteString("  " + clean(pointer) + ": " + clean(field.Msg) + "\n")
	}
	var e *executor.Error
	if errors.As(err, &e) && e.Err != nil {
		b.WriteString(s.dim("  cause: "+clean(e.Err.Error())) + "\n")
	}
	if f.Hint != "" {
		b.WriteString("  " + clean(f.Hint) + "\n")
	}
	fmt.Fprint(a.Err, b.String())
}

const opUsage = "command line"

// usageError is a command that cannot be understood.
func usageError(msg, hint string) error {
	return &executor.Error{Code: executor.Invalid, Op: opUsage, Msg: msg, Hint: hint}
}

// noSuch refuses arguments of a command that only holds others, and suggests.
func noSuch(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.SuggestionsMinimumDistance <= 0 {
		cmd.SuggestionsMinimumDistance = 2
	}
	hint := "run: " + cmd.CommandPath() + " --help"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean: " + cmd.CommandPath() + " " + strings.Join(near, ", ") + "?"
	}
	return usageError(fmt.Sprintf("%q is not a command of %q", args[0], cmd.CommandPath()), hint)
}

// helpCommand shows the help of a command. One that is not there is refused.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [<command>]", Short: "Help about any command",
		ValidArgsFunction: func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			at, _, err := root.Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, cmd := range at.Commands() {
				if strings.HasPrefix(cmd.Name(), prefix) && !cmd.Hidden {
					names = append(names, cmd.Name()+"\t"+cmd.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			at, rest, err := root.Find(args)
			if err == nil && len(rest) > 0 && at.HasSubCommands() {
				err = noSuch(at, rest)
			}
			if err != nil {
				return err
			}
			at.InitDefaultHelpFlag() // else --help is not listed
			return at.Help()
		},
	}
}

// wants takes exactly the named arguments; those in brackets may be absent.
func wants(names ...string) cobra.PositionalArgs {
	least := 0
	for _, name := range names {
		if !strings.HasPrefix(name, "[") {
			least++
		}
	}
	return func(cmd *cobra.Command, args []string) error {
		hint := "write: " + cmd.CommandPath() + " " + strings.Join(names, " ")
		switch {
		case len(args) < least:
			return usageError(names[len(args)]+" is missing", hint)
		case len(args) > len(names):
			return usageError(fmt.Sprintf("%q is one argument too many", args[len(names)]), strings.TrimSpace(hint))
		}
		return nil
	}
}
