package openapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/source/openapi"
)

func TestBodiesAreWrittenAsTheirMediaType(t *testing.T) {
	u := serve(t, nil)
	stripe := map[string]encoding{
		"expand":   {Style: "deepObject", Explode: true},
		"metadata": {Style: "deepObject", Explode: true},
		"items":    {Style: "deepObject", Explode: true},
	}
	for _, c := range []struct {
		name   string
		bodies []body
		args   string
		media  string
		want   string
	}{
		{"JSON goes as it came", []body{{Media: "application/json"}}, `{"body":{"n":1e21, "big":12345678901234567890,"z":null}}`,
			"application/json", `{"n":1e21, "big":12345678901234567890,"z":null}`},
		{"a vendor's JSON keeps its name", []body{{Media: "application/merge-patch+json; charset=utf-8"}}, `{"body":{"a":null}}`,
			"application/merge-patch+json; charset=utf-8", `{"a":null}`},
		{"the caller chooses", []body{{Media: "application/json"}, {Media: "text/plain"}}, `{"body":"hi","content_type":"text/plain"}`, "text/plain", "hi"},
		{"the preferred one without a choice", []body{{Media: "application/json"}, {Media: "text/plain"}}, `{"body":"hi"}`, "application/json", `"hi"`},
		{"a wildcard takes what it matches", []body{{Media: "image/*"}}, `{"body":"<svg/>","content_type":"image/svg+xml"}`, "image/svg+xml", "<svg/>"},
		{"no body, no media type", []body{{Media: "application/json"}}, `{}`, "", ""},
		{"null where none is required", []body{{Media: "application/json"}}, `{"body":null}`, "", ""},
		{"a form", []body{{Media: "application/x-www-form-urlencoded"}}, `{"body":{"a":"x y&z","b":[1,2],"c":{"d":1},"e":null,"f":1e21}}`,
			"application/x-www-form-urlencoded", "a=x%20y%26z&b=1&b=2&c=%7B%22d%22%3A1%7D&f=1e21"},
		{"Stripe's form", []body{{Media: "application/x-www-form-urlencoded", Encoding: stripe}},
			`{"body":{"expand":["customer","invoice.x"],"metadata":{"k":"v"},"items":[{"price":"p","quantity":2}]}}`,
			"application/x-www-form-urlencoded",
			"expand%5B%5D=customer&expand%5B%5D=invoice.x&metadata%5Bk%5D=v&items%5B0%5D%5Bprice%5D=p&items%5B0%5D%5Bquantity%5D=2"},
		{"a form with its own styles", []body{{Media: "application/x-www-form-urlencoded", Encoding: map[string]encoding{"ids": {Style: "pipeDelimited"}, "j": {Media: "application/json"}}}},
			`{"body":{"ids":["a","b"],"j":[1]}}`, "application/x-www-form-urlencoded", "ids=a%7Cb&j=%5B1%5D"},
		{"raw text as a file", []body{{Media: "application/octet-stream"}}, `{"body":"plain"}`, "application/octet-stream", "plain"},
		{"raw bytes", []body{{Media: "image/png"}}, `{"body":{"base64":"AAH/"}}`, "image/png", "\x00\x01\xff"},
		{"a file that says its type", []body{{Media: "*/*"}}, `{"body":{"type":"text/csv","text":"a,b"}}`, "text/csv", "a,b"},
		{"anything that is no file is JSON", []body{{Media: "*/*"}}, `{"body":{"a":1}}`, "application/json", `{"a":1}`},
		{"an empty file", []body{{Media: "application/octet-stream"}}, `{"body":""}`, "application/octet-stream", ""},
		{"text", []body{{Media: "text/markdown"}}, `{"body":"# ü"}`, "text/markdown", "# ü"},
		{"XML", []body{{Media: "application/xml"}}, `{"body":"<a>1</a>"}`, "application/xml", "<a>1</a>"},
		{"JSON lines", []body{{Media: "application/x-ndjson"}}, `{"body":[{"a":"x\ny"},1e21,null]}`, "application/x-ndjson", "{\"a\":\"x\\ny\"}\n1e21\nnull\n"},
		{"one JSON line", []body{{Media: "application/x-ndjson"}}, `{"body":{"a":1}}`, "application/x-ndjson", "{\"a\":1}\n"},
		{"the caller chooses a version", []body{{Media: "application/json; version=1"}, {Media: "application/json; version=2"}}, `{"body":1,"content_type":"application/json; version=2"}`,
			"application/json; version=2", "1"},
		{"a file chooses by its type", []body{{Media: "image/png"}, {Media: "image/*"}, {Media: "image/jpeg"}}, `{"body":{"base64":"AAH/","type":"image/jpeg"}}`, "image/jpeg", "\x00\x01\xff"},
		{"a file chooses against the default", []body{{Media: "image/png"}, {Media: "image/jpeg"}}, `{"body":{"base64":"AAH/","type":"image/jpeg"},"content_type":"image/png"}`, "image/jpeg", "\x00\x01\xff"},
		{"JSON that looks like a file is JSON", []body{{Media: "application/json"}, {Media: "text/csv"}}, `{"body":{"text":"a","type":"text/csv"}}`, "application/json", `{"text":"a","type":"text/csv"}`},
		{"JSON records", []body{{Media: "application/json-seq"}}, `{"body":[1]}`, "application/json-seq", "\x1e1\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := u.ask(t, binding{Method: "POST", Path: "/", Bodies: c.bodies}, c.args)
			if got.Header.Get("Content-Type") != c.media || got.Body != c.want || got.Length != int64(len(c.want)) {
				t.Errorf("sent %q as %q, length %d\nwant %q as %q", got.Body, got.Header.Get("Content-Type"), got.Length, c.want, c.media)
			}
		})
	}
}

// parts reads a multipart body into "name|file name|media type|content".
func parts(t *testing.T, got seen) []string {
	t.Helper()
	media, params, err := mime.ParseMediaType(got.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	out := []string{media}
	for r := multipart.NewReader(strings.NewReader(got.Body), params["boundary"]); ; {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s|%s|%s|%s", p.FormName(), p.FileName(), p.Header.Get("Content-Type"), content))
	}
}

func TestMultipartBodiesCarryFilesAndParts(t *testing.T) {
	u := serve(t, nil)
	got := u.ask(t, binding{Method: "POST", Path: "/", Bodies: []body{{Media: "multipart/form-data", Encoding: map[string]encoding{
		"plain": {Binary: true}, "named": {Binary: true, Media: "image/png, image/jpeg"}, "many": {Binary: true, Array: true},
		"tags": {Array: true}, "object": {Media: "application/json"}, "rows": {Array: true, Media: "application/json"}, "x": {Media: "application/xml"},
	}}}}, `{"body":{
		"title":"ü \"q\"", "n":1e21, "absent":null,
		"plain":"text", "named":{"name":"a\"b\r\n.jpg","type":"image/jpeg","base64":"AAH/"}, "many":["1",{"name":"2.txt","type":"text/plain","text":"2"}],
		"tags":["a","b"], "object":{"k":[1]}, "rows":[{"r":1},{"r":2}], "x":"<a/>", "undeclared":{"text":"t","name":"u.txt"}
	}}`)
	want := []string{
		"multipart/form-data",
		`title|||ü "q"`, "n|||1e21",
		"plain|plain|application/octet-stream|text", "named|a%22b%0D%0A.jpg|image/jpeg|\x00\x01\xff",
		"many|many|application/octet-stream|1", "many|2.txt|text/plain|2",
		"tags|||a", "tags|||b", `object||application/json|{"k":[1]}`, `rows||application/json|{"r":1}`, `rows||application/json|{"r":2}`,
		"x||application/xml|<a/>", "undeclared|u.txt|application/octet-stream|t",
	}
	if diff := differ(parts(t, got), want); diff != "" {
		t.Error(diff)
	}
}

// output is what a run left, and whether it was closed.
type output struct {
	io.Reader
	closed int
}

func (o *output) Close() error { o.closed++; return nil }

// withRun invokes b with one run at hand, run_1.
func (u *upstream) withRun(t *testing.T, b binding, args, held string) (*output, error) {
	t.Helper()
	b.Base = u.URL
	out := &output{Reader: strings.NewReader(held)}
	_, err := openapi.Kind{}.Invoke(t.Context(), executor.Call{
		Tool: executor.Tool{Binding: encode(t, b)}, Args: []byte(args), Credential: executor.Unsigned(u.Client()),
		Open: func(_ context.Context, id executor.RunID) (io.ReadCloser, executor.Handle, error) {
			if id != "run_1" {
				return nil, executor.Handle{}, errors.New("no such run")
			}
			return out, executor.Handle{Size: int64(len(held)), MediaType: "image/gif", Name: "cat.gif"}, nil
		},
	})
	return out, err
}

func TestTheOutputOfARunIsSentAsAFile(t *testing.T) {
	u := serve(t, nil)
	held := strings.Repeat("GIF", 100_000)
	last := func() seen { return u.seen[len(u.seen)-1] }

	raw := binding{Method: "PUT", Path: "/", Bodies: []body{{Media: "image/*"}}}
	out, err := u.withRun(t, raw, `{"body":{"run":"run_1"}}`, held)
	if err != nil || last().Body != held || last().Length != int64(len(held)) || last().Header.Get("Content-Type") != "image/gif" || out.closed == 0 {
		t.Errorf("raw: %v, sent %d bytes (length %d) of %s, closed %d times", err, len(last().Body), last().Length, last().Header.Get("Content-Type"), out.closed)
	}

	form := binding{Method: "POST", Path: "/", Bodies: []body{{Media: "multipart/form-data", Encoding: map[string]encoding{"f": {Binary: true}}}}}
	out, err = u.withRun(t, form, `{"body":{"a":"1","f":{"run":"run_1"},"b":"2"}}`, held)
	want := []string{"multipart/form-data", "a|||1", "f|cat.gif|image/gif|" + held, "b|||2"}
	if err != nil || out.closed == 0 || last().Length != int64(len(last().Body)) {
		t.Errorf("multipart: %v, closed %d times, length %d of %d", err, out.closed, last().Length, len(last().Body))
	}
	if diff := differ(parts(t, last()), want); diff != "" {
		t.Errorf("multipart: %.300s", diff)
	}

	sent := len(u.seen)
	_, err = u.withRun(t, raw, `{"body":{"run":"run_2"}}`, held)
	wantError(t, err, executor.Invalid, true, `/body/run: the output of run "run_2" cannot be had`)
	out, err = u.withRun(t, form, `{"body":{"f":{"run":"run_1"},"g":[],"f2":1},"content_type":"text/plain"}`, held)
	wantError(t, err, executor.Invalid, true, `/content_type: "text/plain" is not one of multipart/form-data`)
	if out.closed != 0 || len(u.seen) != sent {
		t.Errorf("closed %d times, %d more requests; want none", out.closed, len(u.seen)-sent)
	}
	mine := &executor.Error{Code: executor.Blocked, Msg: "not one of the source's hosts", Unsent: true}
	held2 := &output{Reader: strings.NewReader(held)}
	_, err = openapi.Kind{}.Invoke(t.Context(), executor.Call{
		Tool: executor.Tool{Binding: encode(t, binding{Method: "PUT", Base: u.URL, Path: "/", Bodies: raw.Bodies})}, Args: []byte(`{"body":{"run":"run_1"}}`),
		Credential: executor.Unsigned(&http.Client{Transport: failing{mine}}),
		Open: func(context.Context, executor.RunID) (io.ReadCloser, executor.Handle, error) {
			return held2, executor.Handle{Size: 1}, nil
		},
	})
	if err != error(mine) || held2.closed != 1 {
		t.Errorf("error = %v, the run was closed %d times; want the client's own, and once", err, held2.closed)
	}

	both := binding{Method: "POST", Path: "/", Bodies: []body{{Media: "multipart/form-data", Encoding: map[string]encoding{"f": {Binary: true}, "g": {Binary: true}}}}}
	out, err = u.withRun(t, both, `{"body":{"f":{"run":"run_1"},"g":{"base64":"?"}}}`, held)
	wantError(t, err, executor.Invalid, true, "/body/g/base64: is not standard base64")
	if out.closed != 1 {
		t.Errorf("a run opened before the refusal was closed %d times, want 1", out.closed)
	}
}

func TestBodiesThatCannotBeSentNameThemselves(t *testing.T) {
	u := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("something was sent") })
	file := map[string]encoding{"f": {Binary: true, Media: "image/png"}}
	for _, c := range []struct {
		name, args, says string
		b                body
	}{
		{"a missing one", `{}`, "/body: is required", body{Media: "application/json", Required: true}},
		{"a media type nobody offers", `{"body":1,"content_type":"text/html"}`, `/content_type: "text/html" is not one of application/json`, body{Media: "application/json"}},
		{"a media type with a line break", `{"body":"","content_type":"image/a\r\nX: 1"}`, "is not one of image/*", body{Media: "image/*"}},
		{"bad base64", `{"body":{"base64":"%"}}`, "/body/base64: is not standard base64", body{Media: "application/pdf"}},
		{"two contents", `{"body":{"base64":"AA==","text":"x"}}`, "/body: has more than one", body{Media: "application/pdf"}},
		{"an unknown property", `{"body":{"path":"/etc/passwd"}}`, "/body/path: is not a property of a file", body{Media: "application/pdf"}},
		{"a number for a file", `{"body":7}`, "/body: is neither text nor a file", body{Media: "application/pdf"}},
		{"a media type in a part's header", `{"body":{"f":{"text":"x","type":"image/png\r\nX: 1"}}}`, "/body/f/type: is not a media type", body{Media: "multipart/form-data", Encoding: file}},
		{"another type than the part takes", `{"body":{"f":{"text":"x","type":"text/html"}}}`, "/body/f/type: is not one of image/png", body{Media: "multipart/form-data", Encoding: file}},
		{"a run nobody can open", `{"body":{"run":"run_1"}}`, "/body/run: the output of run", body{Media: "application/pdf"}},
		{"text for a multipart", `{"body":"x"}`, "/body: is not an object", body{Media: "multipart/form-data"}},
		{"an object for XML", `{"body":{"a":1}}`, "write the XML out", body{Media: "application/xml"}},
		{"a property twice inside", `{"body":{"amount":1,"amount":1000}}`, `has property "amount" twice`, body{Media: "application/json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := u.call(t, binding{Method: "POST", Path: "/", Bodies: []body{c.b}}, c.args)
			wantError(t, err, executor.Invalid, true, c.says)
		})
	}
}

func TestABodyIsSentAgainAfterARedirectThatKeepsIt(t *testing.T) {
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new", http.StatusTemporaryRedirect)
		}
	})
	got := u.ask(t, binding{Method: "POST", Path: "/old", Bodies: []body{{Media: "application/json"}}}, `{"body":[1]}`)
	if got.Line != "POST /new" || got.Body != "[1]" {
		t.Errorf("after the redirect: %s %q, want POST /new \"[1]\"", got.Line, got.Body)
	}
}

func BenchmarkRequest(b *testing.B) {
	client := &http.Client{Transport: answering(func(r *http.Request) *http.Response {
		return &http.Response{StatusCode: 204, Body: http.NoBody, Request: r}
	})}
	op := binding{Method: "POST", Base: "https://api.example.com", Path: "/repos/{owner}/{repo}/issues", Params: []param{
		{Arg: "owner", Name: "owner", In: "path", Style: "simple"}, {Arg: "repo", Name: "repo", In: "path", Style: "simple"},
		{Arg: "labels", Name: "labels", In: "query", Style: "form"}, {Arg: "filter", Name: "filter", In: "query", Style: "deepObject"},
	}, Bodies: []body{{Media: "application/json"}}}
	raw := encode(b, op)
	args := []byte(`{"owner":"o","repo":"r","labels":["a","b c"],"filter":{"x":{"y":1}},"body":{"title":"` + string(bytes.Repeat([]byte("x"), 500)) + `"}}`)
	for b.Loop() {
		call := executor.Call{Tool: executor.Tool{Binding: raw}, Args: args, Credential: executor.Unsigned(client)}
		if _, err := (openapi.Kind{}).Invoke(b.Context(), call); err != nil {
			b.Fatal(err)
		}
	}
}
