package executor_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/open-executor/executor"
	"pgregory.net/rapid"
)

// spelled are the forms in which an upstream may echo the token.
func spelled() map[string]string {
	quoted, _ := json.Marshal(token) // a string always encodes
	inJSON := strings.Trim(string(quoted), `"`)
	unicode := ""
	for _, r := range token {
		unicode += fmt.Sprintf(`\u%04x`, r)
	}
	b64 := base64.StdEncoding.EncodeToString
	return map[string]string{
		"raw": token, "JSON": inJSON, "JSON with \\/": strings.ReplaceAll(inJSON, "/", `\/`), "JSON in \\u only": unicode,
		"JSON in a few \\u": strings.Replace(inJSON, "t", `\u0074`, 1), "query": url.QueryEscape(token), "path": url.PathEscape(token),
		"query in lower case": strings.NewReplacer("%2F", "%2f", "%2B", "%2b", "%3D", "%3d").Replace(url.QueryEscape(token)),
		"hex":                 hex.EncodeToString([]byte(token)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(token))), "HTML": html.EscapeString(token),
		"base64": b64([]byte(token)), "base64 for URLs": base64.RawURLEncoding.EncodeToString([]byte(token)),
		"base64 inside, 0": b64([]byte("abc" + token + "xyz")), "base64 inside, 1": b64([]byte("user:x:" + token)), "base64 inside, 2": b64([]byte("ab" + token + "?")),
	}
}

// traces are parts that give the token away, whatever surrounds them. Inside a longer
// base64 the characters at the ends depend on what stands there.
func traces() []string {
	traces := []string{token, url.QueryEscape(token), hex.EncodeToString([]byte(token)), strings.Trim(strings.ReplaceAll(token, "/", `\/`), `"`)}
	for shift := range 3 {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			s := enc.EncodeToString([]byte(strings.Repeat("x", shift) + token))
			traces = append(traces, s[4:len(s)-2])
		}
	}
	return traces
}

// everywhere is all that a caller, a reader of the record and a reader of the log see.
func (w *world) everywhere(res executor.Result, err error) string {
	w.t.Helper()
	text := printed(res) + printed(w.run(res.Run)) + w.log.String()
	if err != nil {
		text += printed(err)
	}
	if res.Fault != nil {
		text += printed(*res.Fault) + string(res.Fault.Body)
	}
	if res.Handle != nil {
		text += printed(*res.Handle)
	}
	if content, _, err := w.Open(context.Background(), res.Run); err == nil {
		data, err := io.ReadAll(content)
		w.must(data, err)
		text += string(data)
	}
	return text + string(res.Value)
}

func TestEchoedSecretIsSeenNowhere(t *testing.T) {
	w := newWorld(t, vaulted, func(c *executor.Config) { c.InlineBytes = 4096 })
	a := w.signed(executor.AuthPart{In: executor.Bearer, Secret: "token"})
	for name, echo := range spelled() {
		for place, answer := range map[string]http.HandlerFunc{
			"JSON": func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(rw, `{"you sent":"%s","%s":1}`, echo, echo)
			},
			"text":   func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "you sent "+echo) },
			"binary": func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "\x00\xff\xfe"+echo+"\xff") },
			"headers": func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("X-Echo", echo)
				rw.Header().Set("Content-Type", "text/plain; echo="+echo)
				_, _ = io.WriteString(rw, "x")
			},
			"fault": func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("X-Echo", echo)
				http.Error(rw, "bad token "+echo, 401)
			},
		} {
			if place != "JSON" && strings.HasPrefix(name, "JSON in") {
				continue // an escape is one in JSON only
			}
			t.Run(name+" in "+place, func(t *testing.T) {
				w.answers(answer)
				res, err := w.Execute(t.Context(), a, nil)
				text := w.everywhere(res, err)
				wantNothingOf(t, text, traces()...)
				if !strings.Contains(text, "[secret]") {
					t.Errorf("nothing was masked: %.300s", text)
				}
			})
		}
	}
}

// A kind's own words: errors, notes, pages, panics.
func TestSecretInWhatAKindSaysIsSeenNowhere(t *testing.T) {
	w := newWorld(t, vaulted)
	a := w.signed(executor.AuthPart{In: executor.Bearer, Secret: "token"})
	for name, invoke := range map[string]func() (executor.Result, error){
		"error": func() (executor.Result, error) { return executor.Result{}, errors.New("sent " + token) },
		"our error": func() (executor.Result, error) {
			return executor.Result{}, &executor.Error{
				Code: executor.Unavailable, Msg: token, Hint: token, Err: fmt.Errorf("deep: %w", errors.New(token)),
				Fields: []executor.FieldError{{Pointer: "/" + token, Msg: token}},
			}
		},
		"wrapped": func() (executor.Result, error) {
			return executor.Result{}, &url.Error{Op: "Get", URL: "http://x/?k=" + url.QueryEscape(token), Err: &executor.Error{Code: executor.Unavailable, Msg: token}}
		},
		"panic": func() (executor.Result, error) { panic(token) },
		"result": func() (executor.Result, error) {
			return executor.Result{
				Value: json.RawMessage(`"` + token + `"`), Notes: []string{token}, Headers: map[string]string{"a": token},
				Page: &executor.Page{Next: "http://x/?k=" + url.QueryEscape(token), Args: json.RawMessage(`{"k":"` + token + `"}`)},
			}, nil
		},
		"body": func() (executor.Result, error) {
			return executor.Result{Body: &executor.Body{Content: io.NopCloser(strings.NewReader(token)), Name: token + ".txt", MediaType: "text/" + token}}, nil
		},
		"body that breaks": func() (executor.Result, error) {
			return executor.Result{Body: &executor.Body{Content: io.NopCloser(broken{}), MediaType: "text/plain"}}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			w.kind.invoke = func(context.Context, executor.Call) (executor.Result, error) { return invoke() }
			res, err := w.Execute(t.Context(), a, nil)
			wantNothingOf(t, w.everywhere(res, err), traces()...)
		})
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("cut off at " + token) }

// An agent that was handed the secret and passes it on as an argument.
func TestSecretInArgumentsIsNotRecorded(t *testing.T) {
	w := newWorld(t, vaulted, func(c *executor.Config) { c.Sealer = xor{} })
	a := w.signed(executor.AuthPart{In: executor.Bearer, Secret: "token"})
	res, err := w.Execute(t.Context(), a, json.RawMessage(`{"leak":"`+token+`"}`))
	wantNothingOf(t, w.everywhere(res, err), traces()...)
	a.Tool = "write"
	res, err = w.Execute(t.Context(), a, json.RawMessage(`{"leak":"`+token+`"}`))
	wantCode(t, err, executor.NeedsApproval)
	requests, err := w.Requests(t.Context())
	w.must(requests, err)
	wantNothingOf(t, w.everywhere(res, err)+printed(requests), traces()...)
	w.must(w.Answer(t.Context(), res.Run, true, ""))
	w.must(w.Resume(t.Context(), res.Run))
	if want := `{"leak":"` + token + `"}`; w.bodies[1] != want {
		t.Errorf("upstream got %s, want %s", w.bodies[1], want)
	}
}

func TestConnectDoesNotSayTheSecret(t *testing.T) {
	w := newWorld(t, vaulted)
	w.kind.resolve = func(executor.Credential) error { return &executor.Error{Code: executor.NeedsAuth, Msg: "who are you"} }
	w.must(w.AddSource(t.Context(), w.source("shy", w.server.URL)))
	w.kind.resolve = func(executor.Credential) error {
		return &executor.Error{Code: executor.NeedsAuth, Msg: "bad token " + token, Err: errors.New(token)}
	}
	_, err := w.Connect(t.Context(), executor.Connection{
		Source: "shy", Scope: "user", Name: "work", Secrets: map[string]executor.SecretRef{"token": "v://token"},
		Auth: executor.Auth{Parts: []executor.AuthPart{{In: executor.Bearer, Secret: "token"}}},
	})
	wantCode(t, err, executor.NeedsAuth)
	wantNothingOf(t, printed(err)+w.log.String(), traces()...)
}

// pieces hands content over in pieces whose lengths a test draws.
type pieces struct {
	from io.Reader
	next func() int
}

func (p pieces) Read(b []byte) (int, error) { return p.from.Read(b[:min(len(b), max(1, p.next()))]) }

// Whatever the chunks, a stream is masked as the same text is masked whole.
func TestStreamedSecretIsSeenNowhere(t *testing.T) {
	w := newWorld(t, vaulted)
	a := w.signed(executor.AuthPart{In: executor.Bearer, Secret: "token"})
	noise := strings.Repeat("the quick brown fox jumps over \x00 ", 1<<20/32)
	var forms []string
	for name, form := range spelled() {
		if !strings.HasPrefix(name, "JSON in") {
			forms = append(forms, form, form[:len(form)/2], form[len(form)/2:])
		}
	}
	slices.Sort(forms)
	rapid.Check(t, func(t *rapid.T) {
		body := noise[:rapid.SampledFrom([]int{0, 64 << 10, 128 << 10, 1 << 20}).Draw(t, "before")]
		body = body[:max(0, len(body)-rapid.IntRange(0, 100).Draw(t, "less"))]
		for range rapid.IntRange(1, 8).Draw(t, "echoes") {
			body += rapid.SampledFrom(forms).Draw(t, "form") + noise[:rapid.IntRange(0, 40).Draw(t, "between")]
		}
		body += noise[:rapid.SampledFrom([]int{0, 100, 100 << 10}).Draw(t, "after")]
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		w.kind.invoke = func(context.Context, executor.Call) (executor.Result, error) {
			content := pieces{strings.NewReader(body), func() int { return random.IntN(64 << 10) }}
			return executor.Result{
				Body:  &executor.Body{Content: io.NopCloser(content), MediaType: "application/octet-stream"},
				Fault: &executor.Fault{Message: body},
			}, nil
		}
		res, err := w.Execute(context.Background(), a, nil)
		if err != nil {
			t.Fatal(err)
		}
		content, _, err := w.Open(context.Background(), res.Run)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != res.Fault.Message {
			t.Fatalf("streamed: %d bytes, whole: %d", len(got), len(res.Fault.Message))
		}
		for _, trace := range traces()[:3] {
			if i := bytes.Index(got, []byte(trace)); i >= 0 {
				t.Fatalf("%q stands at %d", trace, i)
			}
		}
	})
}

// A secret that is a number, or begins like an escape, must not make what a run
// holds something other than JSON: it could not be recorded.
func TestMaskedAnswerIsStillRecorded(t *testing.T) {
	for secret, answer := range map[string]string{
		"123456":      `{"pin":123456,"n":91234567}`,
		"token":       `{"a":"x\token"}`,
		`quoted"`:     `{"a":"quoted\""}`,
		`back\`:       `{"a":"back\\","b":"back\""}`,
		"true":        `{"a":true}`,
		`":1,"`:       `{"a":1,"b":2}`,
		"http://a/b/": `{"a":"http:\/\/a/b/"}`,
		"not JSON":    `{`,
	} {
		t.Run(secret, func(t *testing.T) {
			w := newWorld(t, func(c *executor.Config) { c.Providers = []executor.Provider{vault{"token": secret}} })
			a := w.signed(executor.AuthPart{In: executor.InHeader, Name: "X-Key", Secret: "token"})
			w.kind.invoke = func(context.Context, executor.Call) (executor.Result, error) {
				return executor.Result{
					Value: json.RawMessage(answer), Fault: &executor.Fault{Body: json.RawMessage(answer)}, Page: &executor.Page{Args: json.RawMessage(answer)},
				}, nil
			}
			var args json.RawMessage
			if json.Valid([]byte(answer)) {
				args = json.RawMessage(answer)
			}
			res, err := w.Execute(t.Context(), a, args)
			if err != nil {
				t.Fatal(err)
			}
			if !json.Valid(res.Value) {
				t.Errorf("value is %s", res.Value)
			}
			wantStatus(t, w.run(res.Run).Status, executor.Done)
		})
	}
}
