package executor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/open-executor/executor"
)

func TestASecretInsideAnotherStructIsNotPrinted(t *testing.T) {
	type holder struct {
		name   string
		secret executor.Secret
	}
	h := holder{"work", executor.NewSecret("hunter2")}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d"} {
		if text := fmt.Sprintf(verb, h); strings.Contains(text, "hunter2") {
			t.Errorf("%s prints %s", verb, text)
		}
	}
	if got := h.secret.Reveal(); got != "hunter2" || h.name != "work" {
		t.Errorf("Reveal = %q, want hunter2", got)
	}
	if got := (executor.Secret{}).Reveal(); got != "" {
		t.Errorf("Reveal of the zero Secret = %q, want nothing", got)
	}
}
