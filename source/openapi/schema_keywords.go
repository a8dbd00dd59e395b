package openapi

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

const maxExample = 512 // bytes of an example that is kept

// keyword writes one keyword if 2020-12 knows it and its value fits; what does not
// fit is mended or left out, with a note.
func (w *writer) keyword(m member) {
	switch m.name {
	case "title", "description", "format", "pattern", "contentEncoding", "contentMediaType":
		if m.name == "description" {
			m.raw = w.s.prose(w.at, m.raw)
		}
		if string(m.raw) != `""` {
			w.keep(m, sortOf(m.raw) == '"')
		}
	case "deprecated", "readOnly", "writeOnly", "uniqueItems":
		if yes(m.raw) {
			w.put(m.name, []byte("true"))
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		w.limit(m)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		n, err := strconv.ParseFloat(strings.Trim(string(m.raw), `"`), 64)
		if w.mended(m, err == nil && n >= 0 && n < 1e15 && n == float64(int64(n))) {
			w.put(m.name, strconv.AppendInt(nil, int64(n), 10))
		}
	case "enum":
		w.enum(m)
	case "const":
		w.put(m.name, m.raw)
	case "default":
		w.byDefault(m)
	case "example":
		if len(m.raw) <= maxExample && pick(w.ms, "examples") == nil {
			w.put("examples", append(append([]byte{'['}, m.raw...), ']'))
		}
	case "examples":
		if sortOf(m.raw) == '[' && len(m.raw) <= 4*maxExample {
			w.put(m.name, m.raw)
		}
	case "discriminator", "xml":
		if sortOf(m.raw) == '{' {
			w.put(m.name, m.raw)
		}
	default:
		w.applicator(m)
	}
}

// applicator writes the keywords that hold schemas.
func (w *writer) applicator(m member) {
	switch m.name {
	case "items":
		if sortOf(m.raw) == '[' { // a tuple, before 2020-12
			w.list("prefixItems", m.raw, false)
			if more := pick(w.ms, "additionalItems"); more != nil {
				w.sub("items", more, false)
			}
			return
		}
		w.sub(m.name, m.raw, false)
	case "prefixItems":
		w.list(m.name, m.raw, false)
	case "allOf", "anyOf", "oneOf":
		w.list(w.told(m.name), m.raw, true)
	case "not", "if", "then", "else":
		w.sub(m.name, m.raw, true)
	case "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "contains", "propertyNames", "contentSchema":
		if s, ok := text(m.raw); ok && (s == "true" || s == "false") {
			m.raw = []byte(s)
		}
		if kind := sortOf(m.raw); w.mended(m, kind == '{' || kind == 't' || kind == 'f') {
			w.sub(m.name, m.raw, false)
		}
	case "patternProperties", "dependentSchemas":
		w.named(m.name, members(m.raw), m.name == "dependentSchemas")
	case "dependentRequired":
		w.dependentRequired(members(m.raw))
	case "dependencies":
		w.dependencies(m.raw)
	}
}

// told gives "anyOf" for a "oneOf" with a discriminator. That tells the forms apart,
// so descriptions leave them open, and a value of one fits others too: "oneOf" would
// refuse what upstream takes.
func (w *writer) told(name string) string {
	if name == "oneOf" && sortOf(pick(w.ms, "discriminator")) == '{' && pick(w.ms, "anyOf") == nil {
		return "anyOf"
	}
	return name
}

// keep writes a keyword as it is, if it fits.
func (w *writer) keep(m member, fits bool) {
	if w.mended(m, fits) {
		w.put(m.name, m.raw)
	}
}

// mended notes a value that does not fit, and gives fits.
func (w *writer) mended(m member, fits bool) bool {
	if !fits && sortOf(m.raw) != 'n' {
		w.s.note(w.at, `left out of a schema, since its value does not fit: "`+m.name+`": `+cut(string(compact(nil, m.raw)), 60))
	}
	return fits
}

func (w *writer) list(name string, raw []byte, inPlace bool) {
	items := elements(raw)
	if sortOf(raw) == '{' {
		w.s.note(w.at, `an object where an array of schemas belongs: "`+name+`"`)
		items = [][]byte{raw}
	}
	if len(items) == 0 {
		return
	}
	at := w.inner(inPlace)
	if name == "allOf" {
		at.drop = w.at.drop
		for _, item := range items {
			at.drop = append(at.drop, w.s.oneWayNames(item, at)...)
		}
	}
	w.key(name)
	w.out = append(w.out, '[')
	for i, item := range items {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if name != "allOf" && string(compact(nil, item[:min(len(item), 64)])) == `{"nullable":true}` { // schemars writes null so
			item = []byte(`{"type":"null"}`)
		}
		w.out = w.s.write(w.out, item, at, nil)
	}
	w.out = append(w.out, ']')
}

func (w *writer) named(name string, ms []member, inPlace bool) {
	if len(ms) == 0 {
		return
	}
	w.key(name)
	w.out = append(w.out, '{')
	for i, m := range ms {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(append(w.out, m.key...), ':')
		w.out = w.s.write(w.out, m.raw, w.inner(inPlace), nil)
	}
	w.out = append(w.out, '}')
}

func (w *writer) dependentRequired(ms []member) {
	if len(ms) == 0 {
		return
	}
	w.key("dependentRequired")
	w.out = append(w.out, '{')
	for i, m := range ms {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		names := node{w.at.doc, "", m.raw}.strings()
		slices.Sort(names)
		w.out = append(append(w.out, m.key...), ':')
		w.out = appendStrings(w.out, slices.Compact(names))
	}
	w.out = append(w.out, '}')
}

// dependencies splits the keyword of earlier drafts in two.
func (w *writer) dependencies(raw []byte) {
	var names, rest []member
	for _, m := range members(raw) {
		if sortOf(m.raw) == '[' {
			names = append(names, m)
		} else {
			rest = append(rest, m)
		}
	}
	w.dependentRequired(names)
	w.named("dependentSchemas", rest, true)
}

// limit writes a bound. Before 3.1 the exclusive ones are booleans beside the
// others.
func (w *writer) limit(m member) {
	switch m.name {
	case "minimum", "maximum":
		exclusive := "exclusive" + strings.ToUpper(m.name[:1]) + m.name[1:]
		if sortOf(pick(w.ms, exclusive)) == 't' {
			return
		}
	case "exclusiveMinimum", "exclusiveMaximum":
		if kind := sortOf(m.raw); kind == 'f' {
			return
		} else if kind == 't' {
			bound := pick(w.ms, strings.ToLower(strings.TrimPrefix(m.name, "exclusive")))
			if bound == nil {
				return
			}
			m.raw = bound
		}
	}
	number, ok := numeral(m.raw)
	if m.name == "multipleOf" && ok {
		f, err := strconv.ParseFloat(string(number), 64)
		ok = err == nil && f > 0
	}
	if w.mended(m, ok) {
		w.put(m.name, number)
	}
}

// numeral reads a number, also one in quotes. Huge exponents are refused: what
// calculates exactly would run out of memory.
func numeral(raw []byte) ([]byte, bool) {
	raw = bytes.TrimSpace(raw)
	if s, ok := text(raw); ok {
		raw = []byte(strings.TrimSpace(s))
	}
	if f, err := strconv.ParseFloat(string(raw), 64); err != nil || f != f || sortOf(raw) != '0' || bytes.ContainsAny(raw, "xX_pPiI") {
		return nil, false
	}
	if i := bytes.IndexAny(raw, "eE"); i >= 0 && len(raw)-i > 5 {
		return nil, false
	}
	if !validNumber(raw) {
		f, _ := strconv.ParseFloat(string(raw), 64) // parsed above
		return strconv.AppendFloat(nil, f, 'g', -1, 64), true
	}
	return raw, true
}
