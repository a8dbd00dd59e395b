package openapi

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An input gathers the properties of a tool's arguments.
type input struct {
	names    []string
	schemas  [][]byte
	required []string
}

func (in *input) add(name string, schema []byte, required bool) {
	in.names, in.schemas = append(in.names, name), append(in.schemas, schema)
	if required {
		in.required = append(in.required, name)
	}
}

// schema gives nil where there are no arguments.
func (in *input) schema() json.RawMessage {
	if len(in.names) == 0 {
		return nil
	}
	out := []byte(`{"type":"object","properties":{`)
	for i, name := range in.names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(quote(out, name), ':')
		out = append(out, in.schemas[i]...)
	}
	out = append(out, '}')
	if len(in.required) > 0 {
		out = appendStrings(append(out, `,"required":`...), in.required)
	}
	return append(out, `,"additionalProperties":false}`...)
}

func appendStrings(out []byte, list []string) []byte {
	out = append(out, '[')
	for i, s := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = quote(out, s)
	}
	return append(out, ']')
}

// input compiles parameters and body, and fills the binding.
func (c *compiler) input(op operation, b *binding) *input {
	var in input
	list, form := c.parameters(op)
	bodies := c.bodies(op, list, form)
	wire := slices.DeleteFunc(slices.Clone(list), func(p node) bool { return p.str("in") == "body" })
	args := argNames(wire, len(bodies) > 0)
	for i, n := range wire {
		p := c.param(n, args[i])
		b.Params = append(b.Params, p)
		required := p.In == "path" || yes(lookup(n.raw, "required")) && !c.security.supplies(n, op.own.get("security"))
		in.add(p.Arg, c.paramSchema(n, p), required)
	}
	c.putBodies(&in, b, bodies)
	return &in
}

var blankIn = regexp.MustCompile(`\{([^{}]+)\}`)

// parameters merges those of the path item and of the operation, the latter
// winning, adds what the path names and nobody declares, and sets the parts of a
// Swagger 2 form apart.
func (c *compiler) parameters(op operation) (list, form []node) {
	at := map[string]int{}
	layers := slices.Concat([]node{op.own}, op.item)
	for _, layer := range slices.Backward(layers) {
		from := layer.get("parameters")
		if from.present() && sortOf(from.raw) != '[' {
			c.notes.add(from.where(), "parameters is not an array")
		}
		for _, n := range from.array() {
			p, ok := c.follow(n)
			name, place := p.str("name"), p.str("in")
			if !ok || sortOf(p.raw) != '{' || name == "" || !slices.Contains(places, place) {
				if ok {
					c.notes.add(n.where(), fmt.Sprintf("the parameter %q in %q is not usable", name, place))
				}
				continue
			}
			if c.ignored(op, p, name, place) {
				continue
			}
			key := place + " " + name
			if place == "body" {
				key = place
			}
			if i, twice := at[key]; twice {
				list[i] = p
				continue
			}
			at[key] = len(list)
			list = append(list, p)
		}
	}
	for _, m := range blankIn.FindAllStringSubmatch(op.path, -1) {
		if _, ok := at["path "+m[1]]; ok {
			continue
		}
		at["path "+m[1]] = len(list)
		where := op.own.where()
		c.notes.add(where, fmt.Sprintf("the path names %q, which is not declared: a string", m[1]))
		raw := append(quote([]byte(`{"in":"path","required":true,"type":"string","schema":{"type":"string"},"name":`), m[1]), '}')
		list = append(list, node{op.own.doc, op.own.ptr, raw})
	}
	for i := 0; i < len(list); {
		if list[i].str("in") == "formData" {
			form = append(form, list[i])
			list = slices.Delete(list, i, i+1)
			continue
		}
		i++
	}
	return list, form
}

var places = []string{"path", "query", "header", "cookie", "querystring", "body", "formData"}

// setElsewhere are headers in lower case.
var setElsewhere = []string{
	"accept", "content-type", "authorization",
	"accept-encoding", "connection", "content-length", "host", "te", "trailer", "transfer-encoding", "upgrade",
}

// ignored tells of parameters that are set elsewhere: three headers by the
// specification, those of the message itself when it is sent, a credential by the
// connection, and a path parameter without a place in the path.
func (c *compiler) ignored(op operation, p node, name, place string) bool {
	switch place {
	case "header":
		if slices.Contains(setElsewhere, strings.ToLower(name)) {
			return true
		}
	case "path":
		if !strings.Contains(op.path, "{"+name+"}") {
			c.notes.add(p.where(), fmt.Sprintf("the path has no place for the parameter %q", name))
			return true
		}
	}
	return c.security.isKey(name, place)
}

// argNames gives each parameter its property. Of a name that occurs in several
// places the path keeps it, then query, querystring, header, cookie; the others
// have their place appended.
func argNames(list []node, body bool) []string {
	args := make([]string, len(list))
	taken := map[string]bool{"body": body, "content_type": body}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return slices.Index(places[:], argPlace(list[a])) - slices.Index(places[:], argPlace(list[b]))
	})
	for _, i := range order {
		arg := list[i].str("name")
		if taken[arg] {
			arg += "_" + list[i].str("in")
		}
		for taken[arg] {
			arg += "_"
		}
		taken[arg] = true
		args[i] = arg
	}
	return args
}

func argPlace(n node) string {
	if place := n.str("in"); place != "querystring" {
		return place
	}
	return "query"
}

// param fills the binding of one parameter.
func (c *compiler) param(n node, arg string) param {
	p := param{Arg: arg, Name: n.str("name"), In: n.str("in")}
	if c.swagger {
		p.Style, p.Explode = collection(n.str("collectionFormat"), p.In)
		return p
	}
	p.Reserved = yes(lookup(n.raw, "allowReserved"))
	if content := n.get("content"); p.In == "querystring" || lookup(n.raw, "schema") == nil {
		if ms := content.object(); len(ms) > 0 {
			p.Media = ms[0].name
			return p
		}
	}
	p.Style, p.Explode = c.style(n, p.In)
	p.Brackets = p.Style == "deepObject"
	return p
}

var styles = map[string][]string{ // the first is the default
	"path":        {"simple", "label", "matrix"},
	"query":       {"form", "spaceDelimited", "pipeDelimited", "deepObject"},
	"header":      {"simple"},
	"cookie":      {"form", "cookie"},
	"querystring": {"form"},
}

// style reads style and explode, of a parameter or of an encoding.
func (c *compiler) style(n node, in string) (string, bool) {
	known := styles[in]
	style := n.str("style")
	if !slices.Contains(known, style) {
		if style != "" {
			c.notes.add(n.where(), fmt.Sprintf("the style %q does not go with %q", style, in))
		}
		style = known[0]
	}
	if explode := lookup(n.raw, "explode"); explode != nil {
		return style, yes(explode)
	}
	return style, style == "form" || style == "cookie"
}

// paramSchema compiles the schema of one parameter, with what stands beside it.
func (c *compiler) paramSchema(n node, p param) []byte {
	schema := n.get("schema")
	if c.swagger {
		schema = n
	} else if p.Media != "" {
		if media, ok := c.follow(n.get("content").get(p.Media)); ok {
			schema = media.get("schema")
		}
	}
	var over []member
	if s := c.prose(n.get("description")); s != "" {
		over = append(over, member{"description", []byte(`"description"`), quote(nil, s)})
	}
	if yes(lookup(n.raw, "deprecated")) {
		over = append(over, member{"deprecated", []byte(`"deprecated"`), []byte("true")})
	}
	if example := lookup(n.raw, "example"); example != nil && !c.swagger {
		over = append(over, member{"example", []byte(`"example"`), example})
	}
	return c.schemas.render(schema, request, over)
}
