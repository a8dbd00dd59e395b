package openapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/source/openapi"
)

func TestAPageSaysHowToGoOn(t *testing.T) {
	query := func(names ...string) []param {
		var all []param
		for _, name := range names {
			all = append(all, param{Arg: name, Name: name, In: "query", Style: "form", Explode: true})
		}
		return all
	}
	const schema = `{"properties":{"page":{"type":"integer"},"per_page":{},"q":{"type":["string","null"]},"all":{"type":"boolean"},"ids":{"type":"array"}}}`
	stripe := &paging{Cursor: "starting_after", From: "/data/-1/id", More: "/has_more"}
	for _, c := range []struct {
		name   string
		path   string
		params []param
		page   *paging
		link   []string
		args   string
		answer string
		want   *executor.Page
	}{
		{name: "nothing says that there is more", answer: `[]`},
		{name: "a Link header", params: query("page", "per_page", "q", "all", "ids"), answer: `[]`,
			link: []string{`<https://api.example/x?page=1>; rel="prev", <https://api.example/repositories/7/x?page=3&per_page=5&q=7&all=true&ids=a&ids=b&other=1>; rel="next"; title="a, b"`},
			want: &executor.Page{More: true, Next: "https://api.example/repositories/7/x?page=3&per_page=5&q=7&all=true&ids=a&ids=b&other=1",
				Args: json.RawMessage(`{"page":3,"per_page":5,"q":"7","all":true,"ids":["a","b"]}`)}},
		{name: "a Link header of several relations and a relative target", params: query("page"), answer: `[]`,
			link: []string{`<?page=1>; rel=first`, `<?page=2> ; REL = "last Next"`},
			want: &executor.Page{More: true, Next: "https://api.example/v1/x?page=2", Args: json.RawMessage(`{"page":2}`)}},
		{name: "a relative target beside a path of arguments", params: append(query("page"), param{Arg: "id", Name: "id", In: "path", Style: "simple"}), answer: `[]`,
			path: "/of/{id}/x", args: `{"id":"a b"}`, link: []string{`<?page=2>; rel=next`},
			want: &executor.Page{More: true, Next: "https://api.example/v1/of/a%20b/x?page=2", Args: json.RawMessage(`{"page":2}`)}},
		{name: "a list between pipes", params: []param{{Arg: "ids", Name: "ids", In: "query", Style: "pipeDelimited"}}, answer: `[]`, link: []string{`</y?ids=a%7Cb>; rel=next`},
			want: &executor.Page{More: true, Next: "https://api.example/y?ids=a%7Cb", Args: json.RawMessage(`{"ids":["a","b"]}`)}},
		{name: "Link headers without a next", answer: `[]`, link: []string{`<a>; rel="nextish", <b>; title="rel=next"`, `<unfinished`, `;;,<>`}},
		{name: "a cursor in the answer", page: &paging{Cursor: "cursor", From: "/meta/next~1cursor"}, answer: `{"meta":{"next/cursor":"c2"}}`,
			want: &executor.Page{More: true, Args: json.RawMessage(`{"cursor":"c2"}`)}},
		{name: "a cursor that is a number", page: &paging{Cursor: "after", From: "/next"}, answer: `{"next":12345678901234567890}`,
			want: &executor.Page{More: true, Args: json.RawMessage(`{"after":12345678901234567890}`)}},
		{name: "an empty cursor", page: &paging{Cursor: "cursor", From: "/next"}, answer: `{"next":""}`},
		{name: "no cursor", page: &paging{Cursor: "cursor", From: "/next"}, answer: `{"next":null}`},
		{name: "the last item as a cursor", page: stripe, answer: `{"has_more":true,"data":[{"id":"a"},{"id":"b"}]}`,
			want: &executor.Page{More: true, Args: json.RawMessage(`{"starting_after":"b"}`)}},
		{name: "the last page of such", page: stripe, answer: `{"has_more":false,"data":[{"id":"a"}]}`},
		{name: "the next URL in the answer", params: query("page"), page: &paging{Cursor: "cursor", From: "/next"}, answer: `{"next":"https://api.example/v1/x?page=2"}`,
			want: &executor.Page{More: true, Next: "https://api.example/v1/x?page=2", Args: json.RawMessage(`{"page":2}`)}},
		{name: "more, by page number", page: &paging{Number: "page", More: "/more"}, args: `{"page":4}`, answer: `{"more":true}`,
			want: &executor.Page{More: true, Args: json.RawMessage(`{"page":5}`)}},
		{name: "more, by an offset nobody can count", page: &paging{Number: "offset", More: "/more"}, args: `{"offset":4}`, answer: `{"more":true}`, want: &executor.Page{More: true}},
		{name: "an answer of another shape", page: stripe, answer: `[1]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := &http.Client{Transport: answering(func(r *http.Request) *http.Response {
				return &http.Response{StatusCode: 200, Request: r, Header: http.Header{"Content-Type": {"application/json"}, "Link": c.link},
					Body: io.NopCloser(strings.NewReader(c.answer))}
			})}
			if c.args == "" {
				c.args = `{}`
			}
			if c.path == "" {
				c.path = "/x"
			}
			r, err := openapi.Kind{}.Invoke(t.Context(), executor.Call{
				Tool: executor.Tool{Input: json.RawMessage(schema), Binding: encode(t, binding{Method: "GET", Base: "https://api.example/v1", Path: c.path, Params: c.params, Page: c.page})},
				Args: json.RawMessage(c.args), Credential: executor.Unsigned(client),
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := differ(r.Page, c.want); diff != "" {
				if r.Page != nil {
					t.Errorf("page = %+v, args %s", *r.Page, r.Page.Args)
				}
				t.Error(diff)
			}
		})
	}
}
