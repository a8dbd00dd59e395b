package openapi_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schemas that compile may still refuse every call, or allow every one.
func TestRealCallsFitTheirSchemas(t *testing.T) {
	corpus := os.Getenv("EXECUTOR_CORPUS")
	if corpus == "" {
		t.Skip("EXECUTOR_CORPUS is not set")
	}
	for _, c := range []struct{ file, tool, good, bad string }{
		{"github-3.0.json", "issues.create", `{"owner":"o","repo":"r","body":{"title":"t","milestone":null,"labels":["bug"]}}`, `{"owner":"o","body":{"title":"t"}}`},
		{"github-3.0.json", "issues.list-for-repo", `{"owner":"o","repo":"r","state":"closed","per_page":5}`, `{"owner":"o","repo":"r","state":"half"}`},
		{"stripe-3.0.json", "PostCustomers", `{"body":{"email":"a@b.example","metadata":{"k":"v"},"expand":["sources"],"address":""}}`, `{"body":{"bogus":1}}`},
		{"stripe-3.0.json", "GetCharges", `{"created":{"gte":1},"expand":["data.customer"]}`, `{"created":"x"}`},
		{"stripe-3.0.json", "PostFiles", `{"body":{"purpose":"dispute_evidence","file":{"name":"a.txt","text":"hi"}}}`, `{"body":{"purpose":"dispute_evidence"}}`},
		{"slack-web-swagger2.json", "chat_postMessage", `{"body":{"channel":"C1","text":"hi"}}`, `{"body":{"text":"hi"}}`},
		{"twilio-api-2010-3.0.json", "ListCall", `{"AccountSid":"AC00000000000000000000000000000000","StartTime<":"2026-01-01T00:00:00Z"}`, `{"AccountSid":"short"}`},
		{"qdrant-3.0.json", "count_points", `{"collection_name":"c","body":{"exact":true,"filter":{"must":[{"has_id":[1,2]}]}}}`, `{"collection_name":"c","body":{"exact":"surely"}}`},
		{"elasticsearch-serverless-3.0.json", "search-3", `{"index":["logs"],"body":{"query":{"match":{"m":{"query":"x"}}},"size":3}}`, `{"index":["logs"],"body":{"size":"many"}}`},
		{"spotify-official-3.0.yml", "get-an-album", `{"id":"4aawyAB9vmqN3uQ7FjRGTy"}`, `{}`},
		{"openai.yaml", "createChatCompletion", `{"body":{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}}`, `{"body":{"model":"gpt-5"}}`},
		{"kubernetes-1.8-swagger2.json", "createNamespacedPod", `{"namespace":"default","body":{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}}`, `{"namespace":"default"}`},
		{"docker-engine-swagger2.yaml", "ContainerList", `{"all":true,"limit":3}`, `{"all":"perhaps"}`},
	} {
		t.Run(c.tool, func(t *testing.T) {
			m, err := resolve(t, filepath.Join(corpus, "openapi", c.file))
			if err != nil {
				t.Fatal(err)
			}
			compiler := jsonschema.NewCompiler()
			compiler.UseRegexpEngine(lenient)
			if err := compiler.AddResource("mem:///s.json", decode(t, m.Schema(toolNamed(t, m, c.tool).Input))); err != nil {
				t.Fatal(err)
			}
			schema, err := compiler.Compile("mem:///s.json")
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(value(t, c.good)); err != nil {
				t.Errorf("%s is refused: %v", c.good, err)
			}
			if schema.Validate(value(t, c.bad)) == nil {
				t.Errorf("%s is allowed", c.bad)
			}
		})
	}
}

func value(t *testing.T, text string) any {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
