package cli

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// environment makes a table of "NAME=value" lines.
func environment(lines []string) map[string]string {
	env := map[string]string{}
	for _, line := range lines {
		if name, value, ok := strings.Cut(line, "="); ok {
			env[name] = value
		}
	}
	return env
}

// agentMarkers are variables that coding agents set for what they start, and the
// name to record where the value is a mere switch.
var agentMarkers = []struct{ variable, name string }{
	{"AI_AGENT", "agent"},
	{"AGENT", "agent"},
	{"CLAUDECODE", "claude-code"},
	{"CLAUDE_CODE_ENTRYPOINT", "claude-code"},
	{"CODEX_SANDBOX", "codex"},
	{"CODEX_THREAD_ID", "codex"},
	{"CODEX_CI", "codex"},
	{"CODEX_SANDBOX_NETWORK_DISABLED", "codex"},
	{"CURSOR_AGENT", "cursor"},
	{"GEMINI_CLI", "gemini-cli"},
	{"OPENCODE", "opencode"},
	{"COPILOT_AGENT", "copilot"},
	{"AUGMENT_AGENT", "augment"},
	{"CLINE_ACTIVE", "cline"},
	{"GOOSE_TERMINAL", "goose"},
}

// agentIn gives the name of the agent that env betrays, or "".
func agentIn(env map[string]string) string {
	for _, m := range agentMarkers {
		switch value := strings.TrimSpace(env[m.variable]); {
		case value == "" || value == "0" || value == "false":
		case m.variable == "AI_AGENT" || m.variable == "AGENT":
			if value == "1" || value == "true" {
				return m.name
			}
			return value
		default:
			return m.name
		}
	}
	return ""
}

// isTerminal tells whether w or r is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// colours tells whether text on w may be coloured.
func (a *app) colours(w io.Writer) bool {
	switch {
	case a.env["NO_COLOR"] != "":
		return false
	case a.env["CLICOLOR_FORCE"] != "" && a.env["CLICOLOR_FORCE"] != "0":
		return true
	}
	return a.env["TERM"] != "dumb" && isTerminal(w)
}

// live tells whether a line on stderr may be drawn and taken back.
func (a *app) live() bool {
	return !a.quiet && !a.json() && a.env["TERM"] != "dumb" && a.env["CI"] == "" && isTerminal(a.Err)
}

// personHere tells whether a person types and reads. Only then is a command shown
// that approves something.
func (a *app) personHere() bool {
	return a.agent == "" && !a.json() && isTerminal(a.In) && isTerminal(a.Out)
}

// json tells which of its two ways the output goes.
func (a *app) json() bool {
	if a.asJSON || a.forPeople {
		return a.asJSON
	}
	return a.agent != "" || !isTerminal(a.Out)
}

const endless = 1 << 20 // columns of what is not a terminal

// width gives the columns of the terminal.
func (a *app) width() int {
	if f, ok := a.Out.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return endless
}

func (a *app) environmentTopic() *cobra.Command {
	return &cobra.Command{Use: "environment", Short: "Variables that are read", Long: `EXECUTOR_HOME     the data directory. Without it: $XDG_DATA_HOME/executor where
                  XDG_DATA_HOME is set, else ~/.local/share/executor on Linux
                  and the like, ~/Library/Application Support/executor on
                  macOS, %LocalAppData%\executor on Windows
EXECUTOR_KEYCHAIN off: the key of the secrets is in a file, not in the keychain
NO_COLOR          no colours
CLICOLOR_FORCE    colours, also to a pipe
TERM=dumb         no colours, nothing is drawn over
CI                nothing is drawn over

An agent is recognised by AI_AGENT, AGENT, CLAUDECODE, CODEX_SANDBOX,
CODEX_THREAD_ID, CURSOR_AGENT, GEMINI_CLI and others that agents set. It gets
JSON, is recorded as an agent, and cannot decide what waits in the inbox.

The output is JSON where stdout is not a terminal, for an agent, and with
--json; --human asks for text. Data goes to stdout, everything else to stderr.`}
}
