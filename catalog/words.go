package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// A word is one unit of text: lower case, and part of a compound ("user" of
// "getUserById") or the compound itself.
type word struct {
	text     string
	compound bool // "github" of "GitHub"; its parts follow
	part     bool // "git" of "GitHub"
}

// words calls yield for every word of text in order. Letters and digits make a
// word; everything else parts two. A compound (camelCase, or letters next to
// digits) gives itself, when it has no more than three parts, and then its parts.
// Scripts that write no spaces give overlapping pairs of characters. Addresses of
// the web and HTML tags are skipped: their words say nothing of the tool.
func words(text string, yield func(word)) {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '<':
			i += tag(text[i:])
		case unspaced(r):
			end := span(text[i:], unspaced)
			pairs(text[i:i+end], yield)
			i += end
		case letter(r):
			end := span(text[i:], letter)
			if skip := link(text[i:], end); skip > 0 {
				i += skip
				continue
			}
			compound(text[i:i+end], yield)
			i += end
		default:
			i += n
		}
	}
}

// letter tells whether r belongs to a word of a script with spaces. Marks belong
// to the letter before them.
func letter(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !unspaced(r)
}

// unspaced tells whether r is of a script that writes words without spaces
// between them, or glues endings to them.
func unspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func span(s string, belongs func(rune) bool) int {
	for i, r := range s {
		if !belongs(r) {
			return i
		}
	}
	return len(s)
}

// tag gives the length of the HTML tag that s begins with; 1 when it is none.
func tag(s string) int {
	if len(s) < 3 || s[1] != '/' && (s[1]|0x20 < 'a' || s[1]|0x20 > 'z') {
		return 1
	}
	if end := strings.IndexAny(s[1:], "<>\n"); end >= 0 && s[1+end] == '>' {
		return end + 2
	}
	return 1
}

// link gives the length of the URL that s begins with; 0 when it is none. The
// first n bytes are the scheme, if it is one.
func link(s string, n int) int {
	if !strings.HasPrefix(s[n:], "://") {
		return 0
	}
	if end := strings.IndexAny(s, " \t\r\n)>\"'`"); end >= 0 {
		return end
	}
	return len(s)
}

func pairs(run string, yield func(word)) {
	_, first := utf8.DecodeRuneInString(run)
	if first == len(run) {
		yield(word{text: run})
		return
	}
	for i := 0; i < len(run); {
		_, a := utf8.DecodeRuneInString(run[i:])
		_, b := utf8.DecodeRuneInString(run[i+a:])
		if b == 0 {
			return
		}
		yield(word{text: run[i : i+a+b]})
		i += a
	}
}

const compoundParts = 3

// compound yields a run of letters and digits and, if it has several, its parts.
func compound(run string, yield func(word)) {
	if span(run, lower) == len(run) {
		yield(word{text: run})
		return
	}
	cut := boundary(run)
	if cut == len(run) {
		yield(word{text: strings.ToLower(run)})
		return
	}
	var parts []string
	for rest := run; rest != ""; {
		cut = boundary(rest)
		parts = append(parts, strings.ToLower(rest[:cut]))
		rest = rest[cut:]
	}
	if len(parts) <= compoundParts {
		yield(word{text: strings.ToLower(run), compound: true})
	}
	for _, p := range parts {
		yield(word{text: p, part: true})
	}
}

func lower(r rune) bool { return r >= 'a' && r <= 'z' }

// boundary gives where the first part of a compound ends: before a capital after
// a small letter, before the last of several capitals when a small letter follows
// ("HTMLPage"), and between letters and digits.
func boundary(s string) int {
	const (
		small = iota
		capital
		digit
	)
	class := func(r rune) int {
		switch {
		case unicode.IsDigit(r):
			return digit
		case unicode.IsUpper(r):
			return capital
		}
		return small
	}
	before, at, run := -1, 0, 0
	for i, r := range s {
		now := class(r)
		switch {
		case before < 0:
		case before == capital && now == small:
			if run > 1 && r != 's' { // "URLs" is one word
				return at
			}
		case now != before:
			return i
		}
		if now == before {
			run++
		} else {
			run = 1
		}
		before, at = now, i
	}
	return len(s)
}

// A stemmer reduces English words to their stems (Porter2) and remembers them.
// Not safe for concurrent use.
type stemmer struct {
	env  *snowballstem.Env
	seen map[string]string
}

func newStemmer() *stemmer {
	return &stemmer{env: snowballstem.NewEnv(""), seen: map[string]string{}}
}

// stem gives the stem of a lower-case word. Words with anything but English
// letters are their own stem.
func (s *stemmer) stem(w string) string {
	if got, ok := s.seen[w]; ok {
		return got
	}
	out := w
	if len(w) > 2 && len(w) <= 40 && span(w, lower) == len(w) {
		s.env.SetCurrent(w)
		english.Stem(s.env)
		out = strings.Clone(s.env.Current())
	}
	s.seen[w] = out
	return out
}
