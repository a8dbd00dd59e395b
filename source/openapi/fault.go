package openapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/open-executor/executor"
)

// faultBytes of a refusal are read; the rest is not.
const faultBytes = 64 << 10

// fault gives upstream's no. A body that breaks off does not make it less of one.
func (a *reply) fault() executor.Result {
	if err := a.read(faultBytes); err != nil {
		a.note("the text of the refusal broke off after %d bytes", len(a.head))
	}
	a.head = a.head[:min(len(a.head), faultBytes)]
	f := &executor.Fault{Status: a.StatusCode, Headers: worth(a.Header)}
	value := bytes.TrimSpace(bytes.TrimPrefix(a.head, []byte("\ufeff")))
	s, err := decodeText(a.head, a.media)
	switch {
	case json.Valid(value) && utf8.Valid(value):
		f.Body, f.Message = value, reason(value, 3)
	case !a.whole && utf8.Valid(a.head[:lastRune(a.head)]):
		f.Body = appendString(nil, string(a.head[:lastRune(a.head)]))
	case err == nil && s != "":
		f.Body = appendString(nil, s)
		if baseType(a.media) == "text/plain" {
			f.Message = oneLine(s)
		}
	}
	if f.Message == "" {
		f.Message = http.StatusText(a.StatusCode)
	}
	if f.Message == "" {
		f.Message = "status " + strconv.Itoa(a.StatusCode)
	}
	return executor.Result{Fault: f, Notes: a.notes}
}

// lastRune gives the length of b without a character cut in its middle.
func lastRune(b []byte) int {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return len(b) - i
			}
			break
		}
	}
	return len(b)
}

// reason finds the sentence for people in the bodies that APIs send with a
// refusal: RFC 9457, OAuth, JSON:API, GraphQL and the habits of the rest. It looks
// no deeper than depth.
func reason(body json.RawMessage, depth int) string {
	if depth == 0 {
		return ""
	}
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		return reason(list[0], depth-1)
	}
	var s string
	if json.Unmarshal(body, &s) == nil {
		return oneLine(s)
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(body, &o) != nil {
		return ""
	}
	read := func(name string) string {
		var s string
		_ = json.Unmarshal(o[name], &s) // another type leaves it empty
		return s
	}
	for _, found := range []string{
		read("message"),
		join([]string{read("error"), read("error_description")}, ": "),
		reasonIn(o["error"], depth-1),
		join([]string{read("title"), read("detail")}, ": "),
		reasonIn(o["errors"], depth-1),
		read("msg"),
		read("reason"),
	} {
		if found != "" {
			return oneLine(found)
		}
	}
	return ""
}

func reasonIn(nested json.RawMessage, depth int) string {
	nested = bytes.TrimSpace(nested)
	if len(nested) == 0 || nested[0] != '{' && nested[0] != '[' {
		return ""
	}
	return reason(nested, depth)
}

// oneLine keeps the first line of s, at most 300 characters of it.
func oneLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	line = strings.TrimSpace(strings.ToValidUTF8(line, "\ufffd"))
	if r := []rune(line); len(r) > 300 {
		line = string(r[:299]) + "…"
	}
	return line
}

// worth gives the headers that a caller can use, names in lower case.
func worth(h http.Header) map[string]string {
	out := map[string]string{}
	for name, values := range h {
		name = strings.ToLower(name)
		if !useful[name] && !strings.HasPrefix(name, "ratelimit") && !strings.HasPrefix(name, "x-ratelimit") &&
			!strings.HasPrefix(name, "x-rate-limit") {
			continue
		}
		value := strings.ToValidUTF8(strings.Join(values, ", "), "\ufffd")
		if name == "www-authenticate" {
			value = challenge(value)
		}
		out[name] = value
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

var useful = map[string]bool{
	"content-type": true, "content-range": true, "content-language": true, "etag": true, "last-modified": true,
	"location": true, "link": true, "retry-after": true, "www-authenticate": true, "allow": true,
	"deprecation": true, "sunset": true, "warning": true, "x-request-id": true, "request-id": true,
	"x-correlation-id": true, "x-amzn-requestid": true, "x-total-count": true, "x-total": true, "x-total-pages": true,
	"x-page": true, "x-per-page": true, "x-next-page": true, "x-prev-page": true, "idempotent-replayed": true,
}

var challengePart = regexp.MustCompile(`(?i)\b(?:realm|scope|error|error_description|resource_metadata)="[^"]*"`)

// challenge keeps of a WWW-Authenticate its scheme and what a person can act on:
// no nonce, no opaque.
func challenge(value string) string {
	scheme, _, _ := strings.Cut(value, " ")
	return join(append([]string{strings.TrimSuffix(scheme, ",")}, challengePart.FindAllString(value, -1)...), " ")
}
