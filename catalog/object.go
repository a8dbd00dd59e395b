package catalog

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// object writes the members of an object type, or a record where it has none.
func (p *printer) object(s *schema, at place) kind {
	record := p.record(s, at)
	if len(s.properties) == 0 {
		switch {
		case record.text != "":
			return record
		case string(s.additional) == "false":
			return plain("Record<string, never>")
		}
		return plain("Record<string, unknown>")
	}
	c := p.cut(at)
	if at.depth >= c.depth && !p.leads(at) {
		return plain(fmt.Sprintf("Record<string, unknown> /* %d more: %s */", len(s.properties), p.hint(at)))
	}
	lines := p.members(s, at, c.members)
	if left := len(s.properties) - len(lines); left > 0 {
		lines = append(lines, fmt.Sprintf("/* %d more: %s */", left, p.hint(at)))
	}
	t := plain(braces(lines))
	if record.text != "" {
		t = intersection([]kind{t, record})
	}
	return t
}

// members writes at most limit members, the required ones and those that lead to
// what was asked for before others, in the order of the schema.
func (p *printer) members(s *schema, at place, limit int) []string {
	below := func(m member) place {
		inner := at.to("/properties" + step(m.name))
		inner.depth++
		return inner
	}
	wanted := func(m member) bool {
		inner := below(m)
		return slices.Contains(s.required, m.name) || p.leads(inner) || p.enter(inner).full
	}
	spare := limit
	for _, m := range s.properties {
		if wanted(m) {
			spare--
		}
	}
	var lines []string
	for _, m := range s.properties {
		switch {
		case p.used > p.limit:
			return lines
		case wanted(m):
			if len(lines) >= limit && !p.leads(below(m)) && !p.enter(below(m)).full {
				continue
			}
		case spare <= 0:
			continue
		default:
			spare--
		}
		lines = append(lines, p.member(m, slices.Contains(s.required, m.name), p.enter(below(m))))
	}
	return lines
}

// member writes one property with its JSDoc.
func (p *printer) member(m member, required bool, at place) string {
	s := parse(m.raw)
	name := m.name
	if !identifier(name) {
		name = quote(name)
	}
	if !required {
		name += "?"
	}
	line := name + ": " + p.write(s, at).String() + ";"
	if limit := p.cut(at).doc; limit > 0 {
		if doc := comment(s.description, limit, s.tags()); doc != "" {
			line = doc + " " + line
		}
	}
	p.used += len(line)
	return line
}

// tags are the JSDoc tags of a schema.
func (s *schema) tags() []string {
	var tags []string
	if s.format != "" && s.format != "binary" && len(s.format) <= 20 {
		tags = append(tags, "@format "+s.format)
	}
	tags = append(tags, s.remarks...)
	if s.deprecated {
		tags = append(tags, "@deprecated")
	}
	return tags
}

// record writes what additionalProperties and patternProperties say of members
// without a name; empty when they say nothing.
func (p *printer) record(s *schema, at place) kind {
	var values []kind
	for _, raw := range s.patterns {
		values = append(values, p.write(parse(raw), at.to("/patternProperties")))
	}
	if len(s.additional) > 0 && s.additional[0] == '{' {
		values = append(values, p.write(parse(s.additional), at.to("/additionalProperties")))
	}
	if len(values) == 0 {
		return kind{}
	}
	if v := union(values...); v.text != unknown.text || len(s.properties) == 0 {
		return plain("Record<string, " + v.String() + ">")
	}
	return kind{}
}

// braces puts members on one line where they are few and short.
func braces(lines []string) string {
	const short = 80
	text := strings.Join(lines, " ")
	if len(text) <= short && !strings.Contains(text, "\n") && !strings.Contains(text, "/**") {
		return "{ " + strings.TrimSuffix(text, ";") + " }"
	}
	text = strings.Join(lines, "\n")
	return "{\n  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n}"
}

// reference writes what ref means: in place, or by name.
func (p *printer) reference(ref string, at place) kind {
	t, ok := p.graph.resolve(at.side, ref)
	if !ok {
		return unknown
	}
	if !p.graph.inline(t) {
		return p.name(t, at)
	}
	inner := place{side: at.side, pointer: strings.TrimPrefix(t.ref, "#"), depth: at.depth, full: at.full}
	return p.write(p.graph.schema(t), inner)
}

// name gives the name of a target and has it declared.
func (p *printer) name(t target, at place) kind {
	if name, ok := p.names[t]; ok {
		return plain(name)
	}
	base := typeName(t.ref)
	if t.ref == "#" {
		base = [sides]string{"Args", "Result"}[t.side]
	}
	expanded := slices.Contains(p.expand, base)
	if at.depth >= p.cut(at).depth && !expanded {
		return plain("unknown /* expand with " + base + " */")
	}
	name := base
	for i := 2; slices.Contains(slices.Collect(maps.Values(p.names)), name); i++ {
		name = fmt.Sprintf("%s%d", base, i)
	}
	p.names[t] = name
	p.queue = append(p.queue, declared{t, place{side: at.side, depth: at.depth}})
	return plain(name)
}

// hint says how to see what is cut at a place.
func (p *printer) hint(at place) string {
	return "expand with " + strings.ReplaceAll(sideNames[at.side]+at.pointer, "*/", "* /")
}

// typeName makes a name for the type at the end of a reference.
func typeName(ref string) string {
	last := ref[strings.LastIndexByte(ref, '/')+1:]
	var b strings.Builder
	upper := true
	for _, r := range last {
		switch {
		case r >= 'a' && r <= 'z':
			if upper {
				r -= 'a' - 'A'
			}
			b.WriteRune(r)
			upper = false
		case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' && b.Len() > 0:
			b.WriteRune(r)
			upper = false
		default:
			upper = true
		}
	}
	name := b.String()
	switch name {
	case "":
		return "Type"
	case "File", "Record", "Promise", "Array", "Call":
		return name + "_"
	}
	return name
}

func sortedKeys[V any](m map[string]V) iter.Seq[string] {
	return slices.Values(slices.Sorted(maps.Keys(m)))
}
