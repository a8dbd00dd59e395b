package file_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"syscall"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/storage/file"
)

// A script does one thing after the other to a storage and writes down what is
// acknowledged. What was refused may have happened all the same, but only after
// the storage was opened again does it show.
type script struct {
	t       *testing.T
	s       *file.Storage
	known   *witness
	refused int
}

func (c *script) do(name, state string, act func() (version uint64, err error)) {
	c.t.Helper()
	say := func(what string, version uint64) {
		c.known.hear(c.t, fmt.Sprintf("%s %s %s %d", what, name, state, version))
	}
	say("try", 0)
	version, err := act()
	if err == nil {
		say("ack", version)
		return
	}
	c.refused++
	if code := executor.CodeOf(err); code != executor.Internal && code != executor.Unavailable {
		c.t.Errorf("%s: %v, want Internal or Unavailable", name, err)
	}
	e := c.known.things[name]
	if now, _ := look(c.t, c.s, name); now != e.state && name[:5] != "blobs" {
		c.t.Errorf("%s is %q after a refused change from %q", name, now, e.state)
	}
}

func (c *script) put(key, value string) {
	c.t.Helper()
	table := c.s.Table(executor.Sources)
	now, _ := table.Get(context.Background(), key) // absent is version 0
	c.do("sources/"+key, value, func() (uint64, error) {
		r, err := table.Put(context.Background(), key, json.RawMessage(value), now.Version)
		return r.Version, err
	})
}

func (c *script) remove(key string) {
	c.t.Helper()
	c.do("sources/"+key, absent, func() (uint64, error) {
		return 0, c.s.Table(executor.Sources).Delete(context.Background(), key)
	})
}

func (c *script) run(id string, effect executor.Effect, status executor.Status) {
	c.t.Helper()
	run := testRun(id)
	now, _ := c.s.Runs().Get(context.Background(), run.ID) // absent is version 0
	run.Version, run.Effect, run.Status = now.Version+1, effect, status
	c.do("runs/"+string(run.ID), runState(run), func() (uint64, error) {
		_, err := c.s.Runs().Append(context.Background(), run)
		return 0, err
	})
}

func (c *script) blob(content string) (digest string) {
	c.t.Helper()
	sum := sha256.Sum256([]byte(content))
	digest = hex.EncodeToString(sum[:])
	c.do("blobs/"+digest, "+", func() (uint64, error) {
		_, _, err := c.s.Blobs().Put(context.Background(), bytes.NewReader([]byte(content)))
		return 0, err
	})
	return digest
}

// play goes through everything a storage does, with snapshots and new segments.
func (c *script) play() {
	for i := range 3 {
		c.put("a", fmt.Sprint(i))
		c.run("a", executor.Read, executor.Running)
		c.put("b", fmt.Sprint(i))
		c.run("b", executor.Write, executor.Waiting)
		c.remove("a")
		c.run("c", executor.Read, executor.Done)
	}
	digest := c.blob("one")
	c.do("blobs/"+digest, absent, func() (uint64, error) { return 0, c.s.Blobs().Delete(context.Background(), digest) })
	c.blob("two")
	c.put("a", `"last"`)
	c.run("b", executor.Write, executor.Done)
}

// playWith opens a storage on a disk whose steps fail as told, plays the script
// and opens the storage again on a good disk. It gives the number of steps.
func playWith(t *testing.T, fails func(step int) error) int {
	t.Helper()
	dir := t.TempDir()
	steps := 0
	opts := file.Failing(file.Options{SnapshotBytes: 150, SegmentBytes: 1500}, func(string, string) error {
		steps++
		return fails(steps)
	})
	c := &script{t: t, known: &witness{things: map[string]*expectation{}, touched: map[string]bool{}, versions: map[uint64]bool{}}}
	s, err := file.Open(dir, opts)
	if err == nil {
		c.s = s
		c.play()
		_ = s.Close() // it may be refused as well
	}
	c.s = open(t, dir, file.Options{})
	c.known.inspect(t, c.s, c.known.touched)
	proveChain(t, c.s)
	c.known.before = c.known.highest
	before := c.refused
	c.put("a", `"again"`)
	c.run("a", executor.Read, executor.Done)
	if c.refused != before {
		t.Errorf("%d changes refused on a good disk", c.refused-before)
	}
	proveChain(t, c.s)
	if err := c.s.Close(); err != nil {
		t.Error(err)
	}
	if damage, err := file.Check(dir); len(damage) > 0 || err != nil {
		t.Errorf("Check = %v, %v, want no damage", damage, err)
	}
	return steps
}

func TestNothingAcknowledgedIsLostWhicheverStepFails(t *testing.T) {
	total := playWith(t, func(int) error { return nil })
	t.Logf("%d steps", total)
	for name, fails := range map[string]func(step, n int) error{
		"one step":    func(step, n int) error { return failure(step == n, syscall.EIO) },
		"four steps":  func(step, n int) error { return failure(step >= n && step < n+4, syscall.ENOSPC) },
		"every later": func(step, n int) error { return failure(step >= n, syscall.EIO) },
	} {
		for n := 1; n <= total && !t.Failed(); n++ {
			playWith(t, func(step int) error { return fails(step, n) })
			if t.Failed() {
				t.Errorf("%s from %d on failed", name, n)
			}
		}
	}
}

func failure(now bool, err error) error {
	if now {
		return err
	}
	return nil
}
