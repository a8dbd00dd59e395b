package openapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/source/openapi"
)

// descriptions lists the entry files below root.
func descriptions(t testing.TB, root string) []string {
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "resources" || d.Name() == "shared" || d.Name() == "common" || d.Name() == "fuzz" || d.Name() == "parts") {
			return filepath.SkipDir
		}
		ext := filepath.Ext(path)
		if d.IsDir() || ext != ".json" && ext != ".yaml" && ext != ".yml" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if ext == ".json" && (bytes.Contains(text, []byte(`"openapi":`)) || bytes.Contains(text, []byte(`"swagger":`))) || describes.Match(text[:min(len(text), 4096)]) || bytes.Contains(text, []byte("\nopenapi:")) {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var describes = regexp.MustCompile(`(?m)^\s*\{?\s*"?(openapi|swagger)"?\s*:`)

// resolve reads the file through the exported door.
func resolve(t testing.TB, file string) (executor.Manifest, error) {
	config, err := json.Marshal(map[string]string{"spec": file})
	if err != nil {
		t.Fatal(err)
	}
	return openapi.Kind{}.Resolve(t.Context(), executor.Source{ID: "sample", Kind: "openapi", Config: config}, executor.Unsigned(http.DefaultClient))
}

// A row is what the table says of one description.
type row struct {
	file                         string
	found, tools, inputs, output int
	defs, notes                  int
	took                         time.Duration
	peak, size                   int
}

func TestDescriptionsOfTheCorpus(t *testing.T) {
	roots := []string{"testdata"}
	if corpus := os.Getenv("EXECUTOR_CORPUS"); corpus != "" {
		roots = append(roots, filepath.Join(corpus, "openapi"))
	}
	var rows []row
	for _, root := range roots {
		for _, file := range descriptions(t, root) {
			abs, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			short := strings.TrimPrefix(file, root+"/")
			t.Run(short, func(t *testing.T) {
				r := check(t, abs)
				r.file = short
				rows = append(rows, r)
			})
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-52s %5s %5s %6s %6s %5s %5s %6s %8s %8s\n", "description", "ops", "tools", "inputs", "output", "defs", "notes", "ms", "peak KiB", "size KiB")
	for _, r := range rows {
		fmt.Fprintf(&b, "%-52s %5d %5d %6d %6d %5d %5d %6d %8d %8d\n", r.file, r.found, r.tools, r.inputs, r.output, r.defs, r.notes, r.took.Milliseconds(), r.peak>>10, r.size>>10)
	}
	t.Log("\n" + b.String())
}

// check resolves one file and holds the result against the file itself.
func check(t *testing.T, file string) row {
	runtime.GC()
	peak := watchHeap()
	start := time.Now()
	m, err := resolve(t, file)
	took := time.Since(start)
	r := row{took: took, peak: peak()}
	if err != nil {
		if strings.Contains(file, "/fail/") || strings.Contains(file, "/broken/") {
			if executor.CodeOf(err) != executor.Invalid {
				t.Errorf("code %q of %v, want invalid", executor.CodeOf(err), err)
			}
			return r
		}
		t.Fatal(err)
	}
	r.found, r.tools, r.defs, r.notes = m.Found, len(m.Tools), len(m.Defs), len(m.Notes)
	if want := countOperations(t, file); m.Found != want || len(m.Tools) != want {
		t.Errorf("%d operations in the file, found %d, made %d tools", want, m.Found, len(m.Tools))
	}
	names := map[executor.ToolName]bool{}
	for _, tool := range m.Tools {
		if names[tool.Name] || !toolName.MatchString(string(tool.Name)) || len(tool.Name) > 128 || strings.Contains("."+string(tool.Name)+".", "..") {
			t.Errorf("the tool name %q occurs twice or is not usable", tool.Name)
		}
		names[tool.Name] = true
		if strings.TrimSpace(tool.Description) == "" || tool.Effect == "" {
			t.Errorf("%s has no description or no effect", tool.Name)
		}
	}
	r.inputs, r.output = compileAll(t, m)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	r.size = len(text)
	return r
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// compileAll compiles the schemas of all tools as one document, in which
// "#/$defs/X" means what it means in each by itself; a few also by themselves.
func compileAll(t *testing.T, m executor.Manifest) (inputs, outputs int) {
	whole := map[string]any{}
	for name, raw := range m.Defs {
		whole[name] = decode(t, raw)
	}
	var pointers []string
	for i, tool := range m.Tools {
		for _, one := range []struct {
			kind string
			raw  json.RawMessage
		}{{"input", tool.Input}, {"output", tool.Output}} {
			if one.raw == nil {
				continue
			}
			key := fmt.Sprintf("tool %d %s", i, one.kind)
			whole[key] = decode(t, one.raw)
			pointers = append(pointers, key)
			if one.kind == "input" {
				inputs++
			} else {
				outputs++
			}
			if i%97 == 0 {
				if err := compile(decode(t, m.Schema(one.raw)), ""); err != nil {
					t.Errorf("%s of %s: %v", one.kind, tool.Name, err)
				}
			}
		}
	}
	if err := compile(map[string]any{"$defs": whole}, append(pointers, sorted(m.Defs)...)...); err != nil {
		t.Errorf("schemas: %v", err)
	}
	return inputs, outputs
}

func sorted(defs map[string]json.RawMessage) []string {
	var names []string
	for name := range defs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func decode(t *testing.T, raw json.RawMessage) any {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%v in %.200s", err, raw)
	}
	return v
}

// compile compiles doc, or the named defs of it.
func compile(doc any, defs ...string) error {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseRegexpEngine(lenient)
	if err := c.AddResource("mem:///s.json", doc); err != nil {
		return err
	}
	for _, name := range defs {
		at := "mem:///s.json"
		if name != "" {
			at += "#/$defs/" + strings.ReplaceAll(name, " ", "%20")
		}
		if _, err := c.Compile(at); err != nil {
			return err
		}
	}
	return nil
}

type anything string

func (a anything) MatchString(string) bool { return true }
func (a anything) String() string          { return string(a) }

func lenient(s string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(s)
	if err != nil {
		return anything(s), nil
	}
	return re, nil
}

// watchHeap samples the heap until the function it gives is called, which tells
// how far it grew.
func watchHeap() func() int {
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	stop, done := make(chan bool), make(chan int)
	go func() {
		peak := 0
		ticker := time.NewTicker(2 * time.Millisecond)
		defer ticker.Stop()
		for {
			runtime.ReadMemStats(&now)
			peak = max(peak, int(now.HeapAlloc)-int(before.HeapAlloc))
			select {
			case <-stop:
				done <- peak
				return
			case <-ticker.C:
			}
		}
	}()
	return func() int { stop <- true; return <-done }
}

// countOperations counts method keys in the file itself, by another reader than
// the one under test.
func countOperations(t *testing.T, file string) int {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var root yaml.Node
	if strings.HasSuffix(file, ".json") {
		var doc struct {
			Paths map[string]json.RawMessage
		}
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		n := 0
		for path, raw := range doc.Paths {
			var item map[string]json.RawMessage
			if !strings.HasPrefix(path, "x-") && json.Unmarshal(raw, &item) == nil {
				for key, value := range item {
					n += countKey(key, func() int {
						var more map[string]json.RawMessage
						_ = json.Unmarshal(value, &more) // what is no object holds none
						return len(more)
					})
				}
			}
		}
		return n
	}
	if err := yaml.Unmarshal(text, &root); err != nil || len(root.Content) == 0 {
		t.Fatal(err)
	}
	n := 0
	eachEntry(entry(root.Content[0], "paths"), func(path string, item *yaml.Node) {
		if strings.HasPrefix(path, "x-") {
			return
		}
		if ref := entry(item, "$ref"); ref != nil {
			item = pointed(t, file, root.Content[0], ref.Value)
		}
		eachEntry(item, func(key string, value *yaml.Node) {
			n += countKey(key, func() int {
				more := 0
				eachEntry(value, func(string, *yaml.Node) { more++ })
				return more
			})
		})
	})
	return n
}

func countKey(key string, more func() int) int {
	switch key {
	case "get", "put", "post", "delete", "options", "head", "patch", "trace", "query":
		return 1
	case "additionalOperations":
		return more()
	}
	return 0
}

func eachEntry(n *yaml.Node, f func(key string, value *yaml.Node)) {
	if n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		f(n.Content[i].Value, n.Content[i+1])
	}
}

func entry(n *yaml.Node, key string) *yaml.Node {
	var found *yaml.Node
	eachEntry(n, func(k string, v *yaml.Node) {
		if k == key {
			found = v
		}
	})
	return found
}

// pointed follows a reference of a path item.
func pointed(t *testing.T, file string, root *yaml.Node, ref string) *yaml.Node {
	name, pointer, _ := strings.Cut(ref, "#")
	if name != "" {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(file), name))
		if err != nil {
			return nil
		}
		var other yaml.Node
		if err := yaml.Unmarshal(text, &other); err != nil {
			t.Fatal(err)
		}
		root = other.Content[0]
	}
	for token := range strings.SplitSeq(strings.Trim(pointer, "/"), "/") {
		if token != "" {
			root = entry(root, strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~"))
		}
	}
	return root
}
