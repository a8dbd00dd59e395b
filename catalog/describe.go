package catalog

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	executor "github.com/open-executor/executor"
)

// Options say how much of a tool to show.
type Options struct {
	Budget int      // characters of TypeScript; 0: 4,000
	Expand []string // what to show in full although the budget is short: names of types, or pointers as the marks of a cut show them ("/input/properties/body")
}

const defaultBudget = 4000

// A Description is all that a caller needs to call a tool.
type Description struct {
	Address    executor.Address `json:"address"`
	Text       string           `json:"description,omitempty"` // Markdown
	Effect     executor.Effect  `json:"effect"`
	Deprecated bool             `json:"deprecated,omitempty"`
	Input      json.RawMessage  `json:"input,omitempty"`  // JSON Schema, whole; nil: no arguments
	Output     json.RawMessage  `json:"output,omitempty"` // JSON Schema, whole; nil: unknown
	TypeScript string           `json:"typescript"`       // the signature, and the types it names
}

// Describe shows a tool: its schemas whole, and a signature in TypeScript that is
// cut to the budget. The same tool and options give the same text. A schema that
// cannot be understood is "unknown" in the signature.
func Describe(found executor.Found, o Options) Description {
	t, m := found.Tool, manifestOf(found)
	d := Description{
		Address: found.Address, Text: t.Description, Effect: t.Effect, Deprecated: t.Deprecated,
		Input: m.Schema(t.Input), Output: m.Schema(t.Output),
	}
	if d.Effect == "" {
		d.Effect = executor.Write
	}
	d.TypeScript = sign(found, o).String()
	return d
}

func manifestOf(found executor.Found) *executor.Manifest {
	if found.Manifest == nil {
		return &executor.Manifest{}
	}
	return found.Manifest
}

// A signature is a tool's type in pieces.
type signature struct {
	doc    string // JSDoc, or ""
	path   string // "tools.github.user.work.issues.create"
	args   string // "(args: { owner: string })"
	result string // "Promise<unknown>"
	types  []string
}

func (s signature) String() string {
	var b strings.Builder
	if s.doc != "" {
		b.WriteString(s.doc + "\n")
	}
	b.WriteString(s.path + s.args + ": " + s.result + ";")
	for _, t := range s.types {
		b.WriteString("\n\n" + t)
	}
	return b.String()
}

// sign makes the signature of a tool: the widest that keeps to the budget.
func sign(found executor.Found, o Options) signature {
	t, m := found.Tool, manifestOf(found)
	s := signature{path: path(found.Address)}
	first, _ := firstSentence(t.Description)
	var tags []string
	if t.Deprecated {
		tags = append(tags, "@deprecated")
	}
	s.doc = comment(first, 300, tags)
	budget := o.Budget
	if budget <= 0 {
		budget = defaultBudget
	}
	budget -= len(s.doc) + len(s.path) + len(": ;\n")
	g := newGraph(m, t.Input, t.Output)
	var levels [sides]int
	fits := func(result bool, budget int) bool {
		p := newPrinter(g, o.Expand, levels, budget)
		s.args, s.result = p.arguments(), cutResult
		if result {
			s.result = p.promise()
		}
		p.nameExpanded()
		s.types = p.declarations()
		return p.spent(s) <= budget
	}
	// The caller writes the arguments: they come first and get the larger share.
	last := len(cuts) + expandedAhead - 1
	share := budget
	if t.Output != nil {
		share = budget * inputShare / 100
	}
	for !fits(false, share) {
		if levels[input]++; levels[input] > last {
			s.args, s.result, s.types = "(args: Record<string, unknown> /* expand with /input */)", cutResult, nil
			return s
		}
	}
	for ; levels[output] <= last; levels[output]++ {
		if fits(true, budget) {
			return s
		}
	}
	fits(false, budget)
	return s
}

const cutResult = "Promise<unknown /* expand with /output */>"

// inputShare is how much of the budget the arguments may take, in percent.
const inputShare = 65

// path writes an address as an expression.
func path(a executor.Address) string {
	var b strings.Builder
	b.WriteString("tools")
	for _, part := range strings.Split(a.String(), ".") {
		if identifier(part) {
			b.WriteString("." + part)
		} else {
			b.WriteString("[" + quote(part) + "]")
		}
	}
	return b.String()
}

// Declare writes the signatures of tools as one TypeScript declaration file: an
// interface a tool, with the types it names beside it. A compiler accepts it as it
// is, and so can check every signature of a catalog.
func Declare(w io.Writer, o Options, tools ...executor.Found) error {
	if _, err := io.WriteString(w, "declare namespace signatures {\n"+fileType); err != nil {
		return err
	}
	for i, found := range tools {
		s := sign(found, o)
		text := "interface Call {\n" + strings.TrimPrefix(s.doc+"\n", "\n") + quote(s.path) + s.args + ": " + s.result + ";\n}\n" + strings.Join(s.types, "\n")
		if _, err := fmt.Fprintf(w, "namespace tool%d {\n%s\n}\n", i, text); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "}\n")
	return err
}

const fileType = "interface File { name?: string; type?: string; text?: string; base64?: string; run?: string }\n"

// comment writes JSDoc on one line, cut to limit characters; "" when there is
// nothing to say.
func comment(text string, limit int, tags []string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > limit {
		text = strings.TrimRight(string(runes[:limit]), " ") + "…"
	}
	if limit == 0 {
		text = ""
	}
	all := slices.DeleteFunc(append([]string{text}, tags...), func(s string) bool { return s == "" })
	if len(all) == 0 {
		return ""
	}
	line := strings.Join(all, " ")
	return "/** " + strings.ReplaceAll(line, "*/", "* /") + " */"
}

// identifier tells whether name can stand unquoted.
func identifier(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return name != ""
}

func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
