package secrettest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/open-executor/executor"
)

// RunKeeper checks a Keeper. Each call of open opens the same store anew, as
// the next process would; the store is empty at first.
func RunKeeper(t *testing.T, open func() executor.Provider) {
	t.Helper()
	k := keeping{open}
	t.Run("what is kept is found behind the reference it gave", k.finds)
	t.Run("keeping again replaces the value", k.replaces)
	t.Run("forgetting removes it, and twice is not an error", k.forgets)
	t.Run("any bytes may be kept", k.bytes)
	t.Run("a bad name is Invalid and keeps nothing", k.refuses)
	t.Run("many may keep at once, and none is lost", k.concurrent)
	t.Run("nothing is kept when the context is cancelled", k.cancelled)
}

type keeping struct{ open func() executor.Provider }

func (k keeping) keep(t *testing.T, name, value string) executor.SecretRef {
	t.Helper()
	p := k.open()
	ref, err := p.(executor.Keeper).Keep(t.Context(), name, executor.NewSecret(value))
	if err != nil {
		t.Fatalf("Keep(%q): %v", name, err)
	}
	if ref.Scheme() != p.Scheme() || strings.Contains(string(ref), value) {
		t.Fatalf("Keep(%q) gives a reference of scheme %q, want %q, without the value", name, ref.Scheme(), p.Scheme())
	}
	return ref
}

// holds checks that a newly opened store finds value behind ref.
func (k keeping) holds(t *testing.T, ref executor.SecretRef, value string) {
	t.Helper()
	got, err := k.open().Secret(t.Context(), ref)
	if err != nil || got.Reveal() != value {
		t.Errorf("Secret(%s) gives %d bytes and %v, want the %d bytes that were kept", ref, len(got.Reveal()), err, len(value))
	}
}

func (k keeping) absent(t *testing.T, ref executor.SecretRef) {
	t.Helper()
	if _, err := k.open().Secret(t.Context(), ref); executor.CodeOf(err) != executor.NotFound {
		t.Errorf("Secret(%s): %v, want code %s", ref, err, executor.NotFound)
	}
}

func (k keeping) finds(t *testing.T) {
	one := k.keep(t, "github/work", "ghp-first-value")
	two := k.keep(t, "github/personal", "ghp-other-value")
	k.holds(t, one, "ghp-first-value")
	k.holds(t, two, "ghp-other-value")
}

func (k keeping) replaces(t *testing.T) {
	before := k.keep(t, "stripe/live", "old-value")
	after := k.keep(t, "stripe/live", "new-value")
	if before != after {
		t.Errorf("the same name gives %s, then %s", before, after)
	}
	k.holds(t, after, "new-value")
}

func (k keeping) forgets(t *testing.T) {
	gone, stays := k.keep(t, "gone", "some-value"), k.keep(t, "stays", "other-value")
	for range 2 {
		if err := k.open().(executor.Keeper).Forget(t.Context(), gone); err != nil {
			t.Errorf("Forget(%s): %v", gone, err)
		}
	}
	k.absent(t, gone)
	k.holds(t, stays, "other-value")
	if err := k.open().(executor.Keeper).Forget(t.Context(), "not-"+gone); executor.CodeOf(err) != executor.Invalid {
		t.Errorf("Forget of another scheme: %v, want code %s", err, executor.Invalid)
	}
}

func (k keeping) bytes(t *testing.T) {
	value := "line\r\nnext\x00\xff\xfe \u00e9" + strings.Repeat("k", 4000)
	k.holds(t, k.keep(t, "binary", value), value)
}

func (k keeping) refuses(t *testing.T) {
	for _, name := range []string{"", " ", "a b", "new\nline", "nul\x00", "../up\n"} {
		ref, err := k.open().(executor.Keeper).Keep(t.Context(), name, executor.NewSecret("refused-value"))
		if executor.CodeOf(err) != executor.Invalid || ref != "" {
			t.Errorf("Keep(%q) = %q, %v, want code %s", name, ref, err, executor.Invalid)
			continue
		}
		silent(t, err, "refused-value")
		hinted(t, err)
	}
}

func (k keeping) concurrent(t *testing.T) {
	const writers = 12
	shared, refs := k.open(), make([]executor.SecretRef, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			p := shared
			if i%2 == 0 {
				p = k.open()
			}
			ref, err := p.(executor.Keeper).Keep(t.Context(), fmt.Sprintf("writer-%d", i), executor.NewSecret(fmt.Sprintf("value-of-%d", i)))
			if err != nil {
				t.Errorf("Keep beside others: %v", err)
			}
			refs[i] = ref
		})
	}
	wg.Wait()
	for i, ref := range refs {
		k.holds(t, ref, fmt.Sprintf("value-of-%d", i))
	}
}

func (k keeping) cancelled(t *testing.T) {
	ref := k.keep(t, "late", "value-before")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := k.open().(executor.Keeper).Keep(ctx, "late", executor.NewSecret("value-after"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Keep with a cancelled context: %v, want context.Canceled", err)
	}
	silent(t, err, "value-after")
	if err := k.open().(executor.Keeper).Forget(ctx, ref); !errors.Is(err, context.Canceled) {
		t.Errorf("Forget with a cancelled context: %v, want context.Canceled", err)
	}
	k.holds(t, ref, "value-before")
}
