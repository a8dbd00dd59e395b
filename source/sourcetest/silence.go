package sourcetest

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/open-executor/executor"
)

// fails invokes the first call that works otherwise, through w, and gives its error.
func (r runner) fails(t *testing.T, ctx context.Context, w *wire) *executor.Error {
	t.Helper()
	m := r.resolve(t)
	for _, call := range r.c.Calls {
		if call.Fault != 0 {
			continue
		}
		res, err := r.invoke(ctx, m, call, w.credential())
		var e *executor.Error
		if !errors.As(err, &e) {
			t.Fatalf("%s = %+v, %v; want an *executor.Error", call.Tool, res, err)
		}
		w.allClosed(t)
		return e
	}
	t.Fatal("the case has no call without Fault")
	return nil
}

func (r runner) refused(t *testing.T) {
	mine := &executor.Error{Code: executor.Blocked, Op: "invoke", Msg: "not one of the source's hosts", Unsent: true}
	if got := r.fails(t, t.Context(), &wire{err: mine}); got.Code != executor.Blocked || !got.Unsent || got.Msg != mine.Msg {
		t.Errorf("error = %+v, want the client's %+v", got, mine)
	}
}

func (r runner) unconnected(t *testing.T) {
	got := r.fails(t, t.Context(), &wire{err: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}})
	if got.Code != executor.Unavailable || !got.Unsent {
		t.Errorf("error = %s, unsent %v (%v); want unavailable, unsent", got.Code, got.Unsent, got)
	}
}

func (r runner) hungUp(t *testing.T) {
	got := r.fails(t, t.Context(), &wire{err: &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}})
	if got.Code != executor.Unavailable || got.Unsent {
		t.Errorf("error = %s, unsent %v (%v); want unavailable, not unsent", got.Code, got.Unsent, got)
	}
}

// cancelled lets upstream answer never. In a bubble that would wait for ever, the
// test ends with a report of what is blocked.
func (r runner) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := &wire{hang: true, arrived: cancel}
	if got := r.fails(t, ctx, w); got.Code != executor.Unavailable || got.Unsent {
		t.Errorf("error = %s, unsent %v (%v); want unavailable, not unsent", got.Code, got.Unsent, got)
	}
}

func (r runner) ended(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := &wire{handler: r.c.Upstream}
	if got := r.fails(t, ctx, w); !got.Unsent || w.asked > 0 {
		t.Errorf("%d requests, unsent %v (%v); want none, unsent", w.asked, got.Unsent, got)
	}
}

// unresolved is for kinds that fetch their description from upstream; others
// resolve without it, which is fine too.
func (r runner) unresolved(t *testing.T) {
	w := &wire{err: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}}
	_, err := r.kind.Resolve(t.Context(), r.source(), w.credential())
	if err == nil {
		return
	}
	if code := executor.CodeOf(err); code != executor.Unavailable {
		t.Errorf("Resolve = %v (%s), want unavailable", err, code)
	}
}
