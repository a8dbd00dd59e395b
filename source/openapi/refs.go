package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

const maxHops = 32 // references that lead to references

// follow gives what a chain of references ends in: for everything but schemas.
// What stands beside a reference is dropped, except by those who look. False: the
// chain breaks; there is a note.
func (l *loader) follow(n node) (node, bool) {
	for range maxHops {
		ref, ok := text(n.value("$ref"))
		if !ok {
			return n, true
		}
		next, err := l.find(n, ref)
		if err != nil {
			l.notes.add(n.where(), err.Error())
			return n, false
		}
		n = next
	}
	l.notes.add(n.where(), "the reference never ends")
	return n, false
}

// A hit is what a reference led to.
type hit struct {
	node node
	err  error
}

// find resolves one reference that stands at from.
func (l *loader) find(from node, ref string) (node, error) {
	d := from.doc
	if h, ok := d.found[ref]; ok {
		return h.node, h.err
	}
	if d.found == nil {
		d.found = map[string]hit{}
	}
	nowhere := fmt.Errorf("the reference %q leads nowhere", ref)
	d.found[ref] = hit{node{doc: d}, nowhere} // for one whose own path needs it
	n, err := l.seek(d, ref)
	if err != nil {
		err = fmt.Errorf("the reference %q leads nowhere: %w", ref, err)
	} else if n.raw == nil {
		err = nowhere
	}
	d.found[ref] = hit{n, err}
	return n, err
}

func (l *loader) seek(d *document, ref string) (node, error) {
	file, fragment, _ := strings.Cut(ref, "#")
	if file == "" {
		return l.fragment(d, fragment), nil
	}
	if n, ok := l.ids(d)[ref]; ok {
		return n, nil
	}
	if n, ok := l.ids(d)[file]; ok {
		if fragment == "" {
			return n, nil
		}
		return l.walk(n, fragment), nil
	}
	if d.base == nil {
		return node{doc: d}, errors.New("a description given as text has no other files")
	}
	u, err := d.base.Parse(file)
	if err != nil {
		return node{doc: d}, fmt.Errorf("%q is not a URL", file)
	}
	other, err := l.load(u)
	if err != nil {
		return node{doc: d}, err
	}
	return l.fragment(other, fragment), nil
}

// fragment finds a pointer or an anchor in a document.
func (l *loader) fragment(d *document, fragment string) node {
	if fragment != "" && fragment[0] != '/' {
		if n, ok := l.ids(d)["#"+fragment]; ok {
			return n
		}
		return node{doc: d}
	}
	return l.walk(d.root(), fragment)
}

// walk follows a JSON pointer from n, through references where it meets them.
// Percent signs are escapes (RFC 6901, section 6) unless that finds nothing.
func (l *loader) walk(n node, pointer string) node {
	if plain, err := url.PathUnescape(pointer); err == nil && plain != pointer {
		if found := l.tokens(n, plain); found.raw != nil {
			return found
		}
	}
	return l.tokens(n, pointer)
}

func (l *loader) tokens(n node, pointer string) node {
	if pointer == "" || pointer == "/" {
		return n
	}
	hops := 0
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = unescape(token)
		raw := n.doc.step(n.raw, token)
		for raw == nil {
			ref, ok := text(n.value("$ref"))
			if hops++; !ok || hops > maxHops {
				return node{doc: n.doc, ptr: pointer}
			}
			next, err := l.find(n, ref)
			if err != nil {
				return node{doc: n.doc, ptr: pointer}
			}
			n = next
			raw = n.doc.step(n.raw, token)
		}
		n = node{n.doc, n.ptr + "/" + escape(token), raw}
	}
	return n
}

// ids lists what a document's schemas call themselves: "$id" as written and as
// resolved, and "#anchor". Most documents have none and are not searched.
func (l *loader) ids(d *document) map[string]node {
	if d.ids != nil {
		return d.ids
	}
	d.ids = map[string]node{}
	if bytes.Contains(d.raw, []byte(`"$id"`)) || bytes.Contains(d.raw, []byte(`"$anchor"`)) || bytes.Contains(d.raw, []byte(`"$dynamicAnchor"`)) {
		l.collectIDs(d.root(), 0)
	}
	return d.ids
}

// named tells whether a schema of the document bears ref, less its fragment, as its
// "$id".
func (l *loader) named(d *document, ref string) bool {
	file, _, _ := strings.Cut(ref, "#")
	_, ok := l.ids(d)[file]
	return ok
}

func (l *loader) collectIDs(n node, depth int) {
	if depth > yamlDepth {
		return
	}
	switch sortOf(n.raw) {
	case '{':
		for _, m := range n.object() {
			if s, ok := text(m.raw); ok && s != "" {
				l.addID(n, m.name, s)
				continue
			}
			l.collectIDs(n.child(m), depth+1)
		}
	case '[':
		for _, item := range n.array() {
			l.collectIDs(item, depth+1)
		}
	}
}

func (l *loader) addID(n node, keyword, value string) {
	switch keyword {
	case "$anchor", "$dynamicAnchor":
		if _, taken := n.doc.ids["#"+value]; !taken {
			n.doc.ids["#"+value] = n
		}
	case "$id":
		n.doc.ids[value] = n
		if n.doc.base != nil {
			if u, err := n.doc.base.Parse(value); err == nil {
				n.doc.ids[u.String()] = n
			}
		}
	}
}
