package openapi

import (
	"slices"
	"strings"
	"unicode"

	"github.com/open-executor/executor"
)

// Verbs that say something else than the method does.
var (
	readVerbs = []string{
		"search", "query", "list", "find", "lookup", "count", "validate", "preview", "render", "estimate", "get", "check", "verify",
		"describe", "read", "fetch", "simulate", "explain", "analyze", "suggest", "autocomplete", "msearch", "mget", "info", "diff", "compare",
	}
	destroyVerbs  = []string{"delete", "remove", "purge", "destroy", "revoke", "terminate", "wipe", "drop", "erase", "kill"}
	creatingVerbs = []string{
		"create", "add", "update", "set", "put", "save", "insert", "send", "post", "write", "start", "run", "trigger", "submit", "register",
		"upload", "import", "store", "index", "generate", "enable", "disable", "apply", "execute", "edit", "change", "move", "copy", "confirm",
	}
	acts = []string{"delete", "remove", "logout", "reset", "trigger", "revoke", "purge", "destroy", "unsubscribe", "activate", "deactivate", "enable", "disable", "terminate", "restart", "reboot", "shutdown", "kill"}
)

var effectHints = []string{"x-executor-effect", "x-effect", "x-side-effect", "x-side-effects"}

// effectOf tells what an operation does: as an extension says, else as the method
// says, unless the name of the operation says otherwise beyond doubt.
func effectOf(op operation) executor.Effect {
	if effect, ok := hinted(op.own); ok {
		return effect
	}
	words := idWords(op.own.str("operationId"))
	segment := lastWords(op.path)
	switch op.method {
	case "GET", "HEAD":
		if leads(words, acts) || oneOf(segment, acts) && !leads(words, readVerbs) {
			return executor.Write
		}
		return executor.Read
	case "OPTIONS", "QUERY", "TRACE", "PROPFIND", "SEARCH", "REPORT":
		return executor.Read
	case "DELETE", "PURGE":
		return executor.Destroy
	}
	if leads(words, destroyVerbs) || trails(words, destroyVerbs) && !leads(words, readVerbs) && !leads(words, creatingVerbs) || oneOf(segment, destroyVerbs) {
		return executor.Destroy
	}
	if op.method == "POST" && reads(words, segment, summaryWords(op.own.str("summary"))) {
		return executor.Read
	}
	return executor.Write
}

// hinted reads an extension that states the effect.
func hinted(own node) (executor.Effect, bool) {
	for _, key := range effectHints {
		raw := lookup(own.raw, key)
		switch strings.ToLower(str(raw)) {
		case "read", "none", "safe":
			return executor.Read, true
		case "write", "mutation":
			return executor.Write, true
		case "destroy", "delete", "destructive":
			return executor.Destroy, true
		}
		if raw != nil && sortOf(raw) == 'f' {
			return executor.Read, true
		}
		if raw != nil && sortOf(raw) == 't' {
			return executor.Write, true
		}
	}
	for _, key := range []string{"x-readonly", "x-read-only", "x-readOnly"} {
		if yes(lookup(own.raw, key)) {
			return executor.Read, true
		}
	}
	return "", false
}

// reads is careful: a reading verb must lead or end the id, or be the last part of
// the path, and no creating word may stand anywhere.
func reads(id, segment, summary []string) bool {
	for _, words := range [][]string{id, segment} {
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(creatingVerbs, w) || w == "graphql" }) {
			return false
		}
	}
	says := leads(id, readVerbs) || trails(id, readVerbs) || oneOf(segment, readVerbs)
	if len(id) == 0 && !says {
		says = leads(summary, []string{"search", "list", "find", "count", "query", "get", "retrieve"})
	}
	return says && !leads(summary, creatingVerbs)
}

func leads(words, verbs []string) bool {
	return len(words) > 0 && slices.Contains(verbs, words[0])
}

func trails(words, verbs []string) bool {
	return len(words) > 0 && slices.Contains(verbs, words[len(words)-1])
}

func oneOf(words, verbs []string) bool { return len(words) == 1 && slices.Contains(verbs, words[0]) }

// idWords splits an operationId. Of "issues/list-comments" and "chat.delete" what
// stands before the last separator of groups is the group, not the verb.
func idWords(id string) []string {
	if i := strings.LastIndexAny(id, "/."); i >= 0 && i+1 < len(id) {
		id = id[i+1:]
	}
	return splitWords(id)
}

// lastWords splits the last fixed segment of a path, if the path ends in it.
func lastWords(path string) []string {
	path = strings.TrimRight(path, "/")
	segment := path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.LastIndexAny(segment, ":."); i >= 0 && i+1 < len(segment) { // Google's custom methods, Slack's
		segment = segment[i+1:]
	}
	if strings.Contains(segment, "{") {
		return nil
	}
	return splitWords(segment)
}

func summaryWords(summary string) []string {
	words := splitWords(cut(summary, 200))
	for i, w := range words {
		if len(w) > 3 && strings.HasSuffix(w, "s") {
			words[i] = strings.TrimSuffix(w, "s")
		}
	}
	return words
}

// splitWords splits at what is no letter and where small letters turn capital.
func splitWords(s string) []string {
	var words []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			words = append(words, strings.ToLower(b.String()))
			b.Reset()
		}
	}
	lower := false
	for _, r := range s {
		switch {
		case !unicode.IsLetter(r):
			flush()
			lower = false
			continue
		case unicode.IsUpper(r) && lower:
			flush()
		}
		lower = unicode.IsLower(r)
		b.WriteRune(r)
	}
	flush()
	return words
}
