package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/cli"
)

// A bench is an installation in memory, on which commands are typed.
type bench struct {
	t       *testing.T
	home    string
	storage executor.Storage
	env     []string
	in      string
	tty     func() (*os.File, error) // nil: no controlling terminal
	opened  int                      // how often the data directory was opened
	secrets vault
}

func newBench(t *testing.T) *bench {
	return &bench{t: t, home: t.TempDir(), storage: executor.Memory(), secrets: vault{}}
}

// withSample is a bench on which the sample was added.
func withSample(t *testing.T) *bench {
	b := newBench(t)
	b.ok("source", "add", "sample")
	return b
}

// run types a command. Nothing is a terminal, so that it answers in JSON.
func (b *bench) run(args ...string) (out, errs string, code int) {
	return b.runIn(b.t.Context(), args...)
}

func (b *bench) runIn(ctx context.Context, args ...string) (out, errs string, code int) {
	var o, e bytes.Buffer
	c := b.config(&o, &e)
	c.Args = args
	code = cli.Main(ctx, c)
	return o.String(), e.String(), code
}

func (b *bench) config(out, errs io.Writer) cli.Config {
	return cli.Config{
		Env: b.env, In: strings.NewReader(b.in), Out: out, Err: errs, Home: b.home, Person: "ada",
		Version: cli.Version{Version: "v1.2.3", Commit: "abc", Go: "go1", OS: "os", Arch: "arch"},
		Open:    b.open,
		Terminal: func() (*os.File, error) {
			if b.tty == nil {
				return nil, errors.New("no such device")
			}
			return b.tty()
		},
		Resolve: func(ctx context.Context, ref executor.SecretRef) error {
			_, err := b.secrets.Secret(ctx, ref)
			return err
		},
		Check: func(context.Context, bool) []cli.Check {
			return []cli.Check{{Name: "data directory", Status: cli.Healthy, Text: b.home}}
		},
		Sample: cli.Sample{Config: func() json.RawMessage { return json.RawMessage(`{"text":"pets"}`) }, Serve: func(ctx context.Context, _ string, ready func(string)) error {
			ready("http://127.0.0.1:4")
			return nil
		}},
	}
}

func (b *bench) open(_ context.Context, p executor.Principal) (*executor.Executor, func() error, error) {
	b.opened++
	e, err := executor.New(executor.Config{
		Kinds: []executor.Kind{pets{}}, Providers: []executor.Provider{b.secrets}, Storage: b.storage, Principal: p, Sealer: plain{},
	})
	return e, func() error { return nil }, err
}

// ok types a command that has to succeed, and gives its stdout.
func (b *bench) ok(args ...string) string {
	b.t.Helper()
	out, errs, code := b.run(args...)
	if code != 0 {
		b.t.Fatalf("executor %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

// fails types a command that has to end with code, and gives its stdout.
func (b *bench) fails(code int, args ...string) string {
	b.t.Helper()
	out, errs, got := b.run(args...)
	if got != code {
		b.t.Fatalf("executor %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, out, errs)
	}
	return out
}

// pending leaves a call waiting and gives its run.
func (b *bench) pending(args ...string) string {
	b.t.Helper()
	run, _ := parsed(b.t, b.fails(8, append([]string{"call"}, args...)...))["run"].(string)
	return run
}

// lost makes a call whose answer is lost and gives its run.
func (b *bench) lost() string {
	b.t.Helper()
	env := b.env
	b.env = nil // a person allows it
	b.ok("policy", "set", "sample", "pets.create", "allow")
	b.env = env
	out := parsed(b.t, b.fails(7, "call", "sample.user.public.pets.create", "body.name=Lost"))
	run, _ := out["run"].(string)
	if out["status"] != "ambiguous" {
		b.t.Fatalf("the call is %v", out)
	}
	return run
}

func (b *bench) file(name, content string) string {
	path := filepath.Join(b.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// parsed reads one JSON object.
func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return v
}

// vault holds secrets by reference.
type vault map[string]string

func (vault) Scheme() string { return "file" }

func (v vault) Secret(_ context.Context, ref executor.SecretRef) (executor.Secret, error) {
	value, ok := v[string(ref)]
	if !ok {
		return executor.Secret{}, &executor.Error{Code: executor.NotFound, Msg: "nothing is kept there"}
	}
	return executor.NewSecret(value), nil
}

func (v vault) Keep(_ context.Context, name string, value executor.Secret) (executor.SecretRef, error) {
	v["file://"+name] = value.Reveal()
	return executor.SecretRef("file://" + name), nil
}

func (v vault) Forget(_ context.Context, ref executor.SecretRef) error {
	delete(v, string(ref))
	return nil
}

// plain seals nothing.
type plain struct{}

func (plain) Seal(b []byte) ([]byte, error)   { return b, nil }
func (plain) Unseal(b []byte) ([]byte, error) { return b, nil }

// pets is a kind whose tools answer from here.
type pets struct{}

func (pets) Name() string { return "openapi" }

func (pets) Resolve(_ context.Context, src executor.Source, _ executor.Credential) (executor.Manifest, error) {
	tool := func(name string, effect executor.Effect, about, input string) executor.Tool {
		return executor.Tool{Name: executor.ToolName(name), Effect: effect, Description: about, Input: json.RawMessage(input)}
	}
	m := executor.Manifest{
		Title: "Pets", Found: 7, Hosts: []string{"https://pets.example"}, Public: !bytes.Contains(src.Config, []byte("private")),
		Defs: map[string]json.RawMessage{"Pet": json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}}}`)},
		Tools: []executor.Tool{
			tool("echo", executor.Read, "Give back the arguments.", echoSchema),
			tool("pets.create", executor.Write, "Create a pet.", `{"type":"object","required":["body"],"properties":{"body":{"$ref":"#/$defs/Pet"}}}`),
			tool("pets.delete", executor.Destroy, "Delete a pet.", `{"type":"object","required":["id"],"properties":{"id":{"type":"integer"}}}`),
			tool("pets.export", executor.Read, "All pets, in full.", `{"type":"object"}`),
			tool("pets.get", executor.Read, "Get one pet.", `{"type":"object","required":["id"],"properties":{"id":{"type":"integer"}}}`),
			tool("pets.list", executor.Read, "List all pets.", `{"type":"object","properties":{"limit":{"type":"integer","maximum":100}}}`),
			tool("pets.photo", executor.Read, "A photo.", `{"type":"object"}`),
		},
	}
	if !m.Public {
		m.Auth = []executor.Auth{
			{Name: "ApiKey", Parts: []executor.AuthPart{{In: executor.InHeader, Name: "X-Key", Secret: "key"}}},
		}
	}
	return m, nil
}

const echoSchema = `{"type":"object","properties":{
	"n":{"type":"integer"},"f":{"type":["number","null"]},"on":{"type":"boolean"},"s":{"type":"string"},
	"tags":{"type":"array","items":{"type":"string"}},"ids":{"type":"array","items":{"type":"integer"}},
	"state":{"type":"array","items":{"enum":["open","closed"],"type":"string"}},
	"o":{"type":"object"},"a.b":{"type":"string"},"pet":{"$ref":"#/$defs/Pet"},
	"either":{"anyOf":[{"type":"integer"},{"type":"string"}]},"up":{"format":"binary","anyOf":[{"type":"string"},{"type":"object"}]}}}`

func (pets) Invoke(_ context.Context, call executor.Call) (executor.Result, error) {
	var args struct {
		ID    int
		Limit int
	}
	_ = json.Unmarshal(call.Args, &args) // arguments are valid
	switch call.Tool.Name {
	case "echo":
		return executor.Result{Value: call.Args}, nil
	case "pets.list":
		return executor.Result{
			Value: json.RawMessage(`[{"id":1,"name":"Rex"},{"id":2,"name":"Tom\u001b[2J"}]`),
			Page:  &executor.Page{More: true, Args: json.RawMessage(`{"page":2}`)}, Headers: map[string]string{"etag": "x"}, Notes: []string{"cut"},
		}, nil
	case "pets.export":
		return executor.Result{Value: json.RawMessage(`"` + strings.Repeat("x", 70<<10) + `"`)}, nil
	case "pets.photo":
		return executor.Result{Body: &executor.Body{Content: io.NopCloser(strings.NewReader("\x89PNG\x00\x01")), MediaType: "image/png"}}, nil
	case "pets.create":
		if bytes.Contains(call.Args, []byte(`"Lost"`)) {
			return executor.Result{}, &executor.Error{Code: executor.Unavailable, Op: "invoke", Msg: "upstream hung up"}
		}
	case "pets.delete":
		return executor.Result{Value: json.RawMessage(`{"deleted":` + jsonOf(args.ID) + `}`)}, nil
	case "pets.get":
		switch args.ID {
		case 404:
			return executor.Result{Fault: &executor.Fault{Status: 404, Message: "no such pet"}}, nil
		case 500:
			return executor.Result{}, &executor.Error{Code: executor.Unavailable, Op: "invoke", Msg: "upstream hung up"}
		case 504:
			return executor.Result{}, &executor.Error{Code: executor.Unavailable, Op: "invoke", Msg: "too late", Err: context.DeadlineExceeded}
		case 401:
			return executor.Result{}, &executor.Error{Code: executor.NeedsAuth, Op: "invoke", Msg: "the sign-in is refused"}
		}
	}
	return executor.Result{Value: json.RawMessage(`{"id":` + jsonOf(args.ID) + `}`)}, nil
}

func jsonOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}
