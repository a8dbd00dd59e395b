package catalog

import (
	"encoding/json"
	"slices"
	"strings"
)

// A kind is a TypeScript type as text, with what must be known to build larger
// ones of it.
type kind struct {
	text         string
	alternatives []string // of a union; nil: it is none
	intersected  bool     // it needs brackets before "[]"
}

var unknown = plain("unknown")

func plain(text string) kind { return kind{text: text} }

func (k kind) String() string { return k.text }

// operand gives the text as an operand of "[]" and "?".
func (k kind) operand() string {
	if k.alternatives != nil || k.intersected {
		return "(" + k.text + ")"
	}
	return k.text
}

// union joins types with "|", each once. Unknown swallows the others.
func union(list ...kind) kind {
	var all []string
	for _, k := range list {
		if k.text == unknown.text {
			return unknown
		}
		parts := k.alternatives
		if parts == nil {
			parts = []string{k.text}
		}
		for _, part := range parts {
			if part != "never" && !slices.Contains(all, part) {
				all = append(all, part)
			}
		}
	}
	switch {
	case len(all) == 0:
		return plain("never")
	case len(all) == 1:
		for _, k := range list {
			if k.text == all[0] {
				return k
			}
		}
		return plain(all[0])
	}
	return kind{text: strings.Join(all, " | "), alternatives: all}
}

// intersection joins types with "&", each once. Unknown adds nothing.
func intersection(list []kind) kind {
	var parts []kind
	for _, k := range list {
		if k.text != unknown.text && !slices.ContainsFunc(parts, func(o kind) bool { return o.text == k.text }) {
			parts = append(parts, k)
		}
	}
	switch len(parts) {
	case 0:
		return unknown
	case 1:
		return parts[0]
	}
	texts := make([]string, len(parts))
	for i, k := range parts {
		texts[i] = k.text
		if k.alternatives != nil {
			texts[i] = "(" + k.text + ")"
		}
	}
	return kind{text: strings.Join(texts, " & "), intersected: true}
}

// literal writes a JSON value as a literal type.
func literal(value []byte) string {
	const long = 200
	switch {
	case len(value) == 0 || len(value) > long && value[0] != '"':
		return "unknown"
	case value[0] == '"':
		return quote(unquote(value))
	case value[0] == '[':
		var list []string
		elements(value, func(v []byte) { list = append(list, literal(v)) })
		return "[" + strings.Join(list, ", ") + "]"
	case value[0] == '{':
		var list []string
		for _, m := range memberList(value) {
			list = append(list, quote(m.name)+": "+literal(m.raw))
		}
		return "{ " + strings.Join(list, "; ") + " }"
	}
	if !json.Valid(value) {
		return "unknown"
	}
	return string(value)
}
