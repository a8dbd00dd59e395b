package openapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/open-executor/executor"
)

// around puts one schema into an operation, both ways.
func around(version, schema, components string) string {
	if components == "" {
		components = "{}"
	}
	content := `{"content":{"application/json":{"schema":` + schema + `}}}`
	return fmt.Sprintf(`{"openapi":%q,"paths":{"/a":{"post":{"operationId":"a","requestBody":%s,"responses":{"200":%s}}}},"components":{"schemas":%s}}`, version, content, content, components)
}

func TestSchemasBecomeOnesOf202012(t *testing.T) {
	for _, c := range []struct{ name, version, in, want string }{
		{"nullable joins the type", "3.0.0", `{"type":"string","nullable":true,"enum":["a"]}`, `{"type":["string","null"],"enum":["a",null]}`},
		{"nullable around a composition", "3.0.0", `{"allOf":[{"type":"string"}],"nullable":true,"description":"d"}`, `{"anyOf":[{"allOf":[{"type":"string"}]},{"type":"null"}],"description":"d"}`},
		{"null as a branch", "3.0.0", `{"anyOf":[{"type":"string"},{ "nullable": true }]}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`},
		{"boolean exclusive bounds", "3.0.0", `{"type":"number","minimum":1,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}`, `{"type":"number","exclusiveMinimum":1,"maximum":9}`},
		{"numeric exclusive bounds", "3.1.0", `{"exclusiveMinimum":1,"maximum":9}`, `{"exclusiveMinimum":1,"maximum":9}`},
		{"an example", "3.0.0", `{"type":"string","example":"x"}`, `{"type":"string","examples":["x"]}`},
		{"required inside of a property", "3.0.0", `{"type":"object","properties":{"a":{"type":"string","required":true},"b":{"required":false}}}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{}},"required":["a"]}`},
		{"required twice", "3.0.0", `{"required":["a","a",1]}`, `{"required":["a"]}`},
		{"a tuple of old", "3.0.0", `{"type":"array","items":[{"type":"string"},{}],"additionalItems":false}`, `{"type":"array","prefixItems":[{"type":"string"},{}],"items":false}`},
		{"words that are no types", "3.0.0", `{"anyOf":[{"type":"int"},{"type":"any"},{"type":"float"},{"type":"nonsense"},{"type":["string","string"]}]}`, `{"anyOf":[{"type":"integer"},{},{"type":"number"},{},{"type":"string"}]}`},
		{"bounds as text", "3.0.0", `{"minLength":"2","minimum":"1.5","maxItems":-1,"multipleOf":0}`, `{"minLength":2,"minimum":1.5}`},
		{"huge exponents", "3.0.0", `{"minimum":1e999999999,"maximum":1e3}`, `{"maximum":1e3}`},
		{"keywords of the wrong kind", "3.1.0", `{"enum":"x","allOf":[],"anyOf":{},"properties":[],"pattern":1,"title":{},"additionalProperties":3,"type":7}`, `{"anyOf":[{}]}`},
		{"values of the wrong kind are read as the type wants", "3.0.0", `{"type":"string","enum":[1,true,"a"],"default":1}`, `{"type":"string","enum":["1","true","a"],"default":"1"}`},
		{"a default that the schema refuses", "3.0.0", `{"type":"integer","enum":[1,2],"default":"x"}`, `{"type":"integer","enum":[1,2]}`},
		{"a default as text", "3.0.0", `{"type":"boolean","default":"true"}`, `{"type":"boolean","default":true}`},
		{"extensions and ids go", "3.1.0", `{"$schema":"x","$id":"https://x/y","$comment":"c","x-a":1,"externalDocs":{},"type":"string"}`, `{"type":"string"}`},
		{"forms that a discriminator tells apart may overlap", "3.0.0", `{"oneOf":[{"type":"object"},{"type":"object","required":["a"]}],"discriminator":{"propertyName":"t"}}`,
			`{"anyOf":[{"type":"object"},{"type":"object","required":["a"]}],"discriminator":{"propertyName":"t"}}`},
		{"forms without one may not", "3.0.0", `{"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"oneOf":[{"required":["a"]},{"required":["b"]}]}`},
		{"forms beside other forms stay apart", "3.0.0", `{"oneOf":[{"type":"object"}],"anyOf":[{}],"discriminator":{"propertyName":"t"}}`, `{"oneOf":[{"type":"object"}],"anyOf":[{}],"discriminator":{"propertyName":"t"}}`},
		{"boolean schemas", "3.1.0", `{"properties":{"a":true,"b":false},"additionalProperties":"false"}`, `{"properties":{"a":true,"b":false},"additionalProperties":false}`},
		{"dependencies of old", "3.1.0", `{"dependencies":{"a":["b","b"],"c":{"type":"object"}}}`, `{"dependentRequired":{"a":["b"]},"dependentSchemas":{"c":{"type":"object"}}}`},
		{"applicators stay", "3.1.0", `{"if":{"const":1},"then":{"minimum":2},"else":false,"not":{},"contains":{"type":"string"},"minContains":0,"unevaluatedProperties":false,"patternProperties":{"^a":{"nullable":true,"type":"string"}}}`,
			`{"if":{"const":1},"then":{"minimum":2},"else":false,"not":{},"contains":{"type":"string"},"minContains":0,"unevaluatedProperties":false,"patternProperties":{"^a":{"type":["string","null"]}}}`},
		{"formats, passwords, bytes stay", "3.0.0", `{"properties":{"p":{"type":"string","format":"password"},"b":{"type":"string","format":"byte"},"u":{"format":"unix-time"}}}`, `{"properties":{"p":{"type":"string","format":"password"},"b":{"type":"string","format":"byte"},"u":{"format":"unix-time"}}}`},
		{"a reference with a remark", "3.0.0", `{"$ref":"#/components/schemas/Gone","description":"d","type":"string"}`, `{"description":"d"}`},
		{"not a schema at all", "3.0.0", `[1]`, `{}`},
		{"names are kept as written", "3.0.0", `{"properties":{"DateCreated<":{},"a\"b":{},"$ref":{"type":"string"},"example":{"type":"string"}}}`, `{"properties":{"DateCreated<":{},"a\"b":{},"$ref":{"type":"string"},"example":{"type":"string"}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := described(t, around(c.version, c.in, ""))
			same(t, "input", field(t, m.Tools[0].Input, "properties", "body"), c.want)
			same(t, "output", m.Tools[0].Output, c.want)
			compileAll(t, m)
		})
	}
}

func TestWhatTravelsOneWayIsOnlyInThatDirection(t *testing.T) {
	m := described(t, around("3.0.0", `{"$ref":"#/components/schemas/User"}`, `{
		"User":{"allOf":[{"$ref":"#/components/schemas/Base"},{"required":["id","name"],"properties":{"name":{"type":"string"},"pin":{"type":"string","writeOnly":true}}}]},
		"Base":{"properties":{"id":{"$ref":"#/components/schemas/Id"},"friend":{"$ref":"#/components/schemas/User"},"tag":{"$ref":"#/components/schemas/Tag"}},"required":["id"]},
		"Id":{"type":"string","readOnly":true},
		"Tag":{"type":"string"}}`))
	same(t, "input", field(t, m.Tools[0].Input, "properties", "body"), `{"$ref":"#/$defs/User.request"}`)
	same(t, "output", m.Tools[0].Output, `{"$ref":"#/$defs/User"}`)
	for name, want := range map[string]string{
		"User.request": `{"allOf":[{"$ref":"#/$defs/Base.request"},{"properties":{"name":{"type":"string"},"pin":{"type":"string","writeOnly":true}},"required":["name"]}]}`,
		"User":         `{"allOf":[{"$ref":"#/$defs/Base"},{"properties":{"name":{"type":"string"}},"required":["id","name"]}]}`,
		"Base.request": `{"properties":{"friend":{"$ref":"#/$defs/User.request"},"tag":{"$ref":"#/$defs/Tag"}}}`,
		"Base":         `{"properties":{"id":{"$ref":"#/$defs/Id"},"friend":{"$ref":"#/$defs/User"},"tag":{"$ref":"#/$defs/Tag"}},"required":["id"]}`,
		"Id":           `{"type":"string","readOnly":true}`,
		"Tag":          `{"type":"string"}`,
	} {
		same(t, name, m.Defs[name], want)
	}
	if len(m.Defs) != 6 {
		t.Errorf("defs = %v, want 6", sorted(m.Defs))
	}
}

func TestAFileIsWrittenAsAFileAndReadAsText(t *testing.T) {
	for _, schema := range []string{
		`{"type":"string","format":"binary"}`, `{"type":"file"}`, `{"type":"string","contentEncoding":"binary"}`, `{"contentMediaType":"image/png"}`,
	} {
		m := described(t, around("3.1.0", `{"properties":{"f":`+schema+`}}`, ""))
		same(t, schema, field(t, m.Tools[0].Input, "properties", "body", "properties", "f"), `{"$ref":"#/$defs/File"}`)
		if strings.Contains(string(m.Tools[0].Output), "$defs") {
			t.Errorf("output = %s, want no file", m.Tools[0].Output)
		}
		compileAll(t, m)
	}
	m := described(t, around("3.1.0", `{"$ref":"#/components/schemas/File"}`, `{"File":{"type":"object"}}`))
	if got := string(m.Tools[0].Output); got == `{"$ref":"#/$defs/File"}` {
		t.Errorf("a schema of the description took the reserved name")
	}
}

func TestReferencesLeadWhereTheySay(t *testing.T) {
	for _, c := range []struct{ name, ref, components, want string }{
		{"escapes", `"#/components/schemas/a~1b%20c~0"`, `{"a/b c~":{"type":"string"}}`, `a_b_c`},
		{"deep", `"#/components/schemas/A/properties/x"`, `{"A":{"properties":{"x":{"type":"integer"}}}}`, `A.properties.x`},
		{"through a reference", `"#/components/schemas/B/properties/x"`, `{"B":{"$ref":"#/components/schemas/A"},"A":{"properties":{"x":{}}}}`, `A.properties.x`},
		{"an anchor", `"#here"`, `{"A":{"$anchor":"here"}}`, `A`},
		{"an id", `"https://x.example/a"`, `{"A":{"$id":"https://x.example/a"}}`, `A`},
		{"an id and a pointer", `"https://x.example/a#/properties/p"`, `{"A":{"$id":"https://x.example/a","properties":{"p":{}}}}`, `A.properties.p`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := described(t, around("3.1.0", `{"$ref":`+c.ref+`}`, c.components))
			same(t, "output", m.Tools[0].Output, `{"$ref":"#/$defs/`+c.want+`"}`)
			if m.Defs[c.want] == nil {
				t.Errorf("no def %q in %v", c.want, sorted(m.Defs))
			}
			compileAll(t, m)
		})
	}
}

func TestAReferenceInsideAnIdStartsFromThere(t *testing.T) {
	m := described(t, around("3.1.0", `{"$ref":"#/components/schemas/A"}`,
		`{"A":{"$id":"https://x.example/in/a","properties":{"b":{"$ref":"b"},"up":{"$ref":"../c#/$defs/d"},"self":{"$ref":"a"}}},
		"B":{"$id":"https://x.example/in/b","type":"integer"},"C":{"$id":"https://x.example/c","$defs":{"d":{"type":"boolean"}}}}`))
	same(t, "A", m.Defs["A"], `{"properties":{"b":{"$ref":"#/$defs/B"},"up":{"$ref":"#/$defs/C._defs.d"},"self":{"$ref":"#/$defs/A"}}}`)
	if noted(m, "/components", "") {
		t.Errorf("notes = %v", m.Notes)
	}
	compileAll(t, m)
}

func TestCircularSchemasStayReferences(t *testing.T) {
	m := described(t, around("3.1.0", `{"$ref":"#/components/schemas/A"}`, `{"A":{"properties":{"b":{"$ref":"#/components/schemas/B"}}},"B":{"items":{"$ref":"#/components/schemas/A"},"not":{"$recursiveRef":"#"}}}`))
	same(t, "A", m.Defs["A"], `{"properties":{"b":{"$ref":"#/$defs/B"}}}`)
	if !noted(m, "B", "nothing but itself") {
		t.Errorf("notes = %v, want one about B", m.Notes)
	}
	compileAll(t, m)
}

func TestReferencesWithoutAnEndAllowAnything(t *testing.T) {
	for _, components := range []string{
		`{"A":{"$ref":"#/components/schemas/A"}}`,
		`{"A":{"$ref":"#/components/schemas/B"},"B":{"$ref":"#/components/schemas/A"}}`,
		`{"A":{"allOf":[{"oneOf":[{"$ref":"#/components/schemas/A"}]}]}}`,
		`{"A":{"nullable":true,"$ref":"#/components/schemas/A"}}`,
	} {
		m := described(t, around("3.0.0", `{"$ref":"#/components/schemas/A"}`, components))
		if len(m.Notes) == 0 || len(m.Tools) != 1 {
			t.Errorf("%s: %d tools, notes %v", components, len(m.Tools), m.Notes)
		}
		compileAll(t, m)
	}
	for _, ref := range []string{`"#/components/schemas/Gone"`, `"#/components/schemas/A/$ref/x"`, `""`, `"%zz#/x"`, `"other.json"`, `7`} {
		m := described(t, around("3.0.0", `{"$ref":`+ref+`}`, `{"A":{"$ref":"#/components/schemas/A/x"}}`))
		if m.Found != 1 || len(m.Tools) != 1 {
			t.Errorf("%s: %d of %d tools", ref, len(m.Tools), m.Found)
		}
		compileAll(t, m)
	}
}

func TestDeepSchemasAreWhole(t *testing.T) {
	deep := strings.Repeat(`{"properties":{"a":`, 100) + `{"type":"string"}` + strings.Repeat(`}}`, 100)
	m := described(t, around("3.1.0", deep, ""))
	same(t, "output", m.Tools[0].Output, deep)
	deeper := strings.Repeat(`{"items":`, 3000) + `{}` + strings.Repeat(`}`, 3000)
	if m := described(t, around("3.1.0", deeper, "")); !noted(m, "", "nested too deeply") {
		t.Errorf("notes = %v, want one about depth", m.Notes)
	}
}

func TestTheManifestRefersOnlyToWhatItHas(t *testing.T) {
	m, err := resolve(t, abs(t, "testdata/shop-3.1.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), `"#/$defs/`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		if m.Defs[name] == nil {
			t.Errorf("no def %q", name)
		}
	}
	var whole executor.Manifest
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Error(err)
	}
}
