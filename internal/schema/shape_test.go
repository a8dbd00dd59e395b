package schema_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/open-executor/executor/internal/schema"
)

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

var defs = map[string]json.RawMessage{
	"Key":    json.RawMessage(`{"type":"string","format":"password"}`),
	"Again":  json.RawMessage(`{"$ref":"#/$defs/Key"}`),
	"Tree":   json.RawMessage(`{"properties":{"pin":{"writeOnly":true},"child":{"$ref":"#/$defs/Tree"},"depth":{"default":1}}}`),
	"Loop":   json.RawMessage(`{"$ref":"#/$defs/Loop"}`),
	"Wide":   json.RawMessage(`{"anyOf":[{"$ref":"#/$defs/Wide"},{"$ref":"#/$defs/Key"}]}`),
	"Absent": nil,
}

func TestSensitiveValuesAreMaskedWhereverTheSchemaSaysSo(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`{"properties":{"a":{"format":"password"}}}`, `{"a":"x","b":"y"}`, `{"a":"*","b":"y"}`},
		{`{"properties":{"a":{"writeOnly":true}}}`, `{"a":{"b":1}}`, `{"a":"*"}`},
		{`{"properties":{"a":{"$ref":"#/$defs/Again"}}}`, `{"a":"x"}`, `{"a":"*"}`},
		{`{"properties":{"a":{"$ref":"#/$defs/Absent","writeOnly":true}}}`, `{"a":"x"}`, `{"a":"*"}`},
		{`{"allOf":[{"properties":{"a":{"format":"password"}}},{"properties":{"b":{}}}]}`, `{"a":"x","b":"y"}`, `{"a":"*","b":"y"}`},
		{`{"properties":{"a":{"anyOf":[{"type":"object"},{"properties":{"k":{"$ref":"#/$defs/Key"}}}]}}}`, `{"a":{"k":"x"}}`, `{"a":{"k":"*"}}`},
		{`{"oneOf":[{"properties":{"a":{}}},{"properties":{"a":{"format":"password"}}}]}`, `{"a":"x"}`, `{"a":"*"}`},
		{`{"additionalProperties":{"format":"password"},"properties":{"a":{}}}`, `{"a":"x","b":"y"}`, `{"a":"x","b":"*"}`},
		{`{"properties":{"a":{"items":{"$ref":"#/$defs/Key"}}}}`, `{"a":["x","y"]}`, `{"a":["*","*"]}`},
		{`{"$ref":"#/$defs/Tree"}`, `{"child":{"child":{"pin":1,"n":2}}}`, `{"child":{"child":{"pin":"*","n":2}}}`},
		{`{"properties":{"a":{"$ref":"#/$defs/Wide"},"b":{"$ref":"#/$defs/Loop"}}}`, `{"a":"x","b":"y"}`, `{"a":"*","b":"y"}`},
		{`{"properties":{"a":{"format":"password"}}}`, `{"a":null}`, `{"a":null}`},
		{`{"properties":{"a":true,"b":{"items":false}}}`, `{"a":"x","b":["y"]}`, `{"a":"x","b":["y"]}`},
	} {
		got, changed := schema.ShapeOf(json.RawMessage(c.schema), defs).Mask(object(t, c.value), "*")
		if !reflect.DeepEqual(got, any(object(t, c.want))) || changed != (c.value != c.want) {
			t.Errorf("%s masks %s as %v, %t, want %s", c.schema, c.value, got, changed, c.want)
		}
	}
}

func TestDefaultsAreFilledInWhereTheyFit(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`{"properties":{"n":{"type":"integer","default":30}}}`, `{}`, `{"n":30}`},
		{`{"properties":{"n":{"type":"integer","default":30}}}`, `{"n":1}`, `{"n":1}`},
		{`{"properties":{"n":{"type":"integer","default":"30"}}}`, `{}`, `{}`},
		{`{"properties":{"n":{"type":["string","null"],"default":null}}}`, `{}`, `{}`},
		{`{"properties":{"o":{"$ref":"#/$defs/Tree"}}}`, `{}`, `{}`},
		{`{"properties":{"o":{"$ref":"#/$defs/Tree"}}}`, `{"o":{"child":{}}}`, `{"o":{"depth":1,"child":{"depth":1}}}`},
		{`{"allOf":[{"properties":{"a":{"default":1}}}]}`, `{}`, `{"a":1}`},
		{`{"anyOf":[{"properties":{"a":{"default":1}}}]}`, `{}`, `{}`},
		{`{"properties":{"a":{"default":[1]}}}`, `{}`, `{"a":[1]}`},
	} {
		got := object(t, c.value)
		schema.ShapeOf(json.RawMessage(c.schema), defs).Complete(got)
		if want := object(t, c.want); !reflect.DeepEqual(got, want) {
			t.Errorf("%s completes %s to %v, want %v", c.schema, c.value, got, want)
		}
	}
}

func TestWhatLiesInASensitiveValueIsHidden(t *testing.T) {
	s := schema.ShapeOf(json.RawMessage(`{"properties":{"a":{"items":{"properties":{"k":{"$ref":"#/$defs/Key"}}}},"b":{"writeOnly":true}}}`), defs)
	for path, want := range map[string]bool{"a": false, "a/0": false, "a/0/k": true, "b": true, "b/c/d": true, "c": false} {
		if got := s.Hides(strings.Split(path, "/")); got != want {
			t.Errorf("Hides(%s) = %t, want %t", path, got, want)
		}
	}
}

// A schema in which every level refers twice to the next has 2^40 paths.
func TestManyWaysToOneSchemaAreWalkedOnce(t *testing.T) {
	ladder := map[string]json.RawMessage{"L40": json.RawMessage(`{"format":"password"}`)}
	for i := range 40 {
		ladder[fmt.Sprint("L", i)] = json.RawMessage(fmt.Sprintf(`{"anyOf":[{"$ref":"#/$defs/L%d"},{"$ref":"#/$defs/L%d"}]}`, i+1, i+1))
	}
	got, changed := schema.ShapeOf(json.RawMessage(`{"properties":{"a":{"$ref":"#/$defs/L0"}}}`), ladder).Mask(map[string]any{"a": "x"}, "*")
	if want := any(map[string]any{"a": "*"}); !changed || !reflect.DeepEqual(got, want) {
		t.Errorf("Mask = %v, %t, want %v", got, changed, want)
	}
}

func TestADefaultBelongsToOneCall(t *testing.T) {
	shape := schema.ShapeOf(json.RawMessage(`{"allOf":[{"properties":{"o":{"default":{"l":[{}]}}}},{"properties":{"o":{"properties":{"n":{"default":1}}}}}]}`), nil)
	for range 2 {
		value := schema.Object{}
		shape.Complete(value)
		if got, want := fmt.Sprint(value), "map[o:map[l:[map[]] n:1]]"; got != want {
			t.Errorf("Complete gives %s, want %s", got, want)
		}
		o, _ := value["o"].(map[string]any)
		list, _ := o["l"].([]any)
		item, _ := list[0].(map[string]any)
		item["seen"], o["seen"] = true, true
	}
}

func TestADeepSchemaIsReadOnce(t *testing.T) {
	const depth = 4900
	open, end := strings.Repeat(`{"properties":{"a":`, depth), strings.Repeat("}}", depth)
	shape := schema.ShapeOf(json.RawMessage(open+`{"format":"password"}`+end), nil)
	if !shape.Hides(slices.Repeat([]string{"a"}, depth)) {
		t.Errorf("the value at the bottom is not sensitive")
	}
}

func TestASchemaWithoutBottomIsRefusedAtOnce(t *testing.T) {
	deep := strings.Repeat(`{"items":`, 1001) + "{}" + strings.Repeat("}", 1001)
	if _, err := schema.Compile(json.RawMessage(deep)); err == nil || !strings.Contains(err.Error(), "nested more than 1000 deep") {
		t.Errorf("Compile gives %v, want a refusal", err)
	}
	flat := `{"enum":["` + strings.Repeat(`[[{{\"\\`, 1001) + `"]}`
	if _, err := schema.Compile(json.RawMessage(flat)); err != nil {
		t.Errorf("brackets in a string: %v", err)
	}
}
