package egress_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/egress"
)

// loopback starts a server on this machine and gives its port and how often it
// was reached.
func loopback(t *testing.T) (port string, reached *atomic.Int32) {
	t.Helper()
	reached = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		for _, name := range []string{"Traceparent", "X-Forwarded-For", "Via"} {
			if r.Header.Get(name) != "" {
				t.Errorf("the request carries %s", name)
			}
		}
		_, _ = io.WriteString(w, "hello")
	}))
	t.Cleanup(server.Close)
	_, port, _ = net.SplitHostPort(server.Listener.Addr().String())
	return port, reached
}

// get asks url through the transport and gives the *executor.Error, if it is one.
func get(t *testing.T, allowPrivate bool, url string) (*http.Response, *executor.Error, error) {
	t.Helper()
	client := &http.Client{Transport: egress.Transport(allowPrivate)}
	resp, err := client.Get(url)
	if err == nil {
		t.Cleanup(func() { _ = resp.Body.Close() }) // a test's own answer
	}
	var ours *executor.Error
	errors.As(err, &ours)
	return resp, ours, err
}

func TestAHostOfThisMachineOrNetworkIsBlockedHoweverItIsSpelled(t *testing.T) {
	port, reached := loopback(t)
	for _, host := range []string{
		"127.0.0.1", "127.1.2.3", "127.0.0.1.", "localhost", "LOCALHOST", "localhost.", "api.localhost",
		"[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]",
		"2130706433", "0x7f000001", "0X7F.1", "0177.0.0.1", "017700000001", "127.1", "127.0.1", "0", "0x", "00000177.0.0.1", "127.0.0.0x1",
		"0.0.0.0", "[::]", "0.1.2.3",
		"10.0.0.7", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "[fc00::1]", "[fd12:3456::1]", "[fec0::1]",
		"169.254.169.254", "169.254.1.1", "[fe80::1]", "[fe80::1%25lo]", "2852039166", "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "100.100.100.200", "168.63.129.16",
		"224.0.0.1", "239.255.255.250", "[ff02::1]", "255.255.255.255", "240.0.0.1",
		"192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "192.0.0.1", "192.88.99.1", "[2001:db8::1]", "[3fff::1]", "[100::1]", "[2001::1]",
	} {
		_, ours, err := get(t, false, "http://"+host+":"+port+"/")
		if ours == nil || ours.Code != executor.Blocked || !ours.Unsent || ours.Op != "egress" || ours.Msg == "" || ours.Hint == "" {
			t.Errorf("GET http://%s: %v, want an unsent Error with code %s and a hint", host, err, executor.Blocked)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the server on this machine was reached %d times", n)
	}
}

func TestARefusalNamesHostAddressAndTheWayOut(t *testing.T) {
	for _, test := range []struct {
		allowPrivate   bool
		url, msg, hint string
	}{
		{false, "http://127.0.0.1/", "the address 127.0.0.1 is this machine itself", "if this host is yours, add the source with --allow-private"},
		{false, "https://192.168.1.9:8443/", "the address 192.168.1.9 is private", "if this host is yours, add the source with --allow-private"},
		{false, "http://169.254.7.7/", "the address 169.254.7.7 is link-local", "if this host is yours, add the source with --allow-private"},
		{false, "http://[2001:db8::1]/", "the address 2001:db8::1 is not on the public internet", "if this host is yours, add the source with --allow-private"},
		{true, "http://169.254.169.254/", "the address 169.254.169.254 is a cloud's metadata service", "no source may reach it; use another host"},
		{true, "http://0x7f.1/", `host "0x7f.1" ends in a number and is not an IP address`, "write an IPv4 address as four decimal numbers, for example 192.0.2.7"},
	} {
		_, ours, err := get(t, test.allowPrivate, test.url)
		if ours == nil {
			t.Errorf("GET %s: %v, want an *executor.Error", test.url, err)
			continue
		}
		want := executor.Error{Code: executor.Blocked, Op: "egress", Msg: test.msg, Hint: test.hint, Unsent: true}
		if ours.Msg != want.Msg || ours.Hint != want.Hint || ours.Code != want.Code || !ours.Unsent {
			t.Errorf("GET %s: %q, %q, want %q, %q", test.url, ours.Msg, ours.Hint, want.Msg, want.Hint)
		}
	}
}

func TestWithPrivateAllowedThisMachineIsReached(t *testing.T) {
	port, reached := loopback(t)
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
		resp, _, err := get(t, true, "http://"+host+":"+port+"/")
		if err != nil {
			t.Errorf("GET http://%s: %v", host, err)
			continue
		}
		if body, err := io.ReadAll(resp.Body); string(body) != "hello" || err != nil {
			t.Errorf("GET http://%s = %q, %v", host, body, err)
		}
	}
	if n := reached.Load(); n != 3 {
		t.Errorf("the server was reached %d times, want 3", n)
	}
}

func TestMetadataServicesAreBlockedAlsoWithPrivateAllowed(t *testing.T) {
	for _, host := range []string{
		"169.254.169.254", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::a9fe:a9fe]", "[::a9fe:a9fe]", "[2002:a9fe:a9fe::1]",
		"2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.169.254.", "[fd00:ec2::254]", "[fd20:ce::254]", "[fe80::a9fe:a9fe%25lo]",
		"169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16",
		"0.0.0.0", "[::]", "[::ffff:0.0.0.0]", "224.0.0.1", "[ff02::1]", "255.255.255.255",
	} {
		_, ours, err := get(t, true, "http://"+host+"/")
		if ours == nil || ours.Code != executor.Blocked || !ours.Unsent {
			t.Errorf("GET http://%s: %v, want an unsent Error with code %s", host, err, executor.Blocked)
		}
	}
}

// names is a resolver that answers each question with the next address of a
// list, as a name under an attacker's control does.
func names(t *testing.T, answers ...string) *atomic.Int32 {
	t.Helper()
	asked := new(atomic.Int32)
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go answer(there, func() netip.Addr {
			n := int(asked.Add(1)) - 1
			return netip.MustParseAddr(answers[min(n, len(answers)-1)])
		})
		return here, nil
	}}
	return asked
}

// answer serves DNS over a stream (RFC 1035, section 4.2.2) until the peer hangs
// up: A questions get the next address, all others an empty answer.
func answer(conn net.Conn, next func() netip.Addr) {
	defer conn.Close()
	for {
		var size uint16
		if binary.Read(conn, binary.BigEndian, &size) != nil {
			return
		}
		q := make([]byte, size)
		if _, err := io.ReadFull(conn, q); err != nil {
			return
		}
		end := 12 // of the question: labels, a zero, type, class
		for q[end] != 0 {
			end += int(q[end]) + 1
		}
		kind := binary.BigEndian.Uint16(q[end+1:])
		end += 5
		r := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, q[12:end]...)
		if kind == 1 {
			r[7] = 1
			r = append(r, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
			r = append(r, next().AsSlice()...)
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(r))), r...)); err != nil {
			return
		}
	}
}

func TestAPublicNameWithAPrivateAddressIsBlocked(t *testing.T) {
	port, reached := loopback(t)
	for _, addr := range []string{"127.0.0.1", "10.1.2.3", "169.254.169.254"} {
		names(t, addr)
		_, ours, err := get(t, false, "http://api.example.com:"+port+"/")
		if ours == nil || ours.Code != executor.Blocked || !strings.Contains(ours.Msg, `host "api.example.com" has the address `+addr) {
			t.Errorf("a name for %s: %v, want code %s and host and address", addr, err, executor.Blocked)
		}
	}
	names(t, "169.254.169.254")
	if _, ours, err := get(t, true, "http://metadata.example.com/"); ours == nil || ours.Code != executor.Blocked {
		t.Errorf("a name for a metadata service, private allowed: %v, want code %s", err, executor.Blocked)
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the server on this machine was reached %d times", n)
	}
}

func TestANameThatChangesItsAddressGainsNothing(t *testing.T) {
	port, reached := loopback(t)
	asked := names(t, "8.8.8.8", "127.0.0.1")
	// What a check ahead of the call would have seen.
	if got, err := net.DefaultResolver.LookupHost(t.Context(), "rebind.example.com"); err != nil || got[0] != "8.8.8.8" {
		t.Fatalf("first answer %v, %v", got, err)
	}
	_, ours, err := get(t, false, "http://rebind.example.com:"+port+"/")
	if ours == nil || ours.Code != executor.Blocked {
		t.Errorf("second answer: %v, want code %s", err, executor.Blocked)
	}
	if asked.Load() != 2 || reached.Load() != 0 {
		t.Errorf("asked %d times, reached %d times, want 2 and 0", asked.Load(), reached.Load())
	}
}

func TestARedirectToThisMachineIsBlocked(t *testing.T) {
	port, reached := loopback(t)
	client := &http.Client{Transport: redirecting{"http://127.0.0.1:" + port + "/", egress.Transport(false)}}
	_, err := client.Get("http://api.example.com/")
	if executor.CodeOf(err) != executor.Blocked || reached.Load() != 0 {
		t.Errorf("GET = %v, reached %d times, want code %s and 0", err, reached.Load(), executor.Blocked)
	}
}

// redirecting answers the first host itself.
type redirecting struct {
	to   string
	next http.RoundTripper
}

func (r redirecting) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != "api.example.com" {
		return r.next.RoundTrip(req)
	}
	return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {r.to}}, Body: http.NoBody, Request: req}, nil
}

func TestThereIsOneTransportForEachMode(t *testing.T) {
	if egress.Transport(true) != egress.Transport(true) || egress.Transport(false) != egress.Transport(false) || egress.Transport(true) == egress.Transport(false) {
		t.Error("want one transport for each mode, and two of them")
	}
	for _, allowPrivate := range []bool{false, true} {
		if egress.Transport(allowPrivate).(*http.Transport).Proxy != nil {
			t.Errorf("Transport(%v) uses a proxy, whose address would be checked in place of the host's", allowPrivate)
		}
	}
}

func TestHTTP2AndKeepAliveWork(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto+" "+r.RemoteAddr) }))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	transport := egress.Transport(true).(*http.Transport).Clone()
	transport.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	t.Cleanup(transport.CloseIdleConnections)
	var seen []string
	for range 2 {
		resp, err := (&http.Client{Transport: transport}).Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		seen = append(seen, string(body))
	}
	if !strings.HasPrefix(seen[0], "HTTP/2.0 ") || seen[0] != seen[1] {
		t.Errorf("two requests over %q, want one HTTP/2.0 connection", seen)
	}
}
