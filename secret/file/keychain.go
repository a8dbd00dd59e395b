package file

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	osring "github.com/zalando/go-keyring"

	"github.com/open-executor/executor"
)

// service is the word under which the keychain shows our entries to people.
const service = "executor"

// A keychain is the system's: Keychain, Credential Manager or a Secret Service.
// None of them can be told to stop waiting, so each question has a goroutine
// that may outlive it; busy lets there be one at most.
type keychain struct {
	wait time.Duration
	busy chan struct{}
}

var errNoKeychain = errors.New("this system offers no keychain")

func (c *keychain) get(ctx context.Context, name string) (string, error) {
	return c.ask(ctx, func() (string, error) { return osring.Get(service, name) })
}

func (c *keychain) set(ctx context.Context, name, value string) error {
	_, err := c.ask(ctx, func() (string, error) { return "", osring.Set(service, name, value) })
	return err
}

func (c *keychain) ask(ctx context.Context, question func() (string, error)) (string, error) {
	if !offered() {
		return "", errNoKeychain
	}
	ctx, cancel := context.WithTimeout(ctx, c.wait)
	defer cancel()
	select {
	case c.busy <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	type reply struct {
		text string
		err  error
	}
	replies := make(chan reply, 1)
	go func() {
		defer func() { <-c.busy }()
		text, err := question()
		replies <- reply{text, err}
	}()
	select {
	case r := <-replies:
		return r.text, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// offered tells whether asking is safe. Where there is no session bus, the D-Bus
// library would start one of its own.
func offered() bool {
	switch runtime.GOOS {
	case "darwin", "ios", "windows":
		return true
	}
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	runtimeDir := os.Getenv("XDG_RUNTIME_DIR")
	if runtimeDir == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(runtimeDir, "bus"))
	return err == nil
}

// unanswered is the error of a keychain that does not give the key.
func unanswered(err error) error {
	e := &executor.Error{
		Code: executor.Unavailable, Op: "secret", Err: err,
		Msg:  "the OS keychain, which has the key of the secrets, does not give it",
		Hint: "unlock the keychain and try again",
	}
	switch {
	case errors.Is(err, osring.ErrNotFound):
		e.Msg = "the key of the secrets is no longer in the OS keychain"
		e.Hint = "restore the keychain from a backup, or move " + secretsName + " and " + keychainName + " away and connect again"
	case errors.Is(err, errNoKeychain):
		e.Hint = "run it in the desktop session of the person whose keychain it is"
	case errors.Is(err, context.DeadlineExceeded):
		e.Msg = "the OS keychain, which has the key of the secrets, does not answer"
	}
	return e
}
