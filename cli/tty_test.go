//go:build unix

package cli_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"

	"github.com/open-executor/executor/cli"
)

// A person sits at a pseudo terminal.
type person struct {
	t    *testing.T
	desk *os.File // their end

	mu   sync.Mutex
	more sync.Cond
	seen bytes.Buffer
	gone bool
}

// sit gives a person and the program's end of their terminal.
func sit(t *testing.T) (*person, *os.File) {
	desk, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = desk.Close()
		_ = tty.Close()
	})
	return newPerson(t, desk), tty
}

func newPerson(t *testing.T, desk *os.File) *person {
	p := &person{t: t, desk: desk}
	p.more.L = &p.mu
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := desk.Read(buf)
			p.mu.Lock()
			p.seen.Write(buf[:n])
			p.gone = err != nil
			p.mu.Unlock()
			p.more.Broadcast()
			if err != nil {
				return
			}
		}
	}()
	return p
}

// reads waits until text is on the screen.
func (p *person) reads(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !strings.Contains(p.seen.String(), text) {
		if p.gone {
			p.t.Errorf("the terminal closed before it showed %q:\n%s", text, p.seen.String())
			return
		}
		p.more.Wait()
	}
}

func (p *person) types(text string) {
	if _, err := p.desk.WriteString(text); err != nil {
		p.t.Error(err)
	}
}

func (p *person) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.String()
}

// at gives b the terminal, and does what the person does once they see prompt.
func (b *bench) at(prompt, typed string) (p *person, done func()) {
	p, tty := sit(b.t)
	b.tty = func() (*os.File, error) { return os.OpenFile(tty.Name(), os.O_RDWR, 0) }
	var acting sync.WaitGroup
	acting.Go(func() {
		p.reads(prompt)
		p.types(typed)
	})
	return p, acting.Wait
}

func TestApprovalRunsTheCallOnceAndOnlyOnce(t *testing.T) {
	b := withSample(t)
	b.env = []string{"AI_AGENT=bot"}
	run := b.pending("sample.user.public.pets.delete", "id=7")
	b.env = nil
	_, done := b.at("type \x1b[1mdelete\x1b[0m: ", "delete\n")
	out := b.ok("inbox", "approve", run)
	done()
	if got := outOf(t, out); got != `{"result":{"deleted":7},"status":"ok"}` {
		t.Errorf("approve gives %s", got)
	}
	if text := b.fails(9, "inbox", "approve", run); !strings.Contains(text, "not waiting") {
		t.Errorf("a second approval gives %s", text)
	}
	if text := b.fails(9, "inbox", "approve", "--last"); !strings.Contains(text, "not waiting") {
		t.Errorf("approving nothing gives %s", text)
	}
	if got := outOf(t, b.ok("wait", run)); got != `{"result":{"deleted":7},"status":"ok"}` {
		t.Errorf("wait gives %s", got)
	}
}

func TestTheCardShowsEverythingInOrder(t *testing.T) {
	b := withSample(t)
	b.env = []string{"AI_AGENT=bot"}
	run := b.pending("sample.user.public.pets.create", "body.name="+strings.Repeat("x", 500)+"\u202e\u009b2J")
	b.env = []string{"NO_COLOR=1"}
	p, done := b.at("Type y: ", "y\n")
	b.ok("inbox", "approve", run)
	done()
	screen := p.screen()
	at := 0
	for _, want := range []string{
		"Create a pet (sample, as public)", "asked by", "agent bot", "account", "public, in scope user, of source sample",
		"effect", "write: creates or changes something", "goes to", "https://pets.example", "arguments", `body = {"name":"xxx`,
		"… (52", "characters; inbox show has all)", "asked for", "no rule applies", "expires", "in 23 h", "Approve it, once? Type y: ",
	} {
		i := strings.Index(screen[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or not where it belongs, in\n%s", want, screen)
		}
		at += i
	}
	if strings.ContainsAny(screen, "\u202e\u009b") {
		t.Error("the card shows characters that change what is read")
	}
}

func TestWhoDoesNotTypeTheWordDecidesNothing(t *testing.T) {
	b := withSample(t)
	run := b.pending("sample.user.public.pets.delete", "id=7")
	for _, typed := range []string{"y\n", "\n", "\x04"} {
		_, done := b.at("once, type", typed)
		text := b.fails(3, "inbox", "approve", run)
		done()
		if got := parsed(t, text)["error"].(map[string]any)["code"]; got != "cancelled" {
			t.Errorf("%q gives %s", typed, text)
		}
	}
	if got := parsed(t, b.ok("inbox", "list"))["id"]; got != run {
		t.Errorf("the inbox holds %v", got)
	}
}

func TestWhatWasTypedBeforeTheQuestionDoesNotCount(t *testing.T) {
	b := withSample(t)
	run := b.pending("sample.user.public.pets.create", "body.name=x")
	p, tty := sit(t)
	b.tty = func() (*os.File, error) { return os.OpenFile(tty.Name(), os.O_RDWR, 0) }
	p.types("y\n")
	p.reads("y") // the terminal has it, and shows it
	var acting sync.WaitGroup
	acting.Go(func() {
		p.reads("Type y: ")
		p.types("n\n")
	})
	b.fails(3, "inbox", "approve", run)
	acting.Wait()
}

func TestADenialReachesWhoAsked(t *testing.T) {
	b := withSample(t)
	b.env = []string{"AI_AGENT=bot"}
	run := b.pending("sample.user.public.pets.delete", "id=7")
	b.env = nil
	_, done := b.at("Deny it? Type y: ", "yes\n")
	b.ok("inbox", "deny", "--last", "--reason", "not on Fridays")
	done()
	b.env = []string{"AI_AGENT=bot"}
	out := parsed(t, b.fails(6, "wait", run))
	if got := jsonOf(out["error"]); out["status"] != "denied" || !strings.Contains(got, "not on Fridays") {
		t.Errorf("the asker gets %v", out)
	}
}

func TestAnAgentDecidesNothingWhateverTerminalItHas(t *testing.T) {
	b := withSample(t)
	run := b.pending("sample.user.public.pets.delete", "id=7")
	if text := b.fails(6, "inbox", "approve", run); !strings.Contains(text, "there is no controlling terminal") {
		t.Errorf("without a terminal: %s", text)
	}
	_, tty := sit(t)
	b.tty = func() (*os.File, error) { return os.OpenFile(tty.Name(), os.O_RDWR, 0) }
	for _, marker := range []string{"AI_AGENT=x", "AGENT=x", "CLAUDECODE=1", "CODEX_SANDBOX=seatbelt", "CURSOR_AGENT=1", "GEMINI_CLI=1"} {
		b.env = []string{marker}
		for _, decision := range []string{"approve", "deny"} {
			if text := b.fails(6, "inbox", decision, run); !strings.Contains(text, "a person decides") {
				t.Errorf("%s with %s: %s", decision, marker, text)
			}
		}
	}
}

func TestASecretIsTypedUnseenAndKept(t *testing.T) {
	b := newBench(t)
	b.ok("source", "add", "crm", "--spec", "https://private.example/openapi.json")
	_, _, code := b.run("connect", "crm", "main")
	if code != 2 {
		t.Errorf("without a terminal: exit code %d", code)
	}
	p, tty := sit(t)
	var acting sync.WaitGroup
	acting.Go(func() {
		p.reads("key: ")
		p.types("hunter2\n")
	})
	var out, errs bytes.Buffer
	c := b.config(&out, &errs)
	c.In, c.Args = tty, []string{"connect", "crm", "main"}
	c.Terminal = func() (*os.File, error) { return os.OpenFile(tty.Name(), os.O_RDWR, 0) }
	code = cli.Main(t.Context(), c)
	acting.Wait()
	if code != 0 || b.secrets["file://crm/user/main/key"] != "hunter2" {
		t.Errorf("exit code %d, kept %v\n%s%s", code, len(b.secrets), out.String(), errs.String())
	}
	if strings.Contains(p.screen()+out.String()+errs.String(), "hunter2") {
		t.Error("the secret was shown")
	}
}

// TestMain lets the test binary be the program, in a session of its own, with a
// call that waits.
func TestMain(m *testing.M) {
	if os.Getenv("CLI_IS_PROGRAM") == "" {
		os.Exit(m.Run())
	}
	b := &bench{home: os.TempDir(), storage: memoryWithCall(), secrets: vault{}, env: []string{}}
	c := b.config(os.Stdout, os.Stderr)
	c.Args, c.In, c.Terminal = os.Args[1:], os.Stdin, nil
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := cli.Main(ctx, c)
	stop()
	os.Exit(code)
}

func TestTheControllingTerminalDecidesWhereverStdinAndStdoutGo(t *testing.T) {
	cmd := exec.Command(os.Args[0], "inbox", "approve", "--last")
	cmd.Env = []string{"CLI_IS_PROGRAM=1"}
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("delete\n"), &out, &out
	desk, err := startOnTerminal(cmd)
	if err != nil {
		t.Fatal(err)
	}
	p := newPerson(t, desk)
	p.reads("once, type")
	p.types("delete\n")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if got := outOf(t, out.String()); got != `{"result":{"deleted":7},"status":"ok"}` {
		t.Errorf("got %s", got)
	}
}

func TestWithoutAControllingTerminalNothingIsDecided(t *testing.T) {
	cmd := exec.Command(os.Args[0], "inbox", "approve", "--last")
	cmd.Env = []string{"CLI_IS_PROGRAM=1"}
	detach(cmd)
	cmd.Stdin = strings.NewReader("delete\n")
	out, _ := cmd.Output()
	if cmd.ProcessState.ExitCode() != 6 || !strings.Contains(string(out), "there is no controlling terminal") {
		t.Errorf("exit code %d\n%s", cmd.ProcessState.ExitCode(), out)
	}
}

func TestAnInterruptAtThePromptDecidesNothing(t *testing.T) {
	cmd := exec.Command(os.Args[0], "inbox", "approve", "--last")
	cmd.Env = []string{"CLI_IS_PROGRAM=1"}
	var out bytes.Buffer
	cmd.Stdout = &out
	desk, err := startOnTerminal(cmd)
	if err != nil {
		t.Fatal(err)
	}
	p := newPerson(t, desk)
	p.reads("once, type")
	p.types("\x03")
	_ = cmd.Wait() // the exit code tells
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(out.String(), `"code":"interrupted"`) {
		t.Errorf("exit code %d\n%s", code, out.String())
	}
}

func TestOnATerminalTablesFitAndSlowCommandsShowIt(t *testing.T) {
	b := withSample(t)
	run := b.pending("sample.user.public.pets.delete", "id=7")
	p, tty := sit(t)
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 52}); err != nil {
		t.Fatal(err)
	}
	person := func(args ...string) int {
		c := b.config(tty, tty)
		c.In, c.Args = tty, args
		return cli.Main(t.Context(), c)
	}
	person("tools", "list")
	p.reads("sample.user.public.pets.photo   \x1b[32mread")
	person("inbox", "show", run)
	p.reads("executor inbox approve " + run)
	if code := person("wait", run, "--timeout", "700ms"); code != 124 {
		t.Errorf("wait ends with %d", code)
	}
	p.reads("waiting for run_")
	p.reads("\r\x1b[K\x1b[31merror: \x1b[0mthe time is over")
}
