//go:build unix

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// These run the built program, so that starting it and opening the data
// directory count. MB-peak is the largest resident size of the process (VmHWM).

func BenchmarkProgram(b *testing.B) {
	github := filepath.Join(cacheDir(), "specs", "github.json")
	connect := []string{"connect", "github", "work", "--secret", "token=env://GITHUB_TOKEN"}
	for _, bench := range []struct {
		name   string
		before [][]string // in a new home
		args   []string
		again  bool // the command may be repeated in one home
	}{
		{"version", nil, []string{"--version"}, true},
		{"add GitHub", nil, []string{"source", "add", "github", "--spec", github}, false},
		{"connect GitHub", [][]string{{"source", "add", "github", "--spec", github}}, connect, false},
		{
			"connect GitHub again",
			[][]string{{"source", "add", "github", "--spec", github}, connect},
			[]string{"connect", "github", "other", "--secret", "token=env://GITHUB_TOKEN"}, false,
		},
		{
			"search GitHub",
			[][]string{{"source", "add", "github", "--spec", github}, connect},
			[]string{"tools", "search", "create an issue"}, true,
		},
		{
			"dry run on GitHub",
			[][]string{{"source", "add", "github", "--spec", github}, connect},
			[]string{"call", "github.user.work.issues.get", "owner=a", "repo=b", "issue_number=1", "--dry-run"}, true,
		},
		{
			"call the sample",
			[][]string{{"source", "add", "sample"}},
			[]string{"call", "sample.user.public.pets.list", "limit=1"}, true,
		},
	} {
		b.Run(bench.name, func(b *testing.B) {
			if len(bench.before) > 0 || !bench.again {
				if _, err := os.Stat(github); err != nil {
					b.Skip("GitHub's description is not installed; run: make install-tools")
				}
			}
			var peak int64
			home := ""
			for b.Loop() {
				if home == "" || !bench.again {
					b.StopTimer()
					home = b.TempDir()
					for _, args := range bench.before {
						at(b, home, args)
					}
					b.StartTimer()
				}
				peak = max(peak, at(b, home, bench.args))
			}
			b.ReportMetric(float64(peak)/1024, "MB-peak")
		})
	}
}

// at runs the program on a home and gives its peak size in KiB.
func at(b *testing.B, home string, args []string) int64 {
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "EXECUTOR_HOME=" + home, "EXECUTOR_KEYCHAIN=off", "GITHUB_TOKEN=x"}
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("executor %v: %v\n%s", args, err, out)
	}
	return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
}
