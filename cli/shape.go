package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/open-executor/executor"
)

// A shape is one place in a tool's input schema. It is read to guess what a word
// on the command line means; whether the value is valid is decided elsewhere.
type shape struct {
	node map[string]any
	defs map[string]any
}

// shapeOf reads the input schema of a tool. No schema gives the zero shape, in
// which everything is text.
func shapeOf(m *executor.Manifest, input json.RawMessage) shape {
	if m == nil || input == nil {
		return shape{}
	}
	var node map[string]any
	if json.Unmarshal(m.Schema(input), &node) != nil {
		return shape{}
	}
	defs, _ := node["$defs"].(map[string]any)
	return shape{node, defs}
}

const refDepth = 16 // a schema that refers to itself ends here

// parts gives the schema itself, what it refers to, and its alternatives.
func (s shape) parts() []shape {
	var all []shape
	var visit func(node map[string]any, depth int)
	visit = func(node map[string]any, depth int) {
		if node == nil || depth > refDepth {
			return
		}
		all = append(all, shape{node, s.defs})
		if ref, ok := node["$ref"].(string); ok {
			def, _ := s.defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
			visit(def, depth+1)
		}
		for _, word := range []string{"allOf", "anyOf", "oneOf"} {
			branches, _ := node[word].([]any)
			for _, b := range branches {
				branch, _ := b.(map[string]any)
				visit(branch, depth+1)
			}
		}
	}
	visit(s.node, 0)
	return all
}

// property gives the schema of a property and whether there is one.
func (s shape) property(name string) (shape, bool) {
	for _, part := range s.parts() {
		properties, _ := part.node["properties"].(map[string]any)
		if p, ok := properties[name]; ok {
			node, _ := p.(map[string]any) // true and false have no words
			return shape{node, s.defs}, true
		}
	}
	return shape{}, false
}

// names lists the properties, in order.
func (s shape) names() []string {
	var names []string
	for _, part := range s.parts() {
		properties, _ := part.node["properties"].(map[string]any)
		for name := range properties {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (s shape) items() shape {
	for _, part := range s.parts() {
		if node, ok := part.node["items"].(map[string]any); ok {
			return shape{node, s.defs}
		}
	}
	return shape{}
}

// is tells whether the schema names a type.
func (s shape) is(name string) bool {
	return slices.ContainsFunc(s.parts(), func(part shape) bool {
		switch t := part.node["type"].(type) {
		case string:
			return t == name
		case []any:
			return slices.Contains(t, any(name))
		}
		return false
	})
}

// binary tells whether the place takes an executor.File.
func (s shape) binary() bool {
	return slices.ContainsFunc(s.parts(), func(part shape) bool { return part.node["format"] == "binary" })
}

// closed tells whether the values are listed, or cannot hold a comma.
func (s shape) closed() bool {
	if !s.is("string") {
		return s.is("number") || s.is("integer") || s.is("boolean")
	}
	return slices.ContainsFunc(s.parts(), func(part shape) bool { return part.node["enum"] != nil })
}

// read makes a JSON value of a word, as the schema wants it. A word that does not
// look like what is wanted stays text, for the executor to refuse with a reason.
func (s shape) read(word string) any {
	switch {
	case s.binary():
		return word // which is a file with that text
	case s.is("array"):
		return s.readList(word)
	case s.is("string"):
		return word
	}
	var value any
	if decode(word, &value) != nil {
		return word
	}
	switch value.(type) {
	case json.Number:
		if s.is("number") || s.is("integer") {
			return value
		}
	case bool:
		if s.is("boolean") {
			return value
		}
	case map[string]any:
		if s.is("object") {
			return value
		}
	case nil:
		if s.is("null") {
			return value
		}
	}
	return word
}

// readList makes a list of a JSON array, or of one word; where no item can hold
// a comma, of words between commas.
func (s shape) readList(word string) []any {
	var list []any
	if strings.HasPrefix(word, "[") && decode(word, &list) == nil {
		return list
	}
	words := []string{word}
	item := s.items()
	if item.closed() {
		words = strings.Split(word, ",")
	}
	for _, w := range words {
		list = append(list, item.read(w))
	}
	return list
}

// decode reads exactly one JSON value; numbers keep all their digits.
func decode(text string, into any) error {
	if at := notUTF8(text); at >= 0 {
		return fmt.Errorf("byte %d is not UTF-8", at)
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var syntax *json.SyntaxError
	switch err := dec.Decode(into); {
	case errors.As(err, &syntax):
		return fmt.Errorf("byte %d: %w", syntax.Offset, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends too early")
	case err != nil:
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("more follows byte %d, where it should end", dec.InputOffset())
	}
	return nil
}

// notUTF8 gives the first byte of text that is not UTF-8, or -1.
func notUTF8(text string) int {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") {
			return i
		}
	}
	return -1
}
