package executor_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/storage/file"
)

var constant = executor.Result{Value: json.RawMessage(`{"answer":42}`)}

func answer(context.Context, executor.Call) (executor.Result, error) { return constant, nil }

// BenchmarkExecute gives what the path costs beside a bare call of the kind in the
// same run: find, policy, validation and both records; "overhead-µs/call" is the
// difference.
func BenchmarkExecute(b *testing.B) {
	for _, tool := range []executor.ToolName{"typed", "write"} {
		b.Run("memory/"+string(tool), func(b *testing.B) { benchmarkExecute(b, executor.Memory(), tool) })
		b.Run("file/"+string(tool), func(b *testing.B) {
			s, err := file.Open(b.TempDir(), file.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close() //nolint:errcheck // a benchmark's directory
			benchmarkExecute(b, s, tool)
		})
	}
}

func benchmarkExecute(b *testing.B, s executor.Storage, tool executor.ToolName) {
	kind := &script{invoke: answer, manifest: executor.Manifest{Public: true, Tools: tools()}}
	e, err := executor.New(executor.Config{Kinds: []executor.Kind{kind}, Storage: s})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := e.AddSource(b.Context(), executor.Source{ID: "up", Kind: "script", Config: json.RawMessage(`{}`)}); err != nil {
		b.Fatal(err)
	}
	for _, pattern := range []string{"*", "book.*", string(tool)} {
		if _, err := e.SetPolicy(b.Context(), executor.Policy{Scope: "user", Source: "up", Tools: pattern}); err != nil {
			b.Fatal(err)
		}
	}
	args := json.RawMessage(`{"id":12345,"n":0.5}`)
	call := executor.Call{Args: args}
	const bareCalls = 10000
	start := time.Now()
	for range bareCalls {
		if _, err := kind.Invoke(b.Context(), call); err != nil {
			b.Fatal(err)
		}
	}
	bare := time.Since(start) / bareCalls

	for b.Loop() {
		if _, err := e.Execute(b.Context(), at(tool), args); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((b.Elapsed()/time.Duration(b.N)-bare).Nanoseconds())/1e3, "overhead-µs/call")
}
