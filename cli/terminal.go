package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/open-executor/executor"
)

// A terminal is where a person sits. It is the controlling terminal, whatever
// stdin and stdout are.
type terminal struct {
	file  *os.File
	style style
}

func (a *app) terminal() (*terminal, error) {
	f, err := a.Terminal()
	if err != nil {
		return nil, err
	}
	return &terminal{f, style{on: a.env["NO_COLOR"] == "" && a.env["TERM"] != "dumb"}}, nil
}

// deciding opens the terminal for somebody who decides: a person, who sits there.
func (a *app) deciding() (*terminal, error) {
	if a.agent != "" {
		return nil, personNeeded("an agent types here", nil)
	}
	tty, err := a.terminal()
	if err != nil {
		return nil, personNeeded("there is no controlling terminal", err)
	}
	return tty, nil
}

func personNeeded(why string, err error) error {
	return &executor.Error{
		Code: executor.Blocked, Op: "terminal", Err: err,
		Msg:  "a person decides this at a terminal, and " + why,
		Hint: "a person can decide in a terminal of their own",
	}
}

// decider is the person who has decided at the terminal.
func (a *app) decider() executor.Principal {
	p := a.principal()
	p.Assurance = executor.Terminal
	return p
}

// decided tells err to the person too: they may look at stderr while a program reads
// stdout.
func (a *app) decided(err error) error {
	if failed(err) && a.json() {
		a.complain(err)
	}
	return err
}

func (t *terminal) close() { _ = t.file.Close() } // nothing that was written can get lost

func (t *terminal) print(text string) { fmt.Fprint(t.file, text) }

// ask gives the line that is typed after the prompt, without blanks around it.
// What was typed before the prompt stood there does not count. hidden: it is not
// shown, and blanks stay.
func (t *terminal) ask(ctx context.Context, prompt string, hidden bool) (string, error) {
	fd := int(t.file.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(fd, before) }() // the answer counts, whatever becomes of the echo
	if hidden {
		if err := hideTyped(fd); err != nil { // before the prompt: somebody may type at once
			return "", err
		}
	}
	if err := dropTyped(fd); err != nil {
		return "", err
	}
	t.print(prompt)
	type typed struct {
		line string
		err  error
	}
	answer := make(chan typed, 1) // the reader cannot be stopped; after an interrupt it ends with the program
	go func() {
		if hidden {
			line, err := term.ReadPassword(fd)
			t.print("\n")
			answer <- typed{string(line), err}
			return
		}
		line, err := t.readLine()
		answer <- typed{strings.TrimSpace(line), err}
	}()
	select {
	case <-ctx.Done():
		t.print("\n")
		return "", ctx.Err()
	case a := <-answer:
		return a.line, a.err
	}
}

// confirm asks for a word that decides. Anything else decides nothing.
func (t *terminal) confirm(ctx context.Context, prompt string, words ...string) error {
	typed, err := t.ask(ctx, prompt, false)
	if err != nil && ctx.Err() != nil {
		return err
	}
	for _, word := range words {
		if err == nil && strings.EqualFold(typed, word) {
			return nil
		}
	}
	return &cancelled{"nothing was decided"}
}

// readLine reads byte by byte, so that nothing after the line is taken.
func (t *terminal) readLine() (string, error) {
	var line []byte
	one := make([]byte, 1)
	for {
		n, err := t.file.Read(one)
		if n == 1 && one[0] == '\n' {
			return string(line), nil
		}
		line = append(line, one[:n]...)
		if err != nil {
			return string(line), err
		}
	}
}
