package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
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
