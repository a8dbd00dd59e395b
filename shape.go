package executor

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// A shape is a schema as far as it is a plain tree of properties and items: enough
// to fill in defaults and to mask what is sensitive. Shapes of shared schemas are
// shared and may be cyclic. A nil shape knows nothing.
type shape struct {
	sensitive  bool
	standard   any // the default; nil: none
	properties map[string]*shape
	items      *shape
}

// shaper builds shapes, those of shared schemas once.
type shaper struct {
	defs map[string]json.RawMessage
	made map[string]*shape
}

// outline is what a shape needs to know of a schema.
type outline struct {
	Ref        string                     `json:"$ref"`
	Type       json.RawMessage            `json:"type"`
	Format     string                     `json:"format"`
	WriteOnly  bool                       `json:"writeOnly"`
	Default    json.RawMessage            `json:"default"`
	Properties map[string]json.RawMessage `json:"properties"`
	Items      json.RawMessage            `json:"items"`
}

// sensitive goes by JSON Schema 2020-12 validation, section 9.4, and the OpenAPI
// format registry.
func (o outline) sensitive() bool { return o.WriteOnly || o.Format == "password" }

func (b *shaper) shape(raw json.RawMessage) *shape {
	var o outline
	_ = json.Unmarshal(raw, &o) // a keyword of an odd type stays empty, the others count
	name, shared := strings.CutPrefix(o.Ref, defsPrefix)
	if shared && o.sensitive() { // beside the reference; what it refers to does not matter then
		return &shape{sensitive: true}
	}
	if !shared {
		s := &shape{}
		b.fill(s, o)
		return s
	}
	if s, ok := b.made[name]; ok {
		return s
	}
	s := &shape{}
	b.made[name] = s // before filling: the schema may contain itself
	var target outline
	_ = json.Unmarshal(b.defs[name], &target) // as above
	if strings.HasPrefix(target.Ref, defsPrefix) {
		if next := b.shape(b.defs[name]); next != nil {
			*s = *next
		}
		return s
	}
	b.fill(s, target)
	return s
}

func (b *shaper) fill(s *shape, o outline) {
	s.sensitive = o.sensitive()
	if v, ok := decodeDefault(o.Default); ok && typed(o.Type, v) {
		s.standard = v
	}
	if len(o.Properties) > 0 {
		s.properties = make(map[string]*shape, len(o.Properties))
		for name, raw := range o.Properties {
			s.properties[name] = b.shape(raw)
		}
	}
	if o.Items != nil {
		s.items = b.shape(o.Items)
	}
}

// complete sets absent properties of value that have a default, in place, also in
// objects that are there.
func (s *shape) complete(value map[string]any) {
	if s == nil {
		return
	}
	for name, sub := range s.properties {
		v, ok := value[name]
		if object, is := v.(map[string]any); is {
			sub.complete(object)
		} else if !ok && sub.standard != nil {
			value[name] = sub.standard
		}
	}
}

// mask gives v with the values of sensitive properties replaced, and whether
// there were any. v is not changed.
func (s *shape) mask(v any) (any, bool) {
	if s == nil || v == nil {
		return v, false
	}
	if s.sensitive {
		return masked, true
	}
	changed := false
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			hidden, c := s.properties[name].mask(item)
			out[name], changed = hidden, changed || c
		}
		return out, changed
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			hidden, c := s.items.mask(item)
			out[i], changed = hidden, changed || c
		}
		return out, changed
	}
	return v, false
}

// hides tells whether the value at path is sensitive, or inside one that is.
func (s *shape) hides(path []string) bool {
	for _, step := range path {
		if s == nil || s.sensitive {
			break
		}
		if next := s.properties[step]; next != nil {
			s = next
		} else {
			s = s.items
		}
	}
	return s != nil && s.sensitive
}

func decodeDefault(raw json.RawMessage) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	return v, d.Decode(&v) == nil && v != nil
}

// typed tells whether v is of a JSON Schema type keyword's type, or of one of
// them. Descriptions are often wrong about defaults, and a wrong one is worse
// than none.
func typed(keyword json.RawMessage, v any) bool {
	if keyword == nil {
		return true
	}
	var one string
	var several []string
	if json.Unmarshal(keyword, &one) == nil {
		several = []string{one}
	} else if json.Unmarshal(keyword, &several) != nil {
		return false
	}
	return slices.ContainsFunc(several, func(t string) bool { return isType(t, v) })
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
