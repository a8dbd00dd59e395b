// Package secrettest is the contract of executor.Provider and executor.Keeper.
// A provider is accepted when it passes. The package imports executor and
// testing; it knows no provider.
package secrettest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/open-executor/executor"
)

// Run checks a Provider. present is a reference behind which p finds want,
// which is not empty; absent is one behind which it finds nothing.
func Run(t *testing.T, p executor.Provider, present executor.SecretRef, want string, absent executor.SecretRef) {
	t.Helper()
	if want == "" {
		t.Fatal("secrettest.Run needs a value that is not empty")
	}
	c := contract{p: p, present: present, want: want, absent: absent}
	t.Run("the scheme is the word before the slashes", c.scheme)
	t.Run("a secret that is there is resolved", c.resolves)
	t.Run("an absent secret is NotFound", c.missing)
	t.Run("a reference of another scheme is Invalid", c.foreign)
	t.Run("no error holds a value", c.quiet)
	t.Run("however it is printed a secret says [secret]", c.masked)
	t.Run("many may ask at once", c.concurrent)
	t.Run("a cancelled context gives its error and no value", c.cancelled)
}

type contract struct {
	p       executor.Provider
	present executor.SecretRef
	want    string
	absent  executor.SecretRef
}

func (c contract) scheme(t *testing.T) {
	for _, ref := range []executor.SecretRef{c.present, c.absent} {
		if got, want := c.p.Scheme(), ref.Scheme(); got != want || got == "" {
			t.Errorf("Scheme() = %q, want %q as in %s", got, want, ref)
		}
	}
}

func (c contract) resolves(t *testing.T) {
	for range 2 {
		got, err := c.p.Secret(t.Context(), c.present)
		if err != nil {
			t.Fatalf("Secret(%s): %v", c.present, err)
		}
		if got.Reveal() != c.want {
			t.Fatalf("Secret(%s) gives a value of %d bytes that is not the wanted one of %d", c.present, len(got.Reveal()), len(c.want))
		}
	}
}

func (c contract) missing(t *testing.T) {
	got, err := c.p.Secret(t.Context(), c.absent)
	if executor.CodeOf(err) != executor.NotFound || got != (executor.Secret{}) {
		t.Errorf("Secret(%s) = %v, %v, want no secret and code %s", c.absent, got, err, executor.NotFound)
	}
	hinted(t, err)
}

func (c contract) foreign(t *testing.T) {
	for _, ref := range c.strangers() {
		got, err := c.p.Secret(t.Context(), ref)
		if executor.CodeOf(err) != executor.Invalid || got != (executor.Secret{}) {
			t.Errorf("Secret(%q) = %v, %v, want no secret and code %s", ref, got, err, executor.Invalid)
		}
		hinted(t, err)
	}
}

// strangers lists references that no provider of the scheme may resolve.
func (c contract) strangers() []executor.SecretRef {
	return []executor.SecretRef{
		executor.SecretRef("not-" + string(c.present)),
		executor.SecretRef(c.present.Rest()),
		executor.SecretRef(c.p.Scheme() + ":" + c.present.Rest()),
		executor.SecretRef(c.p.Scheme() + "://"),
		"",
	}
}

func (c contract) quiet(t *testing.T) {
	for _, ref := range append(c.strangers(), c.absent) {
		if strings.Contains(string(ref), c.want) {
			continue // the caller's own text, quoted back
		}
		_, err := c.p.Secret(t.Context(), ref)
		silent(t, err, c.want)
	}
}

func (c contract) masked(t *testing.T) {
	s, err := c.p.Secret(t.Context(), c.present)
	if err != nil {
		t.Fatal(err)
	}
	Masked(t, s)
}

func (c contract) concurrent(t *testing.T) {
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			got, err := c.p.Secret(t.Context(), c.present)
			if err != nil || got.Reveal() != c.want {
				t.Errorf("Secret(%s) beside others: %v", c.present, err)
			}
			if _, err := c.p.Secret(t.Context(), c.absent); executor.CodeOf(err) != executor.NotFound {
				t.Errorf("Secret(%s) beside others: %v, want code %s", c.absent, err, executor.NotFound)
			}
		})
	}
	wg.Wait()
}

func (c contract) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := c.p.Secret(ctx, c.present)
	if !errors.Is(err, context.Canceled) || got != (executor.Secret{}) {
		t.Errorf("Secret with a cancelled context = %v, %v, want no secret and context.Canceled", got, err)
	}
	silent(t, err, c.want)
}

// Masked checks that no way to print, log or encode s shows its value.
func Masked(t *testing.T, s executor.Secret) {
	t.Helper()
	shown := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%t", "%8.3s"} {
		shown["fmt "+verb] = fmt.Sprintf(verb, s)
		shown["fmt pointer "+verb] = fmt.Sprintf(verb, &s)
		shown["fmt field "+verb] = fmt.Sprintf(verb, struct{ Password executor.Secret }{s})
		shown["fmt slice "+verb] = fmt.Sprintf(verb, []executor.Secret{s})
	}
	for name, v := range map[string]any{"json": s, "json field": map[string]any{"password": s}, "json key": map[executor.Secret]int{s: 1}} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		shown[name] = string(b)
	}
	var text, js bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("call", "password", s)
	slog.New(slog.NewJSONHandler(&js, nil)).Info("call", slog.Group("auth", "password", s))
	shown["slog text"], shown["slog json"] = text.String(), js.String()

	const masked = "[secret]"
	hidden := len(s.Reveal()) > 2 // a shorter value may well occur in what surrounds it
	for how, got := range shown {
		if !strings.Contains(got, masked) || hidden && strings.Contains(got, s.Reveal()) {
			t.Errorf("%s does not show %s alone", how, masked)
		}
	}
}

// silent checks that err, shown in whatever way, does not hold value.
func silent(t *testing.T, err error, value string) {
	t.Helper()
	if err == nil {
		t.Error("no error where one is due")
		return
	}
	texts := []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)}
	var e *executor.Error
	if errors.As(err, &e) {
		texts = append(texts, e.Msg, e.Hint)
	}
	for _, text := range texts {
		if strings.Contains(text, value) {
			t.Errorf("an error of code %s holds the value", executor.CodeOf(err))
		}
	}
}

// hinted checks that err is an *executor.Error that says where, what and what
// to do next.
func hinted(t *testing.T, err error) {
	t.Helper()
	var e *executor.Error
	if !errors.As(err, &e) || e.Op == "" || e.Msg == "" || e.Hint == "" {
		t.Errorf("error %#v lacks an operation, a message or a hint", err)
	}
}
