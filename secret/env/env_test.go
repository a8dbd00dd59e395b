package env_test

import (
	"errors"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/secret/env"
	"github.com/open-executor/executor/secret/secrettest"
)

func TestProvider(t *testing.T) {
	vars := map[string]string{"TOKEN": "hunter2", "EMPTY": ""}
	p := env.Provider{Lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok }}
	secrettest.Run(t, p, "env://TOKEN", "hunter2", "env://NONE")
	secrettest.Run(t, p, "env://TOKEN", "hunter2", "env://EMPTY")
}

func TestTheProcessIsReadWhenNoLookupIsGiven(t *testing.T) {
	t.Setenv("EXECUTOR_TEST_TOKEN", "hunter2")
	secrettest.Run(t, env.Provider{}, "env://EXECUTOR_TEST_TOKEN", "hunter2", "env://EXECUTOR_TEST_NONE")
}

func TestErrorsSayWhatToDo(t *testing.T) {
	p := env.Provider{Lookup: func(name string) (string, bool) { return "", name == "EMPTY" }}
	for _, test := range []struct {
		ref  executor.SecretRef
		code executor.Code
		msg  string
		hint string
	}{
		{"env://NONE", executor.NotFound, "environment variable NONE is not set", "set NONE for the process that makes the calls, and start it again"},
		{"env://EMPTY", executor.NotFound, "environment variable EMPTY is empty", "set EMPTY for the process that makes the calls, and start it again"},
		{"env://1ST", executor.Invalid, `secret reference "env://1ST" does not name an environment variable`, "write env://NAME with letters, digits and _, for example env://GITHUB_TOKEN"},
		{"env://A=B", executor.Invalid, `secret reference "env://A=B" does not name an environment variable`, "write env://NAME with letters, digits and _, for example env://GITHUB_TOKEN"},
	} {
		_, err := p.Secret(t.Context(), test.ref)
		var e *executor.Error
		if !errors.As(err, &e) {
			t.Fatalf("Secret(%s): %v", test.ref, err)
		}
		if e.Code != test.code || e.Msg != test.msg || e.Hint != test.hint {
			t.Errorf("Secret(%s) = %s %q %q, want %s %q %q", test.ref, e.Code, e.Msg, e.Hint, test.code, test.msg, test.hint)
		}
	}
}
