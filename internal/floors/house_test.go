package floors_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	module = "github.com/open-executor/executor"
	top    = "../.." // of the module, seen from this package
)

// A room is one package of the module, with all its files, whatever they are
// built for.
type room struct {
	dir   string // "." for the root, else as in "source/openapi"
	files []file // by name
}

// A file is one parsed Go file.
type file struct {
	name  string // as in "source/openapi/load.go"
	tree  *ast.File
	lines int
	code  int // lines that are neither blank nor a comment
	test  bool
}

var (
	positions = token.NewFileSet()

	house = sync.OnceValues(func() ([]room, error) {
		rooms := map[string]*room{}
		err := filepath.WalkDir(top, func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() {
				if name != top && hidden(entry.Name()) {
					return filepath.SkipDir
				}
				return nil
			}
			if filepath.Ext(name) != ".go" || hidden(entry.Name()) {
				return nil
			}
			f, err := read(name)
			if err != nil {
				return err
			}
			dir := path.Dir(f.name)
			if rooms[dir] == nil {
				rooms[dir] = &room{dir: dir}
			}
			rooms[dir].files = append(rooms[dir].files, f)
			return nil
		})
		var list []room
		for _, r := range rooms {
			list = append(list, *r)
		}
		slices.SortFunc(list, func(a, b room) int { return strings.Compare(a.dir, b.dir) })
		return list, err
	})
)

// hidden tells what the go command does not see either, and what others wrote.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "node_modules"
}

func read(name string) (file, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return file{}, err
	}
	tree, err := parser.ParseFile(positions, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return file{}, err
	}
	below, err := filepath.Rel(top, name)
	return file{
		name:  filepath.ToSlash(below),
		tree:  tree,
		lines: strings.Count(string(text), "\n"),
		code:  codeLines(string(text)),
		test:  strings.HasSuffix(name, "_test.go"),
	}, err
}

func codeLines(text string) (n int) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			n++
		}
	}
	return n
}

func rooms(t *testing.T) []room {
	t.Helper()
	list, err := house()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// source lists the files that are not tests.
func (r room) source() []file {
	return slices.DeleteFunc(slices.Clone(r.files), func(f file) bool { return f.test })
}

// imports lists what the package's tests, or what all its other files, import
// beyond the standard library: packages of this module by folder, others by path.
func (r room) imports(tests bool) []string {
	var list []string
	for _, f := range r.files {
		if f.test != tests {
			continue
		}
		for _, spec := range f.tree.Imports {
			name, _ := strconv.Unquote(spec.Path.Value) // the parser has seen that it is a string
			switch {
			case name == module:
				name = "."
			case strings.HasPrefix(name, module+"/"):
				name = strings.TrimPrefix(name, module+"/")
			case !strings.Contains(strings.Split(name, "/")[0], "."):
				continue // the standard library has no dot in its first element
			}
			if tests && name == r.dir {
				continue // a test of the package from outside
			}
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// calls lists the places, as "file:line", where something called name is called
// through a dot: "x.name(…)".
func (f file) calls(name string) []string {
	var found []string
	ast.Inspect(f.tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == name {
			found = append(found, f.at(call.Pos()))
		}
		return true
	})
	return found
}

func (f file) at(pos token.Pos) string {
	return f.name + ":" + strconv.Itoa(positions.Position(pos).Line)
}

// uses lists the places where "pkg.name" is written, called or not.
func (f file) uses(pkg, name string) []string {
	var found []string
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == name {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == pkg {
				found = append(found, f.at(sel.Pos()))
			}
		}
		return true
	})
	return found
}

// functions lists the places where a function, not a method, of that name is declared.
func (f file) functions(name string) []string {
	var found []string
	for _, d := range f.tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == name {
			found = append(found, f.at(fn.Pos()))
		}
	}
	return found
}

// types gives the types declared at the top of the file.
func (f file) types() iter.Seq[*ast.TypeSpec] {
	return func(yield func(*ast.TypeSpec) bool) {
		for _, d := range f.tree.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range gen.Specs {
				if spec, ok := s.(*ast.TypeSpec); ok && !yield(spec) {
					return
				}
			}
		}
	}
}

// signatures gives, with its place, the type of every exported function, method,
// and method of an exported interface.
func (f file) signatures() iter.Seq2[string, ast.Expr] {
	return func(yield func(string, ast.Expr) bool) {
		for _, d := range f.tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.IsExported() && !yield(f.at(fn.Pos()), fn.Type) {
				return
			}
		}
		for spec := range f.types() {
			typ, ok := spec.Type.(*ast.InterfaceType)
			if !ok || !spec.Name.IsExported() {
				continue
			}
			for _, m := range typ.Methods.List {
				if !yield(f.at(m.Pos()), m.Type) {
					return
				}
			}
		}
	}
}
