package openapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/open-executor/executor"
)

// An upload is a request body in the making: text held in memory, and between it the
// outputs of earlier runs, which are read only while they are sent.
type upload struct {
	media string // its media type; "" while there is no body
	open  func(executor.RunID) (io.ReadCloser, executor.Handle, error)

	text    bytes.Buffer // since the last run
	closed  sync.Once
	pieces  []io.Reader
	runs    []io.Closer
	settled int64 // bytes in pieces
}

func newUpload(ctx context.Context, call executor.Call) *upload {
	return &upload{open: func(id executor.RunID) (io.ReadCloser, executor.Handle, error) {
		if call.Open == nil {
			return nil, executor.Handle{}, errors.New("outputs of runs are not at hand here")
		}
		return call.Open(ctx, id)
	}}
}

// Write implements io.Writer. It never fails.
func (u *upload) Write(p []byte) (int, error) { return u.text.Write(p) }

// add appends the content of f.
func (u *upload) add(f file) {
	if f.run == nil {
		u.text.Write(f.content)
		return
	}
	u.settle()
	u.pieces = append(u.pieces, io.LimitReader(f.run, f.size))
	u.settled += f.size
}

func (u *upload) settle() {
	if u.text.Len() > 0 {
		u.pieces = append(u.pieces, bytes.NewReader(bytes.Clone(u.text.Bytes())))
		u.settled += int64(u.text.Len())
		u.text.Reset()
	}
}

// attach gives req the body. One without runs can be sent again after a redirect.
func (u *upload) attach(req *http.Request) {
	if u.media == "" {
		return
	}
	req.Header.Set("Content-Type", u.media)
	if len(u.runs) == 0 {
		content := u.text.Bytes()
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
		req.Body, _ = req.GetBody() // it never fails
		req.ContentLength = int64(len(content))
		if len(content) == 0 {
			req.Body = http.NoBody
		}
		return
	}
	u.settle()
	req.Body, req.ContentLength = joined{io.MultiReader(u.pieces...), u}, u.settled
}

// Close closes the outputs of runs, once. The transport and the call may both do
// it.
func (u *upload) Close() error {
	var all []error
	u.closed.Do(func() {
		for _, run := range u.runs {
			all = append(all, run.Close())
		}
	})
	return errors.Join(all...)
}
