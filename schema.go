package executor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/open-executor/executor/internal/shape"
)

// arguments are what a tool is called with, checked: their canonical text, the
// digest of that, and the text fit for a record. Only (*held).arguments makes
// them.
type arguments struct {
	text   json.RawMessage // keys sorted, numbers as they came
	digest string          // of text
	masked json.RawMessage // text with sensitive values replaced
}

// arguments checks raw against the tool's input schema and fills in defaults.
func (m *held) arguments(tool *Tool, raw json.RawMessage) (arguments, error) {
	value, err := decodeArguments(raw)
	if err != nil {
		return arguments{}, err
	}
	in, err := m.input(tool)
	if err != nil {
		return arguments{}, err
	}
	in.shape.Complete(value)
	if in.schema != nil {
		if err := in.schema.Validate(value); err != nil {
			// Wrong defaults are the description's mistake: without them the arguments may fit.
			if value, _ = decodeArguments(raw); in.schema.Validate(value) != nil {
				return arguments{}, invalidArguments(tool.Name, in.shape, err)
			}
		}
	}
	text, err := canonical(value)
	if err != nil {
		return arguments{}, &Error{Code: Internal, Op: "decide", Msg: "arguments cannot be encoded", Err: err}
	}
	a := arguments{text: text, digest: digest(text), masked: text}
	if hidden, changed := in.shape.Mask(value, masked); changed {
		a.masked, err = canonical(hidden)
	}
	return a, err
}

// decodeArguments reads one JSON object; nothing is an empty one.
func decodeArguments(raw json.RawMessage) (map[string]any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return map[string]any{}, nil
	}
	if !utf8.Valid(raw) {
		return nil, &Error{Code: Invalid, Op: "decide", Msg: "the arguments are not valid UTF-8"}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the object")
		}
	}
	object, ok := v.(map[string]any)
	if err != nil || !ok {
		e := &Error{Code: Invalid, Op: "decide", Msg: "the arguments are not a JSON object", Hint: `write an object such as {"limit": 10}`}
		if err != nil {
			e.Fields = []FieldError{{Msg: err.Error()}}
		}
		return nil, e
	}
	if n := unreckonable(object); n != "" {
		return nil, &Error{Code: Invalid, Op: "decide", Msg: fmt.Sprintf("the arguments hold a number nobody can reckon with: %.40s", n)}
	}
	return object, nil
}

// unreckonable gives a number in v with an exponent of more than four digits, or
// "": the validator reckons exactly and would need that many digits.
func unreckonable(v any) json.Number {
	switch v := v.(type) {
	case json.Number:
		_, exponent, _ := strings.Cut(strings.ToLower(v.String()), "e")
		if len(strings.TrimLeft(exponent, "+-0")) > 4 {
			return v
		}
	case map[string]any:
		for _, item := range v {
			if n := unreckonable(item); n != "" {
				return n
			}
		}
	case []any:
		for _, item := range v {
			if n := unreckonable(item); n != "" {
				return n
			}
		}
	}
	return ""
}

// canonical writes v with sorted keys and without escaping what need not be.
func canonical(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// An input is a tool's input schema, worked out.
type input struct {
	schema *jsonschema.Schema // nil: anything goes
	shape  *shape.Shape
}

// input compiles the tool's input schema when it is first wanted.
func (m *held) input(tool *Tool) (input, error) {
	if tool.Input == nil {
		return input{}, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if in, ok := m.inputs[tool.Name]; ok {
		return in, nil
	}
	s, err := Compile(m.Schema(tool.Input))
	if err != nil {
		return input{}, &Error{Code: Internal, Op: "decide", Msg: fmt.Sprintf("the input schema of %q does not compile", tool.Name), Err: err}
	}
	in := input{s, shape.Of(tool.Input, m.Defs)}
	m.inputs[tool.Name] = in
	return in, nil
}

// Compile compiles a whole JSON Schema (draft 2020-12) as the executor does for
// arguments: formats are not asserted, and a pattern that Go's regular expressions
// cannot express (ECMA-262 look-around) holds for every string.
func Compile(schema json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseRegexpEngine(lenientRegexp)
	c.UseLoader(noLoader{})
	const here = "executor:///schema.json"
	if err := c.AddResource(here, doc); err != nil {
		return nil, err
	}
	return c.Compile(here)
}

// noLoader keeps a schema from fetching anything.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside the schema", url)
}

func lenientRegexp(s string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(s)
	if err != nil {
		return anyString(s), nil
	}
	return re, nil
}

// anyString stands for a pattern that cannot be checked.
type anyString string

func (anyString) MatchString(string) bool { return true }
func (a anyString) String() string        { return string(a) }

// maxFieldErrors bounds what one error says; a wrong union can have hundreds.
const maxFieldErrors = 8

func invalidArguments(tool ToolName, s *shape.Shape, err error) error {
	out := &Error{
		Code: Invalid, Op: "decide",
		Msg:  fmt.Sprintf("the arguments do not fit %q", tool),
		Hint: "run: executor tools describe <address>",
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		out.Err = err
		return out
	}
	out.Fields = leaves(s, ve, nil)
	slices.SortStableFunc(out.Fields, func(a, b FieldError) int { return strings.Compare(a.Pointer, b.Pointer) })
	out.Fields = slices.Compact(out.Fields)
	out.Fields = out.Fields[:min(len(out.Fields), maxFieldErrors)]
	return out
}

// leaves gathers the causes that say something about one place. The validator quotes
// values; of a sensitive one it is only told that it does not fit.
func leaves(s *shape.Shape, e *jsonschema.ValidationError, to []FieldError) []FieldError {
	at := pointer(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			to = append(to, FieldError{at + pointer([]string{name}), "is missing"})
		}
		return to
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			to = append(to, FieldError{at + pointer([]string{name}), "is not an argument of this tool"})
		}
		return to
	case *kind.AnyOf, *kind.OneOf:
		if best := nearest(e.Causes); best != nil {
			return leaves(s, best, to)
		}
	}
	if len(e.Causes) == 0 && s.Hides(e.InstanceLocation) {
		return append(to, FieldError{at, "does not fit; the value is sensitive"})
	}
	if len(e.Causes) == 0 {
		return append(to, FieldError{at, e.DetailedOutput().Error.String()})
	}
	for _, cause := range e.Causes {
		to = leaves(s, cause, to)
	}
	return to
}

// nearest picks the alternative that got furthest: the one whose first complaint
// lies deepest.
func nearest(causes []*jsonschema.ValidationError) *jsonschema.ValidationError {
	var best *jsonschema.ValidationError
	for _, c := range causes {
		if best == nil || depth(c) > depth(best) {
			best = c
		}
	}
	return best
}

func depth(e *jsonschema.ValidationError) int {
	d := len(e.InstanceLocation)
	for _, c := range e.Causes {
		d = max(d, depth(c))
	}
	return d
}

// pointer writes a JSON pointer (RFC 6901).
func pointer(path []string) string {
	var b strings.Builder
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for _, p := range path {
		b.WriteString("/" + escape.Replace(p))
	}
	return b.String()
}
