package executor_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/open-executor/executor"
)

func TestArgumentsThatDoNotFitSayWhere(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct {
		name, args string
		fields     []string // pointers; nil: any
	}{
		{"missing", `{}`, []string{"/id"}},
		{"wrong type", `{"id":"x"}`, []string{"/id"}},
		{"unknown", `{"id":1,"extra":2}`, []string{"/extra"}},
		{"escaped pointer", `{"id":1,"a/b":{"c~d":7}}`, []string{"/a~1b/c~0d"}},
		{"several", `{"id":"x","n":-1}`, []string{"/id", "/n"}},
		{"an array", `[1]`, nil},
		{"null", `null`, nil},
		{"a second object", `{"id":1}{"id":2}`, nil},
		{"trailing garbage", `{"id":1} x`, nil},
		{"cut off", `{"id":1`, nil},
		{"invalid UTF-8", "{\"id\":1,\"deep\":\"\xff\"}", nil},
		{"a byte order mark", "\ufeff{\"id\":1}", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			res, err := w.Execute(t.Context(), at("typed"), json.RawMessage(test.args))
			wantCode(t, err, executor.Invalid)
			wantStatus(t, res.Status, executor.Failed)
			e, _ := err.(*executor.Error) //nolint:errorlint // what Execute gives is one
			if e == nil || e.Run != res.Run || e.Run == "" {
				t.Fatalf("error %#v does not name run %q", err, res.Run)
			}
			var got []string
			for _, f := range e.Fields {
				got = append(got, f.Pointer)
			}
			if test.fields != nil && !reflect.DeepEqual(got, test.fields) {
				t.Errorf("pointers = %q, want %q", got, test.fields)
			}
			if want := "run: executor tools describe " + at("typed").String(); test.fields != nil && e.Hint != want {
				t.Errorf("hint = %q, want %q", e.Hint, want)
			}
		})
	}
	w.wantHits(0)
}

func TestArgumentsReachUpstreamAsMeant(t *testing.T) {
	nested := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	w := newWorld(t)
	for _, test := range []struct {
		name, tool, args, want string
	}{
		{"nothing is an empty object", "read", ``, `{}`},
		{"keys are sorted", "read", ` { "b" : 1 , "a" : [ ] } `, `{"a":[],"b":1}`},
		{"defaults are applied", "typed", `{"id":1}`, `{"id":1,"size":10}`},
		{"defaults are applied inside what is there", "typed", `{"id":1,"in":{},"size":3}`, `{"id":1,"in":{"mode":"fast"},"size":3}`},
		{"null is not absent", "typed", `{"id":1,"in":{"mode":null}}`, `{"id":1,"in":{"mode":null},"size":10}`},
		{"a big integer keeps its text", "typed", `{"id":12345678901234567890123}`, `{"id":12345678901234567890123,"size":10}`},
		{"an exponent keeps its text", "typed", `{"id":1,"n":1e21}`, `{"id":1,"n":1e21,"size":10}`},
		{"of a key given twice the last one counts", "read", `{"a":1,"a":2}`, `{"a":2}`},
		{"markup stays as it is", "read", `{"a":"<b>&\u0061"}`, `{"a":"<b>&a"}`},
		{"a hundred levels", "read", `{"deep":` + nested + `}`, `{"deep":` + nested + `}`},
		{"a schema that contains itself", "loop", `{"tree":{"next":{"next":{}}}}`, `{"tree":{"next":{"next":{}}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			res, err := w.Execute(t.Context(), at(executor.ToolName(test.tool)), json.RawMessage(test.args))
			if err != nil {
				t.Fatal(err)
			}
			if got := w.bodies[len(w.bodies)-1]; got != test.want {
				t.Errorf("upstream got %s, want %s", got, test.want)
			}
			if got := string(w.run(res.Run).Input.Args); got != test.want {
				t.Errorf("recorded %s, want %s", got, test.want)
			}
		})
	}
}

// A schema whose references go in a circle is a defect of the description: a
// call gives an error and the process lives.
func TestSchemaThatIsALoopGivesAnError(t *testing.T) {
	w := newWorld(t)
	if _, err := w.Execute(t.Context(), at("loop"), json.RawMessage(`{"x":1}`)); err == nil {
		t.Error("a value of a schema that refers to itself only was accepted")
	}
	w.wantHits(0)
}

// Numbers that no arithmetic can hold are the caller's mistake, not a panic.
func TestNumberBeyondArithmeticGivesAnError(t *testing.T) {
	w := newWorld(t)
	for _, args := range []string{`{"id":1e999999999}`, `{"id":1,"n":1e999999999}`, `{"id":1,"n":-1e-999999999}`, `{"id":1,"size":1e99999999999999999999}`} {
		_, err := w.Execute(t.Context(), at("typed"), json.RawMessage(args))
		wantCode(t, err, executor.Invalid)
	}
	w.wantHits(0)
}

func TestDigestIsOfWhatWasMeant(t *testing.T) {
	w := newWorld(t)
	digests := map[string]bool{}
	for _, args := range []string{`{"a":1,"b":2}`, `{"b":2,"a":1}`, ` {"a":1,  "b":2}`} {
		res, err := w.Execute(t.Context(), at("read"), json.RawMessage(args))
		w.must(res, err)
		digests[w.run(res.Run).Input.Digest] = true
	}
	if len(digests) != 1 {
		t.Errorf("one meaning has %d digests", len(digests))
	}
}

func TestSensitiveArgumentsAreMaskedInTheRecord(t *testing.T) {
	const args = `{"user":"ann","pin":1234,"password":"hunter2","all":[{"key":"k3y3","n":1}],"ref":{"x":"r3f"}}`
	const want = `{"all":[{"key":"[secret]","n":1}],"password":"[secret]","pin":"[secret]","ref":"[secret]","user":"ann"}`
	w := newWorld(t, func(c *executor.Config) { c.Sealer = xor{} })
	id := w.waiting("login", args)
	requests, err := w.Requests(t.Context())
	w.must(requests, err)
	if len(requests) != 1 || string(requests[0].Args) != want || requests[0].Sealed == nil {
		t.Fatalf("requests = %+v, want one with %s, sealed", requests, want)
	}
	wantNothingOf(t, printed(requests)+printed(w.run(id))+w.log.String(), "hunter2", "1234,", "k3y3", "r3f")

	w.must(w.Answer(t.Context(), id, true, ""))
	w.must(w.Resume(t.Context(), id))
	const sent = `{"all":[{"key":"k3y3","n":1}],"password":"hunter2","pin":1234,"ref":{"x":"r3f"},"user":"ann"}`
	if w.bodies[0] != sent {
		t.Errorf("upstream got %s, want %s", w.bodies[0], sent)
	}
	if got := string(w.run(id).Input.Args); got != want {
		t.Errorf("recorded %s, want %s", got, want)
	}
}

// A validator likes to quote what it refuses; a run's reason is a record.
func TestSensitiveArgumentThatDoesNotFitIsNotRecorded(t *testing.T) {
	w := newWorld(t, func(c *executor.Config) { c.Sealer = xor{} })
	for _, args := range []string{`{"password":"Hunter-2"}`, `{"pin":44556677}`} {
		res, err := w.Execute(t.Context(), at("login"), json.RawMessage(args))
		wantCode(t, err, executor.Invalid)
		wantNothingOf(t, printed(w.run(res.Run))+w.log.String()+printed(err), "Hunter-2", "44556677")
	}
}

func TestSensitiveArgumentsAreRefusedWithoutASealer(t *testing.T) {
	w := newWorld(t)
	res, err := w.Execute(t.Context(), at("login"), json.RawMessage(`{"password":"hunter2"}`))
	wantCode(t, err, executor.Invalid)
	wantStatus(t, res.Status, executor.Failed)
	requests, err := w.Requests(t.Context())
	w.must(requests, err)
	if len(requests) != 0 {
		t.Errorf("requests = %+v, want none", requests)
	}
	wantNothingOf(t, printed(w.run(res.Run)), "hunter2")
	w.waiting("login", `{"user":"ann"}`) // nothing sensitive in it
}

// wantNothingOf tells which of the secrets text shows.
func wantNothingOf(t *testing.T, text string, secrets ...string) {
	t.Helper()
	for _, s := range secrets {
		if i := strings.Index(text, s); i >= 0 {
			t.Errorf("%q is shown: …%.200s", s, text[max(0, i-80):])
		}
	}
}
