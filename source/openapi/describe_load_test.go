package openapi_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-executor/executor"
)

// publish answers each path with a text; ".html" in the path makes it HTML.
func publish(t *testing.T, files map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch body, ok := files[r.URL.Path]; {
		case r.URL.Path == "/secret.json":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/moved.json":
			http.Redirect(w, r, "/v2/api.json", http.StatusFound)
		case r.URL.Path == "/busy.json":
			http.Error(w, "come back later", http.StatusServiceUnavailable)
		case !ok:
			http.Error(w, "no such page", http.StatusNotFound)
		case strings.HasSuffix(r.URL.Path, ".html"):
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte(body)) // a client that left needs no answer
		default:
			_, _ = w.Write([]byte(body)) // likewise
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

const small = `{"openapi":"3.1.0","paths":{"/a":{"get":{"operationId":"a","responses":{"200":{"content":{"application/json":{"schema":{"$ref":"parts/a.json"}}}}}}}}}`

func TestAURLIsReadWithWhatItRefersTo(t *testing.T) {
	other := publish(t, map[string]string{"/x.json": `{"title":"stolen"}`})
	base := publish(t, map[string]string{
		"/v2/api.json":       small,
		"/v2/parts/a.json":   `{"properties":{"b":{"$ref":"../b.json#/x"},"o":{"$ref":"` + other + `/x.json"},"gone":{"$ref":"gone.json"}}}`,
		"/v2/b.json":         `{"x":{"type":"integer"}}`,
		"/v2/relative.json":  `{"openapi":"3.1.0","servers":[{"url":"../api/"}],"paths":{"/a":{"get":{}}}}`,
		"/v2/swagger.json":   `{"swagger":"2.0","basePath":"/base","paths":{"/a":{"get":{}}}}`,
		"/v2/elsewhere.json": `{"swagger":"2.0","host":"api.example","schemes":["http","wss","https"],"paths":{"/a":{"get":{}}}}`,
	})
	for _, c := range []struct{ path, base string }{
		{"/v2/api.json", base}, {"/moved.json", base}, {"/v2/relative.json", base + "/api"}, {"/v2/swagger.json", base + "/base"}, {"/v2/elsewhere.json", "https://api.example"},
	} {
		m, err := resolveConfig(t, map[string]any{"spec": base + c.path})
		if err != nil {
			t.Fatal(err)
		}
		same(t, c.path, field(t, m.Tools[0].Binding, "base"), `"`+c.base+`"`)
		if c.path == "/moved.json" {
			same(t, "a", m.Defs["a"], `{"properties":{"b":{"$ref":"#/$defs/b.x"},"o":{},"gone":{}}}`)
			if !noted(m, "a.json", "outside") || !noted(m, "a.json", "404") {
				t.Errorf("notes = %v, want one about another host and one about a missing file", m.Notes)
			}
		}
	}
}

func TestAnErrorSaysWhatCameInstead(t *testing.T) {
	base := publish(t, map[string]string{"/docs.html": "<!doctype html><title>API docs</title>", "/list.json": `[1]`, "/empty.json": ``, "/async.json": `{"asyncapi":"2.0.0"}`, "/old.json": `{"swagger":"1.2","apis":[]}`, "/cut.json": "{\"openapi\":\"3.1.0\",\n \"paths\":{\"/a\":{]"})
	for _, c := range []struct {
		spec string
		code executor.Code
		want string
	}{
		{base + "/docs.html", executor.Invalid, `answered 200 (text/html), not an API description: "API docs"`},
		{base + "/gone.json", executor.Invalid, `answered 404 (text/plain), not an API description: "no such page"`},
		{base + "/secret.json", executor.NeedsAuth, `answered 401`},
		{base + "/busy.json", executor.Unavailable, `answered 503`},
		{base + "/list.json", executor.Invalid, `it is not an object`},
		{base + "/empty.json", executor.Invalid, `it is not an object`},
		{base + "/async.json", executor.Invalid, `it has "asyncapi" at its top`},
		{base + "/old.json", executor.Invalid, `Swagger "1.2"`},
		{base + "/cut.json", executor.Invalid, `line 2, column 17`},
		{"api.json", executor.Invalid, `"api.json" is neither a URL nor an absolute file path`},
		{"/nowhere/api.json", executor.Invalid, `the file "/nowhere/api.json" is not readable`},
		{abs(t, "testdata"), executor.Invalid, `is not readable`},
		{abs(t, "testdata/broken/syntax.yaml"), executor.Invalid, `syntax.yaml is not YAML: line 3`},
		{"", executor.Invalid, `names no description`},
	} {
		_, err := resolveConfig(t, map[string]any{"spec": c.spec})
		var e *executor.Error
		if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(e.Msg, c.want) || e.Hint == "" || e.Op != "resolve" {
			t.Errorf("%s: %#v, want %s with %q", c.spec, err, c.code, c.want)
		}
	}
	if _, err := resolveConfig(t, map[string]any{"text": "{}", "base": "example.com"}); executor.CodeOf(err) != executor.Invalid {
		t.Errorf("a base without scheme gives %v", err)
	}
	if _, err := resolveConfig(t, map[string]any{"spec": 7}); executor.CodeOf(err) != executor.Invalid {
		t.Errorf("a spec that is a number gives %v", err)
	}
}

func TestAReferenceDoesNotLeaveTheFolder(t *testing.T) {
	outside := t.TempDir()
	inside := filepath.Join(t.TempDir(), "api")
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "secret.json"), `{"title":"secret"}`)
	write(filepath.Join(filepath.Dir(inside), "secret.json"), `{"title":"secret"}`)
	write(filepath.Join(inside, "own.json"), `{"title":"own"}`)
	if err := os.Symlink(filepath.Join(outside, "secret.json"), filepath.Join(inside, "link.json")); err != nil {
		t.Fatal(err)
	}
	for ref, allowed := range map[string]bool{
		"own.json": true, "./x/../own.json": true, "../secret.json": false, "x/../../secret.json": false, "%2e%2e/secret.json": false,
		"link.json": false, filepath.Join(outside, "secret.json"): false, "file://" + outside + "/secret.json": false, "//host/share.json": false, ".": false,
	} {
		spec := filepath.Join(inside, "openapi.json")
		write(spec, strings.ReplaceAll(small, "parts/a.json", ref))
		m, err := resolve(t, spec)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(m.Notes) == 1; got != allowed { // the one note is about the missing server
			t.Errorf("%s: notes %v, want allowed %v", ref, m.Notes, allowed)
		}
		for name, def := range m.Defs {
			if strings.Contains(string(def), "secret") {
				t.Errorf("%s: def %s holds the secret", ref, name)
			}
		}
	}
}

func TestYAMLIsReadAsItsWritersMeantIt(t *testing.T) {
	m := described(t, `
openapi: 3.1.0
info: {title: Yes, version: 1.10}
x-shared: &shared {type: string, title: shared}
x-cycle: &cycle [*cycle]
paths:
  /a:
    get:
      operationId: a
      responses:
        200:
          content:
            application/json:
              schema:
                enum: [no, on, 2020-01-02, 0x10, 1_000, .inf, ~, 1e3, !!str 5]
                properties:
                  1: {<<: *shared, title: own}
                  true: {type: integer}
                  twice: {type: string}
                  twice: {type: number}
`)
	same(t, "output", m.Tools[0].Output, `{"enum":["no","on","2020-01-02",16,1000,null,1e3,"5"],"properties":{"1":{"type":"string","title":"own"},"true":{"type":"integer"},"twice":{"type":"number"}}}`)
	if m.Version != "1.10" {
		t.Errorf("version = %q, want 1.10", m.Version)
	}
	for _, words := range []string{`"twice" occurs twice`, `.inf has no place in JSON`, `holds itself`} {
		if !noted(m, "line", words) {
			t.Errorf("notes = %v, want one with %s", m.Notes, words)
		}
	}
}

func TestAliasesThatUnfoldWithoutEndAreRefused(t *testing.T) {
	var b strings.Builder
	b.WriteString("openapi: 3.1.0\npaths: {}\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 12 {
		row := strings.Repeat(",*a"+string(rune('a'+i-1)), 10)
		if i == 0 {
			row = strings.Repeat(",*a0", 10)
		}
		b.WriteString("b" + string(rune('a'+i)) + ": &a" + string(rune('a'+i)) + " [" + row[1:] + "]\n")
	}
	_, err := resolveText(t, b.String())
	var e *executor.Error
	if !errors.As(err, &e) || e.Code != executor.Invalid || !strings.Contains(e.Msg, "alias") {
		t.Errorf("%v, want invalid, about aliases", err)
	}
}

func TestSecurityBecomesWaysToSignIn(t *testing.T) {
	schemes := `"components":{"securitySchemes":{
		"key":{"type":"apiKey","in":"header","name":"X-Key"},"q":{"type":"apiKey","in":"query","name":"k"},"c":{"type":"apiKey","in":"cookie","name":"sid"},
		"b":{"type":"http","scheme":"Bearer"},"u":{"type":"http","scheme":"basic"},"dsn":{"type":"http","scheme":"DSN"},"o":{"type":"oauth2","flows":{}},
		"id":{"type":"openIdConnect"},"tls":{"type":"mutualTLS"},"odd":{"type":"magic"},"BotToken":{"type":"apiKey","in":"header","name":"Authorization"},
		"t":{"type":"apiKey","in":"header","name":"Authorization","description":"Write ` + "`Token token=<KEY>`" + `."}}}`
	part := func(in executor.AuthPlace, name, prefix, secret string) executor.AuthPart {
		return executor.AuthPart{In: in, Name: name, Prefix: prefix, Secret: secret}
	}
	want := map[string][]executor.AuthPart{
		"key": {part(executor.InHeader, "X-Key", "", "key")}, "q": {part(executor.InQuery, "k", "", "q")}, "c": {part(executor.InCookie, "sid", "", "c")},
		"b": {part(executor.Bearer, "", "", "token")}, "u": {part(executor.Basic, "", "", "password")}, "dsn": {part(executor.InHeader, "Authorization", "DSN ", "dsn")},
		"o": {part(executor.Bearer, "", "", "token")}, "id": {part(executor.Bearer, "", "", "token")}, "BotToken": {part(executor.InHeader, "Authorization", "Bot ", "BotToken")},
		"t": {part(executor.InHeader, "Authorization", "Token token=", "t")}, "key+q": {part(executor.InHeader, "X-Key", "", "key"), part(executor.InQuery, "k", "", "q")},
	}
	m := described(t, `{"openapi":"3.1.0","paths":{"/a":{"get":{"security":[{"key":[],"q":[]},{"b":[],"tls":[]},{"gone":[]}]}}},`+schemes+`}`)
	if len(m.Auth) != len(want) {
		t.Errorf("%d ways, want %d: %v", len(m.Auth), len(want), m.Auth)
	}
	for _, a := range m.Auth {
		if !slices.Equal(a.Parts, want[a.Name]) {
			t.Errorf("%s = %v, want %v", a.Name, a.Parts, want[a.Name])
		}
	}
	if m.Public || !noted(m, "tls", "mutual TLS") || !noted(m, "odd", "not known") {
		t.Errorf("public %v, notes %v", m.Public, m.Notes)
	}
	for security, public := range map[string]bool{`[{}]`: true, `[]`: true, `[{"b":[]},{}]`: true, `[{"b":[]}]`: false} {
		if m := described(t, `{"openapi":"3.1.0","security":`+security+`,"paths":{"/a":{"get":{}}},`+schemes+`}`); m.Public != public {
			t.Errorf("security %s: public %v, want %v", security, m.Public, public)
		}
	}
	if m := described(t, `{"openapi":"3.1.0","paths":{"/a":{"get":{}}}}`); !m.Public {
		t.Error("nothing about security: want public")
	}
}

func TestTheServerIsTheNearestUsableOne(t *testing.T) {
	text := `{"openapi":"3.1.0","servers":[{"url":"https://{a}.example:443/{b}/?x=1","variables":{"a":{"default":"doc"},"b":{"enum":["v1","v2"]}}},{"url":"http://second.example"}],
		"paths":{"/a":{"get":{"operationId":"doc"},"put":{"operationId":"own","servers":[{"url":"https://own.example/"}]}},
		"/b":{"servers":[{"url":"{none}"},{"url":"https://item.example:8443"}],"get":{"operationId":"item"}}}}`
	for _, c := range []struct {
		config map[string]any
		want   map[string]string
		hosts  []string
	}{
		{map[string]any{}, map[string]string{"doc": "https://doc.example:443/v1", "own": "https://own.example", "item": "https://item.example:8443"}, []string{"https://doc.example", "https://item.example:8443", "https://own.example"}},
		{map[string]any{"variables": map[string]string{"a": "eu", "b": "v9"}}, map[string]string{"doc": "https://eu.example:443/v9", "own": "https://own.example", "item": "https://item.example:8443"}, []string{"https://eu.example", "https://item.example:8443", "https://own.example"}},
		{map[string]any{"base": "http://127.0.0.1:9/x/"}, map[string]string{"doc": "http://127.0.0.1:9/x", "own": "http://127.0.0.1:9/x", "item": "http://127.0.0.1:9/x"}, []string{"http://127.0.0.1:9"}},
	} {
		c.config["text"] = text
		m, err := resolveConfig(t, c.config)
		if err != nil {
			t.Fatal(err)
		}
		for name, base := range c.want {
			same(t, name, field(t, toolNamed(t, m, name).Binding, "base"), `"`+base+`"`)
		}
		if !slices.Equal(m.Hosts, c.hosts) {
			t.Errorf("hosts = %v, want %v", m.Hosts, c.hosts)
		}
	}
}

func TestAPathItemThatIsNoneHasANote(t *testing.T) {
	m := described(t, `{"openapi":"3.0.0","servers":[{"url":"https://x.example"}],"paths":{"/a":[],"/b":null,"/c":{"get":{"operationId":"c"}},"x-d":[]}}`)
	if !noted(m, "/paths/~1a", "is not an object") || !noted(m, "/paths/~1b", "is not an object") || len(m.Notes) != 2 || len(m.Tools) != 1 {
		t.Errorf("tools %v, notes %v", namesOf(m), m.Notes)
	}
}

func TestAPathItemIsWhatItRefersToAndWhatStandsBeside(t *testing.T) {
	m := described(t, `{"openapi":"3.1.0","servers":[{"url":"https://doc.example"}],"paths":{
		"/a/{id}":{"$ref":"#/components/pathItems/A","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}},{"name":"both","in":"query","schema":{"type":"integer"}}]},
		"/b":{"$ref":"#/components/pathItems/B","servers":[{"url":"https://beside.example"}]}},
		"components":{"pathItems":{"A":{"summary":"Reads.","parameters":[{"name":"both","in":"query"},{"name":"own","in":"query"}],"get":{"operationId":"a"}},
		"B":{"servers":[{"url":"https://own.example"}],"get":{"operationId":"b"}}}}}`)
	a := toolNamed(t, m, "a")
	same(t, "input", a.Input, `{"type":"object","properties":{"id":{"type":"integer"},"both":{"type":"integer"},"own":{}},"required":["id"],"additionalProperties":false}`)
	if a.Description != "Reads." {
		t.Errorf("description = %q", a.Description)
	}
	same(t, "base", field(t, toolNamed(t, m, "b").Binding, "base"), `"https://beside.example"`)
}

func TestAYAMLErrorNamesTheLineAnEditorShows(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: [x\nc: 1\n":           "line 2: did not find expected ',' or ']'",
		"a: 1\nb: {x\nc: 1\n":           "line 2: did not find expected ',' or '}'",
		"a: 1\nb:\n  c: 1\n d: 2\n":     "line 4: did not find expected key",
		"a: 1\nb:\n - x\n - y\n c: 1\n": "line 3: did not find expected '-' indicator",
		"a: 1\nb: \"open\nc: 1\n":       "line 2: found unexpected end of stream",
		"a: 1\n\tb: 2\n":                "line 2: found a tab character that violates indentation",
		"a: 1\nb: c: d\n":               "line 2: mapping values are not allowed in this context",
		"a: 1\nb: @x\n":                 "line 2: found character that cannot start any token",
		"a: 1\nb: !q!w 1\n":             "line 2: found undefined tag handle",
		"a: 1\nb: *none\n":              "unknown anchor 'none' referenced",
	} {
		_, err := resolveConfig(t, map[string]any{"text": text})
		if want = "the description is not YAML: " + want; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
