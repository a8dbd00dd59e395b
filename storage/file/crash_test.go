package file_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/storage/file"
)

var (
	crashRounds = flag.Int("crash.rounds", 200, "how often TestCrash kills its child")
	crashSeed   = flag.Uint64("crash.seed", 1, "of the points at which TestCrash kills")
)

// child is set in a process that a test has started; it says what to be.
const child = "EXECUTOR_FILE_TEST_CHILD"

func TestMain(m *testing.M) {
	flag.Parse()
	switch os.Getenv(child) {
	case "":
		os.Exit(m.Run())
	case "writer":
		beWriter(flag.Arg(0), flag.Arg(1))
	case "holder":
		beHolder(flag.Arg(0))
	}
}

// start gives this test binary as another process.
func start(be string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), child+"="+be)
	cmd.Stderr = os.Stderr
	return cmd
}

// Every thing a child changes has a name, and a state that can be written as one
// word. The child says what it tries before and what is acknowledged after.
const absent = "-"

var crashOptions = file.Options{SnapshotBytes: 2 << 10, SegmentBytes: 48 << 10}

// beWriter changes all there is until it is killed.
func beWriter(dir, round string) {
	s, err := file.Open(dir, crashOptions)
	if err != nil {
		fmt.Println("fail open", err)
		return
	}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() { writeRecords(s, round, i) })
		all.Go(func() { writeRuns(s, round, i) })
	}
	all.Go(func() { writeBlobs(s, round) })
	all.Wait()
}

func say(what, name, state string, version uint64) {
	_, _ = os.Stdout.WriteString(fmt.Sprintf("%s %s %s %d\n", what, name, state, version)) // the parent may have seen enough
}

func writeRecords(s *file.Storage, round string, i int) {
	ctx := context.Background()
	for n := 0; ; n++ {
		noun := []executor.Noun{executor.Sources, executor.Requests}[i%2]
		key := fmt.Sprintf("%d-%d", i, rand.IntN(6))
		name := string(noun) + "/" + key
		now, err := s.Table(noun).Get(ctx, key)
		if err == nil && rand.IntN(4) == 0 {
			say("try", name, absent, 0)
			if err = s.Table(noun).Delete(ctx, key); err == nil {
				say("ack", name, absent, 0)
				continue
			}
		}
		value := fmt.Sprintf(`"%s.%d.%d%s"`, round, i, n, strings.Repeat("x", rand.IntN(200)))
		say("try", name, value, 0)
		r, err := s.Table(noun).Put(ctx, key, json.RawMessage(value), now.Version)
		if err != nil {
			fmt.Println("fail", name, err)
			return
		}
		say("ack", name, value, r.Version)
	}
}

func runState(run executor.Run) string {
	return fmt.Sprintf("%d:%s:%d", run.Version, run.Status, len(run.Reason))
}

func writeRuns(s *file.Storage, round string, i int) {
	for n := 0; ; n++ {
		run := testRun(fmt.Sprintf("%s.%d.%d", round, i, n))
		if n%2 == 0 {
			run.Effect = executor.Write
		}
		for _, status := range []executor.Status{executor.Running, executor.Waiting, executor.Done} {
			run.Status, run.Reason = status, strings.Repeat("r", rand.IntN(400))
			say("try", "runs/"+string(run.ID), runState(run), 0)
			if _, err := s.Runs().Append(context.Background(), run); err != nil {
				fmt.Println("fail", run.ID, err)
				return
			}
			say("ack", "runs/"+string(run.ID), runState(run), 0)
			run.Version++
		}
	}
}

func writeBlobs(s *file.Storage, round string) {
	for n := 0; ; n++ {
		content := []byte(strings.Repeat(fmt.Sprint(round, ".", n, " "), 1+rand.IntN(3000)))
		sum := sha256.Sum256(content)
		digest := hex.EncodeToString(sum[:])
		say("try", "blobs/"+digest, "+", 0)
		if _, _, err := s.Blobs().Put(context.Background(), bytes.NewReader(content)); err != nil {
			fmt.Println("fail", digest, err)
			return
		}
		say("ack", "blobs/"+digest, "+", 0)
		if n%3 == 0 {
			say("try", "blobs/"+digest, absent, 0)
			if err := s.Blobs().Delete(context.Background(), digest); err != nil {
				fmt.Println("fail", digest, err)
				return
			}
			say("ack", "blobs/"+digest, absent, 0)
		}
	}
}

// testRun gives the first state of a run.
func testRun(id string) executor.Run {
	run := executor.RunID("run_" + id)
	return executor.Run{
		ID: run, Version: 1, Root: run, Effect: executor.Read, Status: executor.Running,
		Address:   executor.Address{Source: "phone", Scope: "user", Connection: "work", Tool: "book.find"},
		Principal: []executor.Principal{{Kind: executor.Human, ID: "ada"}},
		Input:     executor.Input{Args: json.RawMessage(`{}`)},
		Started:   time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC),
	}
}

// An expectation is what the parent knows of a thing.
type expectation struct {
	state   string   // the last one acknowledged
	version uint64   // of that, for a record
	tried   []string // what may have happened since
}

// A witness has heard everything the children said.
type witness struct {
	things   map[string]*expectation
	touched  map[string]bool // in this round
	versions map[uint64]bool // acknowledged ever
	before   uint64          // the highest version of the rounds before
	highest  uint64
	acks     int
}

func (w *witness) hear(t *testing.T, line string) {
	t.Helper()
	var what, name, state string
	var version uint64
	if n, err := fmt.Sscan(line, &what, &name, &state, &version); n != 4 || what == "fail" {
		t.Fatalf("the child said %q: %v", line, err)
	}
	w.touched[name] = true
	e := w.things[name]
	if e == nil {
		e = &expectation{state: absent}
		w.things[name] = e
	}
	if what == "try" {
		e.tried = append(e.tried, state)
		return
	}
	w.acks++
	*e = expectation{state: state, version: version}
	if version != 0 && (w.versions[version] || version <= w.before) {
		t.Errorf("%s got version %d; versions up to %d were used", name, version, w.before)
	}
	w.versions[version] = true
	w.highest = max(w.highest, version)
}

// inspect compares what the storage holds with what was heard.
func (w *witness) inspect(t *testing.T, s *file.Storage, names map[string]bool) {
	t.Helper()
	for name := range names {
		e := w.things[name]
		state, version := look(t, s, name)
		same := state == e.state && (version == e.version || e.version == 0)
		if !same && !slices.Contains(e.tried, state) {
			t.Errorf("%s is %.60q version %d; acknowledged was %.60q version %d, tried %.60q", name, state, version, e.state, e.version, e.tried)
		}
		*e = expectation{state: state, version: version}
		w.highest = max(w.highest, version)
	}
}

// look gives the state of a thing as the child would say it.
func look(t *testing.T, s *file.Storage, name string) (state string, version uint64) {
	t.Helper()
	ctx := context.Background()
	noun, key, _ := strings.Cut(name, "/")
	var err error
	switch noun {
	case "runs":
		var run executor.Run
		if run, err = s.Runs().Get(ctx, executor.RunID(key)); err == nil {
			return runState(run), 0
		}
	case "blobs":
		var r io.ReadSeekCloser
		if r, err = s.Blobs().Open(ctx, key); err == nil {
			if _, err = io.Copy(io.Discard, r); err == nil {
				return "+", errorless(t, r.Close())
			}
		}
	default:
		var r executor.Record
		if r, err = s.Table(executor.Noun(noun)).Get(ctx, key); err == nil {
			return string(r.Value), r.Version
		}
	}
	if executor.CodeOf(err) != executor.NotFound {
		t.Errorf("%s: %v", name, err)
	}
	return absent, 0
}

func errorless(t *testing.T, err error) uint64 {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
	return 0
}

// runChild starts a child and kills it after some lines or some time.
func (w *witness) runChild(t *testing.T, dir string, round int, dice *rand.Rand) {
	t.Helper()
	cmd := start("writer", dir, fmt.Sprint(round))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := 1 << 30
	if dice.IntN(2) == 0 {
		lines = dice.IntN(500)
	}
	kill := time.AfterFunc(time.Duration(dice.IntN(80_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
	if lines < 1<<30 {
		kill.Reset(time.Second)
	}
	for r := bufio.NewReader(out); ; lines-- {
		line, err := r.ReadString('\n')
		if err != nil {
			break // what stands without a newline was not said
		}
		w.hear(t, line)
		if lines == 0 {
			_ = cmd.Process.Kill()
		}
	}
	kill.Stop()
	_ = cmd.Process.Kill() // it may have closed its output by itself
	_ = cmd.Wait()         // the signal is the expected error
}

func TestCrash(t *testing.T) {
	dir := t.TempDir()
	dice := rand.New(rand.NewPCG(*crashSeed, 2))
	w := &witness{things: map[string]*expectation{}, versions: map[uint64]bool{}}
	for round := 0; round < *crashRounds && !t.Failed(); round++ {
		w.touched = map[string]bool{}
		w.runChild(t, dir, round, dice)
		s := open(t, dir, file.Options{})
		w.inspect(t, s, w.touched)
		if round%20 == 19 || round == *crashRounds-1 {
			all := map[string]bool{}
			for name := range w.things {
				all[name] = true
			}
			w.inspect(t, s, all)
			proveChain(t, s)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		w.before = w.highest
	}
	damage, err := file.Check(dir)
	if len(damage) > 0 || err != nil {
		t.Errorf("Check = %v, %v, want no damage", damage, err)
	}
	t.Logf("%d rounds, %d acknowledged operations checked", *crashRounds, w.acks)
}

// proveChain gives the number of entries.
func proveChain(t *testing.T, s *file.Storage) (entries uint64) {
	t.Helper()
	var last executor.Entry
	for e, err := range s.Runs().Chain(context.Background()) {
		if err == nil {
			err = e.Check(last)
		}
		if err != nil {
			t.Fatal(err)
		}
		last = e
	}
	return last.Seq
}
