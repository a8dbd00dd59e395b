//go:build unix

package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// A story is what the commands of one script remember.
type story struct {
	transcript string // file that gets all output; searched for secrets at the end
	code       int    // exit code of the last program
	peak       int64  // bytes of memory it had at most, or this process had when it began
	ours       int64  // bytes that this process had then

	mu      sync.Mutex // guards peak and the file behind transcript
	started map[string]*exec.Cmd
}

type storyKey struct{}

func storyOf(ts *testscript.TestScript) *story { return ts.Value(storyKey{}).(*story) }

var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"executor": executorCommand,
	"code":     codeCommand,
	"peak":     peakCommand,
	"tty":      ttyCommand,
	"get":      getCommand,
	"save":     saveCommand,
	"together": togetherCommand,
	"begin":    beginCommand,
	"crash":    crashCommand,
	"forge":    forgeCommand,
	"server":   serverCommand,
}

// executor ARGS… runs the program. With "!" it has to fail.
func executorCommand(ts *testscript.TestScript, neg bool, args []string) {
	s := storyOf(ts)
	out, errs, code := s.run(ts, args)
	_, _ = ts.Stdout().Write(out) // into a buffer
	_, _ = ts.Stderr().Write(errs)
	s.ended(ts, neg, code, string(out)+string(errs))
}

func (s *story) ended(ts *testscript.TestScript, neg bool, code int, said string) {
	s.code = code
	switch {
	case neg && code == 0:
		ts.Fatalf("it succeeded, and should not:\n%s", said)
	case !neg && code != 0:
		ts.Fatalf("exit code %d:\n%s", code, said)
	}
}

func (s *story) run(ts *testscript.TestScript, args []string) (out, errs []byte, code int) {
	var o, e bytes.Buffer
	cmd := command(ts, args)
	cmd.Stdout, cmd.Stderr = &o, &e
	ours := resident()
	code = exitCode(ts, cmd.Run())
	if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.mu.Lock()
		s.peak, s.ours = int64(used.Maxrss)*rssUnit, ours
		s.mu.Unlock()
	}
	s.note(args, o.Bytes(), e.Bytes())
	return o.Bytes(), e.Bytes(), code
}

// command makes a process of the program that sees the story's environment only.
func command(ts *testscript.TestScript, args []string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = ts.Getenv("WORK")
	cmd.Env = environ(ts)
	return cmd
}

// environ lists what a story's programs see. It is a list and not a copy, so
// that nothing of the surrounding shell gets in.
func environ(ts *testscript.TestScript) []string {
	names := []string{
		"PATH", "HOME", "TMPDIR", "TERM", "EXECUTOR_HOME", "EXECUTOR_KEYCHAIN",
		"AI_AGENT", "CLAUDECODE", "NO_COLOR", "CI", "CANARY_USER",
	}
	for name := range canaries {
		names = append(names, name)
	}
	var env []string
	for _, name := range names {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func exitCode(ts *testscript.TestScript, err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	ts.Fatalf("%v", err)
	return -1
}

// note adds what a program said to the transcript.
func (s *story) note(args []string, said ...[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := os.OpenFile(s.transcript, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err) // the story's directory is gone
	}
	defer f.Close()
	typed := strings.Join(args, " ")
	for name, secret := range canaries { // a story may type one; what counts is what comes back
		typed = strings.ReplaceAll(typed, secret, "$"+name)
	}
	fmt.Fprintf(f, "$ executor %s\n%s\n", typed, bytes.Join(said, []byte("\n")))
}

// code N checks the exit code of the last program.
func codeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: code N")
	}
	if got := strconv.Itoa(storyOf(ts).code); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// peak N checks that the last program never had N MiB of memory or more. The system
// counts the process that forked as well, as it was then; where that was more, it hides
// what the program had, up to there.
func peakCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: peak N")
	}
	limit, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	s := storyOf(ts)
	if got := s.peak; got == 0 || got >= max(limit<<20, s.ours*11/10) {
		ts.Fatalf("the program had %d KiB of memory, want less than %d MiB", got>>10, limit)
	}
}

// resident gives the bytes of memory that this process has; 0 where that cannot be told.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64) // digits, or 0
	return pages * int64(os.Getpagesize())
}

// get URL fetches, without the program.
func getCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: get URL")
	}
	resp, err := http.Get(args[0])
	ts.Check(err)
	defer resp.Body.Close()
	_, err = io.Copy(ts.Stdout(), resp.Body)
	ts.Check(err)
	if resp.StatusCode != http.StatusOK {
		ts.Fatalf("%s: %s", args[0], resp.Status)
	}
}

// save NAME REGEXP puts what the group in REGEXP matches of the last output
// into a variable.
func saveCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: save NAME REGEXP")
	}
	expr, err := regexp.Compile(args[1])
	ts.Check(err)
	m := expr.FindStringSubmatch(ts.ReadFile("stdout"))
	if len(m) != 2 {
		ts.Fatalf("%s does not match, or has not one group", args[1])
	}
	ts.Setenv(args[0], m[1])
}

// together N ARGS… runs the program N times at once. All have to succeed; with
// "!" exactly one does.
func togetherCommand(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	s := storyOf(ts)
	outs, errs, codes := make([][]byte, n), make([][]byte, n), make([]int, n)
	var crowd sync.WaitGroup
	for i := range n {
		crowd.Go(func() { outs[i], errs[i], codes[i] = s.run(ts, args[1:]) })
	}
	crowd.Wait()
	good := 0
	for i := range n {
		fmt.Fprintf(ts.Stdout(), "%s", outs[i])
		fmt.Fprintf(ts.Stderr(), "%s", errs[i])
		if codes[i] == 0 {
			good++
		}
	}
	if want := map[bool]int{false: n, true: 1}[neg]; good != want {
		ts.Fatalf("%d of %d succeeded, want %d:\n%s%s", good, n, want, bytes.Join(outs, nil), bytes.Join(errs, nil))
	}
}

// begin NAME ARGS… runs the program beside the story, until crash NAME.
func beginCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: begin NAME ARGS…")
	}
	cmd := command(ts, args[1:])
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	ts.Check(cmd.Start())
	s := storyOf(ts)
	if s.started == nil {
		s.started = map[string]*exec.Cmd{}
	}
	s.started[args[0]] = cmd
	ts.Defer(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		s.note(args[1:], said.Bytes())
	})
}

// crash NAME kills it as the kernel would (SIGKILL) and waits until it is gone.
func crashCommand(ts *testscript.TestScript, neg bool, args []string) {
	cmd := storyOf(ts).started[args[0]]
	if neg || cmd == nil {
		ts.Fatalf("usage: crash NAME, of something begun")
	}
	ts.Check(cmd.Process.Kill())
	_ = cmd.Wait() // says only that it was killed
}

// forge GLOB OLD NEW changes the first OLD in the first file that has it, and makes
// the checksum of its line right again, as somebody would who knows the format.
func forgeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: forge GLOB OLD NEW")
	}
	names, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, name := range names {
		content, err := os.ReadFile(name)
		ts.Check(err)
		lines := strings.Split(string(content), "\n")
		for i, line := range lines {
			if !strings.Contains(line, args[1]) {
				continue
			}
			_, text, _ := strings.Cut(line, " ") // after the checksum
			_, text, _ = strings.Cut(text, " ")  // after the length
			text = strings.Replace(text, args[1], args[2], 1)
			sum := crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli))
			lines[i] = fmt.Sprintf("%08x %d %s", sum, len(text), text)
			ts.Check(os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600))
			return
		}
	}
	ts.Fatalf("%q is in none of %v", args[1], names)
}

// server NAME starts a real server, unless it runs, and puts its base URL into
// the variable NAME, in capitals.
func serverCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: server NAME")
	}
	base, err := real.start(args[0])
	ts.Check(err)
	ts.Setenv(strings.ToUpper(args[0]), base)
}
