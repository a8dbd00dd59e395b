package openapi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// FuzzResolve holds whatever text to what is promised of all: no panic, every
// operation a tool, schemas that are JSON.
func FuzzResolve(f *testing.F) {
	for _, pattern := range []string{"testdata/*.*", "testdata/*/*.*"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return
		}
		m, err := resolveText(t, text)
		if err != nil {
			return
		}
		if len(m.Tools) != m.Found {
			t.Errorf("%d operations, %d tools", m.Found, len(m.Tools))
		}
		for _, tool := range m.Tools {
			if !toolName.MatchString(string(tool.Name)) {
				t.Errorf("the name %q is not usable", tool.Name)
			}
			for _, raw := range []json.RawMessage{tool.Input, tool.Output, tool.Binding} {
				if raw != nil && !json.Valid(raw) {
					t.Errorf("%s is not JSON", raw)
				}
			}
		}
		for name, def := range m.Defs {
			if !json.Valid(def) || !toolName.MatchString(name) {
				t.Errorf("the def %q is not usable: %s", name, def)
			}
		}
	})
}
