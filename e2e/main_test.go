//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var (
	workshop string   // holds everything a run of the suite writes
	program  string   // the built binary
	odd      *oddity  // the upstream that behaves oddly
	real     *servers // upstreams that nobody here wrote
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if workshop = os.Getenv("EXECUTOR_E2E_DIR"); workshop == "" {
		if workshop, err = os.MkdirTemp("", "executor-e2e-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(workshop)
	}
	program = filepath.Join(workshop, "bin", "executor")
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	odd = newOddity()
	defer odd.close()
	real = &servers{dir: filepath.Join(workshop, "servers"), cache: cacheDir()}
	defer real.stop()
	return m.Run()
}

// build builds the program, or takes the one that EXECUTOR_PROGRAM names.
func build() error {
	if ready := os.Getenv("EXECUTOR_PROGRAM"); ready != "" {
		if err := os.MkdirAll(filepath.Dir(program), 0o700); err != nil {
			return err
		}
		return os.Symlink(ready, program)
	}
	out, err := exec.Command("go", "build", "-o", program, "../cmd/executor").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s%w", out, err)
	}
	return nil
}

func cacheDir() string {
	dir, err := filepath.Abs("../.cache")
	if err != nil {
		panic(err) // there is no working directory
	}
	return dir
}

func TestStories(t *testing.T) {
	stories := filepath.Join(workshop, "stories")
	if err := os.MkdirAll(stories, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Run("told", func(t *testing.T) {
		testscript.Run(t, testscript.Params{
			Dir:                 "testdata",
			WorkdirRoot:         stories,
			RequireExplicitExec: true,
			RequireUniqueNames:  true,
			Setup:               setUp,
			Condition:           condition,
			Cmds:                commands,
		})
	})
	t.Run("the README shows what really happens", readReadme)
	// All stories have ended here, the parallel ones too.
	t.Run("no secret is in any file that the stories left", func(t *testing.T) {
		searchForCanaries(t, stories)
	})
}

// setUp gives a story a home of its own and an environment that holds nothing
// of ours: no marker of an agent, no terminal, no credentials.
func setUp(env *testscript.Env) error {
	name := filepath.Base(env.WorkDir)
	env.Values[storyKey{}] = &story{transcript: filepath.Join(env.WorkDir, "transcript.txt")}
	env.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("EXECUTOR_HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("EXECUTOR_KEYCHAIN", "off")
	env.Setenv("TERM", "dumb")
	env.Setenv("ODD", odd.at(name))
	env.Setenv("FOREIGN", odd.foreign.URL)
	env.Setenv("STRIPE_SPEC", filepath.Join(cacheDir(), "specs", "stripe.json"))
	env.Setenv("ETCD_SPEC", filepath.Join(cacheDir(), "specs", "etcd.json"))
	env.Setenv("GITHUB_SPEC", filepath.Join(cacheDir(), "specs", "github.json"))
	for name, value := range canaries {
		env.Setenv(name, value)
	}
	// Descriptions of real servers that publish none.
	for _, name := range []string{"rclone.json", "webdav.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(env.WorkDir, name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// condition knows [real:NAME], an upstream or a description that make
// install-tools brings. Where the whole suite is wanted, its absence fails.
func condition(cond string) (bool, error) {
	var name string
	if _, err := fmt.Sscanf(cond, "real:%s", &name); err != nil {
		return false, fmt.Errorf("unknown condition %q", cond)
	}
	err := real.there(name)
	if err != nil && wanted() {
		return false, fmt.Errorf("%w; run: make install-tools", err)
	}
	return err == nil, nil
}

func wanted() bool {
	return os.Getenv("CI") == "true" || os.Getenv("EXECUTOR_E2E") == "full"
}
