package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatIsTypedWronglyIsRefused(t *testing.T) {
	b := withSample(t)
	for words, want := range map[string]string{
		"runs list --status bogus":                             `"bogus" is not a status`,
		"wait run_x --timeout -1s":                             "--timeout is less than 0",
		"runs list --limit -1":                                 "--limit is less than 1",
		"tools search pets --limit 0":                          "--limit is less than 1",
		"help bogus":                                           `"bogus" is not a command of "executor"`,
		"help tools bogus":                                     `"bogus" is not a command of "executor tools"`,
		"call sample.user.public.echo --output=":               "--output names no file",
		"connect sample x --auth cookie:a;b":                   `"a;b" cannot be the name of a cookie`,
		"connect sample x --auth none --secret token=file://a": `signing in with "none" takes no secret`,
	} {
		if out := parsed(t, b.fails(2, strings.Fields(words)...)); !strings.Contains(jsonOf(out), jsonOf(want)[1:len(jsonOf(want))-1]) {
			t.Errorf("%s: %v, want %q", words, out, want)
		}
	}
	b.fails(5, "tools", "search", "pets", "--source", "none")
}

func TestASecretTypedInTheWrongPlaceIsNotRepeated(t *testing.T) {
	b := withSample(t)
	for _, args := range [][]string{
		{"connect", "sample", "work", "hunter2"},
		{"connect", "sample", "work", "--secret", "hunter2"},
		{"connect", "sample", "work", "--secret", "token=hunter2"},
		{"connect", "sample", "work", "--auth", "none", "--header", "Authorization: Bearer hunter2"},
		{"connect", "sample", "work", "--auth", "none", "--header", "Authorization=Bearer hunter2"},
		{"connect", "sample", "work", "--auth", "none", "--header", "x_api_key=hunter2"},
		{"connect", "sample", "work", "--auth", "none", "--header", "X-A=1\r\nCookie: hunter2"},
		{"source", "add", "other", "--spec", "https://x.example/a.json", "--header", "Cookie=sid=hunter2"},
	} {
		out, errs, code := b.run(args...)
		if code != 2 || strings.Contains(out+errs, "hunter2") {
			t.Errorf("%q: exit %d and %s%s", args, code, out, errs)
		}
	}
}

func TestACallAlwaysAnswersWithAStatus(t *testing.T) {
	b := withSample(t)
	for _, words := range []string{"call", "call a.b", "call --nope", "call sample.user.public.echo x", "call sample.user.public.none --dry-run", "wait", "wait none"} {
		out, _, _ := b.run(strings.Fields(words)...)
		if parsed(t, out)["status"] != "error" {
			t.Errorf("%s: %s", words, out)
		}
	}
}

func TestWithoutAPlaceForTheResultNothingIsCalled(t *testing.T) {
	b := withSample(t)
	before := b.ok("runs", "list")
	b.fails(2, "call", "sample.user.public.echo", "s=x", "--output", filepath.Join(b.t.TempDir(), "none", "f"))
	b.fails(2, "call", "sample.user.public.echo", "s=x", "--output", b.t.TempDir())
	if after := b.ok("runs", "list"); after != before {
		t.Errorf("runs: %s", after)
	}
}

func TestAFileKeepsItsContentUntilThereIsAResult(t *testing.T) {
	b := withSample(t)
	old, none := b.file("old", "what was there, and is longer"), filepath.Join(t.TempDir(), "none")
	b.fails(7, "call", "sample.user.public.pets.get", "id=404", "--output", old)
	b.fails(7, "call", "sample.user.public.pets.get", "id=404", "--output", none)
	if got, err := os.ReadFile(old); err != nil || string(got) != "what was there, and is longer" {
		t.Errorf("after a fault: %q, %v", got, err)
	}
	if _, err := os.Stat(none); !os.IsNotExist(err) {
		t.Errorf("a fault left a file: %v", err)
	}
	b.ok("call", "sample.user.public.pets.get", "id=1", "--output", old)
	if got, err := os.ReadFile(old); err != nil || string(got) != `{"id":1}` {
		t.Errorf("after a result: %q, %v", got, err)
	}
}

func TestJSONHoldsNothingThatActsOnATerminal(t *testing.T) {
	b := withSample(t)
	out := b.ok("call", "sample.user.public.echo", "s=\u009b31m\u202e\x7f\u2066é")
	if want := `"result":{"s":"\u009b31m\u202e\u007f\u2066é"}`; !strings.Contains(out, want) {
		t.Errorf("got %q, want it to hold %s", out, want)
	}
}

func TestARemovedRuleIsNamedWithItsVerdict(t *testing.T) {
	b := withSample(t)
	b.ok("policy", "set", "sample", "pets.*", "block", "--note", "why")
	want := `{"removed":{"scope":"user","source":"sample","tools":"pets.*","verdict":"block","note":"why"}}` + "\n"
	if got := b.ok("policy", "remove", "sample", "pets.*"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWhatHasAFewValuesIsCompleted(t *testing.T) {
	b := withSample(t)
	for words, want := range map[string]string{
		"runs list --status ":               "running\nwaiting\ndone\nfailed\ndenied\nambiguous\n:4\n",
		"tools search x --effect ":          "read\nwrite\ndestroy\n:4\n",
		"connect sample work --auth b":      "bearer\tbuilt in\nbasic\tbuilt in\n:4\n",
		"policy set sample pets.e":          "pets.export\tAll pets, in full\n:4\n",
		"policy set sample.user.public ech": "echo\tGive back the arguments\n:4\n",
		"help runs s":                       "settle\tSay what became of an ambiguous run\nshow\tShow one run\n:4\n",
	} {
		if got := b.ok(append([]string{"__complete"}, strings.Split(words, " ")...)...); got != want {
			t.Errorf("%q: got %q, want %q", words, got, want)
		}
	}
}
