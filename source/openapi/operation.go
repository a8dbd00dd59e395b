package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-executor/executor"
)

const maxText = 4 << 10 // bytes of a tool's description

// A compiler turns one description into a manifest.
type compiler struct {
	*loader
	cfg      config
	doc      node
	swagger  bool // Swagger 2
	schemas  *schemas
	security security
	hosts    map[string]bool
}

// An operation is one method of one path.
type operation struct {
	method string // upper case
	path   string
	item   []node // the path item, and what its $ref leads to
	own    node   // the operation
}

// shared gives what the path item says under name: itself first.
func (op operation) shared(name string) node {
	for _, layer := range op.item {
		if n := layer.get(name); n.present() {
			return n
		}
	}
	return op.item[0].get(name)
}

func (c *compiler) compile() (executor.Manifest, error) {
	if err := c.recognise(); err != nil {
		return executor.Manifest{}, err
	}
	c.schemas = newSchemas(c.loader, c.doc.str("openapi"))
	c.security = c.readSecurity()
	ops := c.operations()
	named := toolNames(ops)
	m := executor.Manifest{Tools: make([]executor.Tool, 0, len(ops)), Found: len(ops)}
	for i, op := range ops {
		m.Tools = append(m.Tools, c.tool(op, named[i]))
	}
	slices.SortFunc(m.Tools, func(a, b executor.Tool) int { return strings.Compare(string(a.Name), string(b.Name)) })
	if len(ops) == 0 {
		c.notes.add("/paths", "the description has no operations")
	}
	info := c.doc.get("info")
	m.Title, m.Description = c.prose(info.get("title")), cut(c.prose(info.get("description")), maxText)
	m.Version = strings.Trim(string(compact(nil, info.value("version"))), `"`) // YAML makes a number of 1.0
	m.Defs = c.schemas.finish()
	m.Auth, m.Public = c.security.auths, c.security.public()
	m.Hosts = slices.Sorted(maps.Keys(c.hosts))
	m.Notes = c.notes.all()
	return m, nil
}

// recognise refuses what is not a description, and says what it is instead.
func (c *compiler) recognise() error {
	raw := c.doc.raw
	shown := "the description"
	if c.home != nil {
		shown = c.home.Redacted()
	}
	if sortOf(raw) != '{' {
		return invalid(shown+" is not an API description: it is not an object", "give an OpenAPI or Swagger description; 0 operations are usable")
	}
	version := func(key string) string { return strings.Trim(string(compact(nil, c.doc.value(key))), `" `) }
	v3, v2 := version("openapi"), version("swagger")
	switch {
	case strings.HasPrefix(v2, "2"):
		c.swagger = true
	case strings.HasPrefix(v3, "3"):
	case v2 != "":
		return invalid(fmt.Sprintf("%s is Swagger %q: only 2.0 is known", shown, v2), "convert it to OpenAPI 3; 0 operations are usable")
	case sortOf(lookup(raw, "paths")) == '{':
		c.swagger = lookup(raw, "definitions") != nil || lookup(raw, "basePath") != nil
		c.notes.add("", `neither "openapi" nor "swagger" tells a known version`)
	default:
		for _, other := range []string{"asyncapi", "discoveryVersion", "arazzo", "overlay", "__schema", "openrpc"} {
			if lookup(raw, other) != nil {
				return invalid(fmt.Sprintf("%s is not OpenAPI: it has %q at its top", shown, other), "give an OpenAPI or Swagger description; 0 operations are usable")
			}
		}
		return invalid(shown+` is not an API description: it has neither "openapi" nor "swagger" nor "paths"`, "give an OpenAPI or Swagger description; 0 operations are usable")
	}
	return nil
}

// operations lists every method of every path, in the order of the description.
func (c *compiler) operations() []operation {
	var ops []operation
	paths := c.doc.get("paths")
	if paths.present() && sortOf(paths.raw) != '{' {
		c.notes.add("/paths", "it is not an object")
	}
	if paths.raw != nil && lookup(paths.raw, "$ref") != nil {
		paths, _ = c.follow(paths)
	}
	for _, m := range paths.object() {
		if strings.HasPrefix(m.name, "x-") {
			continue
		}
		item := paths.child(m)
		if !strings.HasPrefix(m.name, "/") {
			c.notes.add(item.where(), "the path does not begin with a slash")
		}
		if sortOf(item.raw) != '{' {
			c.notes.add(item.where(), "the path item is not an object")
			continue
		}
		ops = append(ops, c.methods(m.name, item)...)
	}
	return ops
}

var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}

// methods lists the operations of one path item. What stands beside its $ref wins
// over what the $ref leads to.
func (c *compiler) methods(path string, item node) []operation {
	layers := []node{item}
	for here := item; len(layers) < maxHops; {
		ref, ok := text(here.value("$ref"))
		if !ok {
			break
		}
		next, err := c.find(here, ref)
		if err != nil {
			c.notes.add(here.where(), err.Error())
			break
		}
		layers, here = append(layers, next), next
	}
	var ops []operation
	has := map[string]bool{}
	add := func(own node, method string) {
		if has[method] {
			return
		}
		has[method] = true
		ops = append(ops, operation{method, path, layers, c.operation(own)})
	}
	for _, layer := range layers {
		for _, m := range layer.object() {
			if slices.Contains(methods, strings.ToLower(m.name)) {
				add(layer.child(m), strings.ToUpper(m.name))
			}
		}
		more := layer.get("additionalOperations")
		for _, m := range more.object() {
			if !token(m.name) {
				c.notes.add(more.child(m).where(), fmt.Sprintf("%q is not an HTTP method", m.name))
			}
			add(more.child(m), m.name)
		}
	}
	return ops
}

// operation follows an operation that is a reference. A broken one is empty, and
// still a tool.
func (c *compiler) operation(own node) node {
	if sortOf(own.raw) != '{' {
		c.notes.add(own.where(), "the operation is not an object")
		return node{own.doc, own.ptr, []byte("{}")}
	}
	if own.value("$ref") == nil {
		return own
	}
	target, ok := c.follow(own)
	if !ok || sortOf(target.raw) != '{' {
		return node{own.doc, own.ptr, []byte("{}")}
	}
	return target
}

func (c *compiler) tool(op operation, name executor.ToolName) executor.Tool {
	b := binding{Method: op.method, Base: c.base(op), Path: op.path}
	in := c.input(op, &b)
	success := c.success(op)
	b.Accept = success.accept
	effect := effectOf(op)
	if effect == executor.Read {
		b.Page = c.page(&b, success)
	}
	t := executor.Tool{
		Name:       name,
		Effect:     effect,
		Input:      in.schema(),
		Output:     success.schema,
		Tags:       op.own.get("tags").strings(),
		Deprecated: yes(op.own.value("deprecated")),
	}
	t.Description = c.describe(op, b.Page)
	c.security.use(op.own.get("security"))
	t.Binding, _ = json.Marshal(b) // strings, booleans, maps of them: always encodes
	return t
}

// describe joins summary and description; the first line stands alone.
func (c *compiler) describe(op operation, page *paging) string {
	summary, long := c.prose(op.own.get("summary")), c.prose(op.own.get("description"))
	if summary == "" {
		summary = c.prose(op.shared("summary"))
	}
	if long == "" {
		long = c.prose(op.shared("description"))
	}
	summary, long = strings.TrimSpace(summary), strings.TrimSpace(long)
	if summary == long {
		long = ""
	}
	parts := make([]string, 0, 3)
	if summary != "" {
		parts = append(parts, summary)
	}
	if long != "" {
		parts = append(parts, cut(long, maxText-len(cut(summary, maxText/2))-256))
	}
	if len(parts) == 0 {
		parts = append(parts, op.method+" "+op.path)
	}
	if page != nil {
		parts = append(parts, page.sentence())
	}
	return strings.Join(parts, "\n\n")
}

// prose gives a text that may be a reference to a file of text.
func (c *compiler) prose(n node) string {
	if sortOf(n.raw) == '{' && lookup(n.raw, "$ref") != nil {
		if target, ok := c.follow(n); ok {
			n = target
		}
	}
	return str(n.raw)
}

// token tells whether s may be an HTTP method (RFC 9110, section 5.6.2).
func token(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
