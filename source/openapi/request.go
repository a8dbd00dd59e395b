package openapi

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/open-executor/executor"
)

// request builds the message that the arguments ask for. Arguments that cannot be
// sent are Invalid and name themselves.
func (b binding) request(ctx context.Context, call executor.Call) (*http.Request, error) {
	given, raw, err := arguments(call.Args)
	if err != nil {
		return nil, err
	}
	u, err := b.url(given)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, b.Method, "", nil)
	if err != nil {
		return nil, broken("method %q cannot be sent", b.Method)
	}
	req.URL, req.Host = u, u.Host
	req.Header.Set("Accept", accept(b.Accept))
	if err := b.head(req.Header, given); err != nil {
		return nil, err
	}
	up := newUpload(ctx, call)
	if err := b.compose(up, given, raw); err != nil {
		_ = up.Close() // the refusal is what matters
		return nil, err
	}
	up.attach(req)
	return req, nil
}

// arguments reads the arguments twice: as values, and as their raw text by name.
func arguments(args json.RawMessage) (object, map[string]json.RawMessage, error) {
	if len(args) == 0 {
		return nil, nil, nil
	}
	v, err := parse(args)
	if err != nil {
		return nil, nil, refuse("", err.Error())
	}
	given, ok := v.(object)
	if !ok {
		return nil, nil, refuse("", "is not an object")
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(args, &raw); err != nil {
		return nil, nil, refuse("", err.Error())
	}
	return given, raw, nil
}

// url gives where the request goes. Everything in it is escaped already, so that
// no later step changes a byte.
func (b binding) url(args object) (*url.URL, error) {
	if b.Base == "" {
		e := broken("the description names no usable server")
		e.Hint = "say where calls go: executor source add … --base-url https://…"
		return nil, e
	}
	u, err := url.Parse(b.Base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, broken("server %q is not an absolute http URL", b.Base)
	}
	template, _, _ := strings.Cut(b.Path, "#")
	template, fixed, _ := strings.Cut(template, "?")
	if !strings.HasPrefix(template, "/") && template != "" {
		template = "/" + template
	}
	filled, err := b.fill(template, args)
	if err != nil {
		return nil, err
	}
	u.RawPath = strings.TrimSuffix(u.EscapedPath(), "/") + filled
	if u.Path, err = url.PathUnescape(u.RawPath); err != nil {
		return nil, broken("path %q cannot be sent", u.RawPath)
	}
	if fixed, err = b.fillQuery(fixed, args); err != nil {
		return nil, err
	}
	query := []string{u.RawQuery, fixed}
	for _, p := range b.Params {
		v, ok := args.get(p.Arg)
		switch {
		case !ok:
		case p.In == "query":
			query = append(query, p.pairs(v)...)
		case p.In == "querystring":
			query = append(query, p.whole(v)...)
		}
	}
	u.RawQuery = join(query, "&")
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// head sets the headers and the cookies that the arguments ask for.
func (b binding) head(h http.Header, args object) error {
	var cookies []string
	for _, p := range b.Params {
		v, ok := args.get(p.Arg)
		if !ok || p.In != "header" && p.In != "cookie" {
			continue
		}
		if p.In == "header" {
			if !isToken(p.Name) {
				return broken("header %q cannot be sent", p.Name)
			}
			if p.Media == "" && len(listing(v, verbatim, p.Explode)) == 0 {
				continue
			}
			value := p.segment(v)
			if i := strings.IndexFunc(value, control); i >= 0 {
				return refuse("/"+p.Arg, fmt.Sprintf("holds %q, which no header may", value[i]))
			}
			h.Set(p.Name, value)
			continue
		}
		for _, pair := range p.pairs(v) {
			if i := strings.IndexFunc(pair, func(r rune) bool { return control(r) || r == ';' }); i >= 0 {
				return refuse("/"+p.Arg, fmt.Sprintf("holds %q, which no cookie may", pair[i]))
			}
			cookies = append(cookies, pair)
		}
	}
	if len(cookies) > 0 {
		h.Set("Cookie", join(append(h.Values("Cookie"), cookies...), "; "))
	}
	return nil
}

// control tells the characters that would end a header or hide in one (RFC 9110,
// section 5.5).
func control(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// isToken tells whether name can name a header (RFC 9110, section 5.6.2).
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r > 0x7f || !unreserved(byte(r)) && !strings.ContainsRune("!#$%&'*+^`|", r)
	})
}

// accept prefers JSON, then the order of the description, then anything.
func accept(media []string) string {
	var ordered []string
	for _, m := range media {
		if carriesJSON(m) {
			ordered = append(ordered, m)
		}
	}
	for _, m := range media {
		if !carriesJSON(m) && m != "*/*" {
			ordered = append(ordered, m)
		}
	}
	if len(ordered) == 0 {
		ordered = []string{"application/json"}
	}
	ordered = ordered[:min(len(ordered), 4)]
	for i := 1; i < len(ordered); i++ {
		ordered[i] += fmt.Sprintf(";q=0.%d", 10-i)
	}
	return strings.Join(append(ordered, "*/*;q=0.5"), ", ")
}

const formMedia = "application/x-www-form-urlencoded"

// baseType gives a media type without its parameters, in lower case.
func baseType(media string) string {
	base, _, err := mime.ParseMediaType(media)
	if err != nil {
		base, _, _ = strings.Cut(media, ";")
	}
	return strings.ToLower(strings.TrimSpace(base))
}

func carriesJSON(media string) bool {
	base := baseType(media)
	return base == "application/json" || base == "text/json" || strings.HasSuffix(base, "+json")
}

// carriesLines tells the media types that are one JSON value a line, or a record.
func carriesLines(media string) bool {
	switch baseType(media) {
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines",
		"application/json-lines", "application/json-seq", "application/x-json-stream":
		return true
	}
	return false
}

// carriesText tells the media types that people read.
func carriesText(media string) bool {
	base := baseType(media)
	if strings.HasPrefix(base, "text/") || strings.HasSuffix(base, "+xml") || strings.HasSuffix(base, "+yaml") {
		return true
	}
	switch base {
	case "application/xml", "application/yaml", "application/x-yaml", "application/javascript",
		"application/graphql", "application/sql", "application/toml", formMedia:
		return true
	}
	return false
}

// join joins what is not empty.
func join(parts []string, sep string) string {
	var b strings.Builder
	for _, part := range parts {
		if part != "" && b.Len() > 0 {
			b.WriteString(sep)
		}
		b.WriteString(part)
	}
	return b.String()
}

// refuse says which argument cannot be sent, and why.
func refuse(pointer, why string) *executor.Error {
	return &executor.Error{
		Code: executor.Invalid, Op: "invoke", Msg: "the request cannot be built", Unsent: true,
		Fields: []executor.FieldError{{Pointer: pointer, Msg: why}},
	}
}

// broken says what is wrong with the description rather than with the arguments.
func broken(format string, values ...any) *executor.Error {
	return &executor.Error{
		Code: executor.Invalid, Op: "invoke", Msg: fmt.Sprintf(format, values...), Unsent: true,
		Hint: "the description of this source is wrong here; correct it and refresh the source",
	}
}
