package executor

import (
	"path"
	"slices"
	"strings"
)

// A Toolkit is a named selection of tools. It carries no policy.
type Toolkit struct {
	Name  string   `json:"name"`
	Tools []string `json:"tools"` // address patterns; empty selects nothing. Everything is "*.*.*.*"
}

// Selects tells whether a is in the toolkit. In a pattern "*" stands for any
// characters of one part; in the tool part, which is last, it also spans dots.
func (t Toolkit) Selects(a Address) bool {
	return slices.ContainsFunc(t.Tools, func(pattern string) bool {
		parts := strings.SplitN(pattern, ".", 4)
		return len(parts) == 4 &&
			globs(parts[0], string(a.Source)) && globs(parts[1], string(a.Scope)) &&
			globs(parts[2], string(a.Connection)) && globs(parts[3], string(a.Tool))
	})
}

// touches tells whether the toolkit may select a tool of c.
func (t Toolkit) touches(c Connection) bool {
	return slices.ContainsFunc(t.Tools, func(pattern string) bool {
		parts := strings.SplitN(pattern, ".", 4)
		return len(parts) == 4 &&
			globs(parts[0], string(c.Source)) && globs(parts[1], string(c.Scope)) && globs(parts[2], string(c.Name))
	})
}

// globs matches "*" to any run of characters, dots included. Names hold no
// slash, so path.Match, whose "*" stops at slashes only, does just that.
func globs(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}
