package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/open-executor/executor"
)

// show writes an answer for people: the result to stdout, everything about it to
// stderr.
func (a *app) show(out answer, cause error) {
	switch out.Status {
	case statusOK:
		a.showResult(out)
	case statusFault:
		a.showFault(out.Run, out.Fault)
	case statusPending:
		a.showPending(out)
	case statusAmbiguous:
		a.complain(cause)
		a.note("It may or may not have happened. Look before you try again: executor runs show %s", out.Run)
		a.nextToSettle(out.Run)
	default:
		a.complain(cause)
	}
	for _, n := range out.Notes {
		a.note("note: %s", clean(n))
	}
	if out.Page != nil && out.Page.More {
		a.showPage(out.Page)
	}
}

func (a *app) showResult(out answer) {
	switch {
	case out.Output != nil:
		a.note("%d bytes written to %s", out.Output.Bytes, out.Output.Path)
	case out.Handle != nil:
		if out.Handle.Preview != "" {
			a.out.text(clean(out.Handle.Preview) + "\n")
		}
		a.note("The result is large or not text (%d bytes, %s). To write it to a file: executor runs show %s --output FILE",
			out.Handle.Size, line(out.Handle.MediaType), out.Run)
	case string(out.Result) == "null":
		a.note("done; there is no result (run %s)", out.Run)
	default:
		a.showValue(out.Result)
	}
}

// showValue writes JSON for people: flat objects as a table, text as it is.
func (a *app) showValue(value json.RawMessage) {
	var text string
	if json.Unmarshal(value, &text) == nil {
		a.out.text(strings.TrimRight(clean(text), "\n") + "\n")
		return
	}
	list, rest := listIn(value)
	t := tableOf(list)
	if t == nil {
		a.out.text(a.style.pretty(value) + "\n")
		return
	}
	left := a.lay(t)
	for _, r := range rest {
		a.out.text(a.style.dim(line(r[0])+": ") + line(r[1]) + "\n")
	}
	a.noteLeft(left)
}

// table writes a table, and says what there was no room for.
func (a *app) table(t *table) { a.noteLeft(a.lay(t)) }

// lay writes a table and gives the number of columns there was no room for.
func (a *app) lay(t *table) (left int) {
	text, left := t.render(a.style, a.width())
	a.out.text(text)
	return left
}

func (a *app) noteLeft(columns int) {
	if columns > 0 {
		a.note("no room for %s; a wider terminal or --json shows all", count(columns, "column"))
	}
}

// listIn gives the list that value is, or the only one in it beside plain members,
// which are given too: many APIs wrap what they list.
func listIn(value json.RawMessage) (list json.RawMessage, rest [][2]string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return value, nil
	}
	for _, key := range sortedKeys(members) {
		switch raw := bytes.TrimSpace(members[key]); {
		case raw[0] == '[' && list == nil:
			list = raw
		case raw[0] == '[' || raw[0] == '{':
			return nil, nil
		default:
			var plain any
			_ = decode(string(raw), &plain) // it was just decoded
			rest = append(rest, [2]string{key, fmt.Sprint(plain)})
		}
	}
	return list, rest
}

func (a *app) showFault(id executor.RunID, f *executor.Fault) {
	s := style{on: a.colours(a.Err)}
	fmt.Fprintf(a.Err, "%s %s\n", s.red(faultHead(f)+":"), clean(f.Message))
	if len(f.Body) > 0 && string(f.Body) != "null" {
		a.showValue(f.Body)
	}
	if after := f.Headers["retry-after"]; after != "" {
		a.note("retry-after: %s", line(after))
	}
	if f.Status == http.StatusUnauthorized {
		a.note("To sign in anew: executor connect <source> <name>")
	}
	a.next("executor runs show " + string(id))
}

// faultHead says that upstream said no, and with which status.
func faultHead(f *executor.Fault) string {
	if f.Status == 0 {
		return "upstream said no"
	}
	return fmt.Sprintf("upstream said no (%d)", f.Status)
}

func (a *app) showPending(out answer) {
	what := "the call"
	if out.Request != nil {
		what = line(out.Request.Summary)
	}
	a.out.text(a.style.yellow("waiting for a person: ") + what + "\n")
	if a.agent == "" {
		a.next("executor inbox show " + string(out.Run))
	}
	a.next(out.Wait)
}

func (a *app) showPage(p *executor.Page) {
	var args map[string]json.RawMessage
	if json.Unmarshal(p.Args, &args) != nil || len(args) == 0 {
		a.note("there is more")
		return
	}
	var words []string
	for _, key := range slices.Sorted(maps.Keys(args)) {
		words = append(words, wordFor(key, args[key]))
	}
	a.note("there is more; call again with: %s", clean(strings.Join(words, " ")))
}

// wordFor writes an argument as it is typed in a shell.
func wordFor(key string, value json.RawMessage) string {
	var text string
	word := key + ":=" + string(value)
	if json.Unmarshal(value, &text) == nil && !strings.HasPrefix(text, "@") {
		word = key + "=" + text
	}
	if strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("=:._-/@+,%", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// tableOf makes a table of an array of flat objects; nil when value is not one.
func tableOf(value json.RawMessage) *table {
	var rows []json.RawMessage
	if json.Unmarshal(value, &rows) != nil || len(rows) == 0 {
		return nil
	}
	t := &table{}
	cells := make([]map[string]string, len(rows))
	for i, row := range rows {
		keys, flat := flatObject(row)
		if flat == nil {
			return nil
		}
		cells[i] = flat
		for _, key := range keys {
			if !slices.Contains(t.head, key) {
				t.head = append(t.head, key)
			}
		}
	}
	if len(t.head) == 0 {
		return nil
	}
	for _, flat := range cells {
		row := make([]string, len(t.head))
		for i, key := range t.head {
			row[i] = flat[key]
		}
		t.add(row...)
	}
	for i := range t.head {
		t.head[i] = line(t.head[i])
	}
	return t
}

// flatObject reads an object whose members are text, numbers, booleans and null, with its
// keys in order. Anything else gives nil.
func flatObject(raw json.RawMessage) (keys []string, flat map[string]string) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, nil
	}
	flat = map[string]string{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, nil
		}
		value, err := dec.Token()
		if err != nil {
			return nil, nil
		}
		name, _ := key.(string) // a key of an object always is
		keys = append(keys, name)
		switch v := value.(type) {
		case json.Delim:
			return nil, nil
		case nil:
			flat[name] = ""
		default:
			flat[name] = fmt.Sprint(v)
		}
	}
	return keys, flat
}

var jsonKey = regexp.MustCompile(`(?m)^(\s*)("(?:[^"\\]|\\.)*")(:)`)

// pretty indents JSON.
func (s style) pretty(value json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, value, "", "  ") != nil {
		return clean(string(value))
	}
	text := clean(b.String())
	if !s.on {
		return text
	}
	return jsonKey.ReplaceAllString(text, "$1"+s.blue("$2")+"$3")
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// stamp writes a time as JSON shows it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// ago writes how long before now t was.
func ago(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return roughly(now.Sub(t)) + " ago"
}

// roughly writes a duration in its largest unit.
func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}
