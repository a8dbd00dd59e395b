package openapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/open-executor/executor"
)

// The rows with R, G and B are the table "Style Examples" of OpenAPI 3.1.1 and 3.2.
func TestParametersFollowTheStyleTable(t *testing.T) {
	const (
		empty  = `""`
		one    = `"blue"`
		array  = `["blue","black","brown"]`
		colors = `{"R":100,"G":200,"B":150}`
	)
	u := serve(t, nil)
	for _, c := range []struct {
		p     param
		value string
		want  string
	}{
		{param{In: "path", Style: "matrix"}, empty, "/;color"},
		{param{In: "path", Style: "matrix"}, one, "/;color=blue"},
		{param{In: "path", Style: "matrix"}, array, "/;color=blue,black,brown"},
		{param{In: "path", Style: "matrix"}, colors, "/;color=R,100,G,200,B,150"},
		{param{In: "path", Style: "matrix", Explode: true}, empty, "/;color"},
		{param{In: "path", Style: "matrix", Explode: true}, one, "/;color=blue"},
		{param{In: "path", Style: "matrix", Explode: true}, array, "/;color=blue;color=black;color=brown"},
		{param{In: "path", Style: "matrix", Explode: true}, colors, "/;R=100;G=200;B=150"},
		{param{In: "path", Style: "label"}, one, "/.blue"},
		{param{In: "path", Style: "label"}, array, "/.blue,black,brown"},
		{param{In: "path", Style: "label"}, colors, "/.R,100,G,200,B,150"},
		{param{In: "path", Style: "label", Explode: true}, array, "/.blue.black.brown"},
		{param{In: "path", Style: "label", Explode: true}, colors, "/.R=100.G=200.B=150"},
		{param{In: "path", Style: "simple"}, one, "/blue"},
		{param{In: "path", Style: "simple"}, array, "/blue,black,brown"},
		{param{In: "path", Style: "simple"}, colors, "/R,100,G,200,B,150"},
		{param{In: "path", Style: "simple", Explode: true}, array, "/blue,black,brown"},
		{param{In: "path", Style: "simple", Explode: true}, colors, "/R=100,G=200,B=150"},

		{param{In: "query", Style: "form"}, empty, "?color="},
		{param{In: "query", Style: "form"}, one, "?color=blue"},
		{param{In: "query", Style: "form"}, array, "?color=blue,black,brown"},
		{param{In: "query", Style: "form"}, colors, "?color=R,100,G,200,B,150"},
		{param{In: "query", Style: "form", Explode: true}, empty, "?color="},
		{param{In: "query", Style: "form", Explode: true}, one, "?color=blue"},
		{param{In: "query", Style: "form", Explode: true}, array, "?color=blue&color=black&color=brown"},
		{param{In: "query", Style: "form", Explode: true}, colors, "?R=100&G=200&B=150"},
		{param{In: "query", Style: "spaceDelimited"}, array, "?color=blue%20black%20brown"},
		{param{In: "query", Style: "spaceDelimited"}, colors, "?color=R%20100%20G%20200%20B%20150"},
		{param{In: "query", Style: "spaceDelimited", Explode: true}, array, "?color=blue&color=black&color=brown"},
		{param{In: "query", Style: "pipeDelimited"}, array, "?color=blue%7Cblack%7Cbrown"},
		{param{In: "query", Style: "pipeDelimited"}, colors, "?color=R%7C100%7CG%7C200%7CB%7C150"},
		{param{In: "query", Style: "tabDelimited"}, array, "?color=blue%09black%09brown"},
		{param{In: "query", Style: "deepObject", Explode: true}, colors, "?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"},

		{param{In: "header", Style: "simple"}, array, "header blue,black,brown"},
		{param{In: "header", Style: "simple"}, colors, "header R,100,G,200,B,150"},
		{param{In: "header", Style: "simple", Explode: true}, colors, "header R=100,G=200,B=150"},
		{param{In: "cookie", Style: "form"}, empty, "cookie color="},
		{param{In: "cookie", Style: "form"}, array, "cookie color=blue,black,brown"},
		{param{In: "cookie", Style: "form", Explode: true}, one, "cookie color=blue"},
		{param{In: "cookie", Style: "cookie", Explode: true}, array, "cookie color=blue; color=black; color=brown"},
		{param{In: "cookie", Style: "cookie", Explode: true}, colors, "cookie R=100; G=200; B=150"},
		{param{In: "cookie", Style: "cookie"}, array, "cookie color=blue,black,brown"},

		// numbers keep their text, other values have one
		{param{In: "query", Style: "form"}, `1e21`, "?color=1e21"},
		{param{In: "query", Style: "form"}, `12345678901234567890123`, "?color=12345678901234567890123"},
		{param{In: "query", Style: "form"}, `-0.10`, "?color=-0.10"},
		{param{In: "query", Style: "form"}, `false`, "?color=false"},
		{param{In: "path", Style: "simple"}, `9007199254740993`, "/9007199254740993"},

		// nothing is absent
		{param{In: "query", Style: "form"}, `null`, ""},
		{param{In: "query", Style: "form"}, `[]`, ""},
		{param{In: "query", Style: "form", Explode: true}, `{}`, ""},
		{param{In: "query", Style: "deepObject"}, `{"a":[],"b":{}}`, ""},
		{param{In: "query", Style: "form"}, `[null,"a",null]`, "?color=a"},
		{param{In: "header", Style: "simple"}, `null`, "header "},
		{param{In: "cookie", Style: "form"}, `[]`, "cookie "},

		// separators stand between items and never inside one
		{param{In: "query", Style: "form"}, `["a,b","c&d=e","f g"]`, "?color=a%2Cb,c%26d%3De,f%20g"},
		{param{In: "query", Style: "pipeDelimited"}, `["a|b","c"]`, "?color=a%7Cb%7Cc"},
		{param{In: "query", Style: "form", Explode: true}, `{"a b":"c+d","ü":"日本"}`, "?a%20b=c%2Bd&%C3%BC=%E6%97%A5%E6%9C%AC"},
		{param{In: "path", Style: "simple"}, `"a/b?c#d%41 ;,"`, "/a%2Fb%3Fc%23d%2541%20%3B%2C"},
		{param{In: "cookie", Style: "form"}, `"a b;c"`, "cookie color=a%20b%3Bc"},
		{param{In: "cookie", Style: "cookie"}, `"a b%41"`, "cookie color=a b%41"},
		{param{In: "header", Style: "simple"}, `"a b%41,\"ü\""`, "header a b%41,\"ü\""},

		// reserved characters stay where the description allows it
		{param{In: "query", Style: "form", Reserved: true}, `"/a:b?c@d;e=f%41&g#h+i[j]%"`, "?color=/a:b?c@d;e=f%41%26g%23h%2Bi%5Bj%5D%25"},
		{param{In: "path", Style: "simple", Reserved: true}, `"docs/a b?#x"`, "/docs/a%20b%3F%23x"},

		// what has parts inside other styles is JSON
		{param{In: "query", Style: "form", Explode: true}, `[{"a":1},[2]]`, "?color=%7B%22a%22%3A1%7D&color=%5B2%5D"},
		{param{In: "query", Style: "form", Media: "application/json"}, `{"z":1e21,"a":[null,"<"]}`, "?color=%7B%22z%22%3A1e21%2C%22a%22%3A%5Bnull%2C%22%3C%22%5D%7D"},
		{param{In: "query", Style: "form", Media: "text/plain"}, `"as is"`, "?color=as%20is"},
		{param{In: "path", Style: "simple", Media: "application/json"}, `{"a":1}`, "/%7B%22a%22%3A1%7D"},
		{param{In: "header", Style: "simple", Media: "application/json"}, `{"a":"b c"}`, `header {"a":"b c"}`},

		// nesting
		{param{In: "query", Style: "deepObject"}, `{"a":{"b":{"c":1}}}`, "?color%5Ba%5D%5Bb%5D%5Bc%5D=1"},
		{param{In: "query", Style: "deepObject"}, `{"a":["x","y"]}`, "?color%5Ba%5D%5B0%5D=x&color%5Ba%5D%5B1%5D=y"},
		{param{In: "query", Style: "deepObject", Brackets: true}, `{"a":["x","y"]}`, "?color%5Ba%5D%5B%5D=x&color%5Ba%5D%5B%5D=y"},
		{param{In: "query", Style: "deepObject", Brackets: true}, `["x","y"]`, "?color%5B%5D=x&color%5B%5D=y"},
		{param{In: "query", Style: "deepObject", Brackets: true}, `[{"price":"p","tags":["t"]}]`, "?color%5B0%5D%5Bprice%5D=p&color%5B0%5D%5Btags%5D%5B%5D=t"},
		{param{In: "query", Style: "deepObject"}, `"plain"`, "?color=plain"},

		// the whole query
		{param{In: "querystring", Media: "application/x-www-form-urlencoded"}, `{"a":["1","2"],"b":"c d"}`, "?a=1&a=2&b=c%20d"},
		{param{In: "querystring", Media: "application/json"}, `{"a":1}`, "?%7B%22a%22%3A1%7D"},
	} {
		t.Run(c.p.In+" "+c.p.Style+" "+c.value, func(t *testing.T) {
			c.p.Arg, c.p.Name = "c", "color"
			path := "/v1/"
			if c.p.In == "path" {
				path = "/v1/{color}"
			}
			got := u.ask(t, binding{Method: "GET", Base: "/api", Path: path, Params: []param{c.p}}, `{"c":`+c.value+`}`)
			wire := got.Line[len("GET /api/v1"):]
			switch c.p.In {
			case "header":
				wire = "header " + got.Header.Get("Color")
			case "cookie":
				wire = "cookie " + got.Header.Get("Cookie")
			case "query", "querystring":
				wire = wire[1:]
			}
			if wire != c.want {
				t.Errorf("wire = %s\nwant   %s", wire, c.want)
			}
		})
	}
}

func TestArgumentsThatCannotBeSentNameThemselves(t *testing.T) {
	u := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("something was sent") })
	path := func(style string) param { return param{Arg: "id", Name: "id", In: "path", Style: style} }
	for _, c := range []struct {
		name string
		p    param
		path string
		args string
		says string
	}{
		{"an empty path value", path("simple"), "/a/{id}", `{"id":""}`, "/id: is empty"},
		{"a path value of no items", path("simple"), "/a/{id}", `{"id":[]}`, "/id: is empty"},
		{"a missing path value", path("simple"), "/a/{id}", `{}`, "/id: is empty"},
		{"a path value of null", path("simple"), "/a/{id}", `{"id":null}`, "/id: is empty"},
		{"a path value of one dot", path("simple"), "/a/{id}/b", `{"id":"."}`, `"." would change the path`},
		{"a path value of two dots", path("simple"), "/a/{id}", `{"id":".."}`, `".." would change the path`},
		{"a dot that a template makes two", path("simple"), "/a/.{id}/b", `{"id":"."}`, `"." would change the path`},
		{"an empty label", path("label"), "/a/{id}", `{"id":""}`, "would change the path"},
		{"dots between reserved slashes", param{Arg: "id", Name: "id", In: "path", Style: "simple", Reserved: true}, "/a/{id}", `{"id":"x/../../y"}`, "would change the path"},
		{"escaped dots that stay escaped", param{Arg: "id", Name: "id", In: "path", Style: "simple", Reserved: true}, "/a/{id}", `{"id":"x/%2e%2E/y"}`, "would change the path"},
		{"dots behind a slash that would be escaped", path("simple"), "/a/{id}", `{"id":"x/../../y"}`, "would change the path"},
		{"dots before a backslash", path("simple"), "/a/{id}", `{"id":"..\\y"}`, "would change the path"},
		{"a line break in a header", param{Arg: "h", Name: "X-H", In: "header", Style: "simple"}, "/", `{"h":"a\r\nX-Admin: 1"}`, `/h: holds '\r'`},
		{"a NUL in a header", param{Arg: "h", Name: "X-H", In: "header", Style: "simple"}, "/", `{"h":["a","\u0000"]}`, `/h: holds '\x00'`},
		{"a line break in a cookie", param{Arg: "s", Name: "s", In: "cookie", Style: "cookie"}, "/", `{"s":"a\nb"}`, `/s: holds '\n'`},
		{"a second cookie in a cookie", param{Arg: "s", Name: "s", In: "cookie", Style: "cookie"}, "/", `{"s":"a; admin=1"}`, `/s: holds ';'`},
		{"a property twice", path("simple"), "/a/{id}", `{"id":"a","id":"b"}`, `has property "id" twice`},
		{"no object", path("simple"), "/a/{id}", `[]`, "is not an object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := u.call(t, binding{Method: "GET", Path: c.path, Params: []param{c.p}}, c.args)
			wantError(t, err, executor.Invalid, true, c.says)
		})
	}
}

func TestParametersOfOneNameStayApart(t *testing.T) {
	u := serve(t, nil)
	got := u.ask(t, binding{Method: "PUT", Base: "/", Path: "/things/{id}?fixed=1&x=a b#op", Params: []param{
		{Arg: "id", Name: "id", In: "path", Style: "simple"},
		{Arg: "query_id", Name: "id", In: "query", Style: "form"},
		{Arg: "header_id", Name: "id", In: "header", Style: "simple"},
		{Arg: "cookie_id", Name: "id", In: "cookie", Style: "form"},
		{Arg: "other", Name: "other", In: "query", Style: "form"},
	}}, `{"id":"p","query_id":"q","header_id":"h","cookie_id":"c"}`)
	want := seen{"PUT /things/p?fixed=1&x=a%20b&id=q", http.Header{
		"Accept": {"application/json, */*;q=0.5"}, "Accept-Encoding": {"gzip"}, "Content-Length": {"0"},
		"Cookie": {"id=c"}, "Id": {"h"}, "User-Agent": {"Go-http-client/1.1"},
	}, "", 0}
	if diff := differ(got, want); diff != "" {
		t.Error(diff)
	}
}

func TestACallWithoutAServerSaysHowToNameOne(t *testing.T) {
	_, err := invoke(t, t.Context(), http.DefaultClient, binding{Method: "GET", Path: "/"}, `{}`)
	wantError(t, err, executor.Invalid, true, "the description names no usable server")
	if got, ok := err.(*executor.Error); !ok || !strings.Contains(got.Hint, "--base-url") {
		t.Errorf("hint of %v does not tell how", err)
	}
}

func TestBlanksInTheQueryOfAPathAreFilled(t *testing.T) {
	u := serve(t, nil)
	b := binding{Method: "GET", Path: "/find?kind=ü&q={q}&n={n}#op", Params: []param{
		{Arg: "q", Name: "q", In: "path", Style: "simple"}, {Arg: "n", Name: "n", In: "path", Style: "simple"},
		{Arg: "page", Name: "page", In: "query", Style: "form"},
	}}
	if got, want := u.ask(t, b, `{"q":"a&b c","n":"","page":2}`).Line, "GET /find?kind=%C3%BC&q=a%26b%20c&n=&page=2"; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	b.Path = "/find?q={r}"
	_, err := u.call(t, b, `{"q":"a"}`)
	wantError(t, err, executor.Invalid, true, `wants "r", which is not a parameter`)
}

func TestAHeaderOfNoItemsIsNotSent(t *testing.T) {
	u := serve(t, nil)
	b := binding{Method: "GET", Path: "/", Params: []param{
		{Arg: "h", Name: "X-H", In: "header", Style: "simple"}, {Arg: "e", Name: "X-E", In: "header", Style: "simple"},
	}}
	got := u.ask(t, b, `{"h":[],"e":""}`).Header
	if _, sent := got["X-H"]; sent {
		t.Error("an empty list was sent")
	}
	if value, sent := got["X-E"]; !sent || value[0] != "" {
		t.Error("an empty text was not sent")
	}
}

func TestACookieHeaderAndCookiesGoTogether(t *testing.T) {
	u := serve(t, nil)
	b := binding{Method: "GET", Path: "/", Params: []param{
		{Arg: "c", Name: "c", In: "cookie", Style: "form"}, {Arg: "Cookie", Name: "Cookie", In: "header", Style: "simple"},
	}}
	if got, want := u.ask(t, b, `{"c":"1","Cookie":"a=b; d=e"}`).Header.Get("Cookie"), "a=b; d=e; c=1"; got != want {
		t.Errorf("cookies %q, want %q", got, want)
	}
}

func TestDotsInsideAValueAreJustDots(t *testing.T) {
	u := serve(t, nil)
	b := binding{Method: "GET", Path: "/{id}.json", Params: []param{{Arg: "id", Name: "id", In: "path", Style: "simple"}}}
	for value, want := range map[string]string{`"..."`: "/....json", `".a"`: "/.a.json", `"."`: "/..json", `"a../..x"`: "/a..%2F..x.json"} {
		if got := u.ask(t, b, `{"id":`+value+`}`).Line; got != "GET "+want {
			t.Errorf("id %s: %s, want %s", value, got, want)
		}
	}
}

func TestAcceptPrefersJSON(t *testing.T) {
	u := serve(t, nil)
	for _, c := range []struct {
		media []string
		want  string
	}{
		{nil, "application/json, */*;q=0.5"},
		{[]string{"application/x-ndjson", "application/json"}, "application/json, application/x-ndjson;q=0.9, */*;q=0.5"},
		{[]string{"text/csv", "application/vnd.api+json", "*/*"}, "application/vnd.api+json, text/csv;q=0.9, */*;q=0.5"},
		{[]string{"image/png"}, "image/png, */*;q=0.5"},
	} {
		if got := u.ask(t, binding{Method: "GET", Path: "/", Accept: c.media}, `{}`).Header.Get("Accept"); got != c.want {
			t.Errorf("Accept for %q = %q, want %q", c.media, got, c.want)
		}
	}
}
