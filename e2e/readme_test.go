//go:build unix

package e2e_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// githubURL is where the README takes GitHub's description from. Here the same
// description comes from a file.
const githubURL = "https://raw.githubusercontent.com/github/rest-api-description/main/descriptions/api.github.com/api.github.com.json"

// A shown is one command of the README with what it is said to print.
type shown struct {
	line   int
	typed  string
	prints string
}

// What the README shows in "console" blocks is typed at a terminal, in order and
// in one home, and has to print what is said there. Names of runs and amounts of
// time are not compared.
func readReadme(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := consoleOf(string(text))
	if len(commands) == 0 {
		t.Fatal("the README shows no command")
	}
	home := filepath.Join(workshop, "stories", "readme", "home")
	for _, c := range commands {
		if strings.Contains(c.typed, githubURL) {
			if err := real.there("github-description"); err != nil {
				if wanted() {
					t.Fatal(err)
				}
				t.Logf("README.md:%d and what follows: not run: %v", c.line, err)
				return
			}
		}
		got := typeAt(t, home, c)
		if want := vague(c.prints); vague(got) != want {
			t.Errorf("README.md:%d: %s\nprints:\n%s\nthe README says:\n%s", c.line, c.typed, got, c.prints)
		}
	}
}

// consoleOf lists the commands of all "console" blocks.
func consoleOf(text string) []shown {
	var list []shown
	inside := false
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && strings.HasPrefix(line, "$ "):
			list = append(list, shown{line: i + 1, typed: strings.TrimPrefix(line, "$ ")})
		case inside && len(list) > 0:
			list[len(list)-1].prints += line + "\n"
		}
	}
	return list
}

var varying = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`run_[0-9A-Za-z]{26}`), "run_X"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "digest"},
	{regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z`), "time"},
	{regexp.MustCompile(`\b[0-9.]+(µs|ms|s)\b`), "duration"},
	{regexp.MustCompile(`/[^ ]*/home\b|~/\.local/share/executor`), "home"},
	{regexp.MustCompile(`asked by .*`), "asked by somebody"},
	{regexp.MustCompile(` +\n`), "\n"},
}

// vague leaves out what differs each time.
func vague(text string) string {
	for _, v := range varying {
		text = v.what.ReplaceAllString(text, v.as)
	}
	return strings.TrimSpace(text)
}

// typeAt types a command of the README at a terminal and gives what it shows. An
// answer that the README shows behind a prompt is typed as well.
func typeAt(t *testing.T, home string, c shown) string {
	t.Helper()
	line := strings.ReplaceAll(c.typed, githubURL, filepath.Join(cacheDir(), "specs", "github.json"))
	line = strings.ReplaceAll(line, "go run ./cmd/executor", "executor")
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = home + "/.."
	cmd.Env = []string{
		"PATH=" + filepath.Dir(program) + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + cmd.Dir, "TERM=dumb",
		"EXECUTOR_HOME=" + home, "EXECUTOR_KEYCHAIN=off", "GITHUB_TOKEN=" + canaries["CANARY_TOKEN"],
	}
	if err := os.MkdirAll(cmd.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	master, err := pty.StartWithAttrs(cmd, &pty.Winsize{Rows: 40, Cols: 120}, &syscall.SysProcAttr{Setsid: true, Setctty: true})
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	screen := &screen{shown: make(chan struct{}, 1)}
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(screen, master) // it ends with EIO when the other side has gone
		close(screen.shown)
		close(done)
	}()
	for _, prompt := range promptsIn(c.prints) {
		if !screen.waitFor(prompt.asks, time.After(patience)) {
			t.Fatalf("README.md:%d: the terminal never showed %q:\n%s", c.line, prompt.asks, screen)
		}
		if _, err := master.WriteString(prompt.answer + "\r"); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait() // what it prints is compared; a pending call ends with 8
	<-done
	return string(bytes.ReplaceAll([]byte(screen.String()), []byte("\r\n"), []byte("\n")))
}

type prompt struct{ asks, answer string }

var prompting = regexp.MustCompile(`(?m)(Type y: |type \w+: )(\w+)$`)

func promptsIn(text string) []prompt {
	var list []prompt
	for _, m := range prompting.FindAllStringSubmatch(text, -1) {
		list = append(list, prompt{m[1], m[2]})
	}
	return list
}
