package openapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"pgregory.net/rapid"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/source/openapi"
)

// An oracleStyle is a style that kin-openapi's decoders read, with the characters
// that are separators to them: a value that holds one cannot come back the same.
type oracleStyle struct {
	in, style string
	explode   bool
	shapes    string // p: plain values, a: arrays, o: objects
	forbidden string // in the values
}

var oracleStyles = []oracleStyle{
	{"path", "simple", false, "pao", ",="},
	{"path", "simple", true, "pao", ",="},
	{"path", "label", false, "pao", ",.="},
	{"path", "label", true, "pao", ".,="},
	{"path", "matrix", false, "pao", ",;="},
	{"path", "matrix", true, "pao", ";,="},
	{"query", "form", true, "pao", ""},
	{"query", "form", false, "pao", ","},
	{"query", "spaceDelimited", false, "a", " "},
	{"query", "spaceDelimited", true, "a", ""},
	{"query", "pipeDelimited", false, "a", "|"},
	{"query", "pipeDelimited", true, "a", ""},
	{"query", "deepObject", true, "o", ""},
	{"header", "simple", false, "pao", ",= \t"},
	{"header", "simple", true, "pao", ",= \t"},
	{"cookie", "form", true, "p", ""},
}

// What we write, kin-openapi reads back: its decoder gets the request our side
// sends, and a schema that allows our value only.
func TestAnotherImplementationReadsBackWhatIsWritten(t *testing.T) {
	for _, s := range oracleStyles {
		t.Run(s.in+" "+s.style+map[bool]string{true: " exploded"}[s.explode], func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				value, schema := s.draw(t)
				args, err := json.Marshal(map[string]any{"v": value})
				if err != nil {
					t.Fatal(err)
				}
				sent := s.send(t, args)
				if err := s.read(sent, value, schema); err != nil {
					t.Fatalf("%s is %s %s on the wire, and comes back otherwise: %v", args, sent.URL.RequestURI(), sent.Header, err)
				}
			})
		})
	}
}

// draw gives a value and the schema that tells the decoder its types.
func (s oracleStyle) draw(t *rapid.T) (any, *openapi3.Schema) {
	allowed := func(r rune) bool {
		const theirs = '\x1f' // kin-openapi joins the names of nested properties with it
		return r != theirs && !strings.ContainsRune(s.forbidden, r) && (s.in != "header" && s.in != "cookie" || r > ' ' && r < 0x7f)
	}
	if s.in == "cookie" { // its decoder takes the text of a cookie as it is
		allowed = func(r rune) bool {
			return r < 0x7f && (r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z')
		}
	}
	text := rapid.StringOf(rapid.Rune().Filter(allowed)).Filter(func(v string) bool { return v != "" && v != "." && !strings.Contains(v, "..") })
	switch rapid.SampledFrom(strings.Split(s.shapes, "")).Draw(t, "shape") {
	case "a":
		list := rapid.SliceOfN(text, 1, 4).Draw(t, "array")
		out := make([]any, len(list))
		for i, v := range list {
			out[i] = v
		}
		return out, openapi3.NewArraySchema().WithItems(openapi3.NewStringSchema())
	case "o":
		schema := openapi3.NewObjectSchema()
		out := map[string]any{}
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z][a-z0-9_]{0,5}`), 1, 4, rapid.ID).Draw(t, "names") {
			out[name] = text.Draw(t, name)
			schema.WithProperty(name, openapi3.NewStringSchema())
		}
		return out, schema
	}
	switch rapid.SampledFrom([]string{"text", "integer", "boolean"}).Draw(t, "type") {
	case "integer":
		return float64(rapid.Int32().Draw(t, "integer")), openapi3.NewIntegerSchema()
	case "boolean":
		return rapid.Bool().Draw(t, "boolean"), openapi3.NewBoolSchema()
	}
	return text.Draw(t, "text"), openapi3.NewStringSchema()
}

func (s oracleStyle) send(t *rapid.T, args json.RawMessage) *http.Request {
	var sent *http.Request
	client := &http.Client{Transport: answering(func(r *http.Request) *http.Response {
		sent = r
		return &http.Response{StatusCode: 204, Body: http.NoBody, Request: r}
	})}
	b := binding{Method: "GET", Base: "https://api.example", Path: "/x", Params: []param{{Arg: "v", Name: "v", In: s.in, Style: s.style, Explode: s.explode}}}
	if s.in == "path" {
		b.Path = "/x/{v}"
	}
	raw, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	_, err = openapi.Kind{}.Invoke(context.Background(), executor.Call{
		Tool: executor.Tool{Binding: raw}, Args: args, Credential: executor.Unsigned(client),
	})
	if err != nil {
		t.Fatalf("Invoke(%s): %v", args, err)
	}
	return sent
}

// read lets the decoder loose on what was sent.
func (s oracleStyle) read(sent *http.Request, value any, schema *openapi3.Schema) error {
	schema.Enum = []any{value}
	in := &openapi3filter.RequestValidationInput{Request: sent}
	if s.in == "path" {
		segment, err := url.PathUnescape(strings.TrimPrefix(sent.URL.EscapedPath(), "/x/"))
		if err != nil {
			return err
		}
		in.PathParams = map[string]string{"v": segment}
	}
	p := &openapi3.Parameter{Name: "v", In: s.in, Style: s.style, Explode: &s.explode, Required: true, Schema: schema.NewRef()}
	return openapi3filter.ValidateParameter(context.Background(), in, p)
}
