package openapi

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/open-executor/executor"
)

// Invoke makes one message of the arguments, sends it, and reads what came back.
func (Kind) Invoke(ctx context.Context, call executor.Call) (executor.Result, error) {
	b, err := bindingOf(call.Tool)
	if err != nil {
		return executor.Result{}, err
	}
	return b.exchange(ctx, call)
}

// Plan makes the message that Invoke would send.
func (Kind) Plan(ctx context.Context, call executor.Call) (*http.Request, error) {
	b, err := bindingOf(call.Tool)
	if err != nil {
		return nil, err
	}
	return b.request(ctx, call)
}

func bindingOf(tool executor.Tool) (binding, error) {
	var b binding
	if err := json.Unmarshal(tool.Binding, &b); err != nil {
		return b, &executor.Error{
			Code: executor.Internal, Op: "invoke", Msg: fmt.Sprintf("tool %q has no binding", tool.Name),
			Hint: "refresh the source", Unsent: true, Err: err,
		}
	}
	return b, nil
}

func (b binding) exchange(ctx context.Context, call executor.Call) (executor.Result, error) {
	if err := ctx.Err(); err != nil {
		return executor.Result{}, &executor.Error{
			Code: executor.Unavailable, Op: "invoke", Msg: "the call ended before it was sent", Unsent: true, Err: err,
		}
	}
	var way progress
	req, err := b.request(way.watch(ctx), call)
	if err != nil {
		return executor.Result{}, err
	}
	limit := patience(ctx)
	resp, err := call.Credential.Client().Do(req)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // a transport that refuses may leave it open
		}
		return executor.Result{}, silence(err, b.host(), limit, &way)
	}
	r, err := b.result(resp)
	if err != nil {
		return executor.Result{}, err
	}
	if r.Fault == nil {
		r.Page = b.page(resp, r.Value, call)
	}
	return r, nil
}

// progress is how far a request has come.
type progress struct {
	started atomic.Bool // a connection was asked for, so the transport tells the rest too
	left    atomic.Bool // some of the request may be on its way
}

func (p *progress) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:          func(string) { p.started.Store(true) },
		WroteHeaderField: func(string, []string) { p.left.Store(true) },
	})
}

// patience tells how long ctx will wait; 0: without end.
func patience(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return time.Until(deadline).Round(time.Second)
}

func (b binding) host() string {
	u, err := url.Parse(b.Base)
	if err != nil {
		return b.Base
	}
	return u.Host
}

// errLate marks the error of an answer that was still coming when the call ended.
var errLate = errors.New("the call ended first")

// silence says why there is no answer. What the client itself refused goes on as
// it is.
func silence(err error, host string, limit time.Duration, way *progress) error {
	var ours *executor.Error
	if errors.As(err, &ours) {
		return ours
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // the outer one quotes the whole URL, arguments included
	}
	msg, before := why(err, host)
	e := &executor.Error{
		Code: executor.Unavailable, Op: "invoke", Msg: msg, Err: err,
		Unsent: !way.left.Load() && (before || way.started.Load()),
	}
	var timeout net.Error
	switch {
	case errors.Is(err, context.Canceled):
		e.Msg = fmt.Sprintf("the call was given up before %s answered", host)
	case errors.As(err, &timeout) && timeout.Timeout() && limit > 0:
		e.Msg = fmt.Sprintf("no answer from %s within %s", host, limit)
		e.Hint = "raise the source's timeout, or ask for less"
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Msg = fmt.Sprintf("no answer from %s in time", host)
	}
	return e
}

// why names the cause, and tells whether it is one that comes before anything is
// sent.
func why(err error, host string) (msg string, before bool) {
	var dns *net.DNSError
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("there is no host %q", dns.Name), true
	case errors.As(err, &dns):
		return fmt.Sprintf("the address of %q cannot be found out", dns.Name), true
	case errors.As(err, &cert):
		return fmt.Sprintf("the certificate of %s is not trusted: %v", host, cert.Err), true
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Sprintf("%s does not speak TLS", host), true
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("%s refused the connection", host), true
	case errors.As(err, &op) && op.Op == "dial":
		return fmt.Sprintf("%s cannot be reached", host), true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return fmt.Sprintf("%s closed the connection without an answer", host), false
	case strings.Contains(err.Error(), "malformed HTTP"):
		return fmt.Sprintf("%s answered something other than HTTP", host), false
	}
	return fmt.Sprintf("%s gave no answer", host), false
}

// incoming is the body of an answer. It counts what was read, and says so when it
// breaks off.
type incoming struct {
	io.ReadCloser
	host string
	read int64
}

// Read implements io.Reader.
func (c *incoming) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.read += int64(n)
	if err == nil || err == io.EOF {
		return n, err
	}
	var ours *executor.Error
	if errors.As(err, &ours) {
		return n, ours
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = errors.Join(errLate, err)
	}
	return n, &executor.Error{
		Code: executor.Unavailable, Op: "invoke", Err: err,
		Msg: fmt.Sprintf("the answer of %s broke off after %d bytes", c.host, c.read),
	}
}
