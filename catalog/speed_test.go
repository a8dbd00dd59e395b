package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	executor "github.com/open-executor/executor"
	"github.com/open-executor/executor/catalog"
)

var (
	someVerbs = []string{"get", "list", "create", "delete", "update", "search", "send", "run", "cancel", "export", "approve", "archive", "assign", "close", "merge", "copy"}
	someNouns = []string{"invoice", "customer", "repository", "branch", "deployment", "ticket", "message", "channel", "user", "team", "calendar", "event", "payment", "refund", "subscription", "project", "task", "comment", "label", "release", "artifact", "container", "cluster", "node", "secret", "token", "webhook", "report", "dashboard", "alert", "monitor", "contact", "campaign", "document", "folder", "file", "sheet", "table", "column", "query"}
	someWords = []string{"account", "address", "amount", "authenticated", "billing", "body", "code", "configuration", "content", "currency", "date", "default", "description", "email", "environment", "filter", "format", "group", "history", "identifier", "language", "limit", "location", "members", "metadata", "name", "number", "options", "organization", "owner", "page", "permission", "policy", "price", "primary", "public", "region", "request", "resource", "response", "role", "schedule", "scope", "session", "size", "sort", "status", "storage", "summary", "time", "title", "type", "url", "value", "version", "view", "workspace", "zone"}
)

// inventedTools gives n tools with names and descriptions like those of real APIs,
// always the same.
func inventedTools(n int) *executor.Manifest {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	m := &executor.Manifest{Title: "Invented"}
	for i := range n {
		verb, noun, other := pick(someVerbs), pick(someNouns), pick(someNouns)
		description := fmt.Sprintf("%s a %s of a %s.\n\n", verb, noun, other)
		for range 20 + r.IntN(40) {
			description += pick(someWords) + " "
		}
		input := `{"type":"object","properties":{`
		for j := range 1 + r.IntN(8) {
			if j > 0 {
				input += ","
			}
			input += fmt.Sprintf(`"%s_%d":{"type":"string","description":"The %s of the %s."}`, pick(someWords), j, pick(someWords), noun)
		}
		m.Tools = append(m.Tools, executor.Tool{
			Name: executor.ToolName(fmt.Sprintf("%s.%s-%s-%d", noun, verb, other, i)), Description: description,
			Tags: []string{noun}, Input: []byte(input + "}}"),
		})
	}
	slices.SortFunc(m.Tools, func(a, b executor.Tool) int { return compareNames(a, b) })
	return m
}

func compareNames(a, b executor.Tool) int {
	switch {
	case a.Name < b.Name:
		return -1
	case a.Name > b.Name:
		return 1
	}
	return 0
}

// manyTools mixes GitHub, where it is at hand, with invented tools.
func manyTools(b *testing.B, n int) *catalog.Index {
	views := []catalog.View{}
	if dir := os.Getenv("EXECUTOR_CORPUS"); dir != "" {
		m := operations(b, filepath.Join(dir, "openapi/github-3.0.json"))
		m.Tools = m.Tools[:min(n, len(m.Tools))]
		n -= len(m.Tools)
		views = append(views, catalog.View{Part: catalog.Build(m), Source: "github", Scope: "user", Connection: "work"})
	}
	for i := 0; n > 0; i++ {
		size := min(n, 1000)
		n -= size
		views = append(views, catalog.View{Part: catalog.Build(inventedTools(size)), Source: executor.SourceID(fmt.Sprintf("invented%d", i)), Scope: "user", Connection: "work"})
	}
	return catalog.New(views...)
}

var someQueries = []string{
	"create an issue", "list all invoices of a customer", "Show me the full text content stored inside a file on disk",
	"delte a repositry", "send a message to a channel", "get user", "who can approve the deployment of this project",
	"update the status of a task and add a comment", "calen", "merge pull request", "invoice.create", "refund", "all", "",
	"how do I set up a webhook that tells my team about a new release of a repository in the organization",
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1200, 4000, 10000} {
		b.Run(fmt.Sprintf("tools=%d", n), func(b *testing.B) {
			x := manyTools(b, n)
			took := make([]time.Duration, 0, b.N)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				begin := time.Now()
				x.Search(someQueries[i%len(someQueries)], catalog.Filter{})
				took = append(took, time.Since(begin))
				i++
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	m := inventedTools(2000)
	b.ReportAllocs()
	for b.Loop() {
		catalog.Build(m)
	}
}

func BenchmarkBuildGitHub(b *testing.B) {
	dir := os.Getenv("EXECUTOR_CORPUS")
	if dir == "" {
		b.Skip("EXECUTOR_CORPUS is not set")
	}
	m := operations(b, filepath.Join(dir, "openapi/github-3.0.json"))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p := catalog.Build(m)
	runtime.GC()
	runtime.ReadMemStats(&after)
	for b.Loop() {
		catalog.Build(m)
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc), "kept-B")
	runtime.KeepAlive(p)
}
