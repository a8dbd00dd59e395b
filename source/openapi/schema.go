package openapi

import (
	"bytes"
	"slices"
)

// A scope is where in a description a schema stands while it is compiled.
type scope struct {
	doc       *document
	resource  node // innermost schema with an "$id"; else absent
	direction direction
	self      string // name of the def being compiled; "" inside an operation
	inPlace   bool   // still describes the same value as self: no property or item was entered
	depth     int
	drop      []string // names that an enclosing allOf took out of "required"
}

// A direction is which way a value travels. A schema with parts that only one way
// has becomes two.
type direction uint8

const (
	both direction = iota
	request
	response
)

const maxDepth = 300

// A writer compiles one schema into JSON Schema 2020-12.
type writer struct {
	s     *schemas
	at    scope
	raw   []byte
	ms    []member // keywords as they stand in the description
	over  []member // keywords from beside the schema; they win
	out   []byte
	first bool
	types []string // what "type" allows, in the words of JSON Schema; nil: anything
	null  bool     // "nullable"
}

// write appends the compiled form of raw. over holds keywords that stand beside
// the schema, as those of a parameter do.
func (s *schemas) write(out, raw []byte, at scope, over []member) []byte {
	at.depth++
	switch sortOf(raw) {
	case '{':
	case 't', 'f':
		if len(over) == 0 {
			return compact(out, raw)
		}
		raw = []byte("{}")
	case 0, 'n':
		raw = []byte("{}")
	default:
		s.note(at, "a schema is not an object")
		raw = []byte("{}")
	}
	if at.depth > maxDepth {
		s.note(at, "nested too deeply; anything is allowed here")
		return append(out, "{}"...)
	}
	w := &writer{s: s, at: at, raw: raw, ms: members(raw), over: over, out: out, first: true}
	if pick(w.ms, "$id") != nil {
		w.at.resource = node{at.doc, "", raw}
	}
	w.out = append(w.out, '{')
	w.body()
	w.out = append(w.out, '}')
	return w.out
}

func (w *writer) body() {
	if w.at.direction == request && w.s.binary(w.raw) {
		w.put("$ref", []byte(`"`+fileRef+`"`))
		w.annotate("title", "description", "deprecated")
		return
	}
	w.readTypes()
	w.null = yes(pick(w.ms, "nullable")) || yes(pick(w.ms, "x-nullable"))
	if w.null && w.composed() {
		w.nullable()
		return
	}
	if w.null && w.types != nil && !slices.Contains(w.types, "null") {
		w.types = append(w.types, "null")
	}
	if w.reference() {
		return
	}
	w.writeTypes()
	for _, m := range w.ms {
		if pick(w.over, m.name) == nil {
			w.keyword(m)
		}
	}
	w.object()
	w.annotate()
}

// composed tells of schemas that "nullable" cannot be folded into.
func (w *writer) composed() bool {
	for _, key := range []string{"$ref", "allOf", "anyOf", "oneOf", "not"} {
		if pick(w.ms, key) != nil {
			return true
		}
	}
	return false
}

// nullable writes {"anyOf": [schema, null]} with the annotations outside.
func (w *writer) nullable() {
	inner := []byte{'{'}
	for _, m := range w.ms {
		switch m.name {
		case "nullable", "x-nullable", "description", "title", "default", "example", "deprecated":
			continue
		}
		if len(inner) > 1 {
			inner = append(inner, ',')
		}
		inner = append(append(append(inner, m.key...), ':'), m.raw...)
	}
	inner = append(inner, '}')
	w.key("anyOf")
	w.out = append(w.out, '[')
	w.out = w.s.write(w.out, inner, w.at, nil)
	w.out = append(w.out, `,{"type":"null"}]`...)
	w.annotate("title", "description", "deprecated", "default", "example")
}

// annotate writes the named keywords of the schema, and those of over.
func (w *writer) annotate(names ...string) {
	for _, m := range w.ms {
		if slices.Contains(names, m.name) && pick(w.over, m.name) == nil {
			w.keyword(m)
		}
	}
	for _, m := range w.over {
		w.keyword(m)
	}
}

// reference writes a schema that is a reference. Beside it only annotations stay:
// before 3.1 nothing else counts there, and later it may.
func (w *writer) reference() bool {
	var name string
	for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		raw := pick(w.ms, key)
		if raw == nil {
			continue
		}
		ref, ok := text(raw)
		if !ok {
			w.s.note(w.at, `"`+key+`" is not a string`)
			continue
		}
		if key == "$recursiveRef" && ref == "#" && w.at.self != "" {
			name = w.at.self
		} else if name, ok = w.s.refer(w.at, ref); !ok {
			w.annotate("title", "description", "deprecated")
			return true
		}
		w.put("$ref", quote(nil, defsPrefix+name))
		break
	}
	if name == "" {
		return false
	}
	if w.at.inPlace && w.at.self != "" {
		w.s.edges[w.at.self] = append(w.s.edges[w.at.self], name)
	}
	if w.s.siblings {
		return false
	}
	w.annotate("title", "description", "deprecated", "default", "example", "examples", "readOnly", "writeOnly")
	return true
}

func (w *writer) key(name string) {
	if !w.first {
		w.out = append(w.out, ',')
	}
	w.first = false
	w.out = append(quote(w.out, name), ':')
}

// put writes one keyword with a value that is written already.
func (w *writer) put(name string, value []byte) {
	w.key(name)
	w.out = compact(w.out, value)
}

// sub writes one schema inside.
func (w *writer) sub(name string, raw []byte, inPlace bool) {
	w.key(name)
	w.out = w.s.write(w.out, raw, w.inner(inPlace), nil)
}

func (w *writer) inner(inPlace bool) scope {
	at := w.at
	at.inPlace = at.inPlace && inPlace
	at.drop = nil
	return at
}

// object writes "properties" and "required" together: what travels the other way
// only is in neither, and a property may itself say "required: true".
func (w *writer) object() {
	required := []string{}
	drop := w.at.drop
	own := w.s.properties(node{w.at.doc, "", w.raw})
	if own.raw != nil && sortOf(own.raw) != '{' {
		w.s.note(w.at, `"properties" is not an object`)
	}
	if ms := own.object(); len(ms) > 0 {
		w.key("properties")
		w.out = append(w.out, '{')
		at := w.inner(false)
		at.doc = own.doc
		first := true
		for _, m := range ms {
			if w.s.oneWay(m.raw, at) {
				drop = append(drop, m.name)
				continue
			}
			if !first {
				w.out = append(w.out, ',')
			}
			first = false
			w.out = append(append(w.out, m.key...), ':')
			w.out = w.s.write(w.out, m.raw, at, nil)
			if own := lookup(m.raw, "required"); own != nil && sortOf(own) != '[' && yes(own) {
				required = append(required, m.name)
			}
		}
		w.out = append(w.out, '}')
	}
	list := pick(w.ms, "required")
	if kind := sortOf(list); kind != 0 && kind != '[' && kind != 't' && kind != 'f' {
		w.s.note(w.at, `"required" is not an array`)
	}
	for _, item := range elements(list) {
		if name, ok := text(item); ok && !slices.Contains(required, name) {
			required = append(required, name)
		}
	}
	required = slices.DeleteFunc(required, func(name string) bool { return slices.Contains(drop, name) })
	if len(required) > 0 {
		w.key("required")
		w.out = appendStrings(w.out, required)
	}
}

// oneWay tells whether a property travels only in the other direction.
func (s *schemas) oneWay(raw []byte, at scope) bool {
	flag := "readOnly"
	if at.direction == response {
		flag = "writeOnly"
	}
	if at.direction == both {
		return false
	}
	n := node{at.doc, "", raw}
	for range maxHops {
		if yes(lookup(n.raw, flag)) {
			return true
		}
		ref, ok := text(n.value("$ref"))
		if !ok {
			return false
		}
		next, err := s.load.find(n, ref)
		if err != nil {
			return false
		}
		n = next
	}
	return false
}

// oneWayNames lists properties of all branches of an allOf that do not travel in
// this direction, since one branch may require what another declares.
func (s *schemas) oneWayNames(raw []byte, at scope) []string {
	var names []string
	for _, form := range s.branches(node{at.doc, "", raw}, composed[:1]) {
		properties := s.properties(form)
		inner := at
		inner.doc = properties.doc
		for _, m := range properties.object() {
			if s.oneWay(m.raw, inner) {
				names = append(names, m.name)
			}
		}
	}
	return names
}

var composed = []string{"allOf", "anyOf", "oneOf"}

const maxBranches = 200

// branches lists a schema and, under keys, the schemas it is composed of, all
// references followed, each once.
func (s *schemas) branches(n node, keys []string) []node {
	var all []node
	seen := map[*byte]bool{}
	queue := []node{n}
	for len(queue) > 0 && len(all) < maxBranches {
		n := s.target(queue[0])
		queue = queue[1:]
		if len(n.raw) == 0 || seen[&n.raw[0]] {
			continue
		}
		seen[&n.raw[0]] = true
		all = append(all, n)
		for _, key := range keys {
			queue = append(queue, n.get(key).array()...)
		}
	}
	return all
}

// binary tells of a schema that stands for a file's content.
func (s *schemas) binary(raw []byte) bool {
	if sortOf(raw) != '{' || !slices.ContainsFunc(fileWords, func(word []byte) bool { return bytes.Contains(raw, word) }) {
		return false
	}
	kind := str(lookup(raw, "type"))
	if kind == "file" {
		return true
	}
	if kind != "" && kind != "string" {
		return false
	}
	if str(lookup(raw, "format")) == "binary" {
		return true
	}
	encoding := str(lookup(raw, "contentEncoding"))
	media := str(lookup(raw, "contentMediaType"))
	return encoding == "binary" || encoding == "" && media != "" && !isJSON(media) && !isText(media) && !isXML(media)
}

// fileWords are texts without one of which no schema stands for a file.
var fileWords = [][]byte{[]byte(`"binary"`), []byte(`"file"`), []byte(`"contentMediaType"`)}

// properties gives the properties of an object schema, which some descriptions
// take from elsewhere by a reference in their place.
func (s *schemas) properties(n node) node {
	own := n.get("properties")
	if _, ok := text(lookup(own.raw, "$ref")); ok {
		return s.target(own)
	}
	return own
}
