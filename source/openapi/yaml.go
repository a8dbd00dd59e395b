package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	yamlDepth = 500     // levels of nesting
	yamlSlack = 2 << 20 // nodes beyond what the text itself can hold, for aliases
)

// errAliases is a YAML text whose aliases unfold to far more than it holds.
var errAliases = errors.New("aliases unfold without end")

// yamlJSON rewrites YAML as JSON. Keys of any scalar type become strings,
// timestamps stay text, of a key that occurs twice the last counts. note hears of
// what JSON has no place for.
func yamlJSON(source []byte, note func(line int, text string)) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(source, &doc); err != nil {
		return nil, rightLine(err, source)
	}
	w := yamlWriter{note: note, budget: len(source) + yamlSlack, open: map[*yaml.Node]bool{}}
	if len(doc.Content) == 0 {
		return []byte("null"), nil
	}
	w.value(doc.Content[0], 0)
	return w.out, w.err
}

// structural are errors whose line the parser counts from 0; in all others it
// counts from 1.
var structural = regexp.MustCompile(`^yaml: line (\d+): ((?:did not find expected (?:<|node|'-'|key|',')|found (?:duplicate|incompatible|undefined)).*)$`)

// rightLine gives err with the line that an editor shows; the end of the text is on
// its last one.
func rightLine(err error, source []byte) error {
	m := structural.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	line, _ := strconv.Atoi(m[1]) // digits; one too long for a number is no line
	last := bytes.Count(bytes.TrimRight(source, "\n"), []byte("\n")) + 1
	return fmt.Errorf("yaml: line %d: %s", min(line+1, last), m[2])
}

type yamlWriter struct {
	out    []byte
	note   func(line int, text string)
	budget int                 // nodes that may still be written
	open   map[*yaml.Node]bool // anchors being unfolded
	err    error
}

func (w *yamlWriter) value(n *yaml.Node, depth int) {
	w.budget--
	if w.budget < 0 {
		w.err = errAliases
	}
	if depth > yamlDepth {
		w.note(n.Line, "nested too deeply")
		n = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	}
	if w.err != nil {
		w.out = append(w.out, "null"...)
		return
	}
	switch n.Kind {
	case yaml.AliasNode:
		if w.open[n.Alias] {
			w.note(n.Line, fmt.Sprintf("the anchor %q holds itself", n.Value))
			w.out = append(w.out, "null"...)
			return
		}
		w.open[n.Alias] = true
		w.value(n.Alias, depth+1)
		delete(w.open, n.Alias)
	case yaml.MappingNode:
		w.mapping(n, depth)
	case yaml.SequenceNode:
		w.out = append(w.out, '[')
		for i, item := range n.Content {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.value(item, depth+1)
		}
		w.out = append(w.out, ']')
	default:
		w.scalar(n)
	}
}

type yamlPair struct {
	key   string
	value *yaml.Node
}

func (w *yamlWriter) mapping(n *yaml.Node, depth int) {
	w.out = append(w.out, '{')
	for i, p := range w.pairs(n, 0) {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(quote(w.out, p.key), ':')
		w.value(p.value, depth+1)
	}
	w.out = append(w.out, '}')
}

// pairs lists a mapping with its merge keys ("<<") unfolded; own keys win.
func (w *yamlWriter) pairs(n *yaml.Node, depth int) []yamlPair {
	var list, merged []yamlPair
	at := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			merged = append(merged, w.merge(value, depth)...)
			continue
		}
		if key.Kind != yaml.ScalarNode {
			w.note(key.Line, "a key is not a scalar; the entry is left out")
			continue
		}
		if j, twice := at[key.Value]; twice {
			w.note(key.Line, fmt.Sprintf("the key %q occurs twice; the last one counts", key.Value))
			list[j].value = value
			continue
		}
		at[key.Value] = len(list)
		list = append(list, yamlPair{key.Value, value})
	}
	for _, p := range merged {
		if _, own := at[p.key]; !own {
			at[p.key] = len(list)
			list = append(list, p)
		}
	}
	return list
}

// merge lists what a "<<" brings in; of several mappings the first wins.
func (w *yamlWriter) merge(n *yaml.Node, depth int) []yamlPair {
	if w.budget--; w.budget < 0 || depth > 64 {
		w.err = errAliases
		return nil
	}
	switch n.Kind {
	case yaml.AliasNode:
		return w.merge(n.Alias, depth+1)
	case yaml.MappingNode:
		w.budget -= len(n.Content)
		return w.pairs(n, depth+1)
	case yaml.SequenceNode:
		var all []yamlPair
		for _, item := range n.Content {
			all = append(all, w.merge(item, depth+1)...)
		}
		return all
	}
	w.note(n.Line, `"<<" merges something that is not a mapping`)
	return nil
}

func (w *yamlWriter) scalar(n *yaml.Node) {
	switch n.ShortTag() {
	case "!!null":
		w.out = append(w.out, "null"...)
	case "!!bool":
		var b bool
		if n.Decode(&b) != nil {
			w.out = quote(w.out, n.Value)
			return
		}
		w.out = fmt.Append(w.out, b)
	case "!!int", "!!float":
		w.number(n)
	default: // strings, timestamps, binary and foreign tags stay text
		w.out = quote(w.out, n.Value)
	}
}

func (w *yamlWriter) number(n *yaml.Node) {
	plain := strings.TrimPrefix(n.Value, "+")
	if json.Valid([]byte(plain)) {
		w.out = append(w.out, plain...)
		return
	}
	var v any
	if n.Decode(&v) != nil {
		w.out = quote(w.out, n.Value)
		return
	}
	if f, ok := v.(float64); ok && (math.IsInf(f, 0) || math.IsNaN(f)) {
		w.note(n.Line, fmt.Sprintf("%s has no place in JSON; null stands for it", n.Value))
		w.out = append(w.out, "null"...)
		return
	}
	text, err := json.Marshal(v)
	if err != nil {
		text = quote(nil, n.Value)
	}
	w.out = append(w.out, text...)
}
