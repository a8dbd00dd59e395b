// Package schema is what the root does with JSON Schema: it compiles leniently, says
// place by place what does not fit, fills in defaults, and knows which values are
// sensitive. It is a part of the root package in a folder of its own, and imports
// the validator.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Compile compiles a whole JSON Schema (draft 2020-12). Formats are not asserted, and
// a pattern that Go's regular expressions cannot express (ECMA-262 look-around)
// holds for every string.
func Compile(whole json.RawMessage) (*jsonschema.Schema, error) { return compile(whole, nil) }

func compile(whole json.RawMessage, also *jsonschema.Vocabulary) (*jsonschema.Schema, error) {
	if nesting(whole) > maxNesting {
		return nil, fmt.Errorf("it is nested more than %d deep", maxNesting)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(whole))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseRegexpEngine(lenientRegexp)
	c.UseLoader(noLoader{})
	if also != nil {
		c.RegisterVocabulary(also)
		c.AssertVocabs()
	}
	const here = "executor:///schema.json"
	if err := c.AddResource(here, doc); err != nil {
		return nil, err
	}
	return c.Compile(here)
}

// maxNesting bounds the brackets of a schema's text in one another: the compiler's time
// grows with the square of it, and at this depth it is about a second.
const maxNesting = 1000

// nesting gives how deep the brackets of a JSON text stand in one another.
func nesting(text []byte) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++ // only strings have escapes
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
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

// maxDefects bounds what one error says; a wrong union can have hundreds.
const maxDefects = 8

// A Defect is what is wrong in one place; Pointer is a JSON pointer (RFC 6901).
type Defect struct {
	Pointer string `json:"pointer"`
	Msg     string `json:"message"`
}

// Defects tells what an error of validation says, place by place.
func (s *Shape) Defects(err error) []Defect {
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return []Defect{{Msg: err.Error()}}
	}
	defects := leaves(s, ve, nil)
	slices.SortStableFunc(defects, func(a, b Defect) int { return strings.Compare(a.Pointer, b.Pointer) })
	defects = slices.Compact(defects)
	return defects[:min(len(defects), maxDefects)]
}

// leaves gathers the causes that say something about one place. The validator quotes
// values; of a sensitive one it is only told that it does not fit.
func leaves(s *Shape, e *jsonschema.ValidationError, to []Defect) []Defect {
	at := pointer(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			to = append(to, Defect{at + pointer([]string{name}), "is missing"})
		}
		return to
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			to = append(to, Defect{at + pointer([]string{name}), "is not an argument of this tool"})
		}
		return to
	case *kind.AnyOf, *kind.OneOf:
		if best := nearest(e.Causes); best != nil {
			return leaves(s, best, to)
		}
	}
	if len(e.Causes) == 0 && s.Hides(e.InstanceLocation) {
		return append(to, Defect{at, "does not fit; the value is sensitive"})
	}
	if len(e.Causes) == 0 {
		return append(to, Defect{at, e.DetailedOutput().Error.String()})
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
