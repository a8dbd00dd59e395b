package catalog

import (
	"encoding/json"
	"slices"
	"strings"

	executor "github.com/open-executor/executor"
)

// A paramReader finds the parameters in input schemas: the properties and, since
// the body of a request is one argument, the properties of properties.
type paramReader struct {
	manifest *executor.Manifest
	defs     map[string][]param // :: name of a shared schema → its parameters
}

// A param is what search reads of one parameter.
type param struct{ name, description string }

// shape is the part of a schema that search reads.
type shape struct {
	Ref         string            `json:"$ref"`
	Description string            `json:"description"`
	Properties  properties        `json:"properties"`
	AllOf       []json.RawMessage `json:"allOf"`
	OneOf       []json.RawMessage `json:"oneOf"`
	AnyOf       []json.RawMessage `json:"anyOf"`
}

// properties is tolerant: what is no object has none.
type properties map[string]json.RawMessage

func (p *properties) UnmarshalJSON(data []byte) error {
	var m map[string]json.RawMessage
	if json.Unmarshal(data, &m) == nil {
		*p = m
	}
	return nil
}

func newParamReader(m *executor.Manifest) *paramReader {
	return &paramReader{manifest: m, defs: map[string][]param{}}
}

// read calls yield for every parameter, sorted by name on each level.
func (r *paramReader) read(schema json.RawMessage, yield func(name, description string)) {
	if len(schema) == 0 {
		return
	}
	for _, p := range r.params(schema, 0) {
		yield(p.name, p.description)
	}
}

const paramDepth = 2

func (r *paramReader) params(schema json.RawMessage, depth int) []param {
	var s shape
	if depth > paramDepth || json.Unmarshal(schema, &s) != nil {
		return nil
	}
	var found []param
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		found = append(found, r.def(name)...)
	}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		inner := s.Properties[name]
		var d struct {
			Description string `json:"description"`
		}
		_ = json.Unmarshal(inner, &d) // a boolean schema describes nothing
		found = append(found, param{name, d.Description})
		if depth == 0 {
			found = append(found, r.params(inner, paramDepth)...)
		}
	}
	for _, list := range [][]json.RawMessage{s.AllOf, s.OneOf, s.AnyOf} {
		for _, inner := range list {
			found = append(found, r.params(inner, depth+1)...)
		}
	}
	return found
}

// def gives the parameters of a shared schema, read once.
func (r *paramReader) def(name string) []param {
	if found, ok := r.defs[name]; ok {
		return found
	}
	r.defs[name] = nil // a schema that refers to itself adds nothing
	r.defs[name] = r.params(r.manifest.Defs[name], 1)
	return r.defs[name]
}
