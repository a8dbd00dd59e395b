package openapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/source/openapi"
)

// described resolves a description given as text.
func described(t testing.TB, text string) executor.Manifest {
	t.Helper()
	m, err := resolveText(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func resolveText(t testing.TB, text string) (executor.Manifest, error) {
	return resolveConfig(t, map[string]any{"text": text})
}

func resolveConfig(t testing.TB, config map[string]any) (executor.Manifest, error) {
	raw, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	return openapi.Kind{}.Resolve(t.Context(), executor.Source{ID: "sample", Kind: "openapi", Config: raw}, executor.Unsigned(http.DefaultClient))
}

// toolNamed gives one tool of m.
func toolNamed(t testing.TB, m executor.Manifest, name string) executor.Tool {
	t.Helper()
	i := slices.IndexFunc(m.Tools, func(tool executor.Tool) bool { return string(tool.Name) == name })
	if i < 0 {
		t.Fatalf("no tool %q in %v", name, namesOf(m))
	}
	return m.Tools[i]
}

func namesOf(m executor.Manifest) []string {
	var names []string
	for _, tool := range m.Tools {
		names = append(names, string(tool.Name))
	}
	return names
}

// same compares two JSON texts as values.
func same(t testing.TB, what string, got []byte, want string) {
	t.Helper()
	g, w := normal(t, got), normal(t, []byte(want))
	if g != w {
		t.Errorf("%s\n got %s\nwant %s", what, g, w)
	}
}

func normal(t testing.TB, text []byte) string {
	t.Helper()
	if len(text) == 0 {
		return ""
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// field gives the value at a path of member names.
func field(t testing.TB, raw json.RawMessage, path ...string) json.RawMessage {
	t.Helper()
	for _, name := range path {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatalf("%v at %s of %s", err, name, raw)
		}
		raw = m[name]
	}
	return raw
}

func noted(m executor.Manifest, where, words string) bool {
	return slices.ContainsFunc(m.Notes, func(n executor.Note) bool {
		return strings.Contains(n.Where, where) && strings.Contains(n.Text, words)
	})
}

// resolved is described for property tests, which have no testing.TB.
func resolved(t interface{ Fatal(args ...any) }, text string) executor.Manifest {
	config, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		t.Fatal(err)
	}
	m, err := openapi.Kind{}.Resolve(context.Background(), executor.Source{Config: config}, executor.Credential{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func abs(t testing.TB, file string) string {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
