package floors_test

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// An exception is a file, or a folder with all below it, where something is
// allowed that is not elsewhere, and why.
type exception struct {
	where string
	why   string
}

func covers(list []exception, name string) bool {
	return slices.ContainsFunc(list, func(e exception) bool {
		return name == e.where || strings.HasPrefix(name, e.where+"/")
	})
}

// unused lists exceptions that no place in found needs.
func unused(list []exception, found []string) []string {
	var idle []string
	for _, e := range list {
		if !slices.ContainsFunc(found, func(at string) bool { return covers([]exception{e}, fileOf(at)) }) {
			idle = append(idle, e.where)
		}
	}
	return idle
}

func fileOf(at string) string {
	name, _, _ := strings.Cut(at, ":")
	return name
}

// callsOutsideTests lists every place of the module where name is called through a dot.
func callsOutsideTests(t *testing.T, name string) []string {
	var found []string
	for _, r := range rooms(t) {
		for _, f := range r.source() {
			found = append(found, f.calls(name)...)
		}
	}
	return found
}

// There is one path to a tool. A second caller of Kind.Invoke would be a second
// path, without policy, approval and record.
func TestOnePlaceInvokesAKind(t *testing.T) {
	var path, beside []string
	for _, at := range callsOutsideTests(t, "Invoke") {
		switch {
		case covers([]exception{{where: "source/sourcetest", why: "the contract of Invoke"}}, at):
		case strings.Contains(at, "/"):
			beside = append(beside, at)
		default:
			path = append(path, at)
		}
	}
	if len(path) != 1 {
		t.Errorf("the root invokes a kind in %d places %v, want one", len(path), path)
	}
	if len(beside) > 0 {
		t.Errorf("a kind is invoked beside the one path: %v", beside)
	}
}

func TestASecretIsRevealedOnlyWhereItGoesOntoTheWireOrIntoAVault(t *testing.T) {
	allowed := []exception{
		{"unlock.go", "fills the blanks of the connection's template"},
		{"secret/file", "stores what it is given to keep"},
	}
	found := callsOutsideTests(t, "Reveal")
	for _, at := range found {
		if !covers(allowed, fileOf(at)) && !strings.HasPrefix(at, "secret/secrettest/") {
			t.Errorf("%s reveals a secret", at)
		}
	}
	for _, name := range unused(allowed, found) {
		t.Errorf("%s is allowed to reveal secrets and does not", name)
	}
}

func TestTheClockIsAField(t *testing.T) {
	allowed := []exception{
		{"cmd", "main hands the clock over"},
		{"executor.go", "New's default"},
		{"cli", "tells people how long ago something was, and waits for them"},
		{"storage/file/lock.go", "waits for another process to let go"},
		{"source/openapi/invoke.go", "tells how long the caller would have waited"},
	}
	var found []string
	for _, r := range rooms(t) {
		for _, f := range r.source() {
			found = append(found, f.uses("time", "Now")...)
			found = append(found, f.uses("time", "Since")...)
			found = append(found, f.uses("time", "Until")...)
			found = append(found, f.uses("time", "Sleep")...)
		}
	}
	for _, at := range found {
		if !covers(allowed, fileOf(at)) {
			t.Errorf("%s reads the clock", at)
		}
	}
	for _, name := range unused(allowed, found) {
		if name != "cmd" {
			t.Errorf("%s is allowed to read the clock and does not", name)
		}
	}
}

func TestNothingRegistersItself(t *testing.T) {
	for _, r := range rooms(t) {
		for _, f := range r.files {
			for _, at := range f.functions("init") {
				t.Errorf("%s: an init; lists of kinds and providers are values", at)
			}
		}
	}
}

func TestWhatGoesOnlyIntoTestsIsNotInTheProgram(t *testing.T) {
	for _, r := range rooms(t) {
		if strings.HasSuffix(path.Base(r.dir), "test") {
			continue
		}
		for _, name := range r.imports(false) {
			if strings.HasSuffix(path.Base(name), "test") {
				t.Errorf("%s imports %s outside its tests", r.dir, name)
			}
		}
	}
}
