package sourcetest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/open-executor/executor"
)

// A wire is a transport to a handler in this process.
type wire struct {
	handler http.Handler
	err     error  // instead of an answer
	hang    bool   // instead of an answer
	arrived func() // called when a request has; may be nil

	mu    sync.Mutex
	asked int
	open  int // bodies of answers not closed yet
}

func (w *wire) credential() executor.Credential {
	return executor.Unsigned(&http.Client{Transport: w})
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.asked++
	w.mu.Unlock()
	if r.Body != nil {
		defer r.Body.Close()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if w.arrived != nil {
		w.arrived()
	}
	if w.hang {
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	}
	if w.err != nil {
		return nil, w.err
	}
	in := r.Clone(r.Context())
	in.RequestURI = r.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, in)
	resp := rec.Result()
	resp.Request = r
	w.mu.Lock()
	w.open++
	w.mu.Unlock()
	resp.Body = &counted{ReadCloser: resp.Body, wire: w}
	return resp, nil
}

// allClosed checks that every answer was closed.
func (w *wire) allClosed(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open != 0 {
		t.Errorf("%d of %d answers were not closed", w.open, w.asked)
	}
}

// counted tells its wire when it is closed.
type counted struct {
	io.ReadCloser
	wire *wire
	once sync.Once
}

// Close implements io.Closer.
func (c *counted) Close() error {
	c.once.Do(func() {
		c.wire.mu.Lock()
		c.wire.open--
		c.wire.mu.Unlock()
	})
	return c.ReadCloser.Close()
}
