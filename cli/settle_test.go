//go:build unix

package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/open-executor/executor/cli"
)

func TestAPersonSettlesAnAmbiguousRunOnce(t *testing.T) {
	for _, c := range []struct{ as, prompt string }{
		{"done", "It happened? To settle it, type done: "},
		{"failed", "Nothing was changed? To settle it, type failed: "},
	} {
		b := withSample(t)
		run := b.lost()
		b.env = []string{"NO_COLOR=1"}
		_, done := b.at(c.prompt, c.as+"\n")
		out := parsed(t, b.ok("runs", "settle", run, c.as, "--reason", "looked"))
		done()
		want := map[string]any{"status": c.as, "run": run, "reason": "settled by ada: looked"}
		if jsonOf(out) != jsonOf(want) {
			t.Errorf("settle gives %v, want %v", out, want)
		}
		shown := parsed(t, b.ok("runs", "show", run))
		if shown["status"] != c.as || shown["reason"] != want["reason"] {
			t.Errorf("the record says %v", shown)
		}
		if text := b.fails(9, "runs", "settle", run, "done"); !strings.Contains(text, "is not ambiguous: it is "+c.as) {
			t.Errorf("settling again gives %s", text)
		}
	}
}

func TestTheCardOfALostCallShowsEverythingInOrder(t *testing.T) {
	b := withSample(t)
	b.env = []string{"AI_AGENT=bot"}
	run := b.lost()
	b.env = []string{"NO_COLOR=1"}
	p, done := b.at("type done: ", "done\n")
	b.ok("runs", "settle", run, "done")
	done()
	screen, at := p.screen(), 0
	for _, want := range []string{
		"It may or may not have happened: " + run, "asked by", "agent bot", "account", "public, in scope user, of source sample",
		"effect", "write: creates or changes something", "tool", "sample.user.public.pets.create", "arguments", `body = {"name":"Lost"}`,
		"sent", "started", " s ago (", "reason", "upstream hung up", "It happened? To settle it, type done: ",
	} {
		i := strings.Index(screen[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or not where it belongs, in\n%s", want, screen)
		}
		at += i
	}
}

func TestWhoDoesNotTypeTheWordSettlesNothing(t *testing.T) {
	b := withSample(t)
	run := b.lost()
	for _, typed := range []string{"y\n", "\n", "failed\n", "\x04"} {
		_, done := b.at("settle it, type", typed)
		b.fails(3, "runs", "settle", run, "done")
		done()
	}
	if got := parsed(t, b.ok("runs", "show", run))["status"]; got != "ambiguous" {
		t.Errorf("the run is %v", got)
	}
}

func TestNobodyElseSettles(t *testing.T) {
	b := withSample(t)
	run := b.lost()
	if text := b.fails(6, "runs", "settle", run, "done"); !strings.Contains(text, "there is no controlling terminal") {
		t.Errorf("without a terminal: %s", text)
	}
	_, tty := sit(t)
	b.tty = func() (*os.File, error) { return os.OpenFile(tty.Name(), os.O_RDWR, 0) }
	b.env = []string{"CLAUDECODE=1"}
	if text := b.fails(6, "runs", "settle", run, "done"); !strings.Contains(text, "an agent types here") {
		t.Errorf("an agent: %s", text)
	}
	b.env = nil
	b.fails(2, "runs", "settle", run, "ambiguous")
	b.fails(2, "runs", "settle", run)
	b.fails(5, "runs", "settle", "run_none", "done")
	b.fails(9, "runs", "settle", b.pending("sample.user.public.pets.delete", "id=7"), "done")
}

func TestOnlyAPersonIsToldHowToSettle(t *testing.T) {
	b := withSample(t)
	run := b.lost()
	shows := [][]string{{"runs", "show", run}, {"wait", run}, {"call", "sample.user.public.pets.create", "body.name=Lost"}}
	b.env = []string{"AI_AGENT=bot"}
	for _, args := range shows {
		for _, form := range []string{"--human", "--json"} {
			out, errs, _ := b.run(append(args, form)...)
			if strings.Contains(out+errs, "settle") {
				t.Errorf("an agent is told how to settle: %s%s", out, errs)
			}
		}
	}
	b.env = []string{"NO_COLOR=1"}
	for _, args := range shows {
		p, tty := sit(t)
		c := b.config(tty, tty)
		c.In, c.Args = tty, args
		cli.Main(t.Context(), c)
		p.reads("next: executor runs settle run_")
		p.reads(" failed\r\n")
	}
}

func TestAnAmbiguousRunIsCompletedToSettle(t *testing.T) {
	b := withSample(t)
	run := b.lost()
	b.ok("call", "sample.user.public.pets.list")
	if got := b.ok("__complete", "runs", "settle", ""); got != run+"\tambiguous sample.user.public.pets.create\n:4\n" {
		t.Errorf("got %q", got)
	}
	if got := b.ok("__complete", "runs", "settle", run, ""); got != "done\tit happened\nfailed\tnothing was changed\n:4\n" {
		t.Errorf("got %q", got)
	}
}
