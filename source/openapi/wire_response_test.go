package openapi_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/open-executor/executor"
)

var get = binding{Method: "GET", Path: "/"}

// says answers with a status, a media type and a body.
func says(status int, media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil // keeps net/http from guessing
		if media != "" {
			w.Header().Set("Content-Type", media)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client tells what it read
	}
}

// A shape is a Result with its Body read.
type shape struct {
	Value string
	Media string // of the Body
	Name  string
	Body  string
	Notes string
}

func shapeOf(t *testing.T, r executor.Result) shape {
	t.Helper()
	s := shape{Value: string(r.Value), Notes: strings.Join(r.Notes, "; ")}
	if r.Body != nil {
		s.Media, s.Name, s.Body = r.Body.MediaType, r.Body.Name, content(t, r)
	}
	return s
}

func TestAnswersBecomeValues(t *testing.T) {
	for _, c := range []struct {
		name          string
		status        int
		media, answer string
		want          shape
	}{
		{"JSON keeps its text", 200, "application/json", " {\"n\":1e21,\"big\":12345678901234567890}\n", shape{Value: `{"n":1e21,"big":12345678901234567890}`}},
		{"a vendor's JSON", 201, "application/vnd.api+json; charset=utf-8", `[]`, shape{Value: `[]`}},
		{"JSON behind a byte order mark", 200, "application/json", "\ufeff1", shape{Value: `1`}},
		{"JSON that is not", 200, "application/json", `{"a":}`, shape{Media: "text/plain", Body: `{"a":}`,
			Notes: "upstream called this JSON, but it is not from byte 6 on: invalid character '}' looking for beginning of value"}},
		{"JSON that is cut", 200, "application/json", `{"a":1`, shape{Media: "text/plain", Body: `{"a":1`,
			Notes: "upstream called this JSON, but it is not from byte 6 on: unexpected end of JSON input"}},
		{"JSON that is not UTF-8", 200, "application/json", "{\"a\":\"\xff\"}", shape{Media: "application/octet-stream", Body: "{\"a\":\"\xff\"}",
			Notes: "upstream called this JSON, but byte 6 is not UTF-8"}},
		{"nothing", 200, "application/json", "", shape{Value: "null"}},
		{"204", 204, "", "", shape{Value: "null"}},
		{"text", 200, "text/plain", "a \"b\"\n<c> ü", shape{Value: `"a \"b\"\n<c> ü"`}},
		{"text in another charset", 200, "text/plain; charset=ISO-8859-1", "caf\xe9", shape{Value: `"café"`}},
		{"text in two-byte characters", 200, "text/plain; charset=shift_jis", "\x93\xfa\x96\x7b", shape{Value: `"日本"`}},
		{"text in an unknown charset", 200, "text/plain; charset=klingon", "q", shape{Media: "application/octet-stream", Body: "q", Notes: `charset "klingon" is unknown`}},
		{"text that is not UTF-8", 200, "text/csv", "a,\xff", shape{Media: "application/octet-stream", Body: "a,\xff", Notes: "upstream called this text, but byte 2 is not UTF-8"}},
		{"XML", 200, "application/xml", `<?xml version="1.0" encoding="iso-8859-1"?><a>` + "\xe9</a>", shape{Value: `"<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><a>é</a>"`}},
		{"JSON lines", 200, "application/x-ndjson", "{\"a\":1}\n\n[2]\r\n", shape{Value: `[{"a":1},[2]]`}},
		{"JSON records", 200, "application/json-seq", "\x1e1\n\x1e2\n", shape{Value: `[1,2]`}},
		{"JSON lines that are not", 200, "application/jsonl", "1\nx\n", shape{Media: "text/plain", Body: "1\nx\n", Notes: "upstream called this application/jsonl, but line 2 is not JSON"}},
		{"events", 200, "text/event-stream", ": hi\nevent: m\ndata: {\"a\":\ndata: 1}\n\nid: 7\ndata: [DONE]\r\n\r\ndata:x", shape{Value: `[{"a":` + "\n" + `1},"[DONE]","x"]`}},
		{"JSON without a media type", 200, "", `{"a":1}`, shape{Value: `{"a":1}`}},
		{"text without a media type", 200, "", `hello`, shape{Value: `"hello"`}},
		{"bytes without a media type", 200, "", "\x89PNG\r\n\x1a\n\x00", shape{Media: "image/png", Body: "\x89PNG\r\n\x1a\n\x00"}},
		{"bytes", 200, "image/png", "\x89PNG", shape{Media: "image/png", Body: "\x89PNG"}},
		{"a media type that is none", 200, "???", "x", shape{Media: "application/octet-stream", Body: "x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := serve(t, says(c.status, c.media, c.answer)).call(t, get, `{}`)
			if err != nil {
				t.Fatal(err)
			}
			if diff := differ(shapeOf(t, r), c.want); diff != "" {
				t.Error(diff)
			}
			if r.Value != nil && !json.Valid(r.Value) {
				t.Errorf("value %q is not JSON", r.Value)
			}
		})
	}
}

func TestNotModifiedIsAnAnswerWithoutContent(t *testing.T) {
	r, err := serve(t, says(304, "", "")).call(t, get, `{}`)
	want := shape{Value: "null", Notes: "not modified: upstream sent no content (304)"}
	if err != nil || r.Fault != nil {
		t.Fatalf("Invoke = %+v, %v; want neither fault nor error", r, err)
	}
	if diff := differ(shapeOf(t, r), want); diff != "" {
		t.Error(diff)
	}
}

func TestAnAttachmentKeepsItsNameAndLosesItsFolders(t *testing.T) {
	for disposition, want := range map[string]string{
		`attachment; filename="report.pdf"`:           "report.pdf",
		`attachment; filename="../../etc/passwd"`:     "passwd",
		`attachment; filename="C:\\temp\\x.pdf"`:      "x.pdf",
		`attachment; filename*=UTF-8''na%C3%AFve.pdf`: "naïve.pdf",
		`attachment; filename=".."`:                   "",
		`attachment; filename*=UTF-8''a%0D%0Ab.pdf`:   "",
		`attachment; filename="unfinished`:            "",
	} {
		u := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/pdf")
			w.Header().Set("Content-Disposition", disposition)
			_, _ = io.WriteString(w, "%PDF") // the client tells what it read
		})
		r, err := u.call(t, get, `{}`)
		if err != nil {
			t.Fatal(err)
		}
		if got := shapeOf(t, r); got != (shape{Media: "application/pdf", Name: want, Body: "%PDF"}) {
			t.Errorf("%s gave %+v, want name %q", disposition, got, want)
		}
	}
}

func TestHeadAnswersWithItsHeaders(t *testing.T) {
	u := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "123")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Etag", `"v1"`)
		w.Header().Set("Set-Cookie", "session=secret")
		w.Header()["Date"] = nil
	})
	r, err := u.call(t, binding{Method: "HEAD", Path: "/"}, `{}`)
	want := `{"headers":{"content-length":"123","content-type":"application/json","etag":"\"v1\""},"status":200}`
	if err != nil || string(r.Value) != want {
		t.Errorf("HEAD = %s, %v\nwant %s", r.Value, err, want)
	}
}

func TestALargeAnswerIsHandedOverAsItComes(t *testing.T) {
	large := `["` + strings.Repeat("x", 5<<20) + `"]`
	for media, want := range map[string]string{
		"application/vnd.x+json": "application/json", "text/plain; charset=utf-8": "text/plain; charset=utf-8",
		"application/x-ndjson": "application/x-ndjson", "image/png": "image/png", "": "text/plain; charset=utf-8",
	} {
		r, err := serve(t, says(200, media, large)).call(t, get, `{}`)
		if err != nil {
			t.Fatal(err)
		}
		if got := shapeOf(t, r); got.Media != want || got.Body != large || got.Value != "" {
			t.Errorf("%q: media %q, %d bytes, value %.20q; want %q, %d bytes, no value", media, got.Media, len(got.Body), got.Value, want, len(large))
		}
	}
}

func TestALongTextIsHandedOverInUTF8(t *testing.T) {
	r, err := serve(t, says(200, "text/csv; charset=iso-8859-1", strings.Repeat("caf\xe9,", 20_000))).call(t, get, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	want := shape{Media: "text/csv; charset=utf-8", Body: strings.Repeat("café,", 20_000)}
	if got := shapeOf(t, r); got != want {
		t.Errorf("%.80q of %s, want %.80q of %s", got.Body, got.Media, want.Body, want.Media)
	}
}

func TestAnEncodingNobodyAskedForIsNotDecoded(t *testing.T) {
	u := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "br")
		_, _ = io.WriteString(w, "\x0b\x00\x80") // the client tells what it read
	})
	r, err := u.call(t, get, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	want := shape{Media: "application/octet-stream", Body: "\x0b\x00\x80", Notes: `content encoding "br" is not decoded`}
	if diff := differ(shapeOf(t, r), want); diff != "" {
		t.Error(diff)
	}
}

func TestHeadersWorthHavingComeAlong(t *testing.T) {
	u := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range map[string]string{
			"Content-Type": "application/json", "X-RateLimit-Remaining": "7", "RateLimit": "limit=10", "ETag": `"1"`, "X-Request-Id": "r1",
			"Deprecation": "true", "Sunset": "Sat, 31 Dec 2033 23:59:59 GMT", "Location": "/things/1",
			"Set-Cookie": "session=secret", "X-Powered-By": "PHP", "Strict-Transport-Security": "max-age=1",
		} {
			w.Header().Set(name, value)
		}
		w.WriteHeader(201)
		_, _ = io.WriteString(w, "{}") // the client tells what it read
	})
	r, err := u.call(t, get, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"content-type": "application/json", "x-ratelimit-remaining": "7", "ratelimit": "limit=10", "etag": `"1"`, "x-request-id": "r1",
		"deprecation": "true", "sunset": "Sat, 31 Dec 2033 23:59:59 GMT", "location": "/things/1",
	}
	if diff := differ(r.Headers, want); diff != "" {
		t.Error(diff)
	}
}

func TestUpstreamsNoIsAFault(t *testing.T) {
	type header = map[string]string
	for _, c := range []struct {
		name          string
		status        int
		media, answer string
		set           header
		want          executor.Fault
	}{
		{"a message", 404, "application/json", `{"message":"Not here","documentation_url":"x"}`, nil,
			executor.Fault{Status: 404, Message: "Not here", Body: json.RawMessage(`{"message":"Not here","documentation_url":"x"}`)}},
		{"a nested error", 400, "application/json", `{"error":{"message":"No such customer","type":"x"}}`, nil,
			executor.Fault{Status: 400, Message: "No such customer", Body: json.RawMessage(`{"error":{"message":"No such customer","type":"x"}}`)}},
		{"OAuth", 400, "application/json", `{"error":"invalid_grant","error_description":"expired"}`, nil,
			executor.Fault{Status: 400, Message: "invalid_grant: expired", Body: json.RawMessage(`{"error":"invalid_grant","error_description":"expired"}`)}},
		{"problem details", 422, "application/problem+json", `{"title":"Bad","detail":"age is < 0","status":422}`, nil,
			executor.Fault{Status: 422, Message: "Bad: age is < 0", Body: json.RawMessage(`{"title":"Bad","detail":"age is < 0","status":422}`)}},
		{"a list of errors", 400, "application/json", `{"errors":[{"message":"one"},{"message":"two"}]}`, nil,
			executor.Fault{Status: 400, Message: "one", Body: json.RawMessage(`{"errors":[{"message":"one"},{"message":"two"}]}`)}},
		{"a message of another type", 500, "application/json", `{"message":{"a":1},"error":true}`, nil,
			executor.Fault{Status: 500, Message: "Internal Server Error", Body: json.RawMessage(`{"message":{"a":1},"error":true}`)}},
		{"plain text", 400, "text/plain", "bad thing\nmore", nil, executor.Fault{Status: 400, Message: "bad thing", Body: json.RawMessage(`"bad thing\nmore"`)}},
		{"a page for people", 502, "text/html", "<h1>oops</h1>", nil, executor.Fault{Status: 502, Message: "Bad Gateway", Body: json.RawMessage(`"<h1>oops</h1>"`)}},
		{"bytes", 500, "image/png", "\x89PNG\xff", nil, executor.Fault{Status: 500, Message: "Internal Server Error"}},
		{"nothing, and a status without a name", 599, "", "", nil, executor.Fault{Status: 599, Message: "status 599"}},
		{"too many requests", 429, "application/json", `{}`, header{"Retry-After": "30", "X-RateLimit-Reset": "9"},
			executor.Fault{Status: 429, Message: "Too Many Requests", Headers: header{"retry-after": "30", "x-ratelimit-reset": "9"}, Body: json.RawMessage(`{}`)}},
		{"a challenge without its nonce", 401, "", "", header{"WWW-Authenticate": `Digest realm="api", nonce="n0nce", opaque="o", error="invalid_token"`},
			executor.Fault{Status: 401, Message: "Unauthorized", Headers: header{"www-authenticate": `Digest realm="api" error="invalid_token"`}}},
		{"a redirect without a target", 300, "application/json", `{}`, nil, executor.Fault{Status: 300, Message: "Multiple Choices", Body: json.RawMessage(`{}`)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := serve(t, func(w http.ResponseWriter, r *http.Request) {
				for name, value := range c.set {
					w.Header().Set(name, value)
				}
				says(c.status, c.media, c.answer)(w, r)
			})
			if c.media != "" {
				headers := header{"content-type": c.media}
				for name, value := range c.want.Headers {
					headers[name] = value
				}
				c.want.Headers = headers
			}
			r, err := u.call(t, get, `{}`)
			if err != nil || r.Fault == nil {
				t.Fatalf("Invoke = %+v, %v; want a fault", r, err)
			}
			if diff := differ(*r.Fault, c.want); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestALongRefusalIsCutBetweenCharacters(t *testing.T) {
	r, err := serve(t, says(500, "text/html", "x"+strings.Repeat("ü", 1<<20))).call(t, get, `{}`)
	if err != nil || r.Fault == nil {
		t.Fatalf("Invoke = %+v, %v; want a fault", r, err)
	}
	var s string
	if err := json.Unmarshal(r.Fault.Body, &s); err != nil || len(s) != 64<<10-1 || strings.Contains(s, "\ufffd") {
		t.Errorf("fault body of %d bytes (%v), want %d whole characters", len(s), err, 64<<10-1)
	}
}

// capped bounds answers as the executor's client does.
type capped struct{ limit int64 }

func (c capped) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		resp.Body = &cappedBody{resp.Body, c.limit}
	}
	return resp, err
}

type cappedBody struct {
	io.ReadCloser
	left int64
}

func (b *cappedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, &executor.Error{Code: executor.Unavailable, Op: "invoke", Msg: "upstream's answer is larger than allowed"}
	}
	return n, err
}

func TestTheClientsLimitEndsAnAnswer(t *testing.T) {
	zeros := make([]byte, 1<<20)
	pour := func(w io.Writer, mebibytes int) {
		for range mebibytes {
			if _, err := w.Write(zeros); err != nil {
				return // the client had enough
			}
		}
	}
	for name, answer := range map[string]http.HandlerFunc{
		"200 MiB of bytes": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			pour(w, 200)
		},
		"a compressed 64 MiB": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			pour(z, 64)
			_ = z.Close() // the client had enough
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := serve(t, answer)
			b := get
			b.Base = u.URL
			r, err := invoke(t, t.Context(), &http.Client{Transport: capped{8 << 20}}, b, `{}`)
			if err != nil || r.Body == nil {
				t.Fatalf("Invoke = %+v, %v; want a body", r, err)
			}
			n, err := io.Copy(io.Discard, r.Body.Content)
			r.Body.Content.Close()
			wantError(t, err, executor.Unavailable, false, "larger than allowed")
			if n > 8<<20 {
				t.Errorf("%d bytes came through, want at most %d", n, 8<<20)
			}
			_, err = invoke(t, t.Context(), &http.Client{Transport: capped{1 << 10}}, b, `{}`)
			wantError(t, err, executor.Unavailable, false, "larger than allowed")
		})
	}
}

func TestACutAnswerIsNoAnswer(t *testing.T) {
	cut := func(sent int) *upstream {
		return serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", fmt.Sprint(sent+100))
			_, _ = io.WriteString(w, strings.Repeat(" ", sent)) // the client tells what it read
		})
	}
	_, err := cut(10).call(t, get, `{}`)
	wantError(t, err, executor.Unavailable, false, "broke off after 10 bytes")

	r, err := cut(1<<20).call(t, get, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(r.Body.Content)
	r.Body.Content.Close()
	wantError(t, err, executor.Unavailable, false, "broke off after 1048576 bytes")
}

func TestARefusalThatBreaksOffIsStillARefusal(t *testing.T) {
	u := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(403)
		_, _ = io.WriteString(w, "no") // the client tells what it read
	})
	r, err := u.call(t, get, `{}`)
	if err != nil || r.Fault == nil || r.Fault.Message != "no" || fmt.Sprint(r.Notes) != "[the text of the refusal broke off after 2 bytes]" {
		t.Errorf("Invoke = %+v, %v; want the fault and a note", r, err)
	}
}
