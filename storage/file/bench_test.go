package file_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/storage/file"
)

// BenchmarkAppend measures appends that are synced before they are acknowledged
// beside what one writer of the same lines gets from the same disk.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 8, 32} {
		b.Run(fmt.Sprint("writers=", writers), func(b *testing.B) {
			raw := rawSyncs(b, 200)
			rate := appends(b, writers, executor.Write)
			b.ReportMetric(raw, "raw_fsync/s")
			b.ReportMetric(rate/raw, "ratio")
		})
	}
}

// BenchmarkAppendRead measures plain reads, which are synced later.
func BenchmarkAppendRead(b *testing.B) {
	for _, writers := range []int{1, 8} {
		b.Run(fmt.Sprint("writers=", writers), func(b *testing.B) { appends(b, writers, executor.Read) })
	}
}

func appends(b *testing.B, writers int, effect executor.Effect) (rate float64) {
	b.Helper()
	s, err := file.Open(b.TempDir(), file.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	var next atomic.Int64
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				run := testRun(fmt.Sprint(n))
				run.Effect = effect
				if _, err := s.Runs().Append(context.Background(), run); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	rate = float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(rate, "appends/s")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return rate
}

// rawSyncs gives how many lines a second can be written and synced one by one.
func rawSyncs(b *testing.B, n int) float64 {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	line := append(bytes.Repeat([]byte("x"), 700), '\n')
	start := time.Now()
	for range n {
		if _, err := f.Write(line); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	raw := float64(n) / time.Since(start).Seconds()
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return raw
}

// BenchmarkOpen measures Open and Close of a storage with runs of two states.
func BenchmarkOpen(b *testing.B) {
	for _, runs := range []int{300, 100_000} {
		for _, indexed := range []bool{true, false} {
			b.Run(fmt.Sprintf("runs=%d/indexed=%t", runs, indexed), func(b *testing.B) {
				dir := b.TempDir()
				manyRuns(b, dir, runs, file.Options{})
				for b.Loop() {
					if !indexed {
						_ = os.Remove(filepath.Join(dir, "runs", "index")) // it may not be there
					}
					s, err := file.Open(dir, file.Options{})
					if err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					if err := s.Close(); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
			})
		}
	}
}
