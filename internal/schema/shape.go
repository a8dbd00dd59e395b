package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// A Shape is a schema as a tree of properties and items. The zero value and nil know
// nothing. Safe for concurrent use.
type Shape struct {
	root   *node
	hiding bool // something in it is sensitive
}

// A node is one schema. Those of shared schemas are shared and may be cyclic.
type node struct {
	sensitive  bool
	standard   any // the default; nil: none; shared: do not change it
	properties map[string]*node
	rest       *node   // of other properties
	items      *node   // of an array
	all        []*node // which hold beside it: $ref, allOf
	some       []*node // which may hold beside it: anyOf, oneOf
}

// ShapeOf reads a schema that refers to shared ones as "#/$defs/<name>".
func ShapeOf(schema json.RawMessage, defs map[string]json.RawMessage) *Shape {
	b := builder{defs: defs, made: map[string]*node{}}
	root := b.node(decoded(schema))
	return &Shape{root, b.hiding}
}

type builder struct {
	defs   map[string]json.RawMessage
	made   map[string]*node
	hiding bool
}

// decoded gives nil for what is no JSON.
func decoded(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

func (b *builder) node(schema any) *node {
	keywords, ok := schema.(map[string]any)
	if !ok { // true and false say nothing of either
		return nil
	}
	n := &node{}
	b.fill(n, keywords)
	return n
}

// shared gives the node of a shared schema.
func (b *builder) shared(name string) *node {
	if n, ok := b.made[name]; ok {
		return n
	}
	n := &node{}
	b.made[name] = n // before filling: the schema may contain itself
	keywords, _ := decoded(b.defs[name]).(map[string]any)
	b.fill(n, keywords)
	return n
}

// fill reads the keywords of a schema; one of an odd type says nothing.
func (b *builder) fill(n *node, keywords map[string]any) {
	n.sensitive = sensitive(keywords)
	b.hiding = b.hiding || n.sensitive
	if v := keywords["default"]; v != nil && typed(keywords["type"], v) {
		n.standard = v
	}
	if properties, _ := keywords["properties"].(map[string]any); len(properties) > 0 {
		n.properties = make(map[string]*node, len(properties))
		for name, schema := range properties {
			n.properties[name] = b.node(schema)
		}
	}
	n.rest, n.items = b.node(keywords["additionalProperties"]), b.node(keywords["items"])
	ref, _ := keywords["$ref"].(string)
	if name, ok := strings.CutPrefix(ref, "#/$defs/"); ok {
		n.all = append(n.all, b.shared(name))
	}
	n.all = append(n.all, b.nodes(keywords["allOf"])...)
	n.some = append(b.nodes(keywords["anyOf"]), b.nodes(keywords["oneOf"])...)
}

func (b *builder) nodes(schemas any) []*node {
	list, _ := schemas.([]any)
	nodes := make([]*node, len(list))
	for i, schema := range list {
		nodes[i] = b.node(schema)
	}
	return nodes
}

// sensitive goes by JSON Schema 2020-12 validation, section 9.4, and the OpenAPI
// format registry.
func sensitive(keywords map[string]any) bool {
	return keywords["writeOnly"] == true || keywords["format"] == "password"
}

// A set is the nodes that speak of one value.
type set []*node

// whole adds the nodes that hold beside those of s and, with some, those that may.
func (s set) whole(some bool) set {
	var out set
	seen := map[*node]bool{}
	var add func(nodes []*node)
	add = func(nodes []*node) {
		for _, n := range nodes {
			if n == nil || seen[n] {
				continue
			}
			seen[n] = true
			out = append(out, n)
			add(n.all)
			if some {
				add(n.some)
			}
		}
	}
	add(s)
	return out
}

// property gives what speaks of a property of the value.
func (s set) property(name string) set {
	var out set
	for _, n := range s {
		if p, ok := n.properties[name]; ok {
			out = append(out, p)
		} else {
			out = append(out, n.rest)
		}
	}
	return out
}

func (s set) items() set {
	var out set
	for _, n := range s {
		out = append(out, n.items)
	}
	return out
}

func (s set) sensitive() bool {
	return slices.ContainsFunc(s, func(n *node) bool { return n.sensitive })
}

// An Object is a decoded JSON object.
type Object map[string]any

// Complete sets absent properties of value that have a default, in place, also in
// objects that are there.
func (s *Shape) Complete(value Object) {
	if s != nil {
		set{s.root}.complete(value)
	}
}

func (s set) complete(value map[string]any) {
	s = s.whole(false)
	for _, n := range s {
		for name := range n.properties {
			v, ok := value[name]
			if object, is := v.(map[string]any); is {
				s.property(name).complete(object)
			} else if standard := s.property(name).standard(); !ok && standard != nil {
				value[name] = standard
			}
		}
	}
}

func (s set) standard() any {
	for _, n := range s.whole(false) {
		if n.standard != nil {
			return clone(n.standard)
		}
	}
	return nil
}

// Mask gives v with the values of sensitive properties replaced, and whether
// there were any. A property counts as sensitive if any schema that may speak of
// it says so. v is not changed.
func (s *Shape) Mask(v any, with string) (any, bool) {
	if s == nil || !s.hiding {
		return v, false
	}
	return set{s.root}.mask(v, with)
}

func (s set) mask(v any, with string) (any, bool) {
	s = s.whole(true)
	if v == nil || len(s) == 0 {
		return v, false
	}
	if s.sensitive() {
		return with, true
	}
	changed := false
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			hidden, c := s.property(name).mask(item, with)
			out[name], changed = hidden, changed || c
		}
		return out, changed
	case []any:
		out := make([]any, len(v))
		items := s.items()
		for i, item := range v {
			hidden, c := items.mask(item, with)
			out[i], changed = hidden, changed || c
		}
		return out, changed
	}
	return v, false
}

// Hides tells whether the value at path is sensitive, or inside one that is.
func (s *Shape) Hides(path []string) bool {
	if s == nil || !s.hiding {
		return false
	}
	at := set{s.root}.whole(true)
	for _, step := range path {
		if at.sensitive() {
			return true
		}
		at = append(at.property(step), at.items()...).whole(true)
	}
	return at.sensitive()
}

// clone copies a decoded value: a default becomes a part of one call's arguments.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = clone(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = clone(item)
		}
		return out
	}
	return v
}

// typed tells whether v is of a JSON Schema type keyword's type, or of one of
// them. Descriptions are often wrong about defaults, and a wrong one is worse
// than none.
func typed(keyword, v any) bool {
	switch keyword := keyword.(type) {
	case nil:
		return true
	case string:
		return isType(keyword, v)
	case []any:
		return slices.ContainsFunc(keyword, func(t any) bool {
			name, _ := t.(string)
			return isType(name, v)
		})
	}
	return false
}

func isType(t string, v any) bool {
	switch v := v.(type) {
	case string:
		return t == "string"
	case bool:
		return t == "boolean"
	case json.Number:
		_, err := strconv.ParseInt(v.String(), 10, 64)
		return t == "number" || t == "integer" && err == nil
	case []any:
		return t == "array"
	}
	return t == "object"
}
