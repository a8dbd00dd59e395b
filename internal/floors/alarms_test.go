package floors_test

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// Alarms, not goals: who passes one has usually put two ideas in one place.
const (
	rootLines        = 3500 // of code: comments and blank lines aside
	fileLines        = 400
	functionLines    = 60
	structFields     = 20
	interfaceMethods = 7
	seamMethods      = 4
)

// seams are the interfaces of the root that others implement.
var seams = []string{"Kind", "Checker", "Provider", "Keeper", "Condition", "Sealer"}

func TestTheRootStaysSmall(t *testing.T) {
	for _, r := range rooms(t) {
		if r.dir != "." {
			continue
		}
		lines := 0
		for _, f := range r.source() {
			lines += f.code
		}
		if lines > rootLines {
			t.Errorf("the root has %d lines of code, want at most %d", lines, rootLines)
		}
	}
}

func TestFilesAndFunctionsStayReadable(t *testing.T) {
	for _, r := range rooms(t) {
		for _, f := range r.source() {
			if f.lines > fileLines {
				t.Errorf("%s has %d lines, want at most %d", f.name, f.lines, fileLines)
			}
			for _, d := range f.tree.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				lines := positions.Position(fn.End()).Line - positions.Position(fn.Pos()).Line + 1
				if lines > functionLines {
					t.Errorf("%s: %s has %d lines, want at most %d", f.at(fn.Pos()), fn.Name, lines, functionLines)
				}
			}
		}
	}
}

func TestStructsAndInterfacesStaySmall(t *testing.T) {
	for _, r := range rooms(t) {
		for _, f := range r.source() {
			for spec := range f.types() {
				switch typ := spec.Type.(type) {
				case *ast.StructType:
					if n := typ.Fields.NumFields(); n > structFields {
						t.Errorf("%s: %s has %d fields, want at most %d", f.at(spec.Pos()), spec.Name, n, structFields)
					}
				case *ast.InterfaceType:
					limit := interfaceMethods
					if r.dir == "." && slices.Contains(seams, spec.Name.Name) {
						limit = seamMethods
					}
					if n := typ.Methods.NumFields(); n > limit {
						t.Errorf("%s: %s has %d methods, want at most %d", f.at(spec.Pos()), spec.Name, n, limit)
					}
				}
			}
		}
	}
}

// A map[string]any in a signature says that nobody has decided what travels.
func TestNoExportedSignatureHasAMapOfAnything(t *testing.T) {
	for _, r := range rooms(t) {
		if strings.HasPrefix(r.dir, "cmd/") || strings.HasPrefix(r.dir, "examples/") {
			continue // nobody imports a command
		}
		for _, f := range r.source() {
			for where, typ := range f.signatures() {
				text := types.ExprString(typ)
				if strings.Contains(text, "map[string]any") || strings.Contains(text, "map[string]interface{}") {
					t.Errorf("%s: %s", where, text)
				}
			}
		}
	}
}
