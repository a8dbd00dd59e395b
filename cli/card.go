package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/open-executor/executor"
)

// A card is what a person has to see before deciding.
type card struct {
	request executor.Request
	hosts   []string // that the call may reach; empty: not known
}

func cardOf(ctx context.Context, e *executor.Executor, id executor.RunID) (card, error) {
	r, err := requestOf(ctx, e, id)
	if err != nil {
		return card{}, err
	}
	c := card{request: r}
	if found, err := e.Find(ctx, r.Address); err == nil { // a tool that is gone has no host; Resume will say so
		c.hosts = found.Source.Hosts
		if len(c.hosts) == 0 {
			c.hosts = found.Manifest.Hosts
		}
	}
	return c, nil
}

// text lays the card out: the sentence, who asks, as which account, with what
// effect, where it goes, with which arguments, which rule asked, until when.
func (c card) text(s style, now time.Time, folded bool) string {
	r := c.request
	t := rows{style: s}
	t.add("asked by", line(chainText(r.Asks)))
	whole := ""
	if folded {
		whole = "inbox show"
	}
	t.call(r.Address, r.Effect, c.hosts, r.Args, whole)
	name := "asked for"
	for _, reason := range r.Decision.Reasons {
		if reason.Decides {
			t.add(name, line(reason.Text))
			name = ""
		}
	}
	t.add("expires", fmt.Sprintf("in %s (%s)", roughly(r.Binding.Expires.Sub(now)), stamp(r.Binding.Expires)))
	return t.under(r.Summary)
}

// rows are what a card says, one named value a line.
type rows struct {
	style style
	text  strings.Builder
}

func (t *rows) add(name, value string) {
	fmt.Fprintf(&t.text, "  %s %s\n", t.style.dim(fmt.Sprintf("%-9s", name)), value)
}

// call tells what a run calls. whole is the command that shows long arguments in
// full; "": they are not folded.
func (t *rows) call(at executor.Address, effect executor.Effect, hosts []string, args json.RawMessage, whole string) {
	t.add("account", fmt.Sprintf("%s, in scope %s, of source %s", t.style.bold(string(at.Connection)), at.Scope, at.Source))
	t.add("effect", effectWords(t.style, effect))
	if len(hosts) > 0 {
		t.add("goes to", line(strings.Join(hosts, ", ")))
	}
	t.add("tool", at.String())
	name := "arguments"
	for _, arg := range argumentLines(args, whole) {
		t.add(name, arg)
		name = ""
	}
}

// under puts the rows under a heading.
func (t *rows) under(heading string) string {
	return "\n" + t.style.bold(line(heading)) + "\n\n" + t.text.String() + "\n"
}

func effectWords(s style, e executor.Effect) string {
	switch e {
	case executor.Read:
		return s.effect(e) + ": changes nothing"
	case executor.Destroy:
		return s.effect(e) + ": deletes, or cannot be undone"
	case executor.Write:
		return s.effect(e) + ": creates or changes something"
	}
	return s.effect(e) + ": not known, so it may change something"
}

const foldAt = 160 // characters of one argument on a card

// argumentLines writes one argument a line. Long ones are folded where the command
// whole shows them.
func argumentLines(args json.RawMessage, whole string) []string {
	var object map[string]json.RawMessage
	if json.Unmarshal(args, &object) != nil {
		return []string{line(string(args))}
	}
	if len(object) == 0 {
		return []string{"none"}
	}
	var lines []string
	for _, key := range sortedKeys(object) {
		var b bytes.Buffer
		_ = json.Compact(&b, object[key]) // it was just decoded
		value := line(b.String())
		if n := utf8.RuneCountInString(value); whole != "" && n > foldAt {
			value = fmt.Sprintf("%s (%d characters; %s has all)", fit(value, foldAt), n, whole)
		}
		lines = append(lines, line(key)+" = "+value)
	}
	return lines
}

// confirm asks for the word that decides. Anything else decides nothing.
func (c card) confirm(ctx context.Context, tty *terminal, approve bool) error {
	words, prompt := []string{"y", "yes"}, "Deny it? Type y: "
	if approve {
		prompt = "Approve it, once? Type y: "
	}
	if approve && c.request.Effect == executor.Destroy {
		name := string(c.request.Address.Tool)
		word := name[strings.LastIndex(name, ".")+1:]
		words, prompt = []string{word}, fmt.Sprintf("To approve it, once, type %s: ", tty.style.bold(word))
	}
	return tty.confirm(ctx, prompt, words...)
}

// cancelled is what a person gives who leaves things as they are.
type cancelled struct{ msg string }

func (c *cancelled) Error() string { return c.msg }

// failed tells errors that have yet to be told from exits.
func failed(err error) bool { return err != nil && !errors.As(err, new(exit)) }
