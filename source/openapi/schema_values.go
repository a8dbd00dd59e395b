package openapi

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// typeWords are words that descriptions use for the types of JSON Schema.
var typeWords = map[string]string{
	"string": "string", "str": "string", "text": "string", "date": "string", "datetime": "string", "date-time": "string",
	"uuid": "string", "uri": "string", "url": "string", "timestamp": "string", "file": "string", "char": "string",
	"integer": "integer", "int": "integer", "int32": "integer", "int64": "integer", "long": "integer",
	"number": "number", "float": "number", "double": "number", "decimal": "number",
	"boolean": "boolean", "bool": "boolean",
	"object": "object", "map": "object", "dict": "object", "hash": "object", "json": "",
	"array": "array", "list": "array",
	"null": "null", "any": "", "mixed": "", "undefined": "",
}

// readTypes puts "type" into the words of JSON Schema. A word nobody knows allows
// anything.
func (w *writer) readTypes() {
	raw := pick(w.ms, "type")
	var words []string
	switch sortOf(raw) {
	case 0:
		return
	case '"':
		words = []string{str(raw)}
	case '[':
		words = node{w.at.doc, "", raw}.strings()
	default:
		w.s.note(w.at, `"type" is not a string`)
		return
	}
	for _, word := range words {
		known, ok := typeWords[strings.ToLower(word)]
		if !ok || word != known && known != "" && word != "file" {
			w.s.note(w.at, `not a type of JSON Schema: "`+cut(word, 40)+`"`)
		}
		if known == "" {
			w.types = nil
			return
		}
		if !slices.Contains(w.types, known) {
			w.types = append(w.types, known)
		}
	}
}

func (w *writer) writeTypes() {
	switch len(w.types) {
	case 0:
	case 1:
		w.put("type", quote(nil, w.types[0]))
	default:
		w.key("type")
		w.out = appendStrings(w.out, w.types)
	}
}

// enum writes the allowed values, each as the type wants it: YAML makes numbers
// and booleans of what was meant as text.
func (w *writer) enum(m member) {
	values := w.values(m.raw)
	if w.mended(m, len(values) > 0) {
		w.key("enum")
		w.out = append(w.out, '[')
		w.out = append(w.out, bytes.Join(values, []byte{','})...)
		w.out = append(w.out, ']')
	}
}

func (w *writer) values(raw []byte) [][]byte {
	var values [][]byte
	seen := map[string]bool{}
	add := func(v []byte) {
		if !seen[string(v)] {
			seen[string(v)] = true
			values = append(values, v)
		}
	}
	for _, item := range elements(raw) {
		if v, ok := w.fit(item); ok {
			add(v)
		} else {
			add(compact(nil, item))
		}
	}
	if len(values) > 0 && w.null {
		add([]byte("null"))
	}
	return values
}

// byDefault writes a default that the schema itself allows. One that it refuses
// would make every call invalid that leaves the value out.
func (w *writer) byDefault(m member) {
	v, ok := w.fit(m.raw)
	if ok {
		if values := w.values(pick(w.ms, "enum")); len(values) > 0 {
			ok = slices.ContainsFunc(values, func(one []byte) bool { return bytes.Equal(one, v) })
		}
	}
	if w.mended(m, ok) {
		w.put(m.name, v)
	}
}

// fit gives raw as one of the types, if it can be read as one.
func (w *writer) fit(raw []byte) ([]byte, bool) {
	v := compact(nil, raw)
	if len(w.types) == 0 {
		return v, true
	}
	kind := map[byte]string{'{': "object", '[': "array", '"': "string", 't': "boolean", 'f': "boolean", 'n': "null", '0': "number"}[sortOf(v)]
	for _, t := range w.types {
		if t == kind || t == "integer" && kind == "number" && !bytes.ContainsAny(v, ".eE") {
			return v, true
		}
	}
	for _, t := range w.types {
		switch {
		case t == "string" && (kind == "number" || kind == "boolean"):
			return quote(nil, string(v)), true
		case (t == "number" || t == "integer") && kind == "string":
			if n, ok := numeral(v); ok && (t == "number" || !bytes.ContainsAny(n, ".eE")) {
				return n, true
			}
		case t == "boolean" && kind == "string":
			if s := strings.ToLower(str(v)); s == "true" || s == "false" {
				return []byte(s), true
			}
		}
	}
	return v, false
}

func validNumber(raw []byte) bool { return json.Valid(raw) && sortOf(raw) == '0' }
