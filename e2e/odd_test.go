//go:build unix

package e2e_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// An oddity is an upstream that does what upstreams should not. Each story sees
// one of its own, below a path with the story's name:
//
//	/<story>/openapi.json   what it offers; operations want a bearer token
//	/<story>/open.json      the same, and no operation wants a token
//	/<story>/log            the requests so far, one a line, for get
//	/<story>/await/<path>   answers once a request for <path> has come
//	/<story>/given/<name>   what no story can hold: see monster
//
// Beside it stands a foreign server that only keeps a log, for all stories.
type oddity struct {
	server  *httptest.Server
	foreign *httptest.Server
	bomb    []byte

	mu     sync.Mutex // guards all below
	seen   map[string][]string
	notes  map[string]map[string]string
	change chan struct{} // closed and replaced when seen changes
}

func newOddity() *oddity {
	o := &oddity{seen: map[string][]string{}, notes: map[string]map[string]string{}, change: make(chan struct{})}
	o.bomb = bombOf(256 << 20)
	o.server = httptest.NewServer(http.HandlerFunc(o.serve))
	o.foreign = httptest.NewServer(http.HandlerFunc(o.serveForeign))
	return o
}

func (o *oddity) close() {
	o.server.CloseClientConnections()
	o.server.Close()
	o.foreign.Close()
}

// at gives the base URL for a story.
func (o *oddity) at(story string) string { return o.server.URL + "/" + story }

// bombOf packs n zero bytes.
func bombOf(n int64) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = io.CopyN(w, zeros{}, n) // neither side fails
	_ = w.Close()
	return packed.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// letters are one letter without end.
type letters byte

func (l letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(l)
	}
	return len(p), nil
}

// monster gives what is too large or too odd to stand in a story.
func monster(w http.ResponseWriter, name string) {
	nested := func(open, inside, shut string, levels int) string {
		return strings.Repeat(open, levels) + inside + strings.Repeat(shut, levels)
	}
	var text string
	switch name {
	case "garbage":
		_, _ = io.CopyN(w, rand.NewChaCha8([32]byte{}), 30<<20) // the story would miss it
		return
	case "page.html":
		w.Header().Set("Content-Type", "text/html")
		text = "<!DOCTYPE html><title>Pets</title>Sign in to see the API"
	case "bottomless-arguments":
		text = `{"body":` + nested(`{"a":`, "1", "}", 100_000) + "}"
	case "latin-arguments":
		text = "{\"body\":{\"id\":\"a\",\"title\":\"caf\xe9\"}}"
	case "deep-arguments":
		text = `{"body":` + nested(`{"in":`, "1", "}", 100) + "}"
	case "deep.json":
		text = `{"openapi":"3.1.0","info":{"title":"Deep","version":"1"},"paths":{"/headers":{"post":{"operationId":"deep","requestBody":{"content":{"application/json":{"schema":` +
			nested(`{"type":"object","properties":{"in":`, `{"type":"integer"}`, "}}", 100) + `}}},"responses":{"200":{"description":"an answer"}}}}}}`
	}
	_, _ = io.WriteString(w, text) // the story would miss it
}

func (o *oddity) note(story, line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen[story] = append(o.seen[story], line)
	close(o.change)
	o.change = make(chan struct{})
}

// log gives the requests of a story so far, and a channel that closes at the next.
func (o *oddity) log(story string) (string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(append(o.seen[story], ""), "\n"), o.change
}

func (o *oddity) serve(w http.ResponseWriter, r *http.Request) {
	story, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case path == "openapi.json" || path == "open.json" || path == "broken.json":
		o.describe(w, story, path)
		return
	case path == "log":
		text, _ := o.log(story)
		_, _ = io.WriteString(w, text) // the story would miss it
		return
	case strings.HasPrefix(path, "given/"):
		monster(w, strings.TrimPrefix(path, "given/"))
		return
	case strings.HasPrefix(path, "await/"):
		o.await(w, r, story, strings.TrimPrefix(path, "await"))
		return
	}
	signed := "unsigned"
	if r.Header.Get("Authorization") != "" || r.URL.Query().Has("key") {
		signed = "signed"
	}
	o.note(story, fmt.Sprintf("%s /%s %s", r.Method, path, signed))
	if strings.HasPrefix(path, "notes") {
		o.serveNotes(w, r, story, strings.TrimPrefix(path, "notes/"))
		return
	}
	o.misbehave(w, r, path)
}

func (o *oddity) serveForeign(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/log" {
		text, _ := o.log("foreign")
		_, _ = io.WriteString(w, text) // the story would miss it
		return
	}
	story := strings.Trim(r.URL.Path, "/")
	o.note("foreign", fmt.Sprintf("%s authorization=%t cookie=%t referer=%t", story,
		r.Header.Get("Authorization") != "", r.Header.Get("Cookie") != "", r.Header.Get("Referer") != ""))
	answer(w, http.StatusOK, map[string]string{"from": "foreign"})
}

func (o *oddity) describe(w http.ResponseWriter, story, name string) {
	text, err := os.ReadFile("testdata/odd.json")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	text = bytes.ReplaceAll(text, []byte("{{BASE}}"), []byte(o.at(story)))
	switch name {
	case "open.json":
		var doc map[string]any
		if err := json.Unmarshal(text, &doc); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		delete(doc, "security")
		delete(doc, "components") // it holds the ways to sign in
		answer(w, http.StatusOK, doc)
		return
	case "broken.json":
		text = text[:len(text)/2]
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // the story would miss it
}

func (o *oddity) await(w http.ResponseWriter, r *http.Request, story, path string) {
	late := time.After(patience)
	for {
		text, change := o.log(story)
		if strings.Contains(text, " "+path+" ") {
			_, _ = io.WriteString(w, text) // the story would miss it
			return
		}
		select {
		case <-change:
		case <-late:
			http.Error(w, "no request for "+path+" came", http.StatusGatewayTimeout)
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (o *oddity) serveNotes(w http.ResponseWriter, r *http.Request, story, id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.notes[story] == nil {
		o.notes[story] = map[string]string{}
	}
	notes := o.notes[story]
	switch r.Method {
	case http.MethodGet:
		answer(w, http.StatusOK, notes)
	case http.MethodPost:
		var in struct{ ID, Title string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			answer(w, http.StatusBadRequest, map[string]string{"message": err.Error()})
			return
		}
		notes[in.ID] = in.Title
		answer(w, http.StatusCreated, map[string]any{"id": in.ID, "title": in.Title, "total": len(notes)})
	case http.MethodDelete:
		if _, ok := notes[id]; !ok {
			answer(w, http.StatusNotFound, map[string]string{"message": "no such note"})
			return
		}
		delete(notes, id)
		w.WriteHeader(http.StatusNoContent)
	}
}

func (o *oddity) misbehave(w http.ResponseWriter, r *http.Request, path string) {
	switch path {
	case "echo": // repeats the credential in every form it can think of
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		answer(w, http.StatusOK, map[string]string{
			"plain": token, "header": r.Header.Get("Authorization"),
			"base64": base64.StdEncoding.EncodeToString([]byte(token)),
			"query":  url.QueryEscape(token), "hex": hex.EncodeToString([]byte(token)),
			"inside": "before " + token + " after",
		})
	case "echo-fault":
		answer(w, http.StatusForbidden, map[string]string{"message": "not with " + r.Header.Get("Authorization")})
	case "unauthorized":
		w.Header().Set("WWW-Authenticate", `Bearer realm="odd"`)
		answer(w, http.StatusUnauthorized, map[string]string{"message": "who are you"})
	case "busy":
		w.Header().Set("Retry-After", "7")
		answer(w, http.StatusTooManyRequests, map[string]string{"message": "slow down"})
	case "headers": // the names of all that came
		answer(w, http.StatusOK, slices.Sorted(maps.Keys(r.Header)))
	case "heap":
		answer(w, http.StatusOK, slices.Repeat([]string{strings.Repeat("0123456789abcdef", 64)}, 5<<10)) // 5 MiB
	case "flood":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `"`)
		_, _ = io.CopyN(w, letters('x'), 200<<20) // the caller hangs up
	case "garbled":
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{\"name\":\"caf\xe9\"}")) // the story would miss it
	case "large":
		answer(w, http.StatusOK, strings.Repeat("0123456789abcdef", 1<<16)) // 1 MiB
	case "bomb":
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write(o.bomb) // the caller hangs up
	case "cut":
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"begins":`) // and never ends
	case "latin":
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte("caf\xe9\xff")) // the story would miss it
	case "file":
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write([]byte("\x89PNG\r\n\x1a\n\x00\x00\xff\xfe")) // the story would miss it
	case "away":
		story, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		http.Redirect(w, r, o.foreign.URL+"/"+story, http.StatusFound)
	case "hang":
		<-r.Context().Done()
	default:
		answer(w, http.StatusNotFound, map[string]string{"message": "nothing here"})
	}
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the story would miss it
}
