package floors_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// A row says what a package may import beyond the standard library, and why.
// Packages of this module go by folder, "." is the root.
type row struct {
	room  string
	may   []string
	tests []string // what its tests may import besides; the package itself goes without saying
	why   string
}

// plan has one row for each package, by floor. Imports point down only.
var plan = []row{
	// The root: vocabulary and law.
	{
		room:  ".",
		may:   []string{"internal/redact", "internal/schema", "internal/spelling", "github.com/santhosh-tekuri/jsonschema/v6"},
		tests: []string{"storage/file", "pgregory.net/rapid"},
		why:   "arguments are checked against the tool's schema before anything else; all other abilities are handed in",
	},
	{
		room: "internal/spelling",
		why:  "a part of the root with an idea of its own: it knows letters, and nothing of the house",
	},
	{
		room: "internal/schema",
		may:  []string{"github.com/santhosh-tekuri/jsonschema/v6", "github.com/santhosh-tekuri/jsonschema/v6/kind"},
		why:  "a part of the root with an idea of its own: it knows JSON Schema, and nothing of the house",
	},
	{
		room:  "internal/redact",
		tests: []string{"pgregory.net/rapid"},
		why:   "a part of the root with an idea of its own: it knows text, and nothing of the house",
	},

	// Leaves: each wraps one thing and knows the root only.
	{
		room: "source/openapi",
		may:  []string{".", "go.yaml.in/yaml/v3", "golang.org/x/text/encoding/htmlindex"},
		tests: []string{
			"source/sourcetest", "github.com/getkin/kin-openapi/openapi3", "github.com/getkin/kin-openapi/openapi3filter",
			"github.com/santhosh-tekuri/jsonschema/v6", "pgregory.net/rapid",
		},
		why: "descriptions come in JSON and YAML, answers in any character set; kin-openapi is an oracle for how parameters are written",
	},
	{
		room: "source/sourcetest",
		may:  []string{"."},
		why:  "the contract of a kind, for kinds outside this module too",
	},
	{
		room: "source/all",
		may:  []string{".", "source/openapi"},
		why:  "the list of kinds, as a value",
	},
	{
		room:  "secret/env",
		may:   []string{"."},
		tests: []string{"secret/secrettest"},
		why:   "the environment needs no library",
	},
	{
		room:  "secret/file",
		may:   []string{".", "filippo.io/age", "github.com/zalando/go-keyring", "golang.org/x/sys/windows"},
		tests: []string{"secret/secrettest"},
		why:   "kept secrets are encrypted, in age's format and not one of ours; the key is in the keychain where there is one",
	},
	{
		room: "secret/secrettest",
		may:  []string{"."},
		why:  "the contract of a provider",
	},
	{
		room: "secret/all",
		may:  []string{".", "secret/env", "secret/file"},
		why:  "the list of providers, as a value",
	},
	{
		room:  "storage/file",
		may:   []string{".", "golang.org/x/sys/windows"},
		tests: []string{"storage/storagetest"},
		why:   "locks a directory against a second process; the standard library cannot",
	},
	{
		room: "storage/storagetest",
		may:  []string{"."},
		why:  "the contract of a storage",
	},
	{
		room: "egress",
		may:  []string{".", "code.dny.dev/ssrf"},
		why:  "which addresses are private is a registry of IANA's, kept current by that library",
	},
	{
		room: "condition",
		may:  []string{".", "cel.dev/cel-go/cel"},
		why:  "conditions of rules are CEL; the root sees a compiled Condition",
	},

	// Capabilities: work over what the root gives, never over a leaf.
	{
		room: "catalog",
		may:  []string{".", "github.com/blevesearch/snowballstem", "github.com/blevesearch/snowballstem/english"},
		why:  "search needs word stems",
	},
	{
		room: "sample",
		may:  []string{"."},
		why:  "a source to try things with, served in process; nothing listens",
	},

	// Surfaces: speak to people and programs, through the root and capabilities.
	{
		room:  "cli",
		may:   []string{".", "catalog", "github.com/spf13/cobra", "golang.org/x/sys/unix", "golang.org/x/term"},
		tests: []string{"github.com/creack/pty"},
		why:   "flags, help and completion are cobra's; a person's answer is read from the terminal",
	},

	// Wiring: the only places that see everything.
	{
		room:  "cmd/executor",
		may:   []string{".", "cli", "condition", "egress", "sample", "secret/all", "source/all", "storage/file"},
		tests: []string{"catalog"},
		why:   "flags to values, then hand over",
	},
	{
		room: "examples/embed",
		may:  []string{".", "egress", "sample", "source/all"},
		why:  "a program that embeds Executor wires it as cmd does",
	},
	{
		room:  "e2e",
		tests: []string{"github.com/creack/pty", "github.com/rogpeppe/go-internal/testscript"},
		why:   "drives the built binary from outside; it may not look inside",
	},
	{
		room: "internal/floors",
		why:  "reads source as text",
	},
}

func TestEveryPackageHasARowAndEveryRowAPackage(t *testing.T) {
	var have, want []string
	for _, r := range rooms(t) {
		have = append(have, r.dir)
	}
	for _, row := range plan {
		want = append(want, row.room)
		if row.why == "" {
			t.Errorf("%s: the row gives no reason", row.room)
		}
	}
	slices.Sort(want)
	for _, dir := range have {
		if !slices.Contains(want, dir) {
			t.Errorf("%s: a package without a row; say in plan what it may import, and why", dir)
		}
	}
	for _, dir := range want {
		if !slices.Contains(have, dir) {
			t.Errorf("%s: a row without a package", dir)
		}
	}
}

func TestEveryPackageImportsWhatItsRowAllowsAndNoMore(t *testing.T) {
	for _, r := range rooms(t) {
		i := slices.IndexFunc(plan, func(row row) bool { return row.room == r.dir })
		if i < 0 {
			continue // reported by the test above
		}
		row := plan[i]
		source, tests := r.imports(false), r.imports(true)
		for _, name := range source {
			if !slices.Contains(row.may, name) {
				t.Errorf("%s imports %q, which its row does not allow", r.dir, name)
			}
		}
		for _, name := range tests {
			if !slices.Contains(row.may, name) && !slices.Contains(row.tests, name) {
				t.Errorf("%s: its tests import %q, which its row does not allow", r.dir, name)
			}
		}
		for _, name := range row.may {
			if !slices.Contains(source, name) {
				t.Errorf("%s: its row allows %q, which it does not import", r.dir, name)
			}
		}
		for _, name := range row.tests {
			if !slices.Contains(tests, name) {
				t.Errorf("%s: its row allows its tests %q, which they do not import", r.dir, name)
			}
		}
	}
}

// Floors, from the ground up.
const (
	cellar = iota // what the root stands on
	ground
	leaf
	capability
	surface
	wiring
)

func floor(dir string) int {
	switch first, _, _ := strings.Cut(dir, "/"); first {
	case ".":
		return ground
	case "internal":
		if dir == "internal/redact" || dir == "internal/schema" || dir == "internal/spelling" {
			return cellar
		}
		return wiring
	case "source", "secret", "storage", "sandbox", "egress", "condition":
		return leaf
	case "catalog", "sample", "oauth", "broker", "codemode", "workflow", "store", "artifact", "view", "sync":
		return capability
	case "cli", "httpapi", "mcpserver", "web":
		return surface
	}
	return wiring
}

func TestThePlanPointsDownOnly(t *testing.T) {
	for _, row := range plan {
		for _, name := range row.may {
			if strings.Contains(strings.Split(name, "/")[0], ".") && name != "." {
				continue // not of this module
			}
			from, to := floor(row.room), floor(name)
			switch {
			case from == leaf && to == leaf && path.Base(row.room) == "all" && path.Dir(row.room) == path.Dir(name):
				// the list of a seam names its members
			case to >= from:
				t.Errorf("%s may not import %s, which is not below it", row.room, name)
			case from == surface && to == leaf:
				t.Errorf("%s is a surface and may not see the leaf %s", row.room, name)
			case from == capability && to == leaf:
				t.Errorf("%s is a capability and may not see the leaf %s", row.room, name)
			}
		}
	}
}

func TestNoImportChainIsLongerThanSix(t *testing.T) {
	const limit = 6
	below := map[string][]string{}
	for _, r := range rooms(t) {
		below[r.dir] = r.imports(false)
	}
	var depth func(dir string) int
	depth = func(dir string) int {
		deepest := 0
		for _, name := range below[dir] {
			deepest = max(deepest, depth(name))
		}
		return deepest + 1
	}
	for dir := range below {
		if n := depth(dir); n > limit {
			t.Errorf("%s: its longest chain of imports has %d packages, want at most %d", dir, n, limit)
		}
	}
}

func TestNamesOfPackagesSayWhatTheyAre(t *testing.T) {
	vague := []string{"util", "utils", "common", "types", "models", "helpers", "core", "base", "shared", "manager", "pkg", "src"}
	for _, r := range rooms(t) {
		for element := range strings.SplitSeq(r.dir, "/") {
			if slices.Contains(vague, element) {
				t.Errorf("%s: %q says nothing about what is in it", r.dir, element)
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, r := range rooms(t) {
		var comments []string
		name := ""
		for _, f := range r.source() {
			name = f.tree.Name.Name
			if f.tree.Doc != nil {
				comments = append(comments, f.tree.Doc.Text())
			}
		}
		begins := fmt.Sprintf("Package %s ", name)
		if name == "main" {
			begins = fmt.Sprintf("Command %s ", path.Base(r.dir))
		}
		switch {
		case len(comments) != 1:
			t.Errorf("%s has %d package comments, want one", r.dir, len(comments))
		case !strings.HasPrefix(comments[0], begins):
			t.Errorf("%s: the package comment begins %.40q, want %q", r.dir, comments[0], begins)
		}
	}
}
