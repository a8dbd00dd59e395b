package openapi

import (
	"bytes"
	"slices"
	"strings"
)

// A content is one media type of a request body.
type content struct {
	media    string
	schema   node
	own      node // the media type object; empty in Swagger 2
	required bool
	about    string
	parts    []node // formData parameters of Swagger 2
	compiled []byte
}

// bodies lists the media types of an operation's body, the preferred one first.
func (c *compiler) bodies(op operation, list, form []node) []content {
	var all []content
	if c.swagger {
		all = c.swaggerBodies(op, list, form)
	} else if own := op.own.get("requestBody"); own.present() {
		rb, ok := c.follow(own)
		if !ok {
			all = []content{{media: "application/json", about: "The description of this body is broken: any JSON."}}
		}
		required, about := yes(lookup(rb.raw, "required")), c.prose(rb.get("description"))
		medias := rb.get("content")
		for _, m := range medias.object() {
			media, _ := c.follow(medias.child(m))
			schema := media.get("schema")
			if item := media.get("itemSchema"); schema.raw == nil && item.raw != nil {
				schema = node{item.doc, item.ptr, append(append([]byte(`{"type":"array","items":`), item.raw...), '}')}
			}
			all = append(all, content{media: m.name, schema: schema, own: media, required: required, about: about})
		}
	}
	json := slices.ContainsFunc(all, func(b content) bool { return isJSON(b.media) })
	for i := range all {
		all[i].compiled = c.bodySchema(&all[i], json)
	}
	slices.SortStableFunc(all, func(a, b content) int { return a.rank(all) - b.rank(all) })
	return all
}

// bodySchema compiles the schema of one media type, and settles "*/*". Where there
// is no JSON, XML may also be given as text.
func (c *compiler) bodySchema(b *content, json bool) []byte {
	raw := bytes.TrimSpace(b.schema.raw)
	bare := raw == nil || string(compact(nil, raw)) == "{}"
	kind := str(lookup(raw, "type"))
	if strings.Contains(b.media, "*") {
		b.media = "application/octet-stream"
		if !bare && kind != "string" && kind != "file" {
			b.media = "application/json"
		}
	}
	switch {
	case isJSON(b.media) || isForm(b.media) || isMultipart(b.media) || isXML(b.media) && json:
		return c.schemas.render(b.schema, request, nil)
	case carriesLines(b.media):
		return c.linesSchema(b.schema, bare || kind == "string")
	case isText(b.media):
		if bare {
			return []byte(`{"type":"string"}`)
		}
		return c.schemas.render(b.schema, request, nil)
	case isXML(b.media):
		if bare || kind == "string" {
			return []byte(`{"type":"string","description":"XML text"}`)
		}
		out := append([]byte(`{"anyOf":[`), c.schemas.render(b.schema, request, nil)...)
		return append(out, `,{"type":"string","description":"XML text"}]}`...)
	}
	if bare || kind == "string" || kind == "file" {
		return c.schemas.file()
	}
	return c.schemas.render(b.schema, request, nil)
}

// linesSchema allows one JSON value a line as an array; the description may speak of
// all lines or of one.
func (c *compiler) linesSchema(schema node, untold bool) []byte {
	if untold {
		return []byte(`{"anyOf":[{"type":"array"},{"type":"string","description":"the lines as text"}]}`)
	}
	one := c.schemas.render(schema, request, nil)
	if hasType(c.schemas.branches(schema, composed), "array") {
		return one
	}
	out := append(append([]byte(`{"anyOf":[`), one...), `,{"type":"array","items":`...)
	return append(append(out, one...), `}]}`...)
}

// putBodies adds "body", and "content_type" where the choice matters: schemas
// differ, the content goes as it is given, or one of them is a patch format, which
// gives the same JSON another meaning.
func (c *compiler) putBodies(in *input, b *binding, all []content) {
	if len(all) == 0 {
		return
	}
	var distinct [][]byte
	var medias []string
	patches := 0
	for _, one := range all {
		medias = append(medias, one.media)
		b.Bodies = append(b.Bodies, body{Media: one.media, Required: one.required, Encoding: c.encoding(one)})
		if !slices.ContainsFunc(distinct, func(s []byte) bool { return bytes.Equal(s, one.compiled) }) {
			distinct = append(distinct, one.compiled)
		}
		if strings.Contains(one.media, "patch") {
			patches++
		}
	}
	var schema []byte
	if about := all[0].about; about != "" {
		schema = append(quote([]byte(`{"description":`), about), `,"anyOf":[`...)
	} else {
		schema = []byte(`{"anyOf":[`)
	}
	for i, s := range distinct {
		if i > 0 {
			schema = append(schema, ',')
		}
		schema = append(schema, s...)
	}
	schema = append(schema, `]}`...)
	if len(distinct) == 1 {
		schema = withDescription(distinct[0], all[0].about)
	}
	required := slices.ContainsFunc(all, func(one content) bool { return one.required })
	in.add("body", schema, required)
	asGiven := !slices.ContainsFunc(b.Bodies, body.structured)
	if len(all) > 1 && (len(distinct) > 1 || patches > 0 || asGiven) {
		choice := quote([]byte(`{"type":"string","description":"Media type of the body.","default":`), medias[0])
		choice = append(appendStrings(append(choice, `,"enum":`...), slices.Compact(medias)), '}')
		in.add("content_type", choice, false)
	}
}

// withDescription adds a description to a compiled schema that has none.
func withDescription(schema []byte, about string) []byte {
	if about == "" || sortOf(schema) == '{' && lookup(schema, "description") != nil {
		return schema
	}
	out := quote([]byte(`{"description":`), about)
	switch string(schema) {
	case "true", "{}":
		return append(out, '}')
	case "false":
		return schema
	}
	return append(append(out, ','), schema[1:]...)
}

// rank orders media types: JSON, form, multipart, text, XML, anything else. Where
// the JSON holds a file, multipart goes first, since JSON cannot carry it.
func (b content) rank(all []content) int {
	switch {
	case strings.HasSuffix(b.media, "json-patch+json"):
		return 14
	case strings.Contains(b.media, "strategic-merge-patch"), strings.Contains(b.media, "apply-patch"):
		return 13
	case strings.HasSuffix(b.media, "merge-patch+json"):
		return 12
	case b.media == "application/json":
		return 10
	case isJSON(b.media):
		return 11
	case isMultipart(b.media):
		if slices.ContainsFunc(all, func(o content) bool { return bytes.Equal(o.compiled, b.compiled) }) && b.holdsFile() {
			return 1
		}
		return 30
	case isForm(b.media):
		return 20
	case isText(b.media):
		return 40
	case isXML(b.media):
		return 50
	}
	return 60
}

func (b content) holdsFile() bool { return bytes.Contains(b.compiled, []byte(fileRef)) }

func isJSON(media string) bool {
	media = bareMedia(media)
	return strings.HasSuffix(media, "/json") || strings.HasSuffix(media, "+json")
}

func isForm(media string) bool { return bareMedia(media) == "application/x-www-form-urlencoded" }

func isMultipart(media string) bool { return strings.HasPrefix(bareMedia(media), "multipart/") }

func isText(media string) bool {
	return strings.HasPrefix(media, "text/") && !isXML(media)
}

func isXML(media string) bool {
	media = bareMedia(media)
	return strings.HasSuffix(media, "/xml") || strings.HasSuffix(media, "+xml")
}

func bareMedia(media string) string {
	media, _, _ = strings.Cut(media, ";")
	return strings.ToLower(strings.TrimSpace(media))
}

// encoding says how each property of a form or multipart body is written, where
// that is not plain text.
func (c *compiler) encoding(b content) map[string]encoding {
	multipart := isMultipart(b.media)
	if !multipart && !isForm(b.media) {
		return nil
	}
	if b.parts != nil {
		return swaggerEncoding(b.parts, b.media)
	}
	all := map[string]encoding{}
	declared := b.own.get("encoding")
	c.eachProperty(b.schema, func(name string, schema node) {
		e := c.partOf(schema)
		if own, _ := c.follow(declared.get(name)); own.present() {
			e = c.declaredPart(own, e, multipart)
		} else if e.Array && !multipart {
			e.Style, e.Explode = "form", true
		}
		if e != (encoding{}) {
			all[name] = e
		}
	})
	if len(all) == 0 {
		return nil
	}
	return all
}

// declaredPart lets an encoding object have its say.
func (c *compiler) declaredPart(own node, e encoding, multipart bool) encoding {
	if media := own.str("contentType"); media != "" {
		e.Media = media
	}
	if multipart {
		return e
	}
	if lookup(own.raw, "style") != nil || lookup(own.raw, "explode") != nil {
		e.Style, e.Explode = c.style(own, "query")
		if own.str("contentType") == "" {
			e.Media = ""
		}
	} else if e.Array {
		e.Style, e.Explode = "form", true
	}
	e.Reserved = yes(lookup(own.raw, "allowReserved"))
	return e
}

// partOf tells files, arrays and objects apart.
func (c *compiler) partOf(schema node) encoding {
	var e encoding
	forms := c.schemas.branches(schema, composed)
	binary := c.anyBinary(forms)
	if hasType(forms, "array") {
		e.Array = true
		forms = c.schemas.branches(items(forms), composed)
		binary = binary || c.anyBinary(forms)
	}
	switch {
	case binary:
		e.Binary = true
	case hasType(forms, "object"):
		e.Media = "application/json"
	}
	return e
}

func (c *compiler) anyBinary(forms []node) bool {
	return slices.ContainsFunc(forms, func(n node) bool { return c.schemas.binary(n.raw) })
}

// items gives the item schema of the first form that has one.
func items(forms []node) node {
	for _, form := range forms {
		if items := form.get("items"); items.present() {
			return items
		}
	}
	return node{}
}

// hasType tells whether a value of one of the forms may be of the type.
func hasType(forms []node, kind string) bool {
	for _, form := range forms {
		own := form.get("type")
		if str(own.raw) == kind || slices.Contains(own.strings(), kind) {
			return true
		}
		if own.raw == nil && (kind == "object" && form.value("properties") != nil || kind == "array" && form.value("items") != nil) {
			return true
		}
	}
	return false
}

// eachProperty visits the properties of an object schema and of its branches.
func (c *compiler) eachProperty(schema node, visit func(name string, schema node)) {
	for _, form := range c.schemas.branches(schema, composed) {
		properties := c.schemas.properties(form)
		for _, m := range properties.object() {
			visit(m.name, properties.child(m))
		}
	}
}
