// Package egress is how calls leave the machine: an HTTP transport that looks
// at the address a name has resolved to, at the moment it is dialled, and
// refuses what is not the public internet. A name that changes its address
// between check and use gains nothing, because there is no earlier check.
//
// The package imports executor and code.dny.dev/ssrf. Which origins a source may
// reach, signing, redirects and the size of answers are the executor's.
package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/open-executor/executor"
)

// Transport gives the transport for public addresses or, with allowPrivate, the
// one that may also reach loopback, private and link-local addresses; never a
// cloud's metadata service. There is one of each, and they share no connections.
// A refusal is Blocked and Unsent. Safe for concurrent use.
func Transport(allowPrivate bool) http.RoundTripper {
	if allowPrivate {
		return private()
	}
	return public()
}

var (
	public  = sync.OnceValue(func() http.RoundTripper { return transport(refusedAlwaysOrPrivate) })
	private = sync.OnceValue(func() http.RoundTripper { return transport(refusedAlways) })
)

// transport builds on nothing of http.DefaultTransport, which other code in the
// process may have changed. It uses no proxy: the address dialled would be the
// proxy's, and the one that counts would go unchecked.
func transport(refused rule) *http.Transport {
	return &http.Transport{
		DialContext:           guard{refused}.dial,
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 60 * time.Second,
		ExpectContinueTimeout: time.Second,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConns:          200,
		MaxIdleConnsPerHost:   16,
	}
}

// A rule tells why an address may not be reached, or "".
type rule func(netip.Addr) string

type guard struct{ refused rule }

func (g guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &executor.Error{
			Code: executor.Invalid, Op: "egress", Unsent: true, Err: err,
			Msg: fmt.Sprintf("%q is not a host and port", address), Hint: "check the source's URL",
		}
	}
	if disguised(host) {
		return nil, &executor.Error{
			Code: executor.Blocked, Op: "egress", Unsent: true,
			Msg:  fmt.Sprintf("host %q ends in a number and is not an IP address", host),
			Hint: "write an IPv4 address as four decimal numbers, for example 192.0.2.7",
		}
	}
	if reason := g.refused(loopback); reason != "" && local(host) {
		return nil, blocked(host, loopback, reason, hintPrivate)
	}
	dialer := net.Dialer{
		Timeout:   10 * time.Second, // resolution and connection together
		KeepAlive: 30 * time.Second,
		ControlContext: func(_ context.Context, network, resolved string, _ syscall.RawConn) error {
			return g.check(host, network, resolved)
		},
	}
	conn, err := dialer.DialContext(ctx, network, address)
	var refusal *executor.Error
	if errors.As(err, &refusal) {
		return nil, refusal // without net's own words around it
	}
	return conn, err
}

// check sees each address that host resolved to, just before the connection is
// made.
func (g guard) check(host, network, resolved string) error {
	peer, err := netip.ParseAddrPort(resolved)
	if err != nil || network != "tcp4" && network != "tcp6" {
		return &executor.Error{
			Code: executor.Blocked, Op: "egress", Unsent: true, Err: err,
			Msg:  fmt.Sprintf("host %q leads to %q, which is not a TCP address", host, resolved),
			Hint: "use a host that is reached by TCP over IP",
		}
	}
	addr := peer.Addr().WithZone("").Unmap()
	if reason := refusedAlways(addr); reason != "" {
		return blocked(host, addr, reason, "no source may reach it; use another host")
	}
	if reason := g.refused(addr); reason != "" {
		return blocked(host, addr, reason, hintPrivate)
	}
	return nil
}

const hintPrivate = "if this host is yours, add the source with --allow-private"

func blocked(host string, addr netip.Addr, reason, hint string) error {
	where := fmt.Sprintf("host %q has the address %s", host, addr)
	if host == addr.String() {
		where = fmt.Sprintf("the address %s", addr)
	}
	msg := fmt.Sprintf("%s, which is %s", where, reason)
	if host == addr.String() {
		msg = fmt.Sprintf("%s is %s", where, reason)
	}
	return &executor.Error{Code: executor.Blocked, Op: "egress", Unsent: true, Msg: msg, Hint: hint}
}

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// local tells whether host names this machine wherever it is asked for (RFC
// 6761, section 6.3). Not every resolver knows it.
func local(host string) bool {
	host = "." + strings.ToLower(strings.TrimSuffix(host, "."))
	return strings.HasSuffix(host, ".localhost")
}

// disguised tells whether host is a number that some resolver takes for an IPv4
// address (2130706433, 0x7f.1, 0177.0.0.1, "127.0.0.1."): its last label is a
// number, which no public name's is (WHATWG URL, "ends in a number").
func disguised(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	last := strings.ToLower(strings.TrimSuffix(host, "."))
	last = last[strings.LastIndexByte(last, '.')+1:]
	digits, valid := strings.CutPrefix(last, "0x")
	alphabet := "0123456789"
	if valid {
		alphabet += "abcdef"
	}
	return last != "" && strings.Trim(digits, alphabet) == ""
}
