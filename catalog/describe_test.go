package catalog_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	executor "github.com/open-executor/executor"
	"github.com/open-executor/executor/catalog"
)

// signature gives what Describe says of a tool with these schemas.
func signature(input, output string, defs map[string]json.RawMessage, o catalog.Options) string {
	t := &executor.Tool{Name: "do"}
	if input != "" {
		t.Input = json.RawMessage(input)
	}
	if output != "" {
		t.Output = json.RawMessage(output)
	}
	return catalog.Describe(executor.Found{
		Address:  executor.Address{Source: "x", Scope: "user", Connection: "work", Tool: "do"},
		Tool:     t,
		Manifest: &executor.Manifest{Tools: []executor.Tool{*t}, Defs: defs},
	}, o).TypeScript
}

func TestASchemaIsWrittenAsTheTypeItDescribes(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"anything is unknown", `{}`, `unknown`},
		{"the schema true is unknown", `true`, `unknown`},
		{"the schema false is never", `false`, `never`},
		{"a string", `{"type":"string"}`, `string`},
		{"an integer is a number", `{"type":"integer"}`, `number`},
		{"a boolean", `{"type":"boolean"}`, `boolean`},
		{"null", `{"type":"null"}`, `null`},
		{"several types are a union", `{"type":["string","null"]}`, `string | null`},
		{"nullable of OpenAPI 3.0", `{"type":"string","nullable":true}`, `string | null`},
		{"a constant", `{"const":"it's"}`, `"it's"`},
		{"an enumeration", `{"enum":["a","b",1,null,true]}`, `"a" | "b" | 1 | null | true`},
		{"a constant that is an object", `{"const":{"a":[1,"b"]}}`, `{ "a": [1, "b"] }`},
		{"an array", `{"type":"array","items":{"type":"string"}}`, `string[]`},
		{"an array of anything", `{"type":"array"}`, `unknown[]`},
		{"an array of a union", `{"items":{"type":["string","number"]}}`, `(string | number)[]`},
		{"a tuple", `{"prefixItems":[{"type":"string"},{"type":["number","null"]}],"items":false,"minItems":1}`, `[string, (number | null)?]`},
		{"a tuple with a rest", `{"type":"array","items":[{"type":"string"}],"minItems":1}`, `[string, ...unknown[]]`},
		{"an object", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"}},"required":["a"]}`, `{ a: string; b?: number }`},
		{"properties without a type", `{"properties":{"a":{}}}`, `{ a?: unknown }`},
		{"names that need quotes", `{"properties":{"a-b":{"type":"string"},"1":{},"\"":{}}}`, `{ "a-b"?: string; "1"?: unknown; "\""?: unknown }`},
		{"a property given twice counts once", `{"properties":{"a":{"type":"string"},"a":{}}}`, `{ a?: string }`},
		{"an object of which nothing is said", `{"type":"object"}`, `Record<string, unknown>`},
		{"an object without members", `{"type":"object","additionalProperties":false}`, `Record<string, never>`},
		{"a map", `{"type":"object","additionalProperties":{"type":"number"}}`, `Record<string, number>`},
		{"a map by pattern", `{"patternProperties":{"^x-":{"type":"string"}}}`, `Record<string, string>`},
		{"a map with known members", `{"properties":{"a":{"type":"string"}},"additionalProperties":{"type":"number"}}`, `{ a?: string } & Record<string, number>`},
		{"oneOf is a union", `{"oneOf":[{"type":"string"},{"properties":{"a":{}}}]}`, `string | { a?: unknown }`},
		{"equal variants are one", `{"anyOf":[{"type":"string","format":"uri"},{"type":"string"}]}`, `string`},
		{"a variant that may be anything makes the union so", `{"anyOf":[{"type":"string"},{}]}`, `unknown`},
		{"variants that only require members are passed over", `{"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{ a?: unknown }`},
		{"members beside variants", `{"type":"object","properties":{"a":{}},"oneOf":[{"properties":{"b":{}}},{"properties":{"c":{}}}]}`, `{ a?: unknown } & ({ b?: unknown } | { c?: unknown })`},
		{"allOf of objects is one object", `{"allOf":[{"type":"object","properties":{"a":{}}},{"properties":{"b":{}}},{"required":["b"]}]}`, `{ a?: unknown; b: unknown }`},
		{"allOf of others is an intersection", `{"allOf":[{"properties":{"a":{}}},{"oneOf":[{"type":"string"},{"type":"null"}]}]}`, `{ a?: unknown } & (string | null)`},
		{"a file may be given as text", `{"type":"string","format":"binary"}`, `File | string`},
		{"several files", `{"type":"array","items":{"type":"string","format":"binary"}}`, `(File | string)[]`},
		{"a reference that leads nowhere", `{"$ref":"#/$defs/None"}`, `unknown`},
		{"a reference to elsewhere", `{"$ref":"https://example.com/schema.json"}`, `unknown`},
		{"a schema of its own", `{"$ref":"#/definitions/A","definitions":{"A":{"type":"string"}}}`, `string`},
		{"a reference with siblings", `{"$ref":"#/$defs/A","properties":{"b":{}},"$defs":{"A":{"properties":{"a":{}}}}}`, `{ b?: unknown } & { a?: unknown }`},
		{"a reference into a property", `{"properties":{"a":{"type":"number"},"b":{"$ref":"#/properties/a"}}}`, `{ a?: number; b?: number }`},
	} {
		want := "tools.x.user.work.do(): Promise<" + c.want + ">;"
		if got := signature("", c.schema, nil, catalog.Options{}); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, want)
		}
	}
}

func TestASignatureShowsArgumentsDocumentsAndNamedTypes(t *testing.T) {
	input := `{"type":"object","required":["owner","body"],"properties":{
		"owner":{"type":"string","description":"The account\n owner. Ends */ no comment."},
		"page":{"type":"integer","default":1,"minimum":1,"maximum":100},
		"since":{"type":"string","format":"date-time","deprecated":true},
		"body":{"type":"object","required":["title"],"properties":{"title":{"type":["string","integer"]},"parent":{"$ref":"#/$defs/node"}}}}}`
	defs := map[string]json.RawMessage{
		"node": json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"},"next":{"$ref":"#/$defs/node"},"kind":{"$ref":"#/$defs/kind"}}}`),
		"kind": json.RawMessage(`{"enum":["leaf","branch"]}`),
	}
	tool := &executor.Tool{Name: "issues.get-2.all", Description: "Create an issue.\nAnd more.", Deprecated: true, Input: json.RawMessage(input), Output: json.RawMessage(`{"$ref":"#/$defs/node"}`)}
	got := catalog.Describe(executor.Found{
		Address:  executor.Address{Source: "git-hub", Scope: "user", Connection: "work", Tool: tool.Name},
		Tool:     tool,
		Manifest: &executor.Manifest{Defs: defs},
	}, catalog.Options{}).TypeScript
	want := `/** Create an issue. @deprecated */
tools["git-hub"].user.work.issues["get-2"].all(args: {
  /** The account owner. Ends * / no comment. */ owner: string;
  /** @default 1 @minimum 1 @maximum 100 */ page?: number;
  /** @format date-time @deprecated */ since?: string;
  body: { title: string | number; parent?: Node };
}): Promise<Node>;

type Node = { id?: number; next?: Node; kind?: "leaf" | "branch" };`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestArgumentsAreOptionalWhereNoneIsRequired(t *testing.T) {
	for input, want := range map[string]string{
		"":                                  "tools.x.user.work.do(): Promise<unknown>;",
		`{"type":"object"}`:                 "tools.x.user.work.do(): Promise<unknown>;",
		`{"properties":{"a":{}}}`:           "tools.x.user.work.do(args?: { a?: unknown }): Promise<unknown>;",
		`{"required":["a"]}`:                "tools.x.user.work.do(): Promise<unknown>;",
		`not JSON`:                          "tools.x.user.work.do(): Promise<unknown>;",
		`{"properties":{"a":{"$ref":"#"}}}`: "tools.x.user.work.do(args?: Args): Promise<unknown>;\n\ntype Args = { a?: Args };",
	} {
		if got := signature(input, "", nil, catalog.Options{}); got != want {
			t.Errorf("%s:\n got %s\nwant %s", input, got, want)
		}
	}
}

// wide is an object of objects that no small budget holds.
func wide() string {
	var members []string
	for i := range 40 {
		members = append(members, fmt.Sprintf(`"group_%d":{"type":"object","properties":{"first":{"type":"string"},"second":{"type":"string"},"third":{"type":"array","items":{"type":"integer"}}}}`, i))
	}
	return `{"type":"object","required":["group_39"],"properties":{` + strings.Join(members, ",") + `}}`
}

func TestALargeTypeIsCutToTheBudgetAndExpandsWhereAsked(t *testing.T) {
	got := signature(wide(), "", nil, catalog.Options{Budget: 420})
	want := `tools.x.user.work.do(args: {
  group_0?: Record<string, unknown> /* 3 more: expand with /input/properties/group_0 */;
  group_39: Record<string, unknown> /* 3 more: expand with /input/properties/group_39 */;
  /* 38 more: expand with /input */
}): Promise<unknown>;`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	got = signature(wide(), "", nil, catalog.Options{Budget: 420, Expand: []string{"/input/properties/group_7"}})
	want = `tools.x.user.work.do(args: {
  group_7?: { first?: string; second?: string; third?: number[] };
  group_39: Record<string, unknown> /* 3 more: expand with /input/properties/group_39 */;
  /* 38 more: expand with /input */
}): Promise<unknown>;`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestADescriptionCarriesItsSchemasWhole(t *testing.T) {
	tool := &executor.Tool{Name: "get", Description: "Get.", Output: json.RawMessage(`{"$ref":"#/$defs/a"}`)}
	m := &executor.Manifest{Defs: map[string]json.RawMessage{"a": json.RawMessage(`{"type":"string"}`), "b": json.RawMessage(`{}`)}}
	got, err := json.Marshal(catalog.Describe(executor.Found{Address: executor.Address{Source: "x", Scope: "user", Connection: "work", Tool: "get"}, Tool: tool, Manifest: m}, catalog.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"address":"x.user.work.get","description":"Get.","effect":"write","output":{"$defs":{"a":{"type":"string"}},"$ref":"#/$defs/a"},"typescript":"/** Get. */\ntools.x.user.work.get(): Promise\u003cstring\u003e;"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Every signature of a recorded catalog keeps to its budget. When
// EXECUTOR_SIGNATURES names a directory, they are left there for a TypeScript
// compiler: tsc --noEmit --strict *.d.ts
func TestSignaturesOfARecordedCatalogKeepToTheBudget(t *testing.T) {
	dir := os.Getenv("EXECUTOR_SIGNATURES")
	if dir == "" {
		dir = t.TempDir()
	}
	for name, m := range map[string]*executor.Manifest{
		"github": operations(t, corpus(t, "openapi/github-3.0.json")),
		"stripe": operations(t, corpus(t, "openapi/stripe-3.0.json")),
	} {
		WriteSignatures(t, filepath.Join(dir, name+".d.ts"), m)
		for i := range m.Tools {
			d := catalog.Describe(foundIn(m, i), catalog.Options{Budget: 1000})
			if len(d.TypeScript) > 1300 { // name and first sentence may exceed it
				t.Errorf("%s: %d characters", d.Address, len(d.TypeScript))
			}
		}
	}
}

func foundIn(m *executor.Manifest, i int) executor.Found {
	return executor.Found{
		Address:  executor.Address{Source: "recorded", Scope: "user", Connection: "work", Tool: m.Tools[i].Name},
		Tool:     &m.Tools[i],
		Manifest: m,
	}
}

// WriteSignatures leaves the signatures of all tools of m in one file that a
// TypeScript compiler can check.
func WriteSignatures(t testing.TB, file string, m *executor.Manifest) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	found := make([]executor.Found, len(m.Tools))
	for i := range m.Tools {
		found[i] = foundIn(m, i)
	}
	if err := catalog.Declare(f, catalog.Options{}, found...); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func FuzzDescribeTakesAnySchema(f *testing.F) {
	f.Add(`{"properties":{"a":{"$ref":"#"}}}`, `{"allOf":[{"$ref":"#"}]}`)
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `[]`)
	f.Add(`{"enum":[]}`, `{"type":7,"items":[[],{}],"const":"*/"}`)
	f.Fuzz(func(t *testing.T, input, output string) {
		defs := map[string]json.RawMessage{"a": json.RawMessage(output), "b": json.RawMessage(input)}
		if text := signature(input, output, defs, catalog.Options{Budget: 500, Expand: []string{"/input/properties", "A"}}); text == "" {
			t.Error("a signature is never empty")
		}
	})
}
