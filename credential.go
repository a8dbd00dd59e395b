package executor

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Credential lets a kind act as a connection without seeing its secrets. The
// zero value reaches nothing.
type Credential struct {
	client *http.Client
}

// Client gives an HTTP client that signs each request, sends it only to the
// source's hosts (redirects included, and across hosts without credentials or
// headers of the call), bounds the size of the answer, and notes the request in
// the run.
func (c Credential) Client() *http.Client {
	if c.client == nil {
		return &http.Client{Transport: noTransport}
	}
	return c.client
}

// Unsigned gives a Credential that adds nothing to client. It is for tests of
// kinds.
func Unsigned(client *http.Client) Credential { return Credential{client} }

type refuse struct{ err error }

// noTransport is what calls go through where none is configured.
var noTransport = refuse{&Error{
	Code: Invalid, Op: "invoke", Msg: "no transport is configured", Hint: "set Config.Transport", Unsent: true,
}}

func (r refuse) RoundTrip(*http.Request) (*http.Response, error) { return nil, r.err }

// A wire is the transport of one call.
type wire struct {
	base     http.RoundTripper
	hosts    []string // origins it may reach
	anywhere bool     // it may reach any; then it signs nothing
	headers  map[string]string
	sign     []signature
	limit    int64 // bytes of one answer
	now      func() time.Time
	origin   string // of the first request; later ones elsewhere go unsigned

	mu       sync.Mutex
	requests []RequestRecord
	sent     bool // something may have reached upstream
}

// A signature is an AuthPart with its blank filled.
type signature struct {
	part  AuthPart
	value string // of the secret; for basic, "user:password"
}

// A Planned request is what a dry run would have sent. Credentials are masked.
type Planned struct {
	Method string      `json:"method"`
	URL    string      `json:"url"`
	Header http.Header `json:"headers"`
	Body   string      `json:"body,omitempty"` // at most 64 KiB of it
	Size   int64       `json:"size,omitempty"` // of the body; bytes
}

func (w *wire) client() *http.Client {
	return &http.Client{Transport: w, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) >= 10 {
			return &Error{Code: Unavailable, Op: "invoke", Msg: "upstream redirected 10 times"}
		}
		if via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
			return &Error{Code: Blocked, Op: "invoke", Msg: fmt.Sprintf("upstream redirected from https to %q", originOf(req.URL))}
		}
		return nil
	}}
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(in *http.Request) (*http.Response, error) {
	resp, err := w.trip(in)
	if err != nil && in.Body != nil {
		_ = in.Body.Close() // http.RoundTripper promises it; closing twice does no harm
	}
	return resp, err
}

func (w *wire) trip(in *http.Request) (*http.Response, error) {
	origin := originOf(in.URL)
	if !w.anywhere && !slices.Contains(w.hosts, origin) {
		return nil, notAllowed(origin, in.Response == nil)
	}
	w.mu.Lock()
	if w.origin == "" {
		w.origin = origin
	}
	home := origin == w.origin
	w.mu.Unlock()

	req := in.Clone(in.Context())
	req.Header.Del("Referer") // the address it came from may carry a credential
	if !home {
		keepOnly(req.Header, "Accept", "Accept-Language", "Content-Type", "Range")
	}
	shown := req.Clone(req.Context())
	if home {
		w.apply(req, false)
		w.apply(shown, true)
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", userAgent)
	}
	return w.send(req, withoutUser(shown.URL))
}

// apply adds static headers and signatures; masked: with "[secret]" for values.
func (w *wire) apply(req *http.Request, mask bool) {
	for name, value := range w.headers {
		req.Header.Set(name, value)
	}
	for _, s := range w.sign {
		value := s.value
		if mask {
			value = masked
		}
		switch s.part.In {
		case Bearer:
			req.Header.Set("Authorization", "Bearer "+value)
		case Basic:
			if !mask {
				value = base64.StdEncoding.EncodeToString([]byte(value))
			}
			req.Header.Set("Authorization", "Basic "+value)
		case InHeader:
			req.Header.Set(s.part.Name, s.part.Prefix+value)
		case InCookie:
			req.Header.Set("Cookie", strings.TrimPrefix(req.Header.Get("Cookie")+"; "+s.part.Name+"="+value, "; ")) // http.Cookie drops characters
		case InQuery:
			if req.URL.RawQuery != "" {
				req.URL.RawQuery += "&"
			}
			req.URL.RawQuery += url.QueryEscape(s.part.Name) + "=" + url.QueryEscape(value)
		}
	}
}

const userAgent = "executor"

// plan shows what would be sent for in.
func (w *wire) plan(in *http.Request) (*Planned, error) {
	if origin := originOf(in.URL); !slices.Contains(w.hosts, origin) {
		return nil, notAllowed(origin, true)
	}
	w.apply(in, true)
	if in.Header.Get("User-Agent") == "" {
		in.Header.Set("User-Agent", userAgent)
	}
	p := &Planned{Method: in.Method, URL: withoutUser(in.URL), Header: in.Header}
	if in.Body == nil {
		return p, nil
	}
	defer in.Body.Close() //nolint:errcheck // it was only read
	var b bytes.Buffer
	n, err := io.Copy(&b, in.Body)
	p.Size, p.Body = n, string(b.Bytes()[:min(n, 64<<10)])
	return p, err
}

func notAllowed(origin string, unsent bool) error {
	return &Error{
		Code: Blocked, Op: "invoke", Unsent: unsent,
		Msg:  fmt.Sprintf("%q is not one of the source's hosts", origin),
		Hint: "to allow it, run: executor source add … --allow-host " + origin,
	}
}

// withoutUser leaves out the password that a URL may hold.
func withoutUser(u *url.URL) string {
	out := *u
	out.User = nil
	return out.String()
}

func (w *wire) send(req *http.Request, shown string) (*http.Response, error) {
	if name := unsendable(req.Header); name != "" {
		return nil, &Error{
			Code: Invalid, Op: "invoke", Unsent: true, Msg: fmt.Sprintf("the value of header %q holds a line break or another control character", name),
			Hint: "where it is a secret, keep it again without",
		}
	}
	start := w.now()
	var asked, got atomic.Bool // for a connection; a transport that is not net/http's may tell neither
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GetConn: func(string) { asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { got.Store(true) },
	}))
	resp, err := w.base.RoundTrip(req)
	w.mu.Lock()
	defer w.mu.Unlock()
	rec := RequestRecord{Method: req.Method, URL: shown, Took: Duration(w.now().Sub(start))}
	i := len(w.requests)
	if err != nil {
		rec.Error = err.Error()
		w.requests = append(w.requests, rec)
		w.sent = w.sent || got.Load() || !asked.Load() && !unsent(err)
		return nil, err
	}
	rec.Status = resp.StatusCode
	w.requests = append(w.requests, rec)
	w.sent = true
	resp.Body = &bounded{ReadCloser: resp.Body, left: w.limit, limit: w.limit, read: func(n int) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.requests[i].Bytes += int64(n)
	}}
	return resp, nil
}

// unsendable gives the name of a header that HTTP cannot carry (RFC 9110, section 5.5),
// or "".
func unsendable(h http.Header) string {
	for name, values := range h {
		for _, v := range values {
			if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				return name
			}
		}
	}
	return ""
}

// unsent tells whether err shows that the request never left.
func unsent(err error) bool {
	var ours *Error
	var op *net.OpError
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	return errors.As(err, &ours) && ours.Unsent ||
		errors.As(err, &op) && op.Op == "dial" ||
		errors.As(err, &dns) || errors.As(err, &cert)
}

// bounded is a body that fails, rather than ends, past its limit.
type bounded struct {
	io.ReadCloser
	left, limit int64
	read        func(n int)
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	b.read(n)
	b.left -= int64(n)
	if b.left < 0 {
		return 0, &Error{
			Code: Unavailable, Op: "invoke",
			Msg:  fmt.Sprintf("upstream's answer is larger than %d bytes", b.limit),
			Hint: "ask for less (a page, a filter), or raise the source's limit: executor source add … --max-bytes N",
		}
	}
	return n, err
}

func keepOnly(h http.Header, names ...string) {
	for name := range h {
		if !slices.Contains(names, name) {
			h.Del(name)
		}
	}
}

// originOf gives scheme and host in lower case, with the port where it is not
// the scheme's own (RFC 6454).
func originOf(u *url.URL) string {
	host, port := u.Hostname(), u.Port()
	if port == "80" && u.Scheme == "http" || port == "443" && u.Scheme == "https" {
		port = ""
	}
	if port == "" {
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		return strings.ToLower(u.Scheme + "://" + host)
	}
	return strings.ToLower(u.Scheme + "://" + net.JoinHostPort(host, port))
}
