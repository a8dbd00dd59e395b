package openapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/open-executor/executor"
)

// page says how to go on after this answer: by its Link header (RFC 8288), or by
// what the description tells of its body. Nil when nothing says that there is more.
func (b binding) page(resp *http.Response, value json.RawMessage, call executor.Call) *executor.Page {
	if next := nextLink(resp.Header.Values("Link")); next != "" {
		return b.follow(next, resp, call)
	}
	if b.Page == nil || len(value) == 0 {
		return nil
	}
	v, err := parse(value)
	if err != nil {
		return nil // upstream may repeat a property; then nothing can be told
	}
	more := at(v, b.Page.More)
	if more == false {
		return nil
	}
	cursor := at(v, b.Page.From)
	switch s, isText := cursor.(string); {
	case isText && s == "", cursor == false, cursor == nil && more != true:
		return nil
	case isText && (strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") || b.Page.Cursor == ""):
		return b.follow(s, resp, call)
	case cursor != nil && plain(cursor) && b.Page.Cursor != "":
		return &executor.Page{More: true, Args: appendJSON(nil, object{{b.Page.Cursor, cursor}})}
	}
	page := &executor.Page{More: true}
	if number, ok := b.nextNumber(call.Args); ok {
		page.Args = appendJSON(nil, object{{b.Page.Number, number}})
	}
	return page
}

// nextNumber gives the page number after the one the call asked for. An offset, or
// a call that named none, cannot be counted on.
func (b binding) nextNumber(args json.RawMessage) (json.Number, bool) {
	given, _, err := arguments(args)
	if err != nil || b.Page.Number == "" || !strings.Contains(strings.ToLower(b.Page.Number), "page") {
		return "", false
	}
	v, _ := given.get(b.Page.Number)
	n, err := strconv.ParseInt(plainText(v), 10, 64)
	if err != nil {
		return "", false
	}
	return json.Number(strconv.FormatInt(n+1, 10)), true
}

// follow reads the arguments of the next call from its URL.
func (b binding) follow(next string, resp *http.Response, call executor.Call) *executor.Page {
	page := &executor.Page{Next: next, More: true}
	if resp.Request == nil { // a transport may leave it out
		return page
	}
	base := *resp.Request.URL
	base.User, base.RawQuery = nil, "" // a credential may stand there
	u, err := base.Parse(next)
	if err != nil {
		return page
	}
	page.Next = u.String()
	types := argumentTypes(call.Tool.Input)
	var args object
	for _, p := range b.Params {
		values := u.Query()[p.Name]
		if p.In != "query" || p.Media != "" || len(values) == 0 {
			continue
		}
		if v, ok := typed(values, types[p.Arg], p); ok {
			args = append(args, property{p.Arg, v})
		}
	}
	if len(args) > 0 {
		page.Args = appendJSON(nil, args)
	}
	return page
}

// argumentTypes gives the JSON type of each argument; "" where the schema names
// none by itself.
func argumentTypes(schema json.RawMessage) map[string]string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s) // what cannot be read has no types
	types := map[string]string{}
	for name, raw := range s.Properties {
		var one struct {
			Type any `json:"type"`
		}
		_ = json.Unmarshal(raw, &one) // a boolean schema has no type
		switch t := one.Type.(type) {
		case string:
			types[name] = t
		case []any: // ["integer", "null"]
			for _, each := range t {
				if s, ok := each.(string); ok && s != "null" && types[name] == "" {
					types[name] = s
				}
			}
		}
	}
	return types
}

// typed gives the text of a query as the type its argument wants. Without a type,
// what looks like a number is one.
func typed(values []string, kind string, p param) (any, bool) {
	one := values[len(values)-1]
	number := json.Number(one)
	_, err := strconv.ParseFloat(one, 64)
	isNumber := err == nil && json.Valid([]byte(one))
	switch kind {
	case "integer", "number":
		return number, isNumber
	case "boolean":
		return one == "true", one == "true" || one == "false"
	case "object":
		return nil, false
	case "array":
		if !p.Explode {
			values = strings.Split(one, p.between())
		}
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = v
		}
		return list, true
	case "":
		if isNumber {
			return number, true
		}
	}
	return one, true
}

// between gives what stands between items of p in a query, not escaped.
func (p param) between() string {
	s, _ := url.QueryUnescape(p.delimiter()) // every delimiter is well escaped
	return s
}

// at gives what pointer (RFC 6901) points to in v; nil for nothing. "-1" is the last
// item of an array.
func at(v any, pointer string) any {
	if pointer == "" {
		return nil
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch in := v.(type) {
		case object:
			v, _ = in.get(unescape.Replace(step))
		case []any:
			i, err := strconv.Atoi(step)
			if step == "-1" {
				i, err = len(in)-1, nil
			}
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// nextLink finds the target of rel="next" in Link headers.
func nextLink(headers []string) string {
	for _, h := range headers {
		for {
			_, rest, ok := strings.Cut(h, "<")
			if !ok {
				break
			}
			target, rest, ok := strings.Cut(rest, ">")
			if !ok {
				break
			}
			var next bool
			if next, h = linkParams(rest); next {
				return strings.TrimSpace(target)
			}
		}
	}
	return ""
}

// linkParams reads the parameters of one link up to the comma that ends it, and
// tells whether its relation is "next".
func linkParams(s string) (next bool, rest string) {
	for {
		s = strings.TrimLeft(s, " \t;")
		if s == "" || s[0] == ',' {
			return next, s
		}
		end := strings.IndexAny(s, "=;,")
		if end < 0 {
			return next, ""
		}
		name := strings.TrimSpace(s[:end])
		if s[end] != '=' {
			s = s[end:]
			continue
		}
		var value string
		value, s = linkValue(strings.TrimLeft(s[end+1:], " \t"))
		if strings.EqualFold(name, "rel") {
			for relation := range strings.FieldsSeq(value) {
				next = next || strings.EqualFold(relation, "next")
			}
		}
	}
}

// linkValue reads a token or a quoted string.
func linkValue(s string) (value, rest string) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, ";,")
		if end < 0 {
			return strings.TrimSpace(s), ""
		}
		return strings.TrimSpace(s[:end]), s[end:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case s[i] == '"':
			return b.String(), s[i+1:]
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), ""
}
