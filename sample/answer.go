package sample

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

const maxBody = 256 << 10 // bytes of a request's body, a photo's included

// An answer is what an operation says.
type answer struct {
	status int
	header map[string]string
	body   any   // as JSON; nil: raw, or nothing
	raw    Photo // content that is not JSON
}

// A Problem is the shop's no (RFC 9457).
type Problem struct {
	Type   string  `json:"type"`
	Title  string  `json:"title"`
	Status int     `json:"status"`
	Detail string  `json:"detail"`
	Errors []Wrong `json:"errors,omitempty"`
}

// Wrong is one thing that is wrong with a request.
type Wrong struct {
	Pointer   string `json:"pointer,omitempty"`   // into the body
	Parameter string `json:"parameter,omitempty"` // of the query
	Detail    string `json:"detail"`
}

func problem(status int, detail string, errors ...Wrong) answer {
	return answer{
		status: status,
		header: map[string]string{"Content-Type": "application/problem+json"},
		body:   Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail, Errors: errors},
	}
}

func invalid(errors ...Wrong) answer {
	return problem(http.StatusUnprocessableEntity, "the request does not fit the description", errors...)
}

func damaged(err error) answer { return problem(http.StatusInternalServerError, err.Error()) }

// send writes the answer. A reader who has hung up is told nothing.
func (a answer) send(w http.ResponseWriter) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	content := a.raw.Content
	if a.raw.Type != "" {
		h.Set("Content-Type", a.raw.Type)
	}
	if a.body != nil {
		h.Set("Content-Type", "application/json")
		content, _ = json.Marshal(a.body) // the types of this package always encode
	}
	for name, value := range a.header {
		h.Set(name, value)
	}
	if a.status != http.StatusNoContent && a.status != http.StatusNotModified {
		h.Set("Content-Length", strconv.Itoa(len(content)))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(content)
}

// readBody takes the whole body before the shop is locked. It answers itself, and
// tells false, when there is too much of it.
func readBody(w http.ResponseWriter, r *http.Request) bool {
	content, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		problem(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", maxBody)).send(w)
		return false
	case err != nil:
		problem(http.StatusBadRequest, "the body ends early").send(w)
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(content))
	return true
}
