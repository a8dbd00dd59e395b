package catalog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// A schema is what a signature shows of one JSON Schema. Members keep the order
// in which they are written.
type schema struct {
	raw        []byte
	never      bool // the schema "false"
	ref        string
	types      []string
	enum       [][]byte
	constant   []byte
	properties []member
	required   []string
	additional []byte   // additionalProperties; nil: not said
	patterns   [][]byte // values of patternProperties
	items      []byte
	prefix     [][]byte // prefixItems
	minItems   int
	allOf      [][]byte
	anyOf      [][]byte // and oneOf
	nullable   bool     // OpenAPI 3.0

	format, description string
	remarks             []string // "@minimum 1"
	deprecated          bool
}

// A member is a property with its schema.
type member struct {
	name string
	raw  []byte
}

// parse reads a schema. What it does not know it passes over.
func parse(raw []byte) *schema {
	s := &schema{raw: raw, never: string(raw) == "false"}
	members(raw, func(key, value []byte) {
		switch string(key) {
		case "$ref":
			s.ref = unquote(value)
		case "type":
			s.types = texts(value)
		case "enum":
			elements(value, func(v []byte) { s.enum = append(s.enum, v) })
		case "const":
			s.constant = value
		case "required":
			s.required = texts(value)
		case "format":
			s.format = unquote(value)
		case "description":
			s.description = unquote(value)
		case "deprecated":
			s.deprecated = string(value) == "true"
		case "nullable":
			s.nullable = string(value) == "true"
		case "default", "minimum", "maximum", "minLength", "maxLength", "maxItems", "pattern":
			s.remark(string(key), value)
		case "minItems":
			s.minItems, _ = strconv.Atoi(string(value)) // what is no number says nothing
			s.remark(string(key), value)
		default:
			s.structure(string(key), value)
		}
	})
	return s
}

func (s *schema) structure(key string, value []byte) {
	switch key {
	case "properties":
		s.properties = memberList(value)
	case "additionalProperties":
		s.additional = value
	case "patternProperties":
		members(value, func(_, v []byte) { s.patterns = append(s.patterns, v) })
	case "items":
		if len(value) > 0 && value[0] == '[' { // a tuple before 2020-12
			elements(value, func(v []byte) { s.prefix = append(s.prefix, v) })
			return
		}
		s.items = value
	case "prefixItems":
		elements(value, func(v []byte) { s.prefix = append(s.prefix, v) })
	case "allOf":
		elements(value, func(v []byte) { s.allOf = append(s.allOf, v) })
	case "anyOf", "oneOf":
		elements(value, func(v []byte) { s.anyOf = append(s.anyOf, v) })
	}
}

// remark keeps a short value as a JSDoc tag.
func (s *schema) remark(key string, value []byte) {
	const short = 40
	if len(value) <= short && !strings.ContainsAny(string(value), "{[") {
		s.remarks = append(s.remarks, "@"+key+" "+string(value))
	}
}

// memberList gives the members of an object; of two with one name the first.
func memberList(object []byte) []member {
	var list []member
	members(object, func(key, value []byte) {
		name := unquote(slices.Concat([]byte{'"'}, key, []byte{'"'}))
		if !slices.ContainsFunc(list, func(m member) bool { return m.name == name }) {
			list = append(list, member{name, value})
		}
	})
	return list
}

// texts gives the strings of a JSON string or array of strings.
func texts(value []byte) []string {
	if len(value) > 0 && value[0] == '"' {
		return []string{unquote(value)}
	}
	var list []string
	elements(value, func(v []byte) { list = append(list, unquote(v)) })
	return list
}

// object tells whether s describes an object by its members.
func (s *schema) object() bool {
	return slices.Contains(s.types, "object") ||
		len(s.types) == 0 && (len(s.properties) > 0 || s.additional != nil || len(s.patterns) > 0)
}

// mergeable tells whether s is nothing but members of an object or says nothing of
// the type at all, so that it can be merged into another object.
func (s *schema) mergeable() bool {
	plain := s.ref == "" && s.enum == nil && s.constant == nil && !s.never && !s.nullable &&
		len(s.allOf) == 0 && len(s.anyOf) == 0 && s.items == nil && s.prefix == nil &&
		s.additional == nil && s.patterns == nil
	return plain && (len(s.types) == 0 || len(s.types) == 1 && s.types[0] == "object")
}

// silent tells whether s says nothing of the type.
func (s *schema) silent() bool {
	return s.mergeable() && len(s.types) == 0 && len(s.properties) == 0
}

// find follows a JSON pointer (RFC 6901) from raw; nil when it leads nowhere.
func find(raw []byte, pointer string) []byte {
	for pointer != "" {
		if pointer[0] != '/' {
			return nil
		}
		step, rest, deeper := strings.Cut(pointer[1:], "/")
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		raw = child(raw, step)
		if raw == nil || !deeper {
			return raw
		}
		pointer = "/" + rest
	}
	return raw
}

func child(raw []byte, step string) []byte {
	var found []byte
	if len(raw) > 0 && raw[0] == '[' {
		i := 0
		elements(raw, func(v []byte) {
			if strconv.Itoa(i) == step {
				found = v
			}
			i++
		})
		return found
	}
	members(raw, func(key, value []byte) {
		if found == nil && unquote(slices.Concat([]byte{'"'}, key, []byte{'"'})) == step {
			found = value
		}
	})
	return found
}

// step writes one step of a JSON pointer.
func step(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// refs lists what raw refers to, in order, with repetitions.
func refs(raw []byte) []string {
	const key = `"$ref"`
	var list []string
	for text := string(raw); ; {
		i := strings.Index(text, key)
		if i < 0 {
			return list
		}
		text = strings.TrimLeft(text[i+len(key):], " \t\r\n")
		value, ok := strings.CutPrefix(text, ":")
		if !ok {
			continue
		}
		value = strings.TrimLeft(value, " \t\r\n")
		if strings.HasPrefix(value, `"`) {
			list = append(list, unquote([]byte(value[:skip([]byte(value[:min(len(value), 512)]), 0)])))
		}
	}
}

// valid gives raw; nil when it is no JSON.
func valid(raw json.RawMessage) []byte {
	if len(raw) == 0 || !json.Valid(raw) {
		return nil
	}
	return bytes.TrimSpace(raw)
}
