// Package sourcetest is the contract of executor.Kind. A kind is accepted when Run
// passes for a source of its own. It imports the root package and the standard library; the
// upstream it plays is a handler in this process, so that nothing waits for a network.
package sourcetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/open-executor/executor"
)

// Base is the URL at which Case.Upstream answers.
const Base = "http://upstream.example"

// A Case is one source to check a kind with.
type Case struct {
	Config   string       // the source's config, JSON; refers to upstream as Base
	Upstream http.Handler // serves the description, where it is served, and every call. Safe for concurrent use
	Tools    []string     // names that Resolve must find, in any order
	Calls    []Call       // at least one, and one of them without Fault
}

// A Call is one invocation and what must come of it.
type Call struct {
	Tool  string
	Args  string // a JSON object
	Value string // expected value, compared as JSON; "" where Fault or Body is
	Fault int    // expected Fault.Status
	Body  string // expected content, where the kind hands over a Body
}

// Run checks what executor.Kind promises. Each part runs in a bubble that ends only
// when every goroutine in it has.
func Run(t *testing.T, k executor.Kind, c Case) {
	t.Helper()
	r := runner{k, c}
	for _, part := range []struct {
		claim string
		check func(*testing.T)
	}{
		{"it has a name", r.name},
		{"resolving gives every tool, sorted, with names and effects that are valid", r.resolves},
		{"resolving again gives the same, and changes nothing it was given", r.resolvesAgain},
		{"resolving many at once gives the same", r.resolvesAtOnce},
		{"the executor takes the source, and every schema compiles", r.compiles},
		{"calls give what they should, and close what they read", r.calls},
		{"many calls at once give what they should", r.callsAtOnce},
		{"a call that the client refuses gives the client's own error", r.refused},
		{"a call without a connection is unavailable and unsent", r.unconnected},
		{"a call that hangs up is unavailable, and may have been sent", r.hungUp},
		{"a call ends when its context does", r.cancelled},
		{"a call whose context has ended sends nothing", r.ended},
		{"a description that cannot be had is an error of the executor's", r.unresolved},
	} {
		t.Run(part.claim, func(t *testing.T) { synctest.Test(t, part.check) })
	}
}

type runner struct {
	kind executor.Kind
	c    Case
}

func (r runner) source() executor.Source {
	return executor.Source{ID: "probe", Kind: r.kind.Name(), Config: json.RawMessage(r.c.Config), AllowPrivate: true}
}

func (r runner) name(t *testing.T) {
	if name := r.kind.Name(); !regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(name) {
		t.Errorf("Name = %q, want lower-case letters, digits and \"-\"", name)
	}
}

func (r runner) resolve(t *testing.T) executor.Manifest {
	t.Helper()
	w := &wire{handler: r.c.Upstream}
	m, err := r.kind.Resolve(t.Context(), r.source(), w.credential())
	if err != nil {
		t.Fatalf("Resolve: %v", err)
	}
	w.allClosed(t)
	return m
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

func (r runner) resolves(t *testing.T) {
	m := r.resolve(t)
	var names []string
	for _, tool := range m.Tools {
		names = append(names, string(tool.Name))
		if !toolName.MatchString(string(tool.Name)) || len(tool.Name) > 128 {
			t.Errorf("tool name %q is not valid", tool.Name)
		}
		if !slices.Contains([]executor.Effect{"", executor.Read, executor.Write, executor.Destroy}, tool.Effect) {
			t.Errorf("tool %s: effect %q", tool.Name, tool.Effect)
		}
		for what, schema := range map[string]json.RawMessage{"input": tool.Input, "output": tool.Output} {
			if schema != nil && !json.Valid(schema) {
				t.Errorf("tool %s: %s schema is not JSON", tool.Name, what)
			}
		}
	}
	if sorted := slices.Compact(slices.Sorted(slices.Values(names))); !slices.Equal(names, sorted) {
		t.Errorf("tools = %q, want them sorted and unique: %q", names, sorted)
	}
	for _, want := range r.c.Tools {
		if !slices.Contains(names, want) {
			t.Errorf("tools = %q, want %q among them", names, want)
		}
	}
	if m.Found < len(m.Tools) {
		t.Errorf("Found = %d with %d tools", m.Found, len(m.Tools))
	}
}

func (r runner) resolvesAgain(t *testing.T) {
	first := r.resolve(t)
	src := r.source()
	w := &wire{handler: r.c.Upstream}
	again, err := r.kind.Resolve(t.Context(), src, w.credential())
	if err != nil {
		t.Fatalf("Resolve: %v", err)
	}
	sameManifest(t, again, first)
	if !reflect.DeepEqual(src, r.source()) {
		t.Errorf("Resolve changed its source: %+v", src)
	}
}

func (r runner) resolvesAtOnce(t *testing.T) {
	first := r.resolve(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			w := &wire{handler: r.c.Upstream}
			m, err := r.kind.Resolve(t.Context(), r.source(), w.credential())
			if err != nil {
				t.Errorf("Resolve: %v", err)
				return
			}
			sameManifest(t, m, first)
		})
	}
	group.Wait()
}

func sameManifest(t *testing.T, got, want executor.Manifest) {
	t.Helper()
	a, errA := json.Marshal(got)
	b, errB := json.Marshal(want)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("manifest = %.500s (%v)\nwant %.500s (%v)", a, errA, b, errB)
	}
}

// compiles asks the executor, which compiles a schema when it checks arguments. A
// bad schema is Internal there; bad arguments are Invalid.
func (r runner) compiles(t *testing.T) {
	w := &wire{handler: r.c.Upstream}
	e, err := executor.New(executor.Config{
		Kinds: []executor.Kind{r.kind}, Transport: func(bool) http.RoundTripper { return w },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.AddSource(t.Context(), r.source()); err != nil {
		t.Fatalf("AddSource: %v", err)
	}
	for found, err := range e.Tools(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.DryRun(t.Context(), found.Address, json.RawMessage(`{}`)); executor.CodeOf(err) == executor.Internal {
			t.Errorf("tool %s: %v", found.Tool.Name, err)
		}
	}
}

func (r runner) calls(t *testing.T) {
	m := r.resolve(t)
	for _, call := range r.c.Calls {
		w := &wire{handler: r.c.Upstream}
		res, err := r.invoke(t.Context(), m, call, w.credential())
		if problem := call.problem(res, err); problem != "" {
			t.Errorf("%s(%s): %s", call.Tool, call.Args, problem)
		}
		w.allClosed(t)
	}
}

func (r runner) callsAtOnce(t *testing.T) {
	m := r.resolve(t)
	var group sync.WaitGroup
	for range 8 {
		for _, call := range r.c.Calls {
			group.Go(func() {
				w := &wire{handler: r.c.Upstream}
				res, err := r.invoke(t.Context(), m, call, w.credential())
				if problem := call.problem(res, err); problem != "" {
					t.Errorf("%s(%s): %s", call.Tool, call.Args, problem)
				}
			})
		}
	}
	group.Wait()
}

func (r runner) invoke(ctx context.Context, m executor.Manifest, call Call, cred executor.Credential) (executor.Result, error) {
	i := slices.IndexFunc(m.Tools, func(t executor.Tool) bool { return string(t.Name) == call.Tool })
	if i < 0 {
		return executor.Result{}, fmt.Errorf("there is no tool %q", call.Tool)
	}
	return r.kind.Invoke(ctx, executor.Call{
		Source: r.source(), Tool: m.Tools[i], Args: json.RawMessage(call.Args), Credential: cred,
	})
}

// problem says how an outcome is not what the call wants. It reads and closes the
// Body.
func (c Call) problem(res executor.Result, err error) string {
	if err != nil {
		return err.Error()
	}
	var body []byte
	if res.Body != nil {
		body, err = io.ReadAll(res.Body.Content)
		if err = errors.Join(err, res.Body.Content.Close()); err != nil {
			return err.Error()
		}
	}
	status := 0
	if res.Fault != nil {
		status = res.Fault.Status
		if res.Fault.Message == "" || strings.Contains(res.Fault.Message, "\n") {
			return fmt.Sprintf("the fault's message is %q, want one line", res.Fault.Message)
		}
	}
	switch {
	case res.Run != "" || res.Status != "" || res.Handle != nil:
		return fmt.Sprintf("run %q, status %q, handle %v: those are the executor's to set", res.Run, res.Status, res.Handle)
	case res.Fault != nil && res.Value != nil, res.Fault != nil && res.Body != nil, res.Value != nil && res.Body != nil:
		return "more than one of value, fault and body"
	case status != c.Fault:
		return fmt.Sprintf("fault %d, want %d", status, c.Fault)
	case string(body) != c.Body:
		return fmt.Sprintf("body %q, want %q", body, c.Body)
	case !sameJSON(res.Value, c.Value):
		return fmt.Sprintf("value %s, want %s", res.Value, c.Value)
	}
	return ""
}

func sameJSON(got json.RawMessage, want string) bool {
	if want == "" || got == nil {
		return want == "" && got == nil
	}
	var a, b any
	return json.Unmarshal(got, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && reflect.DeepEqual(a, b)
}
