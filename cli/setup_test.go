package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-executor/executor"
)

func TestTheSampleIsCallableAtOnce(t *testing.T) {
	b := newBench(t)
	out := parsed(t, b.ok("source", "add", "sample"))
	if jsonOf(out["connections"]) != `["user.public"]` || jsonOf(out["effects"]) != `{"destroy":1,"read":5,"write":1}` ||
		jsonOf(out["next"]) != `["executor call sample.user.public.pets.list limit=2"]` {
		t.Errorf("source add sample gives %v", out)
	}
}

func TestADescriptionComesFromAURLAFileOrStdin(t *testing.T) {
	b := newBench(t)
	path := b.file("api.yaml", "openapi: 3.1.0")
	t.Chdir(filepath.Dir(path))
	b.in = "private text of the description"
	for id, c := range map[string]struct{ args, want string }{
		"url":   {"--spec https://x.example/a.json --base-url https://y.example", `{"base":"https://y.example","spec":"https://x.example/a.json"}`},
		"file":  {"--spec api.yaml", jsonOf(map[string]string{"spec": path})},
		"stdin": {"--spec -", `{"text":"(31 bytes)"}`},
	} {
		b.ok(append([]string{"source", "add", id}, strings.Fields(c.args)...)...)
		if got := jsonOf(parsed(t, b.ok("source", "show", id))["config"]); got != c.want {
			t.Errorf("%s: config %s, want %s", id, got, c.want)
		}
	}
}

func TestWhatASourceIsToldIsKept(t *testing.T) {
	b := newBench(t)
	b.ok("source", "add", "crm", "--spec", "https://x.example/a.json", "--title", "CRM", "--header", "X-A=b=c",
		"--allow-host", "https://cdn.example", "--allow-private", "--timeout", "5s", "--max-bytes", "9")
	e, _, err := b.open(t.Context(), executor.Principal{Kind: executor.Human, ID: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	src, err := e.Source(t.Context(), "crm")
	if err != nil {
		t.Fatal(err)
	}
	got := jsonOf([]any{src.Title, src.Headers, src.Hosts, src.AllowPrivate, src.Limits})
	if want := `["CRM",{"X-A":"b=c"},["https://cdn.example","https://pets.example"],true,{"timeout":"5s","maxBytes":9}]`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAuthNoneMakesThePublicConnection(t *testing.T) {
	b := newBench(t)
	out := parsed(t, b.ok("source", "add", "crm", "--spec", "https://private.example/a.json"))
	if jsonOf(out["connections"]) != `[]` || jsonOf(out["next"]) != `["executor connect crm main --secret key=env://CRM_KEY"]` {
		t.Errorf("without --auth: %v", out)
	}
	out = parsed(t, b.ok("source", "add", "crm2", "--spec", "https://private.example/a.json", "--auth", "none"))
	if jsonOf(out["connections"]) != `["user.public"]` {
		t.Errorf("with --auth none: %v", out)
	}
}

func TestNothingFoundSaysWhichSourceToConnect(t *testing.T) {
	b := newBench(t)
	b.ok("source", "add", "crm", "--spec", "https://private.example/a.json")
	for _, args := range [][]string{{"tools", "search", "list contacts", "--human"}, {"tools", "list", "--human"}} {
		_, said, code := b.run(args...)
		if want := "next: executor connect crm main --secret key=env://CRM_KEY"; code != 0 || !strings.Contains(said, want) {
			t.Errorf("%v: exit %d and %q, want %q", args, code, said, want)
		}
	}
}

func TestConnectChoosesHowToSignIn(t *testing.T) {
	for _, c := range []struct {
		name, source, args, want string // want: the stored template
		code                     int
	}{
		{name: "the source's first", source: "private", args: "--secret key=file://a",
			want: `{"name":"ApiKey","parts":[{"in":"header","name":"X-Key","secret":"key"}]}`},
		{name: "the one secret under another key", source: "private", args: "--secret token=file://a",
			want: `{"name":"ApiKey","parts":[{"in":"header","name":"X-Key","secret":"key"}]}`},
		{name: "a reference alone", source: "private", args: "--secret file://a",
			want: `{"name":"ApiKey","parts":[{"in":"header","name":"X-Key","secret":"key"}]}`},
		{name: "by name", source: "private", args: "--auth ApiKey --secret key=file://a",
			want: `{"name":"ApiKey","parts":[{"in":"header","name":"X-Key","secret":"key"}]}`},
		{name: "a token means bearer", source: "open", args: "--secret token=file://a",
			want: `{"name":"bearer","parts":[{"in":"bearer","secret":"token"}]}`},
		{name: "name and password mean basic", source: "open", args: "--secret username=file://a --secret password=file://b",
			want: `{"name":"basic","parts":[{"in":"basic","secret":"password"}]}`},
		{name: "a header", source: "open", args: "--auth header:X-Api-Key --secret token=file://a",
			want: `{"name":"header:X-Api-Key","parts":[{"in":"header","name":"X-Api-Key","secret":"token"}]}`},
		{name: "a query parameter", source: "open", args: "--auth query:k --secret token=file://a",
			want: `{"name":"query:k","parts":[{"in":"query","name":"k","secret":"token"}]}`},
		{name: "a cookie", source: "open", args: "--auth cookie:sid --secret token=file://a",
			want: `{"name":"cookie:sid","parts":[{"in":"cookie","name":"sid","secret":"token"}]}`},
		{name: "several at once", source: "private", args: "--auth ApiKey,query:tenant --secret key=file://a --secret tenant=file://b",
			want: `{"name":"ApiKey,query:tenant","parts":[{"in":"header","name":"X-Key","secret":"key"},{"in":"query","name":"tenant","secret":"tenant"}]}`},
		{name: "none", source: "private", args: "--auth none", want: `{"name":"none"}`},
		{name: "nothing to go by", source: "open", args: "", code: 2},
		{name: "a scheme that is not one", source: "open", args: "--auth oauth --secret token=file://a", code: 2},
		{name: "a secret that is missing", source: "private", args: "", code: 2},
		{name: "a secret that does not resolve", source: "open", args: "--secret token=file://none", code: 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.secrets["file://a"], b.secrets["file://b"] = "hunter2", "hunter3"
			b.ok("source", "add", "crm", "--spec", "https://"+c.source+".example/a.json")
			out := b.fails(c.code, append([]string{"connect", "crm", "main"}, strings.Fields(c.args)...)...)
			if c.code != 0 {
				return
			}
			records, err := b.storage.Table(executor.Connections).List(t.Context(), "crm/user/main")
			if err != nil || len(records) != 1 {
				t.Fatalf("%d connections, %v", len(records), err)
			}
			if got := jsonOf(parsed(t, string(records[0].Value))["auth"]); got != canonical(t, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if strings.Contains(out, "file://") {
				t.Errorf("connect shows where a secret lies: %s", out)
			}
		})
	}
}

func canonical(t *testing.T, text string) string { return jsonOf(parsed(t, text)) }

func TestASecretOnTheCommandLineIsRefusedAndNotRepeated(t *testing.T) {
	b := newBench(t)
	b.ok("source", "add", "crm", "--spec", "https://private.example/a.json")
	for _, word := range []string{"key=hunter2", "hunter2", "key=", "=env://X"} {
		out, errs, code := b.run("connect", "crm", "main", "--secret", word)
		if code != 2 || strings.Contains(out+errs, "hunter2") {
			t.Errorf("%q: exit code %d, %s%s", word, code, out, errs)
		}
	}
	if out := b.fails(2, "connect", "crm", "main", "--secret", "key=hunter2"); !strings.Contains(out, "would be seen by other processes") {
		t.Errorf("no reason is given: %s", out)
	}
}

func TestAgentsAreRefusedWhatIsForPeople(t *testing.T) {
	b := withSample(t)
	b.secrets["file://a"] = "x"
	b.env = []string{"AI_AGENT=bot"}
	for _, args := range []string{
		"policy set sample * allow", "policy remove sample *", "connect sample work --auth bearer --secret token=file://a",
		"connection remove sample public", "source remove sample", "source refresh sample", "audit verify",
		"source add x --spec https://x.example --allow-private",
	} {
		b.fails(6, strings.Fields(args)...)
	}
}

func TestARuleCountsWhatItMatchesAndWarnsAtNone(t *testing.T) {
	b := withSample(t)
	out := parsed(t, b.ok("policy", "set", "sample", "pets.*", "require_approval", "--note", "careful"))
	if want := `{"matches":6,"note":"careful","scope":"user","source":"sample","tools":"pets.*","verdict":"require_approval"}`; jsonOf(out) != want {
		t.Errorf("got  %s\nwant %s", jsonOf(out), want)
	}
	_, errs, code := b.run("policy", "set", "sample.user.public", "nothing.*", "block")
	if code != 0 || !strings.Contains(errs, "matches no tool") {
		t.Errorf("exit code %d, %s", code, errs)
	}
	out = parsed(t, b.ok("policy", "explain", "sample.user.public.pets.list", "limit=1"))
	if reasons, _ := out["reasons"].([]any); out["verdict"] != "require_approval" || len(reasons) != 1 {
		t.Errorf("explain gives %v", out)
	}
	if got := strings.Count(b.ok("policy", "show", "sample"), "\n"); got != 2 {
		t.Errorf("show gives %d rules", got)
	}
	b.ok("policy", "remove", "sample", "pets.*")
	b.ok("policy", "remove", "sample.user.public", "nothing.*")
	if got := b.ok("policy", "show"); got != "" {
		t.Errorf("rules are left: %s", got)
	}
	b.fails(2, "policy", "set", "sample", "*", "maybe")
	b.fails(2, "policy", "set", "a.b", "*", "allow")
	b.fails(5, "policy", "set", "none", "*", "allow")
}

func TestWhatIsRemovedIsGone(t *testing.T) {
	b := withSample(t)
	b.ok("source", "refresh", "sample")
	b.ok("connection", "remove", "sample", "public")
	b.fails(5, "connection", "remove", "sample", "public")
	b.fails(5, "connection", "check", "sample", "public")
	b.ok("source", "remove", "sample")
	b.fails(5, "source", "show", "sample")
	b.ok("source", "add", "sample")
	b.fails(9, "source", "add", "sample")
}

func TestTheDoctorTellsWhatIsBrokenAndShowsNoSecret(t *testing.T) {
	b := withSample(t)
	b.secrets["file://a"] = "hunter2"
	b.ok("connect", "sample", "work", "--auth", "bearer", "--secret", "token=file://a")
	out := b.ok("doctor")
	if parsed(t, out)["ok"] != true || strings.Contains(out, "hunter2") {
		t.Errorf("healthy: %s", out)
	}
	delete(b.secrets, "file://a")
	out = b.fails(1, "doctor")
	if !strings.Contains(out, `{"name":"connection sample.user.work","status":"fail","message":"the secret \"token\" is not there: nothing is kept there"}`) {
		t.Errorf("broken: %s", out)
	}
}

func TestTheRecordIsVerified(t *testing.T) {
	b := withSample(t)
	b.ok("call", "sample.user.public.pets.list")
	out := parsed(t, b.ok("audit", "verify"))
	head, _ := out["head"].(string)
	if out["entries"] != 2.0 || out["runs"] != 1.0 || len(head) != 64 {
		t.Errorf("got %v", out)
	}
}

func TestWhatOnlyTalksMakesNoDataDirectory(t *testing.T) {
	b := newBench(t)
	b.home = filepath.Join(t.TempDir(), "none")
	for _, args := range []string{
		"", "--help", "help", "call --help", "source add --help", "version", "--version", "help exit-codes", "completion bash",
		"__complete call s", "__complete runs show r", "sample", "doctor",
	} {
		b.ok(strings.Fields(args)...)
	}
	if _, err := os.Stat(b.home); err == nil || b.opened != 0 {
		t.Errorf("it was opened %d times", b.opened)
	}
}
