package executor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/open-executor/executor/internal/schema"
)

// arguments are what a tool is called with, checked: their canonical text, the
// digest of that, and the text fit for a record. Only (*held).arguments makes
// them.
type arguments struct {
	text   json.RawMessage // keys sorted, numbers as they came
	digest string          // of text
	masked json.RawMessage // text with sensitive values replaced
}

// arguments checks raw against the input schema of the tool at an address and
// fills in defaults.
func (m *held) arguments(at Address, tool *Tool, raw json.RawMessage) (arguments, error) {
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
		if err := in.schema.Validate(value, len(raw)); err != nil {
			// Wrong defaults are the description's mistake: without them the arguments may fit.
			if value, _ = decodeArguments(raw); in.schema.Validate(value, len(raw)) != nil {
				return arguments{}, invalidArguments(at, in.shape, err)
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
	schema *schema.Bounded // nil: anything goes
	shape  *schema.Shape
}

// input compiles the tool's input schema when it is first wanted.
func (m *held) input(tool *Tool) (input, error) {
	if tool.Input == nil {
		return input{}, nil
	}
	m.mu.Lock()
	in, ok := m.inputs[tool.Name]
	m.mu.Unlock()
	if ok {
		return in, nil
	}
	s, err := schema.CompileBounded(m.Schema(tool.Input)) // twice, where two calls are the first: no harm
	if err != nil {
		return input{}, &Error{Code: Internal, Op: "decide", Msg: fmt.Sprintf("the input schema of %q does not compile", tool.Name), Err: err}
	}
	in = input{s, schema.ShapeOf(tool.Input, m.Defs)}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inputs[tool.Name] = in
	return in, nil
}

// Compile compiles a whole JSON Schema (draft 2020-12) as the executor does for
// arguments: formats are not asserted, and a pattern that Go's regular expressions
// cannot express (ECMA-262 look-around) holds for every string.
func Compile(whole json.RawMessage) (*jsonschema.Schema, error) { return schema.Compile(whole) }

func invalidArguments(at Address, s *schema.Shape, err error) error {
	out := &Error{
		Code: Invalid, Op: "decide",
		Msg:  fmt.Sprintf("the arguments do not fit %q", at.Tool),
		Hint: fmt.Sprintf("run: executor tools describe %s", at),
	}
	for _, d := range s.Defects(err) {
		out.Fields = append(out.Fields, FieldError(d))
	}
	return out
}
