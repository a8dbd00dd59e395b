package sample

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/open-executor/executor"
)

// Transport gives a transport that answers requests to Origin from s, without a
// socket; all others go to base.
func (s *Shop) Transport(base http.RoundTripper) http.RoundTripper { return transport{s, base} }

type transport struct {
	shop *Shop
	base http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	origin := strings.ToLower(req.URL.Scheme + "://" + strings.TrimSuffix(req.URL.Host, ":80"))
	if origin != Origin {
		return t.base.RoundTrip(req)
	}
	if req.Body != nil {
		defer func() { _ = req.Body.Close() }() // the shop has read what it wants
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	in := req.Clone(req.Context())
	in.Host, in.RequestURI = "sample.executor.internal", req.URL.RequestURI()
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	if in.Body == nil {
		in.Body = http.NoBody
	}
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	t.shop.ServeHTTP(w, in)
	content := w.body.Bytes()
	if req.Method == http.MethodHead {
		content = nil
	}
	return &http.Response{
		Status:     fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)),
		StatusCode: w.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        w.header,
		Body:          io.NopCloser(bytes.NewReader(content)),
		ContentLength: int64(len(content)),
		Request:       req,
	}, nil
}

// recorder is the other end of a handler that answers in process.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header         { return w.header }
func (w *recorder) WriteHeader(status int)      { w.status = status }
func (w *recorder) Write(p []byte) (int, error) { return w.body.Write(p) }

// Serve answers on the TCP address listen, which is one of this machine only,
// until ctx is done; then it ends what has begun and gives nil. It calls ready
// with the base URL once it listens.
func (s *Shop) Serve(ctx context.Context, listen string, ready func(base string)) error {
	listener, err := listenLocally(ctx, listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	ready("http://" + listener.Addr().String())
	select {
	case err = <-ended:
		return &executor.Error{Code: executor.Unavailable, Op: "sample", Msg: "the sample API no longer listens", Hint: "start it again", Err: err}
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		_ = server.Close() // whoever still talks is cut off
	}
	<-ended
	return nil
}

func listenLocally(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, &executor.Error{
			Code: executor.Invalid, Op: "sample",
			Msg:  fmt.Sprintf("%q is not an address of this machine only", address),
			Hint: "write 127.0.0.1:PORT; port 0 is any free one",
		}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return nil, &executor.Error{
			Code: executor.Unavailable, Op: "sample", Err: err,
			Msg: fmt.Sprintf("nothing can listen on %s", address), Hint: "choose another port; 0 is any free one",
		}
	}
	return listener, nil
}
