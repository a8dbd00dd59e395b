package openapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestToolNamesAreReadable(t *testing.T) {
	for _, c := range []struct{ method, path, id, want string }{
		{"post", "/a", "issues/create", "issues.create"},
		{"post", "/a", "put Book!", "put_Book"},
		{"post", "/a", "..a//b..", "a.b"},
		{"post", "/a", "createPet", "createPet"},
		{"post", "/a", "größe", "gr_e_d353a267"},
		{"get", "/v2/droplets/{droplet_id}", "", "v2.droplets.by_droplet_id.get"},
		{"get", "/", "", "root.get"},
		{"get", "/a", "日本", "a.get"},
		{"get", "/api/0/x~y/{a}:{b}/", "", "api.0.x_y.by_a_by_b.get"},
		{"get", "/a", strings.Repeat("x", 200), strings.Repeat("x", 119) + "_f302dfbc"},
	} {
		text, err := json.Marshal(map[string]any{"openapi": "3.1.0", "paths": map[string]any{c.path: map[string]any{c.method: map[string]any{"operationId": c.id}}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := namesOf(described(t, string(text)))[0]; got != c.want {
			t.Errorf("%s %s %q = %q, want %q", c.method, c.path, c.id, got, c.want)
		}
	}
}

func TestANameInAnotherScriptDependsOnItsOperationAlone(t *testing.T) {
	names := func(paths string) []string {
		return namesOf(described(t, `{"openapi":"3.1.0","paths":{`+paths+`}}`))
	}
	for _, c := range []struct{ name, one, other string }{
		{"ids", `"/a":{"get":{"operationId":"get用户"}}`, `"/b":{"get":{"operationId":"get订单"}}`},
		{"paths", `"/用户":{"get":{}}`, `"/订单":{"get":{}}`},
	} {
		alone, both := names(c.one), names(c.one+","+c.other)
		if !slices.Contains(both, alone[0]) {
			t.Errorf("%s: %s alone, %v with another", c.name, alone[0], both)
		}
	}
}

func TestNobodyKeepsTheBareNameOfASharedId(t *testing.T) {
	m := described(t, `{"openapi":"3.1.0","paths":{"/v1/a/{id}":{"get":{"operationId":"list"}},"/v2/a":{"get":{"operationId":"list"}},"/c":{"get":{"operationId":"other"}}}}`)
	want := []string{"list.v1.a.by_id.get", "list.v2.a.get", "other"}
	if got := namesOf(m); !slices.Equal(got, want) {
		t.Errorf("names = %q, want %q", got, want)
	}
}

// Ids come from a small alphabet, so that many collide, also after sanitising.
func TestRemovingAnOperationOfItsOwnNameChangesNoOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfN(rapid.StringMatching(`([ab]/|c )?[abc]{1,3}`), 2, 20).Draw(t, "ids")
		all := namesFor(t, ids, -1)
		gone := rapid.IntRange(0, len(ids)-1).Draw(t, "gone")
		shared := 0
		for _, id := range ids {
			if sanitised(id) == sanitised(ids[gone]) {
				shared++
			}
		}
		if shared > 1 {
			return
		}
		left := namesFor(t, ids, gone)
		for path, name := range left {
			if all[path] != name {
				t.Fatalf("%s is %q without %q, was %q", path, name, ids[gone], all[path])
			}
		}
	})
}

func sanitised(id string) string {
	return strings.ReplaceAll(strings.ReplaceAll(id, "/", "."), " ", "_")
}

// namesFor gives path → tool name.
func namesFor(t *rapid.T, ids []string, gone int) map[string]string {
	paths := map[string]any{}
	for i, id := range ids {
		if i != gone {
			paths[fmt.Sprintf("/p%d", i)] = map[string]any{"get": map[string]any{"operationId": id}}
		}
	}
	text, err := json.Marshal(map[string]any{"openapi": "3.1.0", "paths": paths})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, tool := range resolved(t, string(text)).Tools {
		var b struct{ Path string }
		if err := json.Unmarshal(tool.Binding, &b); err != nil {
			t.Fatal(err)
		}
		if _, twice := names[b.Path]; twice || slices.Contains(values(names), string(tool.Name)) {
			t.Fatalf("%s or %s occurs twice", b.Path, tool.Name)
		}
		names[b.Path] = string(tool.Name)
	}
	return names
}

func values(m map[string]string) []string {
	var list []string
	for _, v := range m {
		list = append(list, v)
	}
	return list
}
