package catalog_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	executor "github.com/open-executor/executor"
	"github.com/open-executor/executor/catalog"
)

// An intent is a query and the tools that answer it.
type intent struct {
	Query string   `json:"query"`
	Want  []string `json:"want"` // source:tool, or tool
}

func load[T any](t testing.TB, path string) T {
	t.Helper()
	var v T
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

func corpus(t testing.TB, path string) string {
	t.Helper()
	dir := os.Getenv("EXECUTOR_CORPUS")
	if dir == "" {
		t.Skip("EXECUTOR_CORPUS is not set: the recorded catalogs are not at hand")
	}
	return filepath.Join(dir, path)
}

// serverTools reads a listing of MCP servers: one manifest a server.
func serverTools(t testing.TB, path string) map[string]*executor.Manifest {
	t.Helper()
	listing := load[struct {
		Tools []struct {
			Server      string          `json:"server"`
			Tool        string          `json:"tool"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
	}](t, path)
	servers := map[string]*executor.Manifest{}
	for _, l := range listing.Tools {
		m := servers[l.Server]
		if m == nil {
			m = &executor.Manifest{}
			servers[l.Server] = m
		}
		m.Tools = append(m.Tools, executor.Tool{Name: executor.ToolName(l.Tool), Description: l.Description, Input: l.InputSchema})
	}
	return servers
}

func serverIndex(t testing.TB, path string) *catalog.Index {
	t.Helper()
	var views []catalog.View
	for server, m := range serverTools(t, path) {
		views = append(views, catalog.View{
			Part: catalog.Build(m), Source: executor.SourceID(server), Scope: "user", Connection: "public",
		})
	}
	return catalog.New(views...)
}

// A parameter of an operation, as descriptions write it.
type parameter struct {
	Name        string `json:"name"`
	Ref         string `json:"$ref"`
	Description string `json:"description"`
}

var effects = map[string]executor.Effect{
	"get": executor.Read, "head": executor.Read, "delete": executor.Destroy,
	"post": executor.Write, "put": executor.Write, "patch": executor.Write,
}

// toDefs makes references to components references to a manifest's Defs.
func toDefs(schema json.RawMessage) json.RawMessage {
	return json.RawMessage(strings.ReplaceAll(string(schema), "#/components/schemas/", "#/$defs/"))
}

// operations reads an OpenAPI or Swagger description just far enough to search it:
// the real reader of such descriptions is elsewhere.
func operations(t testing.TB, path string) *executor.Manifest {
	t.Helper()
	d := load[struct {
		Info struct {
			Title string `json:"title"`
		} `json:"info"`
		Paths      map[string]map[string]json.RawMessage `json:"paths"`
		Components struct {
			Parameters map[string]parameter       `json:"parameters"`
			Schemas    map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}](t, path)
	m := &executor.Manifest{Title: d.Info.Title}
	for path, item := range d.Paths {
		for method, raw := range item {
			var op struct {
				OperationID string      `json:"operationId"`
				Summary     string      `json:"summary"`
				Description string      `json:"description"`
				Tags        []string    `json:"tags"`
				Deprecated  bool        `json:"deprecated"`
				Parameters  []parameter `json:"parameters"`
				RequestBody struct {
					Content map[string]struct {
						Schema json.RawMessage `json:"schema"`
					} `json:"content"`
				} `json:"requestBody"`
			}
			if effects[method] == "" {
				continue
			}
			if err := json.Unmarshal(raw, &op); err != nil {
				t.Fatalf("%s %s: %v", method, path, err)
			}
			input := map[string]json.RawMessage{}
			for _, p := range op.Parameters {
				if p.Ref != "" {
					p = d.Components.Parameters[p.Ref[strings.LastIndexByte(p.Ref, '/')+1:]]
				}
				input[p.Name], _ = json.Marshal(map[string]string{"description": p.Description})
			}
			for _, c := range op.RequestBody.Content {
				input["body"] = toDefs(c.Schema)
			}
			schema, _ := json.Marshal(map[string]any{"type": "object", "properties": input})
			m.Tools = append(m.Tools, executor.Tool{
				Name:        executor.ToolName(strings.ReplaceAll(op.OperationID, "/", ".")),
				Description: strings.TrimSpace(op.Summary + "\n\n" + op.Description),
				Effect:      effects[method],
				Tags:        op.Tags, Deprecated: op.Deprecated, Input: schema,
			})
		}
	}
	m.Defs = map[string]json.RawMessage{}
	for name, s := range d.Components.Schemas {
		m.Defs[name] = toDefs(s)
	}
	slices.SortFunc(m.Tools, func(a, b executor.Tool) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return m
}

func operationIndex(t testing.TB, source executor.SourceID, path string) *catalog.Index {
	t.Helper()
	return catalog.New(catalog.View{Part: catalog.Build(operations(t, path)), Source: source, Scope: "user", Connection: "work"})
}
