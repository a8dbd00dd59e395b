//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/catalog"
)

// BenchmarkGitHub gives, for a process that stays, what adding GitHub's whole
// description and connecting costs, what is resident afterwards (VmRSS, with the search
// index built and garbage returned), and what a second connection adds.
func BenchmarkGitHub(b *testing.B) {
	spec := filepath.Join(os.Getenv("EXECUTOR_CORPUS"), "openapi", "github-3.0.json")
	if _, err := os.Stat(spec); err != nil {
		b.Skip("EXECUTOR_CORPUS does not lead to GitHub's description")
	}
	config, err := json.Marshal(map[string]string{"spec": spec})
	if err != nil {
		b.Fatal(err)
	}
	b.Setenv("EXECUTOR_KEYCHAIN", "off")
	b.Setenv("BENCH_TOKEN", "not-a-real-token")
	var second time.Duration
	var resident, more int
	for b.Loop() {
		e, closing, err := installation{b.TempDir()}.open(b.Context(), executor.Principal{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := e.AddSource(b.Context(), executor.Source{ID: "github", Kind: "openapi", Config: config}); err != nil {
			b.Fatal(err)
		}
		connect(b, e, "work")
		b.StopTimer()
		var search catalog.Catalog
		index(b, &search, e)
		resident = settled(b)
		start := time.Now()
		connect(b, e, "second")
		second = time.Since(start)
		index(b, &search, e)
		more = settled(b) - resident
		if err := closing(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(resident)/1024, "MiB-resident")
	b.ReportMetric(float64(more), "KiB-more-for-a-second-connection")
	b.ReportMetric(float64(second.Microseconds())/1000, "ms/second-connection")
}

func connect(b *testing.B, e *executor.Executor, name executor.ConnectionName) {
	b.Helper()
	_, err := e.Connect(b.Context(), executor.Connection{
		Source: "github", Scope: "user", Name: name, Secrets: map[string]executor.SecretRef{"token": "env://BENCH_TOKEN"},
		Auth: executor.Auth{Name: "bearer", Parts: []executor.AuthPart{{In: executor.Bearer, Secret: "token"}}},
	})
	if err != nil {
		b.Fatal(err)
	}
}

func index(b *testing.B, c *catalog.Catalog, e *executor.Executor) {
	b.Helper()
	x, err := c.Index(b.Context(), e)
	if err != nil {
		b.Fatal(err)
	}
	if hits := x.Search("create an issue", catalog.Filter{}); len(hits) == 0 {
		b.Fatal("the index finds nothing")
	}
}

// settled gives the resident size in KiB once garbage was returned.
func settled(b *testing.B) int {
	b.Helper()
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return kib
}
