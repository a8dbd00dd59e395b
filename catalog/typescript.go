package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// A cut says how much of a type is shown.
type cut struct {
	doc     int // characters of a description
	depth   int // levels of objects
	members int // of one object, and variants of one union
	enums   int // values of one enumeration
}

const unbounded = 1 << 20

// cuts are tried in order until the signature keeps to its budget.
var cuts = []cut{
	{160, 12, unbounded, 64},
	{100, 6, unbounded, 32},
	{80, 4, 60, 16},
	{60, 3, 50, 12},
	{60, 2, 50, 12},
	{40, 2, 25, 8},
	{0, 2, 25, 6},
	{0, 2, 12, 6},
	{0, 2, 8, 4},
	{0, 1, 25, 6},
	{0, 1, 12, 4},
	{0, 1, 6, 3},
	{0, 1, 2, 2},
}

// expandedAhead is how many cuts milder what was asked for is shown.
const expandedAhead = 8

// A printer writes the types of one tool at one cut.
type printer struct {
	graph  *graph
	expand []string
	levels [sides]int
	limit  int // characters after which it gives up
	used   int
	nested int // schemas being written
	names  map[target]string
	queue  []declared // types to declare, in order of use
}

// A declared type is written after the signature.
type declared struct {
	target target
	at     place
}

// A place is where in a schema the printer is.
type place struct {
	side    int
	pointer string // from the root of the side
	depth   int    // objects around it
	full    bool   // it was asked for
}

func (at place) to(steps string) place { at.pointer += steps; return at }

func newPrinter(g *graph, expand []string, levels [sides]int, budget int) *printer {
	return &printer{graph: g, expand: expand, levels: levels, limit: 2*budget + 1000, names: map[target]string{}}
}

// cut gives what holds at a place.
func (p *printer) cut(at place) cut {
	level := p.levels[at.side]
	if at.full {
		level -= expandedAhead
	}
	return cuts[min(max(0, level), len(cuts)-1)]
}

// deepest bounds how far schemas nest, whatever was asked for.
const deepest = 200

// leads tells whether something asked for lies below a place.
func (p *printer) leads(at place) bool {
	return slices.ContainsFunc(p.expand, func(e string) bool {
		return strings.HasPrefix(e, sideNames[at.side]+at.pointer+"/")
	})
}

func (p *printer) enter(at place) place {
	at.full = at.full || slices.Contains(p.expand, sideNames[at.side]+at.pointer)
	return at
}

// arguments writes the parameter list.
func (p *printer) arguments() string {
	s := p.graph.roots[input]
	if s == nil || s.mergeable() && len(s.properties) == 0 {
		return "()"
	}
	mark := "?"
	if len(s.required) > 0 || len(s.allOf)+len(s.anyOf) > 0 || s.ref != "" {
		mark = ""
	}
	return "(args" + mark + ": " + p.root(input, s).String() + ")"
}

// promise writes the type of the result.
func (p *printer) promise() string {
	s := p.graph.roots[output]
	if s == nil {
		return "Promise<unknown>"
	}
	return "Promise<" + p.root(output, s).String() + ">"
}

func (p *printer) root(side int, s *schema) kind {
	if t := (target{side, "#"}); p.graph.uses[t] > 0 {
		return p.name(t, place{side: side})
	}
	return p.write(s, place{side: side})
}

// nameExpanded names the types that were asked for, shown or not.
func (p *printer) nameExpanded() {
	if !slices.ContainsFunc(p.expand, func(e string) bool { return !strings.HasPrefix(e, "/") }) {
		return
	}
	for side, defs := range p.graph.defs {
		for ref := range sortedKeys(defs) {
			p.nameAsked(side, ref)
		}
		for name := range sortedKeys(p.graph.shared.Defs) {
			p.nameAsked(side, "#/$defs/"+name)
		}
	}
}

func (p *printer) nameAsked(side int, ref string) {
	if !slices.Contains(p.expand, typeName(ref)) {
		return
	}
	if t, ok := p.graph.resolve(side, ref); ok && p.graph.uses[t] > 0 {
		p.name(t, place{side: side})
	}
}

// declarations writes the types that were named on the way.
func (p *printer) declarations() []string {
	var list []string
	for i := 0; i < len(p.queue) && p.used <= p.limit; i++ {
		d := p.queue[i]
		name := p.names[d.target]
		at := d.at
		at.pointer = strings.TrimPrefix(d.target.ref, "#")
		if at.full = slices.Contains(p.expand, name); at.full {
			at.depth = 0
		}
		list = append(list, "type "+name+" = "+p.write(p.graph.schema(d.target), at).String()+";")
	}
	return list
}

// spent counts the characters of a signature's types.
func (p *printer) spent(s signature) int {
	n := len(s.args) + len(s.result)
	if p.used > p.limit {
		return p.used // it gave up
	}
	for _, t := range s.types {
		n += len(t) + 2
	}
	return n
}

// write gives the type of a schema.
func (p *printer) write(s *schema, at place) kind {
	at = p.enter(at)
	if p.used > p.limit || p.nested >= deepest {
		return unknown
	}
	p.nested++
	defer func() { p.nested-- }()
	if s.never {
		return plain("never")
	}
	var parts []kind
	if s.ref != "" {
		parts = append(parts, p.reference(s.ref, at))
	}
	merged, rest := p.merge(s, at)
	parts = append(parts, rest...)
	variants, varied := p.variants(s, at)
	if varied {
		parts = append(parts, variants)
	}
	// A bare type beside references and variants repeats what they say.
	if own := p.own(merged, at); own.text != unknown.text && (len(parts) == 0 || telling(merged)) {
		parts = slices.Insert(parts, 0, own)
	}
	t := intersection(parts)
	if s.nullable {
		t = union(t, plain("null"))
	}
	return t
}

// telling tells whether the schema itself says more than a type's name.
func telling(s *schema) bool {
	return len(s.properties) > 0 || s.patterns != nil || s.enum != nil || s.constant != nil ||
		s.items != nil || s.prefix != nil || len(s.additional) > 0 && s.additional[0] == '{'
}

// merge joins the members of allOf into the schema where they are nothing but
// members of one object, and writes the others.
func (p *printer) merge(s *schema, at place) (*schema, []kind) {
	if len(s.allOf) == 0 {
		return s, nil
	}
	merged := *s
	merged.properties, merged.required = slices.Clone(s.properties), slices.Clone(s.required)
	var rest []kind
	for i, raw := range s.allOf {
		sub := parse(raw)
		if t, ok := p.graph.resolve(at.side, sub.ref); sub.ref != "" && ok && p.graph.inline(t) {
			if to := p.graph.schema(t); to.mergeable() {
				sub = to
			}
		}
		if !sub.mergeable() {
			rest = append(rest, p.write(parse(raw), at.to(fmt.Sprintf("/allOf/%d", i))))
			continue
		}
		if len(sub.types) > 0 && len(merged.types) == 0 {
			merged.types = sub.types
		}
		merged.required = append(merged.required, sub.required...)
		for _, m := range sub.properties {
			if !slices.ContainsFunc(merged.properties, func(has member) bool { return has.name == m.name }) {
				merged.properties = append(merged.properties, m)
			}
		}
	}
	return &merged, rest
}

// variants gives the union of anyOf and oneOf. Variants that say nothing of the
// type, such as which members are required, are passed over beside a schema that
// does.
func (p *printer) variants(s *schema, at place) (kind, bool) {
	var list []kind
	c := p.cut(at)
	for i, raw := range s.anyOf {
		sub := parse(raw)
		if sub.silent() {
			if len(s.types) > 0 || telling(s) {
				return kind{}, false
			}
			return unknown, true
		}
		if i >= c.members && !p.leads(at) {
			list = append(list, plain(fmt.Sprintf("unknown /* %d more: %s */", len(s.anyOf)-i, p.hint(at))))
			break
		}
		list = append(list, p.write(sub, at.to(fmt.Sprintf("/anyOf/%d", i))))
	}
	return union(list...), len(list) > 0
}

// own gives the type that the schema's own keywords say.
func (p *printer) own(s *schema, at place) kind {
	switch {
	case s.constant != nil:
		return plain(literal(s.constant))
	case s.enum != nil:
		return p.enum(s.enum, at)
	}
	types := s.types
	if len(types) == 0 {
		switch {
		case s.object():
			types = []string{"object"}
		case s.items != nil || s.prefix != nil:
			types = []string{"array"}
		case s.format == "binary":
			types = []string{"string"}
		}
	}
	var list []kind
	for _, t := range types {
		list = append(list, p.typed(t, s, at))
	}
	if len(list) == 0 {
		return unknown
	}
	return union(list...)
}

func (p *printer) typed(name string, s *schema, at place) kind {
	switch name {
	case "string":
		if s.format == "binary" {
			return kind{text: "File | string", alternatives: []string{"File", "string"}}
		}
		return plain("string")
	case "integer", "number":
		return plain("number")
	case "boolean", "null":
		return plain(name)
	case "file": // Swagger 2
		return kind{text: "File | string", alternatives: []string{"File", "string"}}
	case "array":
		return p.array(s, at)
	case "object":
		return p.object(s, at)
	}
	return unknown
}

// enum writes the values of an enumeration.
func (p *printer) enum(values [][]byte, at place) kind {
	var list []kind
	c := p.cut(at)
	for i, v := range values {
		if i >= c.enums && i+1 < len(values) {
			rest := "unknown"
			if v[0] == '"' {
				rest = "string"
			}
			mark := fmt.Sprintf("%s /* %d more: %s */", rest, len(values)-i, p.hint(at))
			list = append(list, plain(mark))
			break
		}
		l := literal(v)
		p.used += len(l)
		list = append(list, plain(l))
	}
	return union(list...)
}

func (p *printer) array(s *schema, at place) kind {
	rest := unknown
	if s.items != nil {
		rest = p.write(parse(s.items), at.to("/items"))
	}
	if s.prefix == nil {
		return plain(rest.operand() + "[]")
	}
	var list []string
	for i, raw := range s.prefix {
		item := p.write(parse(raw), at.to(fmt.Sprintf("/prefixItems/%d", i)))
		if i < s.minItems {
			list = append(list, item.String())
		} else {
			list = append(list, item.operand()+"?")
		}
	}
	if string(s.items) != "false" {
		list = append(list, "..."+rest.operand()+"[]")
	}
	return plain("[" + strings.Join(list, ", ") + "]")
}
