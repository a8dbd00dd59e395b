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
		"search", "query", "list", "find", "lookup", "count", "validate", "preview", "render", "estimate", "get",
		"describe", "read", "fetch", "simulate", "explain", "analyze", "suggest", "autocomplete", "msearch", "mget", "diff", "compare",
	}
	destroyVerbs  = []string{"delete", "remove", "purge", "destroy", "revoke", "terminate", "wipe", "drop", "erase", "kill"}
	creatingVerbs = []string{ // anywhere in a name
		"create", "add", "update", "save", "insert", "send", "write", "submit", "register", "upload", "import", "generate", "edit", "upsert", "replace",
	}
	startingVerbs = []string{ // only as a name's first word: elsewhere they are nouns
		"set", "put", "post", "start", "run", "trigger", "store", "index", "enable", "disable", "apply", "execute", "change", "move", "copy", "confirm",
	}
	languages = []string{"sql", "graphql", "database", "databases", "cypher", "gremlin", "script", "scripts", "rpc"} // a query there may write
	acts      = []string{"delete", "remove", "logout", "reset", "trigger", "revoke", "purge", "destroy", "unsubscribe", "activate", "deactivate", "enable", "disable", "terminate", "restart", "reboot", "shutdown", "kill"}
	gotActs   = []string{ // what a GET does too, in APIs that know no other method; verbs that are nouns as often stay out
		"create", "add", "update", "save", "insert", "send", "write", "submit", "edit", "upsert", "replace",
		"start", "stop", "pause", "resume", "cancel", "approve", "reject", "confirm", "publish", "execute", "apply",
	}
)

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
		for _, verbs := range [][]string{acts, gotActs} {
			if leads(words, verbs) || oneOf(segment, verbs) && !leads(words, readVerbs) {
				return executor.Write
			}
		}
		return executor.Read
	case "OPTIONS", "QUERY", "TRACE", "PROPFIND", "SEARCH", "REPORT":
		return executor.Read
	case "DELETE", "PURGE":
		return executor.Destroy
	}
	if leads(words, destroyVerbs) || trails(words, destroyVerbs) && !leads(words, readVerbs) && !leads(words, creatingVerbs) || leads(segment, destroyVerbs) {
		return executor.Destroy
	}
	if op.method == "POST" && reads(op.path, words, segment, summaryWords(op.own.str("summary"))) {
		return executor.Read
	}
	return executor.Write
}

// hinted reads an extension that states the effect.
func hinted(own node) (effect executor.Effect, ok bool) {
	each(own.raw, func(key, raw []byte) bool {
		if len(key) < 4 || string(key[1:3]) != "x-" {
			return true
		}
		switch unquote(key) {
		case "x-executor-effect", "x-effect", "x-side-effect", "x-side-effects":
			effect = effectWords[strings.ToLower(strings.Trim(string(raw), `"`))]
		case "x-readonly", "x-read-only", "x-readOnly":
			if yes(raw) {
				effect = executor.Read
			}
		}
		return effect == ""
	})
	return effect, effect != ""
}

var effectWords = map[string]executor.Effect{
	"read": executor.Read, "none": executor.Read, "safe": executor.Read, "false": executor.Read,
	"write": executor.Write, "mutation": executor.Write, "true": executor.Write,
	"destroy": executor.Destroy, "delete": executor.Destroy, "destructive": executor.Destroy,
}

// reads is careful: a reading verb must lead or end the id, or be the last part of
// the path, and no creating word may stand anywhere.
func reads(path string, id, segment, summary []string) bool {
	for _, words := range [][]string{id, segment} {
		if leads(words, startingVerbs) || slices.ContainsFunc(words, changes) {
			return false
		}
	}
	if slices.ContainsFunc(splitWords(path), func(w string) bool { return slices.Contains(languages, w) }) {
		return false
	}
	says := leads(id, readVerbs) || trails(id, readVerbs) || oneOf(segment, readVerbs)
	if len(id) == 0 && !says {
		says = leads(summary, []string{"search", "list", "find", "count", "query", "get", "retrieve"})
	}
	return says && !leads(summary, creatingVerbs)
}

func changes(word string) bool {
	return slices.Contains(creatingVerbs, word) || slices.Contains(destroyVerbs, word) || slices.Contains(acts, word)
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
