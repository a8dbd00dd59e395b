package openapi_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/open-executor/executor"
)

func fixture(t *testing.T, file string) executor.Manifest {
	t.Helper()
	m, err := resolve(t, abs(t, "testdata/"+file))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestABindingSaysHowAnOperationIsCalled(t *testing.T) {
	for _, c := range []struct{ file, tool, want string }{
		{"shop-3.1.yaml", "orders.list", `{"method":"GET","base":"https://eu.shop.example/v1","path":"/orders","params":[
			{"arg":"cursor","name":"cursor","in":"query","style":"form","explode":true},
			{"arg":"limit","name":"limit","in":"query","style":"form","explode":true},
			{"arg":"filter","name":"filter","in":"query","style":"deepObject","explode":true,"brackets":true},
			{"arg":"X-Trace","name":"X-Trace","in":"header","style":"simple"},
			{"arg":"session","name":"session","in":"cookie","style":"form","explode":true}],
			"accept":["application/json"],"page":{"cursor":"cursor","from":"/next_cursor","more":"/has_more"}}`},
		{"shop-3.1.yaml", "orders.create", `{"method":"POST","base":"https://eu.shop.example/v1","path":"/orders",
			"bodies":[{"media":"application/json","required":true},{"media":"application/xml","required":true}],"accept":["application/json"]}`},
		{"shop-3.1.yaml", "orders.by_id.get", `{"method":"GET","base":"https://eu.shop.example/v1","path":"/orders/{id}","params":[
			{"arg":"id","name":"id","in":"path","style":"simple"},
			{"arg":"id_query","name":"id","in":"query","style":"form","explode":true}]}`},
		{"shop-3.1.yaml", "orders.attach", `{"method":"POST","base":"https://eu.shop.example/v1","path":"/orders/{id}/files","params":[{"arg":"id","name":"id","in":"path","style":"simple"}],
			"bodies":[{"media":"multipart/form-data","encoding":{"file":{"media":"image/png","binary":true},"meta":{"media":"application/json"},"more":{"binary":true,"array":true}}}]}`},
		{"library-3.0.json", "put_Book", `{"method":"PUT","base":"","path":"/books/{id}","params":[{"arg":"id","name":"id","in":"path","style":"simple"}],
			"bodies":[{"media":"application/merge-patch+json"},{"media":"application/json-patch+json"}]}`},
		{"library-3.0.json", "books.search.post", `{"method":"POST","base":"","path":"/books/search","bodies":[{"media":"application/x-www-form-urlencoded",
			"encoding":{"expand":{"style":"deepObject","explode":true,"array":true},"meta":{"media":"application/json"}}}]}`},
		{"new-3.2.yaml", "items.query", `{"method":"QUERY","base":"https://new.example","path":"/items","params":[
			{"arg":"q","name":"q","in":"querystring","style":"","media":"application/x-www-form-urlencoded"}],"accept":["application/jsonl"]}`},
		{"new-3.2.yaml", "items.copy", `{"method":"COPY","base":"https://new.example","path":"/items"}`},
		{"old-2.0.yaml", "things.things.get", `{"method":"GET","base":"https://old.example/v2","path":"/things","params":[
			{"arg":"ids","name":"ids","in":"query","style":"pipeDelimited"},
			{"arg":"tags","name":"tags","in":"query","style":"form","explode":true},
			{"arg":"DateCreated<","name":"DateCreated<","in":"query","style":"form"}],"accept":["application/json"]}`},
		{"old-2.0.yaml", "upload.post", `{"method":"POST","base":"https://old.example/v2","path":"/upload","params":[{"arg":"token","name":"token","in":"header","style":"simple"}],
			"bodies":[{"media":"multipart/form-data","required":true,"encoding":{"file":{"binary":true},"labels":{"array":true}}}]}`},
		{"multi/openapi.yaml", "b.get", `{"method":"GET","base":"https://multi.example","path":"/b","params":[{"arg":"n","name":"n","in":"query","style":"form","explode":true}],"accept":["application/json"]}`},
	} {
		same(t, c.file+" "+c.tool, toolNamed(t, fixture(t, c.file), c.tool).Binding, c.want)
	}
}

func TestAnInputHoldsEveryParameterAndTheBody(t *testing.T) {
	for _, c := range []struct{ file, tool, want string }{
		{"shop-3.1.yaml", "orders.list", `{"type":"object","properties":{"cursor":{"type":"string"},"limit":{"type":"integer","default":20},
			"filter":{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string"}}}},
			"X-Trace":{"type":"string","description":"For tracing.","deprecated":true},"session":{"type":"string"}},"additionalProperties":false}`},
		{"shop-3.1.yaml", "orders.create", `{"type":"object","properties":{"body":{"$ref":"#/$defs/Order.request"}},"required":["body"],"additionalProperties":false}`},
		{"shop-3.1.yaml", "orders.delete", `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false}`},
		{"shop-3.1.yaml", "orders.attach", `{"type":"object","properties":{"id":{"type":"string"},"body":{"type":"object","properties":{
			"file":{"$ref":"#/$defs/File","description":"What to attach."},"more":{"type":"array","items":{"$ref":"#/$defs/File"}},
			"meta":{"type":"object"},"note":{"type":"string"}},"required":["file"]}},"required":["id"],"additionalProperties":false}`},
		{"library-3.0.json", "put_Book", `{"type":"object","properties":{"id":{"type":"integer"},
			"body":{"anyOf":[{"$ref":"#/$defs/Book"},{"type":"array","items":{"type":"object"}}]},
			"content_type":{"type":"string","description":"Media type of the body.","default":"application/merge-patch+json","enum":["application/merge-patch+json","application/json-patch+json"]}},
			"required":["id"],"additionalProperties":false}`},
		{"library-3.0.json", "broken.get", ``},
		{"old-2.0.yaml", "things.things.post", `{"type":"object","properties":{"body":{"$ref":"#/$defs/Thing","description":"The thing."}},"required":["body"],"additionalProperties":false}`},
		{"old-2.0.yaml", "upload.post", `{"type":"object","properties":{"token":{"type":"string","description":"Authentication token. Needs scope x."},
			"body":{"type":"object","properties":{"file":{"$ref":"#/$defs/File"},"labels":{"type":"array","items":{"type":"string"}}},"required":["file"]}},"required":["body"],"additionalProperties":false}`},
	} {
		same(t, c.file+" "+c.tool, toolNamed(t, fixture(t, c.file), c.tool).Input, c.want)
	}
}

func TestABodyCanBeGivenInEveryFormItHas(t *testing.T) {
	const lines = `[{"type":"array"},{"type":"string","description":"the lines as text"}]`
	for _, c := range []struct{ name, content, want string }{
		{"bytes of several kinds are told apart", `{"image/png":{},"image/jpeg":{}}`,
			`{"body":{"$ref":"#/$defs/File"},"content_type":{"type":"string","description":"Media type of the body.","default":"image/png","enum":["image/png","image/jpeg"]}}`},
		{"one schema of JSON and XML is JSON", `{"application/json":{"schema":{"type":"object"}},"application/xml":{"schema":{"type":"object"}}}`, `{"body":{"type":"object"}}`},
		{"lines of anything", `{"application/x-ndjson":{}}`, `{"body":{"anyOf":` + lines + `}}`},
		{"lines as text", `{"application/x-ndjson":{"schema":{"type":"string","format":"binary"}}}`, `{"body":{"anyOf":` + lines + `}}`},
		{"lines whose schema is of one", `{"application/x-ndjson":{"schema":{"type":"object"}}}`, `{"body":{"anyOf":[{"type":"object"},{"type":"array","items":{"type":"object"}}]}}`},
		{"lines whose schema is of all", `{"application/x-ndjson":{"schema":{"type":"array"}}}`, `{"body":{"type":"array"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := described(t, `{"openapi":"3.1.0","paths":{"/a":{"post":{"operationId":"a","requestBody":{"content":`+c.content+`}}}}}`)
			same(t, "input", field(t, m.Tools[0].Input, "properties"), c.want)
			compileAll(t, m)
		})
	}
}

func TestBodiesComeInTheOrderOfUse(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"JSON before forms, text and XML", `{"text/plain":{},"application/xml":{},"multipart/form-data":{},"application/x-www-form-urlencoded":{},"application/hal+json":{},"image/png":{}}`,
			`["application/hal+json","application/x-www-form-urlencoded","multipart/form-data","text/plain","application/xml","image/png"]`},
		{"anything is JSON where the schema looks like it", `{"*/*":{"schema":{"type":"object"}}}`, `["application/json"]`},
		{"anything is bytes where the schema is text", `{"*/*":{"schema":{"type":"string"}}}`, `["application/octet-stream"]`},
		{"a file goes by multipart", `{"application/json":{"schema":{"properties":{"f":{"type":"string","format":"binary"}}}},"multipart/form-data":{"schema":{"properties":{"f":{"type":"string","format":"binary"}}}}}`,
			`["multipart/form-data","application/json"]`},
		{"patches after plain JSON", `{"application/json-patch+json":{},"application/strategic-merge-patch+json":{},"application/merge-patch+json":{},"application/json":{}}`,
			`["application/json","application/merge-patch+json","application/strategic-merge-patch+json","application/json-patch+json"]`},
	} {
		m := described(t, `{"openapi":"3.1.0","paths":{"/a":{"get":{"operationId":"a","requestBody":{"content":`+c.content+`}}}}}`)
		var b struct{ Bodies []struct{ Media string } }
		if err := json.Unmarshal(m.Tools[0].Binding, &b); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range b.Bodies {
			got = append(got, one.Media)
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		same(t, c.name, text, c.want)
	}
}

func TestHeadersOfTheMessageItselfAreNoArguments(t *testing.T) {
	var list []string
	for _, name := range []string{"Accept", "content-type", "Authorization", "Content-Length", "Host", "Transfer-Encoding", "Connection", "Accept-Encoding", "X-Own"} {
		list = append(list, `{"name":"`+name+`","in":"header","required":true,"schema":{"type":"string"}}`)
	}
	m := described(t, `{"openapi":"3.1.0","paths":{"/a":{"get":{"operationId":"a","parameters":[`+strings.Join(list, ",")+`]}}}}`)
	same(t, "input", m.Tools[0].Input, `{"type":"object","properties":{"X-Own":{"type":"string"}},"required":["X-Own"],"additionalProperties":false}`)
}

func TestArgumentsOfOneNameAreToldApart(t *testing.T) {
	m := described(t, `{"openapi":"3.1.0","paths":{"/a/{id}":{"post":{"operationId":"a","requestBody":{"content":{"application/json":{"schema":{"type":"string"}}}},"parameters":[
		{"name":"id","in":"cookie"},{"name":"id","in":"query","content":{"application/json":{"schema":{"type":"array"}}}},{"name":"id","in":"path"},{"name":"id_query","in":"header"},{"name":"body","in":"query","allowReserved":true}]}}}}`)
	same(t, "params", field(t, m.Tools[0].Binding, "params"), `[
		{"arg":"id_cookie","name":"id","in":"cookie","style":"form","explode":true},
		{"arg":"id_query","name":"id","in":"query","style":"","media":"application/json"},
		{"arg":"id","name":"id","in":"path","style":"simple"},
		{"arg":"id_query_header","name":"id_query","in":"header","style":"simple"},
		{"arg":"body_query","name":"body","in":"query","style":"form","explode":true,"reserved":true}]`)
	same(t, "properties", field(t, m.Tools[0].Input, "properties"), `{"id_cookie":{},"id_query":{"type":"array"},"id":{},"id_query_header":{},"body_query":{},"body":{"type":"string"}}`)
}

func TestPagingIsFoundByTheNamesInUse(t *testing.T) {
	for _, c := range []struct{ name, params, answer, want string }{
		{"page numbers", `["page","per_page"]`, `{"type":"array"}`, `{"number":"page"}`},
		{"a cursor in the metadata", `["cursor","limit"]`, `{"properties":{"response_metadata":{"properties":{"next_cursor":{}}}}}`, `{"cursor":"cursor","from":"/response_metadata/next_cursor"}`},
		{"Stripe", `["starting_after","limit"]`, `{"properties":{"has_more":{"type":"boolean"},"data":{}}}`, `{"cursor":"starting_after","from":"/data/-1/id","more":"/has_more"}`},
		{"Google", `["pageToken","pageSize"]`, `{"allOf":[{"properties":{"nextPageToken":{}}}]}`, `{"cursor":"pageToken","from":"/nextPageToken"}`},
		{"Asana", `["offset","limit"]`, `{"properties":{"next_page":{"properties":{"offset":{},"uri":{}}}}}`, `{"cursor":"offset","from":"/next_page/offset"}`},
		{"no paging", `["q","limit"]`, `{}`, ``},
	} {
		var names []string
		if err := json.Unmarshal([]byte(c.params), &names); err != nil {
			t.Fatal(err)
		}
		var params []map[string]string
		for _, name := range names {
			params = append(params, map[string]string{"name": name, "in": "query"})
		}
		text, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		m := described(t, `{"openapi":"3.1.0","paths":{"/a":{"get":{"parameters":`+string(text)+`,"responses":{"200":{"content":{"application/json":{"schema":`+c.answer+`}}}}}}}}`)
		same(t, c.name, field(t, m.Tools[0].Binding, "page"), c.want)
	}
}

func TestTheAnswerIsTheLowestSuccess(t *testing.T) {
	m := described(t, `{"openapi":"3.1.0","paths":{"/a":{"get":{"responses":{
		"default":{"content":{"application/json":{"schema":{"title":"default"}}}},"2XX":{"content":{"application/json":{"schema":{"title":"range"}}}},
		"201":{"content":{"text/csv":{},"application/json":{"schema":{"title":"201"}}}},"204":{}}}},
		"/b":{"get":{"responses":{"404":{"content":{"application/json":{"schema":{}}}},"default":{"content":{"application/json":{"schema":{"title":"default"}}}}}}},
		"/c":{"get":{"responses":{"200":{"content":{"text/plain":{"schema":{"type":"string"}}}}}}}}}`)
	for i, want := range []string{`{"title":"201"}`, `{"title":"default"}`, ``} {
		same(t, string(m.Tools[i].Name), m.Tools[i].Output, want)
	}
	same(t, "accept", field(t, m.Tools[0].Binding, "accept"), `["application/json","text/csv"]`)
}

func TestADescriptionOfManyFilesIsRead(t *testing.T) {
	m := fixture(t, "multi/openapi.yaml")
	if m.Description != "# About\n" {
		t.Errorf("description = %q, want the Markdown file", m.Description)
	}
	if want := []string{"a.get", "b.get", "c.get", "d.get"}; !slices.Equal(namesOf(m), want) {
		t.Errorf("names = %v, want %v", namesOf(m), want)
	}
	same(t, "thing", m.Defs["thing"], `{"type":"object","properties":{"n":{"type":"integer"},"again":{"$ref":"#/$defs/thing"}}}`)
	same(t, "n", m.Defs["thing.properties.n"], `{"type":"integer"}`)
	for _, where := range []string{"~1c", "~1d"} {
		if !noted(m, where, "outside") {
			t.Errorf("notes = %v, want one about %s", m.Notes, where)
		}
	}
}
