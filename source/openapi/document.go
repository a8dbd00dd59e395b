package openapi

import (
	"net/url"
	"strconv"
	"strings"
)

// A document is one file of a description, as JSON.
type document struct {
	name string   // beside the pointer in notes; "" for the file that was named
	base *url.URL // where it came from; nil for text
	raw  []byte   // valid JSON

	maps  map[*byte]map[string][]byte // large objects that references have looked into, by their first byte
	found map[string]hit              // references already followed
	ids   map[string]node             // "$id" and "$anchor" of its schemas; nil until asked for
}

// A node is one value of a document, not decoded.
type node struct {
	doc *document
	ptr string // JSON pointer
	raw []byte // nil: absent
}

func (d *document) root() node { return node{d, "", d.raw} }

// where names the place for a note.
func (n node) where() string {
	if n.doc.name == "" {
		return n.ptr
	}
	return n.doc.name + "#" + n.ptr
}

func (n node) present() bool { return n.raw != nil && sortOf(n.raw) != 'n' }

func (n node) get(name string) node {
	return node{n.doc, n.ptr + "/" + escape(name), n.value(name)}
}

func (n node) value(name string) []byte {
	if len(n.raw) < manyLookups {
		return lookup(n.raw, name)
	}
	return n.doc.step(n.raw, name)
}

func (n node) str(name string) string { return str(n.value(name)) }

// object lists the members as nodes.
func (n node) object() []member { return members(n.raw) }

func (n node) child(m member) node { return node{n.doc, n.ptr + "/" + escape(m.name), m.raw} }

// array lists the elements as nodes.
func (n node) array() []node {
	list := elements(n.raw)
	nodes := make([]node, len(list))
	for i := range list {
		nodes[i] = node{n.doc, n.ptr + "/" + strconv.Itoa(i), list[i]}
	}
	return nodes
}

// strings lists the strings of an array.
func (n node) strings() []string {
	var list []string
	for _, raw := range elements(n.raw) {
		if s, ok := text(raw); ok {
			list = append(list, s)
		}
	}
	return list
}

// manyLookups is the size, in bytes, above which an object's members are indexed:
// the top of a description and its operations are asked again and again.
const manyLookups = 2 << 10

// step gives one member or element, by its token in a JSON pointer (RFC 6901).
func (d *document) step(raw []byte, token string) []byte {
	switch sortOf(raw) {
	case '{':
		if len(raw) < manyLookups {
			return lookup(raw, token)
		}
		index := d.maps[&raw[0]]
		if index == nil {
			index = map[string][]byte{}
			for _, m := range members(raw) {
				index[m.name] = m.raw
			}
			if d.maps == nil {
				d.maps = map[*byte]map[string][]byte{}
			}
			d.maps[&raw[0]] = index
		}
		return index[token]
	case '[':
		if i, err := strconv.Atoi(token); err == nil && i >= 0 {
			if list := elements(raw); i < len(list) {
				return list[i]
			}
		}
	}
	return nil
}

// escape makes name a token of a JSON pointer.
func escape(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return name
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func unescape(token string) string {
	if !strings.Contains(token, "~") {
		return token
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}
