//go:build unix

package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"syscall"

	"github.com/creack/pty"

	"github.com/open-executor/executor"
)

// startOnTerminal starts cmd in a session whose controlling terminal is the one
// given back, and which is neither its stdin nor its stdout.
func startOnTerminal(cmd *exec.Cmd) (desk *os.File, err error) {
	desk, tty, err := pty.Open()
	if err != nil {
		return nil, err
	}
	defer tty.Close()
	cmd.ExtraFiles = []*os.File{tty}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	return desk, cmd.Start()
}

// detach puts cmd into a session without a terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// memoryWithCall is a storage in which a call waits.
func memoryWithCall() executor.Storage {
	b := &bench{storage: executor.Memory(), secrets: vault{}}
	ctx := context.Background()
	e, _, err := b.open(ctx, executor.Principal{Kind: executor.Human, ID: "ada", Assurance: executor.Shell})
	if err != nil {
		panic(err)
	}
	if _, err := e.AddSource(ctx, executor.Source{ID: "sample", Kind: "openapi", Config: json.RawMessage(`{}`)}); err != nil {
		panic(err)
	}
	at := executor.Address{Source: "sample", Scope: "user", Connection: "public", Tool: "pets.delete"}
	if _, err := e.Execute(ctx, at, json.RawMessage(`{"id":7}`)); executor.CodeOf(err) != executor.NeedsApproval {
		panic(err)
	}
	return b.storage
}
