package catalog

import (
	"bytes"
	"net/url"
	"strings"

	executor "github.com/open-executor/executor"
)

// The two schemas of a tool. Pointers to show begin with their names.
const (
	input = iota
	output
	sides
)

var sideNames = [sides]string{"/input", "/output"}

// A target is a schema that others refer to. What input and output share is a
// target of the input.
type target struct {
	side int
	ref  string // "#/$defs/Name"
}

// A graph knows what a tool's schemas refer to. It reads shared schemas as it comes
// to them: a manifest may hold thousands.
type graph struct {
	roots   [sides]*schema           // nil: none
	defs    [sides]map[string][]byte // :: reference → schema that only this tool has
	shared  *executor.Manifest
	uses    map[target]int // how often it is referred to; absent: not counted
	schemas map[target]*schema
}

// countedBytes bounds how much of widely linked schemas is read to count uses.
// What was not counted has a name of its own.
const countedBytes = 128 << 10

func newGraph(m *executor.Manifest, in, out []byte) *graph {
	g := &graph{shared: m, uses: map[target]int{}, schemas: map[target]*schema{}}
	for side, raw := range [sides][]byte{in, out} {
		g.defs[side] = map[string][]byte{}
		if raw = valid(raw); raw == nil {
			continue
		}
		g.roots[side] = parse(raw)
		members(raw, func(key, value []byte) {
			if k := string(key); k == "$defs" || k == "definitions" {
				for _, m := range memberList(value) {
					g.defs[side]["#/"+k+step(m.name)] = m.raw
				}
			}
		})
	}
	g.countUses()
	return g
}

// countUses walks what the roots refer to, nearest first.
func (g *graph) countUses() {
	var queue []target
	count := func(side int, raw []byte) {
		for _, ref := range refs(raw) {
			if t, ok := g.resolve(side, ref); ok {
				if g.uses[t]++; g.uses[t] == 1 {
					queue = append(queue, t)
				}
			}
		}
	}
	for side, root := range g.roots {
		if root == nil {
			continue
		}
		if root.ref != "" {
			count(side, []byte(`"$ref":`+quote(root.ref)))
		}
		members(root.raw, func(key, value []byte) {
			if k := string(key); k != "$ref" && k != "$defs" && k != "definitions" {
				count(side, value)
			}
		})
	}
	for read := 0; len(queue) > 0 && read < countedBytes; queue = queue[1:] {
		raw := g.raw(queue[0])
		read += len(raw)
		if queue[0].ref != "#" { // a root is counted
			count(queue[0].side, raw)
		}
	}
}

// resolve finds what ref means in the schema of one side.
func (g *graph) resolve(side int, ref string) (target, bool) {
	if strings.Contains(ref, "%") {
		if plain, err := url.PathUnescape(ref); err == nil {
			ref = plain
		}
	}
	t := target{side, ref}
	raw := g.raw(t)
	if raw == nil {
		return t, false
	}
	if side == output && ref != "#" && bytes.Equal(g.raw(target{input, ref}), raw) {
		t.side = input
	}
	return t, true
}

func (g *graph) raw(t target) []byte {
	if raw, ok := g.defs[t.side][t.ref]; ok {
		return raw
	}
	if name, ok := strings.CutPrefix(t.ref, "#/$defs/"); ok {
		if raw, ok := g.shared.Defs[name]; ok {
			return raw
		}
		if name, inner, ok := strings.Cut(name, "/"); ok {
			if raw, ok := g.shared.Defs[name]; ok {
				return find(raw, "/"+inner)
			}
		}
	}
	pointer, ok := strings.CutPrefix(t.ref, "#")
	if !ok || g.roots[t.side] == nil {
		return nil
	}
	return find(g.roots[t.side].raw, pointer)
}

func (g *graph) schema(t target) *schema {
	s, ok := g.schemas[t]
	if !ok {
		s = parse(g.raw(t))
		g.schemas[t] = s
	}
	return s
}

// Smaller targets that are no objects are shown where they are used.
const smallSchema = 300 // bytes

// inline tells whether a target is shown where it is used and not under a name. A
// circle of shared schemas always has one that is not: it is referred to from
// without and from within.
func (g *graph) inline(t target) bool {
	raw := g.raw(t)
	if g.uses[t] == 1 && shared(t.ref) {
		return true
	}
	return t.ref != "#" && len(raw) <= smallSchema && len(refs(raw)) == 0 && !g.schema(t).object()
}

// shared tells whether ref names a whole shared schema and not a place inside
// another, where it could hold the reference itself.
func shared(ref string) bool {
	for _, prefix := range []string{"#/$defs/", "#/definitions/"} {
		if name, ok := strings.CutPrefix(ref, prefix); ok {
			return !strings.Contains(name, "/")
		}
	}
	return false
}
