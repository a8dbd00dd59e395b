package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/open-executor/executor"
)

// style colours text, or does not.
type style struct{ on bool }

func (s style) paint(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(text string) string   { return s.paint("1", text) }
func (s style) dim(text string) string    { return s.paint("2", text) }
func (s style) red(text string) string    { return s.paint("31", text) }
func (s style) green(text string) string  { return s.paint("32", text) }
func (s style) yellow(text string) string { return s.paint("33", text) }
func (s style) blue(text string) string   { return s.paint("34", text) }

// clean makes text from elsewhere harmless on a terminal: control characters,
// and characters that reorder what is read, appear as their code. Line breaks and
// tabs stay.
func clean(text string) string {
	if !strings.ContainsFunc(text, harmful) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if harmful(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// harmful tells control characters and bidirectional formatting (UAX #9).
func harmful(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// line puts text on one line.
func line(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }

// fit cuts text to n columns and shows that it was cut.
func fit(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	if n <= 1 {
		return "…"
	}
	return string([]rune(text)[:n-1]) + "…"
}

// firstLine gives the first line of a description, without its period.
func firstLine(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSuffix(line(first), ".")
}

// effectOf gives the word to show for an effect; unknown counts as write.
func effectOf(e executor.Effect) executor.Effect {
	if e == executor.Read || e == executor.Destroy {
		return e
	}
	return executor.Write
}

func (s style) effect(e executor.Effect) string {
	switch e = effectOf(e); e {
	case executor.Read:
		return s.green(string(e))
	case executor.Destroy:
		return s.red(string(e))
	default:
		return s.yellow(string(e))
	}
}

func (s style) status(status executor.Status) string {
	switch status {
	case executor.Done:
		return s.green(string(status))
	case executor.Failed, executor.Denied, executor.Ambiguous:
		return s.red(string(status))
	}
	return s.yellow(string(status))
}

func (s style) verdict(v executor.Verdict) string {
	switch v {
	case executor.Allow:
		return s.green(v.String())
	case executor.Block:
		return s.red(v.String())
	}
	return s.yellow(v.String())
}

// count writes "1 tool" and "2 tools".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
