package openapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"path"
	"strings"
)

const (
	defsPrefix = "#/$defs/"
	fileDef    = "File" // reserved for executor.File
	fileRef    = defsPrefix + fileDef
	fileSchema = `{"format":"binary","description":"A file: its text, or an object with its content.","anyOf":[{"type":"string"},{"type":"object","properties":{` +
		`"name":{"type":"string","description":"file name"},"type":{"type":"string","description":"media type"},` +
		`"text":{"type":"string","description":"the content as text"},"base64":{"type":"string","description":"the content in base64"},` +
		`"run":{"type":"string","description":"the run whose output is the content"}},"additionalProperties":false}]}`
)

// schemas compiles schemas and gathers those that tools share. Safe for one
// goroutine.
type schemas struct {
	load     *loader
	siblings bool // keywords beside "$ref" count (3.1 and later)

	defs   map[string]json.RawMessage
	names  map[defKey]string
	taken  map[string]bool
	queue  []pending
	edges  map[string][]string // def → defs that describe the same value
	differ map[place]bool      // schemas with a form for each direction
	homes  map[string]string   // def → where it stands in the description
	here   node                // being compiled; for notes
}

// A place is a schema in a document.
type place struct {
	doc *document
	ptr string
}

type defKey struct {
	place
	direction direction
}

type pending struct {
	name string
	node node
	way  direction
}

func newSchemas(l *loader, version string) *schemas {
	return &schemas{
		load: l, siblings: version != "" && !strings.HasPrefix(version, "3.0"),
		defs: map[string]json.RawMessage{}, names: map[defKey]string{}, taken: map[string]bool{fileDef: true},
		edges: map[string][]string{}, differ: map[place]bool{}, homes: map[string]string{},
	}
}

// render compiles a schema that stands in an operation.
func (s *schemas) render(n node, way direction, over []member) []byte {
	if n.doc == nil {
		return []byte("{}")
	}
	s.here = n
	out := s.write(nil, n.raw, scope{doc: n.doc, direction: way}, over)
	if bytes.Contains(out, []byte(fileRef)) {
		s.file()
	}
	return out
}

// file gives the schema of a file's content.
func (s *schemas) file() []byte {
	s.defs[fileDef] = json.RawMessage(fileSchema)
	return []byte(`{"$ref":"` + fileRef + `"}`)
}

// finish compiles the shared schemas and gives them all.
func (s *schemas) finish() map[string]json.RawMessage {
	for len(s.queue) > 0 {
		p := s.queue[0]
		s.queue = s.queue[1:]
		s.here = p.node
		out := s.write(nil, p.node.raw, scope{doc: p.node.doc, direction: p.way, self: p.name, inPlace: true}, nil)
		if bytes.Contains(out, []byte(fileRef)) {
			s.file()
		}
		s.defs[p.name] = out
	}
	s.breakLoops()
	return s.defs
}

// refer gives the def that ref leads to. False: it leads nowhere; there is a note.
func (s *schemas) refer(at scope, ref string) (string, bool) {
	n, err := s.findIn(at, ref)
	if err != nil {
		s.note(at, err.Error()+"; anything is allowed there")
		return "", false
	}
	where := place{n.doc, n.ptr}
	way := both
	if at.direction != both && s.differs(n) {
		way = at.direction
	}
	key := defKey{where, way}
	if name, ok := s.names[key]; ok {
		return name, true
	}
	name := s.unique(n, way)
	s.names[key], s.homes[name] = name, n.where()
	if way == both {
		way = at.direction
	}
	s.queue = append(s.queue, pending{name, n, way})
	return name, true
}

// findIn resolves a reference: inside the innermost "$id" and from there first.
func (s *schemas) findIn(at scope, ref string) (node, error) {
	from := node{doc: at.doc}
	if at.resource.raw != nil && strings.HasPrefix(ref, "#/") {
		if n := s.load.walk(at.resource, ref[1:]); n.raw != nil {
			n.ptr = "/" + str(lookup(at.resource.raw, "$id")) + n.ptr
			return n, nil
		}
	}
	if id, err := url.Parse(str(lookup(at.resource.raw, "$id"))); err == nil && id.IsAbs() && !strings.HasPrefix(ref, "#") {
		if u, err := id.Parse(ref); err == nil && s.load.named(at.doc, u.String()) {
			return s.load.find(from, u.String())
		}
	}
	return s.load.find(from, ref)
}

// target follows a schema that is a reference; a broken one is itself.
func (s *schemas) target(n node) node {
	if n.doc == nil {
		return n
	}
	for range maxHops {
		ref, ok := text(n.value("$ref"))
		if !ok {
			return n
		}
		next, err := s.load.find(n, ref)
		if err != nil {
			return n
		}
		n = next
	}
	return n
}

// differs tells whether a schema, or one it leads to, has parts that travel one
// way only, or a file, which is written otherwise than it is read.
func (s *schemas) differs(n node) bool {
	first := place{n.doc, n.ptr}
	if known, ok := s.differ[first]; ok {
		return known
	}
	from := map[place]place{first: {}}
	queue := []node{n}
	for len(queue) > 0 {
		here := queue[0]
		queue = queue[1:]
		at := place{here.doc, here.ptr}
		if known, ok := s.differ[at]; ok && !known {
			continue
		}
		if s.differ[at] || directed(here.raw) {
			for ; at != (place{}); at = from[at] {
				s.differ[at] = true
			}
			return true
		}
		for _, ref := range refsIn(here.raw) {
			next, err := s.load.find(here, ref)
			if err != nil {
				continue
			}
			p := place{next.doc, next.ptr}
			if _, seen := from[p]; !seen {
				from[p] = at
				queue = append(queue, next)
			}
		}
	}
	for p := range from {
		s.differ[p] = false
	}
	return false
}

var directedWords = append([][]byte{[]byte(`"readOnly"`), []byte(`"writeOnly"`)}, fileWords...)

func directed(raw []byte) bool {
	for _, word := range directedWords {
		if bytes.Contains(raw, word) {
			return true
		}
	}
	return false
}

// refsIn lists all references in the text of a schema.
func refsIn(raw []byte) []string {
	var refs []string
	for _, word := range [][]byte{[]byte(`"$ref"`), []byte(`"$dynamicRef"`)} {
		for rest := raw; ; {
			i := bytes.Index(rest, word)
			if i < 0 {
				break
			}
			rest = rest[i+len(word):]
			j := blank(rest, 0)
			if j >= len(rest) || rest[j] != ':' {
				continue
			}
			j = blank(rest, j+1)
			if j < len(rest) && rest[j] == '"' {
				refs = append(refs, unquote(rest[j:skipString(rest, j)]))
			}
		}
	}
	return refs
}

// unique names a def after its place, in the alphabet of defs. Where two want one
// name the later has a hash of its place appended.
func (s *schemas) unique(n node, way direction) string {
	name, own := n.ptr, false
	for _, prefix := range []string{"/components/schemas/", "/definitions/", "/components/", "/$defs/"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			name, own = rest, true
			break
		}
	}
	if !own && n.doc.name != "" {
		name = strings.TrimSuffix(path.Base(n.doc.name), path.Ext(n.doc.name)) + name
	}
	name = plainName(unescape(strings.ReplaceAll(strings.Trim(name, "/"), "/", ".")))
	if len(name) > 100 {
		name = name[len(name)-100:]
	}
	if name == "" {
		name = "root"
	}
	if way == request {
		name += ".request"
	}
	if s.taken[name] {
		name += "_" + short(n.doc.name+"#"+n.ptr)
	}
	for s.taken[name] {
		name += "_"
	}
	s.taken[name] = true
	return name
}

// plainName keeps letters, digits, ".", "_" and "-"; any run of others is one "_".
func plainName(name string) string {
	var b strings.Builder
	gap := false
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_' {
			if gap {
				b.WriteByte('_')
			}
			gap = false
			b.WriteByte(c)
			continue
		}
		gap = b.Len() > 0
	}
	return b.String()
}

// short gives 8 hex digits of a hash.
func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// breakLoops opens defs that lead back to themselves without entering a property
// or an item: a value could not be checked against them in finite time.
func (s *schemas) breakLoops() {
	const visiting, done = 1, 2
	state := map[string]int{}
	var visit func(name string)
	visit = func(name string) {
		state[name] = visiting
		for _, next := range s.edges[name] {
			switch state[next] {
			case visiting:
				s.defs[name] = json.RawMessage("{}")
				s.load.notes.add(s.homes[name], "the schema is made of nothing but itself; anything is allowed")
			case 0:
				visit(next)
			}
		}
		state[name] = done
	}
	for _, name := range sortedKeys(s.edges) {
		if state[name] == 0 {
			visit(name)
		}
	}
}

// prose gives a description, which may be a reference to a file of text.
func (s *schemas) prose(at scope, raw []byte) []byte {
	if sortOf(raw) != '{' {
		return raw
	}
	if n := s.target(node{at.doc, "", raw}); sortOf(n.raw) == '"' {
		return n.raw
	}
	return raw
}

func (s *schemas) note(at scope, text string) { s.load.notes.add(s.here.where(), text) }
