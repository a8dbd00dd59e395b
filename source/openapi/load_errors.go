package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/open-executor/executor"
)

const (
	notesAlike = 20  // notes of one sort
	notesTotal = 300 // notes of one description
)

// notes gathers remarks, few of each sort, so that none drowns the others.
type notes struct {
	list  []executor.Note
	alike map[string]int
	seen  map[executor.Note]bool
}

// add takes one remark. What stands before the first quotation mark is its sort.
func (n *notes) add(where, text string) {
	note := executor.Note{Where: where, Text: text}
	if n.seen[note] {
		return
	}
	if n.alike == nil {
		n.alike, n.seen = map[string]int{}, map[executor.Note]bool{}
	}
	sort, _, _ := strings.Cut(text, `"`)
	n.alike[sort]++
	if n.alike[sort] > notesAlike || len(n.list) >= notesTotal {
		return
	}
	n.seen[note] = true
	n.list = append(n.list, note)
}

// all gives the remarks, and how many more there were of a sort.
func (n *notes) all() []executor.Note {
	last := map[string]int{}
	for i, note := range n.list {
		sort, _, _ := strings.Cut(note.Text, `"`)
		last[sort] = i
	}
	for sort, i := range last {
		if more := n.alike[sort] - notesAlike; more > 0 {
			n.list[i].Text += fmt.Sprintf(" (and %d more like it)", more)
		}
	}
	return n.list
}

func invalid(msg, hint string) *executor.Error {
	return &executor.Error{Code: executor.Invalid, Op: "resolve", Msg: msg, Hint: hint}
}

func unreadable(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &executor.Error{
		Code: executor.Invalid, Op: "resolve",
		Msg:  fmt.Sprintf("the file %q is not readable: %v", name, err),
		Hint: "give the absolute path of an OpenAPI or Swagger file",
	}
}

// unreachable keeps an error of the executor's own transport as it is.
func unreachable(u *url.URL, err error) error {
	var ours *executor.Error
	if errors.As(err, &ours) {
		return ours
	}
	return &executor.Error{
		Code: executor.Unavailable, Op: "resolve",
		Msg: fmt.Sprintf("%s gave no answer", u.Redacted()), Hint: "check the URL and the network", Err: err,
	}
}

// notADescription says what came instead of one.
func notADescription(u *url.URL, status int, media string, body []byte) error {
	if media == "" {
		media = "no content type"
	}
	e := &executor.Error{Code: executor.Invalid, Op: "resolve", Hint: "give the URL of the JSON or YAML description itself"}
	e.Msg = fmt.Sprintf("%s answered %d (%s), not an API description", u.Redacted(), status, media)
	if words := firstWords(body); words != "" {
		e.Msg += fmt.Sprintf(": %q", words)
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Code, e.Hint = executor.NeedsAuth, "connect an account that may read the description"
	case status >= 500 || status == http.StatusTooManyRequests:
		e.Code, e.Hint = executor.Unavailable, "try again later"
	}
	return e
}

// firstWords gives the beginning of an answer as one line, tags left out.
func firstWords(body []byte) string {
	body = body[:min(len(body), 4096)]
	var b strings.Builder
	tag := false
	for _, r := range string(bytes.ToValidUTF8(body, nil)) {
		switch {
		case r == '<':
			tag = true
		case r == '>' && tag:
			tag = false
			b.WriteByte(' ')
		case !tag && (unicode.IsPrint(r) || unicode.IsSpace(r)):
			b.WriteRune(r)
		}
	}
	words := strings.Join(strings.Fields(b.String()), " ")
	return cut(words, 80)
}

// cut shortens s to at most n bytes, whole characters, with an ellipsis.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:n]
	for len(s) > 0 && s[len(s)-1]&0xC0 == 0x80 {
		s = s[:len(s)-1]
	}
	if len(s) > 0 && s[len(s)-1] >= 0xC0 {
		s = s[:len(s)-1]
	}
	return strings.TrimRight(s, " \n") + "…"
}
