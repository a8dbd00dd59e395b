// Package sample is a small API to try things with: a pet shop that this program
// serves itself. It answers over a socket ([Shop.Serve]), or in process to calls
// for [Origin] ([Shop.Transport]), so that it works with no network and no
// server running.
//
// It needs no sign-in, and begins with the same six pets everywhere. The package
// imports executor and the standard library. What a pet shop has to do with
// tools is told by its description alone, as with any other API.
package sample

import (
	"bytes"
	_ "embed"
	"net/http"
	"sync"
)

// Origin is where the shop answers in process. No such host exists (the top-level
// domain is reserved for private use).
const Origin = "http://sample.executor.internal"

//go:embed openapi.json
var description []byte

// Description gives the shop's OpenAPI 3.1 description; its one server is Origin.
func Description() []byte { return bytes.Clone(description) }

// A Shop is the API with its pets. Safe for concurrent use.
type Shop struct {
	path string // of the file it is kept in; empty: in memory
	mux  *http.ServeMux

	mu    sync.Mutex
	state *state // nil until the first request
}

// Open gives the shop that is kept in the file at path, whose directory exists. The
// file is read with the first request and written with each change; where there
// is none, the shop begins anew. It belongs to one process at a time.
func Open(path string) *Shop {
	s := &Shop{path: path}
	s.mux = s.routes()
	return s
}

// New gives a shop in memory.
func New() *Shop { return Open("") }

// Transport gives a shop in memory that answers requests to Origin; all others go
// to base.
func Transport(base http.RoundTripper) http.RoundTripper { return New().Transport(base) }

// ServeHTTP implements http.Handler.
func (s *Shop) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// An operation answers a request from the state, which it may change if it is
// one that writes.
type operation func(*state, *http.Request) answer

func (s *Shop) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, op := range map[string]operation{
		"GET /pets":               listPets,
		"GET /pets/{petId}":       getPet,
		"POST /pets/search":       searchPets,
		"GET /pets/{petId}/photo": getPhoto,
		"GET /orders":             listOrders,
		"GET /status":             getStatus,
		"/":                       noSuchPath,
	} {
		mux.HandleFunc(pattern, s.reading(op))
	}
	for pattern, op := range map[string]operation{
		"POST /pets":              createPet,
		"PATCH /pets/{petId}":     updatePet,
		"DELETE /pets/{petId}":    deletePet,
		"PUT /pets/{petId}/photo": putPhoto,
		"POST /orders":            createOrder,
	} {
		mux.HandleFunc(pattern, s.writing(op))
	}
	mux.HandleFunc("GET /openapi.json", describe)
	return mux
}

// describe tells the shop's description, with the server that was asked.
func describe(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	// A reader who has hung up is told nothing.
	_, _ = w.Write(bytes.ReplaceAll(description, []byte(Origin), []byte("http://"+r.Host)))
}

// reading lets op look at the state, one request at a time.
func (s *Shop) reading(op operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !readBody(w, r) {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		st, err := s.current()
		if err != nil {
			damaged(err).send(w)
			return
		}
		op(st, r).send(w)
	}
}

// writing lets op change a copy, which takes the place of the state when it is
// kept.
func (s *Shop) writing(op operation) http.HandlerFunc {
	return s.reading(func(st *state, r *http.Request) answer {
		next := st.clone()
		a := op(next, r)
		if a.status < 400 {
			if err := s.keep(next); err != nil {
				return damaged(err)
			}
		}
		return a
	})
}

func noSuchPath(_ *state, r *http.Request) answer {
	return problem(http.StatusNotFound, r.Method+" "+r.URL.Path+" is not an operation of this shop; see /openapi.json")
}

func getStatus(st *state, _ *http.Request) answer {
	return answer{status: http.StatusOK, body: Status{Name: "Sample pets", Pets: len(st.Pets), Orders: len(st.Orders)}}
}
