package openapi_test

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkResolveGitHub reads the largest description at hand: 13 MB, 1,223
// operations.
func BenchmarkResolveGitHub(b *testing.B) {
	corpus := os.Getenv("EXECUTOR_CORPUS")
	if corpus == "" {
		b.Skip("EXECUTOR_CORPUS is not set")
	}
	file := filepath.Join(corpus, "openapi", "github-3.0.json")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := resolve(b, file); err != nil {
			b.Fatal(err)
		}
	}
}
