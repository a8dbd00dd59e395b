package openapi

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// escaper gives how the values of p are escaped.
func (p param) escaper() escaper {
	switch {
	case p.In == "header", p.Style == "cookie":
		return verbatim
	case p.In == "path" && p.Reserved:
		return pathReserved
	case p.Reserved:
		return reserved
	}
	return strict
}

// segment gives v as it stands in the path (RFC 6570: {v}, {.v} and {;v}), or in a
// header. What has no items, or only null ones, gives "".
func (p param) segment(v any) string {
	esc := p.escaper()
	if p.Media != "" {
		return esc.escape(p.content(v))
	}
	items := listing(v, esc, p.Explode)
	if len(items) == 0 {
		return ""
	}
	switch p.Style {
	case "label":
		if p.Explode {
			return "." + strings.Join(items, ".")
		}
		return "." + strings.Join(items, ",")
	case "matrix":
		return p.matrix(v, items)
	}
	return strings.Join(items, ",")
}

func (p param) matrix(v any, items []string) string {
	name := strict.escape(p.Name)
	if _, ok := v.(object); ok && p.Explode {
		return ";" + strings.Join(items, ";")
	}
	if !p.Explode {
		items = []string{strings.Join(items, ",")}
	}
	var b strings.Builder
	for _, item := range items {
		b.WriteString(";" + name)
		if item != "" {
			b.WriteString("=" + item)
		}
	}
	return b.String()
}

// pairs gives v as it stands in a query, a form or a cookie: "name=value", as
// often as style and explode want. What has no items gives none.
func (p param) pairs(v any) []string {
	esc := p.escaper()
	name := p.escapedName()
	if p.Media != "" {
		return []string{name + "=" + esc.escape(p.content(v))}
	}
	if p.Style == "deepObject" {
		return p.deep(nil, name, v, esc)
	}
	items := listing(v, esc, p.Explode)
	_, isObject := v.(object)
	switch {
	case len(items) == 0:
		return nil
	case p.Explode && isObject:
		return items
	case p.Explode:
		for i, item := range items {
			items[i] = name + "=" + item
		}
		return items
	}
	return []string{name + "=" + strings.Join(items, p.delimiter())}
}

func (p param) escapedName() string {
	if p.Style == "cookie" {
		return p.Name
	}
	return strict.escape(p.Name)
}

func (p param) delimiter() string {
	switch p.Style {
	case "spaceDelimited":
		return "%20"
	case "pipeDelimited":
		return "%7C"
	case "tabDelimited":
		return "%09"
	}
	return ","
}

// listing gives the escaped items of v: one of a plain value; those of an array;
// of an object "name=value" when exploded, else name and value by turns. Null
// items are left out, as RFC 6570 does with undefined ones.
func listing(v any, esc escaper, explode bool) []string {
	var items []string
	switch v := v.(type) {
	case nil:
	case []any:
		for _, item := range v {
			if item != nil {
				items = append(items, esc.escape(plainText(item)))
			}
		}
	case object:
		for _, m := range v {
			if m.value == nil {
				continue
			}
			name, value := esc.escape(m.name), esc.escape(plainText(m.value))
			if !esc.none {
				name = strict.escape(m.name)
			}
			if explode {
				items = append(items, name+"="+value)
			} else {
				items = append(items, name, value)
			}
		}
	default:
		items = append(items, esc.escape(plainText(v)))
	}
	return items
}

// deep appends v in the form a[b][c]=v. The brackets are escaped (RFC 3986 has no
// raw ones in a query). Items that have parts always carry their index: a[][b]
// does not tell where one item ends.
func (p param) deep(to []string, name string, v any, esc escaper) []string {
	switch v := v.(type) {
	case nil:
	case object:
		for _, m := range v {
			to = p.deep(to, name+"%5B"+strict.escape(m.name)+"%5D", m.value, esc)
		}
	case []any:
		i := 0
		for _, item := range v {
			if item == nil {
				continue
			}
			index := strconv.Itoa(i)
			if p.Brackets && plain(item) {
				index = ""
			}
			to = p.deep(to, name+"%5B"+index+"%5D", item, esc)
			i++
		}
	default:
		to = append(to, name+"="+esc.escape(plainText(v)))
	}
	return to
}

func plain(v any) bool {
	switch v.(type) {
	case []any, object:
		return false
	}
	return true
}

// content gives v as p.Media: JSON, or the text itself where the media type is
// another one.
func (p param) content(v any) string {
	if s, ok := v.(string); ok && !carriesJSON(p.Media) {
		return s
	}
	return string(appendJSON(nil, v))
}

// whole gives v as the entire query string (OpenAPI 3.2, in: querystring).
func (p param) whole(v any) []string {
	if o, ok := v.(object); ok && baseType(p.Media) == formMedia {
		var pairs []string
		for _, m := range o {
			pairs = append(pairs, param{Name: m.name, In: "query", Style: "form", Explode: true}.pairs(m.value)...)
		}
		return pairs
	}
	return []string{p.escaper().escape(p.content(v))}
}

// fill puts arguments into the template. A value that would make another path of
// it (nothing, "." or "..") is refused.
func (b binding) fill(template string, args object) (string, error) {
	var path strings.Builder
	for rest := template; ; {
		literal, after, found := strings.Cut(rest, "{")
		path.WriteString(pathReserved.escape(literal))
		if !found {
			return path.String(), nil
		}
		name, after, found := strings.Cut(after, "}")
		if !found {
			return "", broken("path %q has an open brace", template)
		}
		p, ok := b.pathParam(name)
		if !ok {
			return "", broken("path %q wants %q, which is not a parameter", template, name)
		}
		v, _ := args.get(p.Arg)
		value := p.segment(v)
		if value == "" {
			return "", refuse("/"+p.Arg, "is empty, and the path needs it")
		}
		before := path.String()
		before = before[strings.LastIndexByte(before, '/')+1:]
		ending, _, _ := strings.Cut(after, "/")
		if climbs(before + value + ending) {
			return "", refuse("/"+p.Arg, fmt.Sprintf("%q would change the path", plainText(v)))
		}
		path.WriteString(value)
		rest = after
	}
}

// fillQuery puts arguments into the query that stands in a path's template. There a
// value may be empty, and dots lead nowhere.
func (b binding) fillQuery(template string, args object) (string, error) {
	var query strings.Builder
	for rest := template; ; {
		literal, after, found := strings.Cut(rest, "{")
		query.WriteString(queryLiteral.escape(literal))
		if !found {
			return query.String(), nil
		}
		name, after, _ := strings.Cut(after, "}")
		p, ok := b.pathParam(name)
		if !ok {
			return "", broken("query %q wants %q, which is not a parameter", template, name)
		}
		v, _ := args.get(p.Arg)
		query.WriteString(p.segment(v))
		rest = after
	}
}

func (b binding) pathParam(name string) (param, bool) {
	for _, p := range b.Params {
		if p.In == "path" && p.Name == name {
			return p, true
		}
	}
	return param{}, false
}

// climbs tells whether an escaped path holds a "." for a segment, or a ".." between
// slashes of any kind. Escaping does not help: many servers unescape dots and
// slashes before they route, and the call would reach another operation.
func climbs(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		s, err := url.PathUnescape(segment)
		if err != nil {
			continue
		}
		parts := strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '\\' })
		if s == "." || slices.Contains(parts, "..") {
			return true
		}
	}
	return false
}
