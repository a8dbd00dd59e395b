package cli_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write what is said to testdata")

// golden compares text with a file, runs and times left out.
func golden(t *testing.T, name, text string) {
	t.Helper()
	for _, c := range []struct{ from, to string }{
		{`run_[0-9a-z]{26}`, "run_00000000000000000000000000"},
		{`\d{4}-\d\d-\d\dT[0-9:.]+Z`, "2026-01-02T03:04:05Z"},
		{`took      .*`, "took      1ms"},
		{`\d+ s ago`, "0 s ago"},
	} {
		text = regexp.MustCompile(c.from).ReplaceAllString(text, c.to)
	}
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, text, want)
	}
}

func TestHelpIsAsItIsWritten(t *testing.T) {
	b := newBench(t)
	for name, args := range map[string]string{
		"help": "--help", "help-call": "call --help", "help-source-add": "source add --help", "help-connect": "connect --help",
		"help-inbox": "inbox --help", "help-runs-settle": "runs settle --help", "help-exit-codes": "help exit-codes", "help-environment": "help environment",
	} {
		golden(t, name, b.ok(strings.Fields(args)...))
	}
}

func TestPeopleGetText(t *testing.T) {
	b := withSample(t)
	human := func(args ...string) string {
		out, errs, _ := b.run(append(args, "--human")...)
		return "$ executor " + strings.Join(args, " ") + "\n" + out + "--- stderr\n" + errs + "\n"
	}
	run := b.pending("sample.user.public.pets.delete", "id=7")
	var text strings.Builder
	for _, args := range []string{
		"call sample.user.public.pets.list", "call sample.user.public.pets.get id=1", "call sample.user.public.pets.get id=404",
		"call sample.user.public.pets.get id=500", "call sample.user.public.pets.photo", "call sample.user.public.pets.delete id=8",
		"call sample.user.public.pets.create body.age=x", "call sample.user.public.pets.delete id=9 --dry-run",
		"tools search list pets --limit 2", "tools list", "tools describe sample.user.public.pets.get",
		"source list", "source show sample", "connection list", "policy show", "policy set sample pets.get allow",
		"policy explain sample.user.public.pets.get", "runs list --limit 3", "runs show " + run, "inbox list", "inbox show " + run,
		"version", "", "nonsense", "tools serch x", "call", "call a.b", "connect sample", "runs list --nope",
	} {
		text.WriteString(human(strings.Fields(args)...))
	}
	out := text.String()
	if strings.Contains(out, "\x1b") {
		t.Error("colours go to a pipe, or upstream's control characters to a terminal")
	}
	golden(t, "human", strings.ReplaceAll(out, b.home, "HOME"))
}

func TestAnEmptyHomeSaysWhatToType(t *testing.T) {
	b := newBench(t)
	out, _, _ := b.run("--human")
	golden(t, "empty", out)
	got := parsed(t, b.ok())
	if jsonOf(got["next"]) != jsonOf([]string{
		"executor source add sample", `executor tools search "list pets"`, "executor call sample.user.public.pets.list limit=2",
	}) {
		t.Errorf("got %v", got["next"])
	}
}

func TestListsAreOneObjectALine(t *testing.T) {
	b := withSample(t)
	tools := strings.Split(strings.TrimSpace(b.ok("tools", "list", "--source", "sample")), "\n")
	if len(tools) != 7 || tools[0] != `{"address":"sample.user.public.echo","description":"Give back the arguments","effect":"read"}` {
		t.Errorf("tools list gives %q", tools)
	}
	b.fails(5, "tools", "list", "--source", "none")
	b.ok("call", "sample.user.public.pets.list")
	run := parsed(t, b.ok("runs", "list"))
	if run["status"] != "done" || run["address"] != "sample.user.public.pets.list" {
		t.Errorf("runs list gives %v", run)
	}
	if shown := parsed(t, b.ok("runs", "show", run["id"].(string))); jsonOf(shown) != jsonOf(run) {
		t.Errorf("runs show gives %v, want %v", shown, run)
	}
	b.fails(5, "runs", "show", "run_none")
}

func TestSearchAndDescribeHaveTheirShape(t *testing.T) {
	b := withSample(t)
	found := parsed(t, b.ok("tools", "search", "list", "pets", "--limit", "1"))
	tools, _ := found["tools"].([]any)
	if len(tools) != 1 {
		t.Fatalf("got %v", found)
	}
	first, _ := tools[0].(map[string]any)
	if score, _ := first["score"].(float64); score <= 0 {
		t.Errorf("score is %v", first["score"])
	}
	delete(first, "score")
	if got := jsonOf(first); got != `{"address":"sample.user.public.pets.list","description":"List all pets","effect":"read"}` {
		t.Errorf("got %s", got)
	}
	if got := b.ok("tools", "search", "zzzzzz"); got != "{\"tools\":[]}\n" {
		t.Errorf("nothing found gives %s", got)
	}
	d := parsed(t, b.ok("tools", "describe", "sample", "user", "public", "pets.delete"))
	policy, _ := d["policy"].(map[string]any)
	typescript, _ := d["typescript"].(string)
	if d["address"] != "sample.user.public.pets.delete" || d["effect"] != "destroy" || policy["verdict"] != "require_approval" ||
		!strings.Contains(typescript, "id: number") || jsonOf(d["input"]) != `{"properties":{"id":{"type":"integer"}},"required":["id"],"type":"object"}` {
		t.Errorf("got %v", d)
	}
}

func TestMistakesAreExplainedInJSONToo(t *testing.T) {
	b := newBench(t)
	for args, want := range map[string]string{
		"sorce":                     `"sorce" is not a command of "executor"`,
		"tools serch":               `"serch" is not a command of "executor tools"`,
		"runs list --nope":          `unknown flag: --nope`,
		"source add":                `<id> is missing`,
		"source add a b":            `"b" is one argument too many`,
		"source add a":              `--spec is missing`,
		"call a.b":                  `address "a.b" has 2 of 4 parts`,
		"--json --human":            `--json and --human exclude each other`,
		"inbox approve":             `one run is to be decided`,
		"tools search x --effect y": `"y" is not an effect`,
	} {
		out := parsed(t, b.fails(2, strings.Fields(args)...))
		e, _ := out["error"].(map[string]any)
		if strings.HasPrefix(args, "call") && out["status"] == nil {
			t.Errorf("%s has no status", args)
		}
		if e["code"] != "invalid" || e["message"] != want || e["retryable"] != false {
			t.Errorf("%s gives %v, want %q", args, e, want)
		}
	}
}

func TestAWordBeginsAndTheShellCompletes(t *testing.T) {
	b := withSample(t)
	run := b.pending("sample.user.public.pets.delete", "id=7")
	for args, want := range map[string]string{
		"call sam":                          "sample.user.public.\tnone\n:6\n",
		"call sample.user.public.pets.g":    "sample.user.public.pets.get\tGet one pet\n:4\n",
		"call sample.user.public.pets.get ": "id=\n:6\n",
		"tools list --source s":             "sample\tPets\n:4\n",
		"source show s":                     "sample\tPets\n:4\n",
		"connection check sample p":         "public\tuser\n:4\n",
		"runs show run_":                    run + "\twaiting sample.user.public.pets.delete\n:4\n",
		"inbox approve run_":                run + "\tDelete a pet (sample, as public)\n:4\n",
		"policy set sample * b":             "allow\nrequire_approval\nblock\n:4\n",
	} {
		words := strings.Split(args, " ")
		if got := b.ok(append([]string{"__complete"}, words...)...); got != want {
			t.Errorf("%q completes to %q, want %q", args, got, want)
		}
	}
}

func TestTheOutputFollowsFlagsAndEnvironment(t *testing.T) {
	b := withSample(t)
	for _, c := range []struct {
		args, env string
		json      bool
	}{
		{"version", "", true},
		{"version --human", "", false},
		{"version --human", "AI_AGENT=x", false},
		{"version --json", "", true},
	} {
		b.env = []string{c.env}
		out := b.ok(strings.Fields(c.args)...)
		if got := strings.HasPrefix(out, "{"); got != c.json {
			t.Errorf("%s with %q gives %s", c.args, c.env, out)
		}
	}
	b.env = []string{"CLICOLOR_FORCE=1"}
	if out := b.ok("tools", "list", "--human"); !strings.Contains(out, "\x1b[32mread\x1b[0m") {
		t.Errorf("CLICOLOR_FORCE does not colour: %s", out)
	}
	b.env = []string{"CLICOLOR_FORCE=1", "NO_COLOR=1"}
	if out := b.ok("tools", "list", "--human"); strings.Contains(out, "\x1b") {
		t.Errorf("NO_COLOR does not keep colours away: %s", out)
	}
	b.env = nil
	if _, errs, _ := b.run("inbox", "list", "--human", "--quiet"); errs != "" {
		t.Errorf("--quiet says %q", errs)
	}
}

func TestWaitGivesUpInTime(t *testing.T) {
	b := withSample(t)
	run := b.pending("sample.user.public.pets.delete", "id=7")
	out := parsed(t, b.fails(124, "wait", run, "--timeout", time.Millisecond.String()))
	if got := jsonOf(out["error"]); got != `{"code":"timeout","message":"the time is over","retryable":true}` {
		t.Errorf("got %s", got)
	}
}
