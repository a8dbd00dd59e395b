package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAWordBecomesWhatTheSchemaWants(t *testing.T) {
	b := withSample(t)
	text := b.file("note.txt", "two\nlines")
	object := b.file("args.json", `{"n":7,"s":"from file"}`)
	for _, c := range []struct {
		name  string
		words []string
		in    string
		want  string
	}{
		{name: "nothing", want: `{}`},
		{name: "a number", words: []string{"n=7"}, want: `{"n":7}`},
		{name: "a number keeps its digits", words: []string{"f=0.10000000000000000001"}, want: `{"f":0.10000000000000000001}`},
		{name: "null, where it is allowed", words: []string{"f=null"}, want: `{"f":null}`},
		{name: "a boolean", words: []string{"on=true"}, want: `{"on":true}`},
		{name: "text that looks like a number", words: []string{"s=7"}, want: `{"s":"7"}`},
		{name: "text with an equals sign", words: []string{"s=a=b"}, want: `{"s":"a=b"}`},
		{name: "text where text or a number may stand", words: []string{"either=7"}, want: `{"either":"7"}`},
		{name: "nothing as text", words: []string{"s="}, want: `{"s":""}`},
		{name: "a list by repetition", words: []string{"tags=a,b", "tags=c"}, want: `{"tags":["a,b","c"]}`},
		{name: "a list of numbers", words: []string{"ids=1,2", "ids=3"}, want: `{"ids":[1,2,3]}`},
		{name: "a list of listed words", words: []string{"state=open,closed"}, want: `{"state":["open","closed"]}`},
		{name: "a list as JSON", words: []string{`tags=["a"]`}, want: `{"tags":["a"]}`},
		{name: "an object", words: []string{`o={"x":1}`}, want: `{"o":{"x":1}}`},
		{name: "JSON", words: []string{`o:={"x":[1]}`, `s:="y"`}, want: `{"o":{"x":[1]},"s":"y"}`},
		{name: "a property with a dot", words: []string{"a.b=c"}, want: `{"a.b":"c"}`},
		{name: "one level down", words: []string{"pet.name=Rex", "pet.age=3"}, want: `{"pet":{"age":3,"name":"Rex"}}`},
		{name: "levels the schema does not know", words: []string{"o.x.y=1"}, want: `{"o":{"x":{"y":"1"}}}`},
		{name: "the text of a file", words: []string{"s=@" + text}, want: `{"s":"two\nlines"}`},
		{name: "a file", words: []string{"up=@" + object},
			want: `{"up":{"base64":"eyJuIjo3LCJzIjoiZnJvbSBmaWxlIn0=","name":"args.json","type":"application/json"}}`},
		{name: "a file as text", words: []string{"up=hello"}, want: `{"up":"hello"}`},
		{name: "a file of arguments", words: []string{"@" + object, "n=8"}, want: `{"n":8,"s":"from file"}`},
		{name: "stdin", words: []string{"-"}, in: `{"n":1}`, want: `{"n":1}`},
		{name: "a literal", words: []string{`{"n":12345678901234567890}`}, want: `{"n":12345678901234567890}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.in = c.in
			out := b.ok(append([]string{"call", "sample.user.public.echo"}, c.words...)...)
			got := strings.TrimSuffix(out[strings.Index(out, `"result":`)+len(`"result":`):], "}\n")
			if got != c.want {
				t.Errorf("the tool got %s, want %s", got, c.want)
			}
		})
	}
}

func TestAWordThatIsNoArgumentIsExplained(t *testing.T) {
	b := withSample(t)
	list, null := b.file("list.json", `[{"n":1}]`), b.file("null.json", "null")
	deep := b.file("deep.json", strings.Repeat(`{"o":`, 100_000)+"1"+strings.Repeat("}", 100_000))
	latin := b.file("latin.json", "{\"s\":\"caf\xe9\"}")
	for words, want := range map[string]string{
		"limit":       `"limit" is not an argument`,
		"=x":          `"=x" is not an argument`,
		"n:={":        `the value of "n" is not JSON: it ends too early`,
		"@/none":      `@/none cannot be read: open /none: no such file or directory`,
		"s=@/none":    `@/none cannot be read: open /none: no such file or directory`,
		"{":           `the argument is not JSON: it ends too early`,
		`{"n":1}}`:    `the argument is not JSON: more follows byte 7, where it should end`,
		`{"n":}`:      `the argument is not JSON: byte 6: invalid character '}' looking for beginning of value`,
		"@" + list:    "@" + list + " is not a JSON object",
		"@" + null:    "@" + null + " is not a JSON object",
		"@" + deep:    "@" + deep + " is not JSON: byte 50001: invalid character '{' exceeded max depth",
		"@" + latin:   "@" + latin + " is not JSON: byte 9 is not UTF-8",
		"s:=\"\xff\"": `the value of "s" is not JSON: byte 1 is not UTF-8`,
		"s=caf\xe9":   `byte 5 of "s=caf\xe9" is not UTF-8`,
		"caf\xe9=s":   `byte 3 of "caf\xe9=s" is not UTF-8`,
		"s=@/caf\xe9": "@/caf\ufffd cannot be read: open /caf\ufffd: no such file or directory",
		"- -":         `stdin is asked for twice`,
		`{"n":1} {}x`: `the argument is not JSON: more follows byte 2, where it should end`,
	} {
		b.in = `{}`
		out := parsed(t, b.fails(2, append([]string{"call", "sample.user.public.echo"}, strings.Fields(words)...)...))
		got, _ := out["error"].(map[string]any)
		if out["status"] != "error" || got["code"] != "invalid" || got["message"] != want {
			t.Errorf("%s gives %v, want %q", words, out, want)
		}
	}
}

func TestAnAddressMayBeGivenInWords(t *testing.T) {
	b := withSample(t)
	want := outOf(t, b.ok("call", "sample.user.public.pets.get", "id=1"))
	for _, words := range []string{
		"sample user public pets.get id=1", "sample user public pets get id=1", "sample.user public.pets.get id=1", "sample.user.public pets get id=1",
	} {
		if got := outOf(t, b.ok(append([]string{"call"}, strings.Fields(words)...)...)); got != want {
			t.Errorf("%s gives %s, want %s", words, got, want)
		}
	}
	out := parsed(t, b.fails(2, "call", "sample.user.public.pets.get", "id"))
	if got := jsonOf(out["error"]); !strings.Contains(got, "the tool takes: id") {
		t.Errorf("a word after a whole address gives %s", got)
	}
}

// outOf gives an answer without its run.
func outOf(t *testing.T, text string) string {
	v := parsed(t, text)
	if id, _ := v["run"].(string); !strings.HasPrefix(id, "run_") {
		t.Errorf("run is %q in %s", id, text)
	}
	delete(v, "run")
	return jsonOf(v)
}

func TestTheOutcomeOfACallHasOneShape(t *testing.T) {
	b := withSample(t)
	b.ok("policy", "set", "sample", "pets.photo", "block")
	for _, c := range []struct {
		name string
		args string
		code int
		want string
	}{
		{"an answer", "pets.get id=1", 0, `{"result":{"id":1},"status":"ok"}`},
		{"a page of an answer", "pets.list limit=2", 0,
			`{"headers":{"etag":"x"},"notes":["cut"],"page":{"args":{"page":2},"more":true},"result":[{"id":1,"name":"Rex"},{"id":2,"name":"Tom\u001b[2J"}],"status":"ok"}`},
		{"upstream's no", "pets.get id=404", 7, `{"fault":{"message":"no such pet","status":404},"status":"fault"}`},
		{"upstream's silence", "pets.get id=500", 7, `{"error":{"code":"unavailable","message":"upstream hung up","retryable":true},"status":"error"}`},
		{"a timeout", "pets.get id=504", 124, `{"error":{"code":"unavailable","message":"too late","retryable":true},"status":"error"}`},
		{"a refused sign-in", "pets.get id=401", 4, `{"error":{"code":"needs_auth","message":"the sign-in is refused","retryable":false},"status":"error"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			words := strings.Fields("call sample user public " + c.args)
			if got := outOf(t, b.fails(c.code, words...)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	t.Run("a block", func(t *testing.T) {
		out := parsed(t, b.fails(6, "call", "sample.user.public.pets.photo"))
		if out["status"] != "denied" || out["error"].(map[string]any)["code"] != "blocked" {
			t.Errorf("got %v", out)
		}
	})
	t.Run("arguments that do not fit", func(t *testing.T) {
		out := parsed(t, b.fails(2, "call", "sample.user.public.pets.list", "limit=101"))
		fields, _ := out["error"].(map[string]any)["fields"].([]any)
		if out["status"] != "error" || len(fields) != 1 || fields[0].(map[string]any)["pointer"] != "/limit" {
			t.Errorf("got %v", out)
		}
	})
	t.Run("a tool that is not there", func(t *testing.T) {
		out := parsed(t, b.fails(5, "call", "sample.user.public.pets.lst"))
		if out["status"] != "error" || out["error"].(map[string]any)["code"] != "not_found" {
			t.Errorf("got %v", out)
		}
	})
}

func TestACallThatWaitsNamesNoWayToApproveIt(t *testing.T) {
	b := withSample(t)
	b.env = []string{"CLAUDECODE=1"}
	text := b.fails(8, "call", "sample.user.public.pets.delete", "id=7")
	out := parsed(t, text)
	run, _ := out["run"].(string)
	request, _ := out["request"].(map[string]any)
	if out["status"] != "pending" || out["wait"] != "executor wait "+run || out["expiresAt"] != request["expiresAt"] || request["id"] != run ||
		jsonOf(request["args"]) != `{"id":7}` || jsonOf(request["asks"]) != `[{"id":"claude-code","kind":"agent"}]` {
		t.Errorf("got %s", text)
	}
	if strings.Contains(text, "inbox") || strings.Contains(text, "executor approve") {
		t.Errorf("an agent is told how to approve: %s", text)
	}
}

func TestALargeOrBinaryResultGoesToAFile(t *testing.T) {
	b := withSample(t)
	out := parsed(t, b.ok("call", "sample.user.public.pets.photo"))
	handle, _ := out["handle"].(map[string]any)
	if handle["mediaType"] != "image/png" || handle["size"] != 6.0 || out["result"] != nil {
		t.Errorf("without --output: %v", out)
	}
	for _, c := range []struct{ tool, want string }{
		{"pets.photo", "\x89PNG\x00\x01"},
		{"pets.export", `"` + strings.Repeat("x", 70<<10) + `"`},
		{"pets.get id=1", `{"id":1}`},
	} {
		path := filepath.Join(t.TempDir(), "out")
		words := append(strings.Fields("call sample user public "+c.tool), "--output", path)
		out := parsed(t, b.ok(words...))
		got, err := os.ReadFile(path)
		if err != nil || string(got) != c.want {
			t.Errorf("%s wrote %.40q, %v", c.tool, got, err)
		}
		if jsonOf(out["output"]) != jsonOf(map[string]any{"path": path, "bytes": len(c.want)}) {
			t.Errorf("%s says %v", c.tool, out["output"])
		}
		words[len(words)-1] = "-"
		if got := b.ok(words...); got != c.want {
			t.Errorf("%s to stdout gave %.40q", c.tool, got)
		}
	}
}

func TestADryRunSendsNothingAndLeavesNoRun(t *testing.T) {
	b := withSample(t)
	out := parsed(t, b.ok("call", "sample.user.public.pets.delete", "id=7", "--dry-run"))
	if out["effect"] != "destroy" || jsonOf(out["args"]) != `{"id":7}` {
		t.Errorf("got %v", out)
	}
	if got := b.ok("runs", "list"); got != "" {
		t.Errorf("there is a run: %s", got)
	}
}

func TestAnInterruptEndsACommandWithItsOwnCode(t *testing.T) {
	b := withSample(t)
	out := parsed(t, b.fails(8, "call", "sample.user.public.pets.delete", "id=7"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text, _, code := b.runIn(ctx, "wait", out["run"].(string))
	if code != 130 || !strings.Contains(text, `"code":"interrupted"`) {
		t.Errorf("exit code %d, %s", code, text)
	}
}
