package executor

import (
	"errors"
	"fmt"
	"strings"
)

// A Code says what the caller can do about an error.
type Code string

const (
	Invalid       Code = "invalid"        // change the request
	NotFound      Code = "not_found"      // absent, or not for this caller to know
	Blocked       Code = "blocked"        // a policy or a principal's limits say no
	NeedsAuth     Code = "needs_auth"     // connect, or connect again
	NeedsApproval Code = "needs_approval" // a person is asked; wait, then resume
	Conflict      Code = "conflict"       // somebody else was first, or the world changed
	Unavailable   Code = "unavailable"    // upstream gave no answer
	Internal      Code = "internal"       // a defect here, or a broken disk
)

// An Error is no answer. Upstream saying no is not an Error but a [Fault] in
// the [Result].
type Error struct {
	Code   Code
	Op     string       // where it happened: find, decide, unlock, invoke …; for the log
	Msg    string       // what is wrong, one lower-case clause; an agent will read it
	Hint   string       // what to do next; may be empty
	Run    RunID        // the run it belongs to; empty when there is none
	Fields []FieldError // what is wrong where in the arguments; nil unless Code is Invalid
	Unsent bool         // the call did not leave this machine, so that trying again cannot repeat it
	Err    error        // the cause; for the operator, never shown to an agent
}

// A FieldError is one defect of the arguments.
type FieldError struct {
	Pointer string `json:"pointer"` // JSON pointer into the arguments (RFC 6901); "" is the whole
	Msg     string `json:"message"`
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	b.WriteString(e.Msg)
	for _, f := range e.Fields {
		fmt.Fprintf(&b, "; %s: %s", pointerOrRoot(f.Pointer), f.Msg)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf tells the code of err: Internal for an error of another kind, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}

func pointerOrRoot(p string) string {
	if p == "" {
		return "(root)"
	}
	return p
}
