package openapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/source/openapi"
)

// FuzzParameter sends any value in any style: either it is refused, or what leaves
// is a URL of the same path with clean headers.
func FuzzParameter(f *testing.F) {
	f.Add(`"a b"`, "query", "form", true, false, false)
	f.Add(`{"a":[1,{"b":null}]}`, "query", "deepObject", true, false, true)
	f.Add(`["..","/"]`, "path", "label", true, true, false)
	f.Add(`"\r\nX: 1"`, "header", "simple", false, false, false)
	f.Add(`{"; a":"=,"}`, "cookie", "cookie", true, true, false)
	f.Fuzz(func(t *testing.T, value, in, style string, explode, reserved, brackets bool) {
		args := []byte(`{"v":` + value + `}`)
		p := param{Arg: "v", Name: "v", In: in, Style: style, Explode: explode, Reserved: reserved, Brackets: brackets}
		path := "/before/after"
		if in == "path" {
			path = "/before/{v}/after"
		}
		var sent *http.Request
		client := &http.Client{Transport: answering(func(r *http.Request) *http.Response {
			sent = r
			return &http.Response{StatusCode: 204, Body: http.NoBody, Request: r}
		})}
		_, err := openapi.Kind{}.Invoke(t.Context(), executor.Call{
			Tool:       executor.Tool{Binding: encode(t, binding{Method: "GET", Base: "https://api.example", Path: path, Params: []param{p}})},
			Args:       args,
			Credential: executor.Unsigned(client),
		})
		if err != nil {
			if executor.CodeOf(err) != executor.Invalid || sent != nil {
				t.Fatalf("error %v after sending %v; want only Invalid ones, before", err, sent)
			}
			return
		}
		line := sent.URL.RequestURI()
		u, err := url.ParseRequestURI(line)
		if err != nil || strings.ContainsAny(line, " \r\n\"<>\\^`{|}#") {
			t.Fatalf("request URI %q: %v", line, err)
		}
		if p := u.EscapedPath(); sent.URL.Host != "api.example" || !strings.HasPrefix(p, "/before/") || !strings.HasSuffix(p, "/after") ||
			strings.Contains(p+"/", "/../") || strings.Contains(p+"/", "/./") {
			t.Fatalf("%s of host %s is another path", line, sent.URL.Host)
		}
		for name, values := range sent.Header {
			if strings.ContainsAny(strings.Join(values, ""), "\r\n\x00") {
				t.Fatalf("header %s: %q", name, values)
			}
		}
	})
}

// FuzzAnswer reads any answer: a value is JSON in UTF-8, a body holds every byte.
func FuzzAnswer(f *testing.F) {
	f.Add(200, "application/json", `{"a":1}`, "", "")
	f.Add(200, "text/plain; charset=utf-16", "\xff\xfea", "attachment; filename=x", "")
	f.Add(404, "application/problem+json", `[[{"errors":{"message":3}}]]`, "", "")
	f.Add(200, "text/event-stream", "data: 1\r\r", "", `<x>; rel="next`)
	f.Add(206, "application/x-ndjson", "\x1e{}\n", "", `<?a=1>; rel=next,`)
	f.Fuzz(func(t *testing.T, status int, media, answer, disposition, link string) {
		if status < 200 || status > 999 {
			return
		}
		client := &http.Client{Transport: answering(func(r *http.Request) *http.Response {
			return &http.Response{StatusCode: status, Request: r, Body: io.NopCloser(strings.NewReader(answer)),
				Header: http.Header{"Content-Type": {media}, "Content-Disposition": {disposition}, "Link": {link}}}
		})}
		b := binding{Method: "GET", Base: "https://api.example", Path: "/", Page: &paging{Cursor: "c", From: "/next", More: "/a/0"},
			Params: []param{{Arg: "a", Name: "a", In: "query", Style: "form"}}}
		r, err := openapi.Kind{}.Invoke(t.Context(), executor.Call{
			Tool: executor.Tool{Binding: encode(t, b)}, Args: []byte(`{}`), Credential: executor.Unsigned(client),
		})
		if err != nil {
			if executor.CodeOf(err) != executor.Unavailable { // a Location that is no URL
				t.Fatal(err)
			}
			return
		}
		for _, value := range []json.RawMessage{r.Value, faultBody(r)} {
			if value != nil && (!json.Valid(value) || !utf8.Valid(value)) {
				t.Fatalf("value %q is not JSON in UTF-8", value)
			}
		}
		if r.Page != nil && r.Page.Args != nil && !json.Valid(r.Page.Args) {
			t.Fatalf("page arguments %q are not JSON", r.Page.Args)
		}
		if r.Body != nil {
			all, err := io.ReadAll(r.Body.Content)
			if err != nil || string(all) != answer || strings.ContainsAny(r.Body.Name, `/\`) {
				t.Fatalf("body %q (%v) named %q, want %q", all, err, r.Body.Name, answer)
			}
		}
		if (r.Value != nil) == (r.Body != nil) && r.Fault == nil {
			t.Fatalf("result %+v has neither or both of value and body", r)
		}
	})
}

func faultBody(r executor.Result) json.RawMessage {
	if r.Fault == nil {
		return nil
	}
	return r.Fault.Body
}
