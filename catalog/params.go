package catalog

import (
	"encoding/json"
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

func newParamReader(m *executor.Manifest) *paramReader {
	return &paramReader{manifest: m, defs: map[string][]param{}}
}

// read gives every parameter of a tool's input.
func (r *paramReader) read(input json.RawMessage) []param {
	return r.params(nil, input, 0)
}

const paramDepth = 2

func (r *paramReader) params(found []param, schema []byte, depth int) []param {
	if depth > paramDepth {
		return found
	}
	members(schema, func(key, value []byte) {
		switch string(key) {
		case "$ref":
			if name, ok := strings.CutPrefix(unquote(value), "#/$defs/"); ok {
				found = append(found, r.def(name)...)
			}
		case "properties":
			members(value, func(name, inner []byte) {
				found = append(found, param{string(name), description(inner)})
				if depth == 0 {
					found = r.params(found, inner, paramDepth)
				}
			})
		case "allOf", "oneOf", "anyOf":
			elements(value, func(inner []byte) { found = r.params(found, inner, depth+1) })
		}
	})
	return found
}

// def gives the parameters of a shared schema, read once.
func (r *paramReader) def(name string) []param {
	if found, ok := r.defs[name]; ok {
		return found
	}
	r.defs[name] = nil // a schema that refers to itself adds nothing
	r.defs[name] = r.params(nil, r.manifest.Defs[name], 1)
	return r.defs[name]
}

func description(schema []byte) string {
	text := ""
	members(schema, func(key, value []byte) {
		if string(key) == "description" {
			text = unquote(value)
		}
	})
	return text
}

// unquote gives the text of a JSON string; "" for anything else.
func unquote(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	inner := string(value[1 : len(value)-1])
	if strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var s string
	_ = json.Unmarshal(value, &s) // no string of JSON has no words
	return s
}

// members calls yield for each member of a JSON object; not at all for another
// value. A manifest is read in one pass, many times faster than by decoding each
// level: text that is no JSON gives an arbitrary part of its members.
func members(object []byte, yield func(key, value []byte)) {
	i := space(object, 0)
	if i >= len(object) || object[i] != '{' {
		return
	}
	for i = space(object, i+1); i < len(object) && object[i] == '"'; i = space(object, i+1) {
		end := skip(object, i)
		key := object[i+1 : max(end-1, i+1)]
		if i = space(object, end); i >= len(object) || object[i] != ':' {
			return
		}
		i = space(object, i+1)
		end = skip(object, i)
		yield(key, object[i:end])
		if i = space(object, end); i >= len(object) || object[i] != ',' {
			return
		}
	}
}

// elements calls yield for each element of a JSON array.
func elements(array []byte, yield func(value []byte)) {
	i := space(array, 0)
	if i >= len(array) || array[i] != '[' {
		return
	}
	for i = space(array, i+1); i < len(array) && array[i] != ']'; i = space(array, i+1) {
		end := skip(array, i)
		yield(array[i:end])
		if i = space(array, end); i >= len(array) || array[i] != ',' {
			return
		}
	}
}

// space gives the index of the first byte from i on that is no white space.
func space(s []byte, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// skip gives the index after the value that begins at i.
func skip(s []byte, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
			continue
		default:
			if depth == 0 && i+1 < len(s) && strings.IndexByte(",:]} \n\t\r", s[i+1]) < 0 {
				continue
			}
		}
		if depth == 0 {
			return min(i+1, len(s))
		}
	}
	return len(s)
}
