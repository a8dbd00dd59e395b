// Package redact takes secrets out of what comes back from upstream: text, JSON and
// streams, also where a secret stands there escaped, in hex or in base64. It is a
// part of the root package in a folder of its own, and imports the standard library
// only.
package redact

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// Masked stands where a secret was.
const Masked = "[secret]"

// Secrets are the values this process has unlocked. They are kept in memory only.
// The zero value knows none. Safe for concurrent use.
type Secrets struct {
	mu       sync.RWMutex
	by       map[string][]string // :: owner → values
	replacer *strings.Replacer   // nil: nothing to replace
	marker   *strings.Replacer   // marks what replacer would replace, byte by byte
	longest  int                 // length of the longest pattern; bytes
}

// knownValues bounds what is remembered of one connection: tokens that are renewed
// every hour must not pile up.
const knownValues = 64

// Learn adds to the secrets of an owner, a connection; those it had before are kept
// too, since upstream may still echo them.
func (k *Secrets) Learn(owner string, values []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	changed := false
	for _, v := range values {
		if v != "" && !slices.Contains(k.by[owner], v) {
			if k.by == nil {
				k.by = map[string][]string{}
			}
			kept := k.by[owner]
			k.by[owner] = append(kept[max(0, len(kept)-knownValues+1):len(kept):len(kept)], v)
			changed = true
		}
	}
	if changed {
		k.rebuild()
	}
}

func (k *Secrets) rebuild() {
	var patterns []string
	for _, values := range k.by {
		for _, v := range values {
			patterns = append(patterns, spellings(v)...)
		}
	}
	// A longer pattern stands first, so that a secret that begins like another is
	// replaced whole.
	slices.SortFunc(patterns, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	patterns = slices.Compact(patterns)
	k.longest = len(patterns[0])
	pairs := make([]string, 0, 2*len(patterns))
	marks := make([]string, 0, 2*len(patterns))
	for _, p := range patterns {
		with := Masked
		if strings.HasPrefix(p, `"`) && strings.HasSuffix(p, `"`) {
			with = `"` + Masked + `"`
		}
		pairs, marks = append(pairs, p, with), append(marks, p, marked(p))
	}
	k.replacer, k.marker = strings.NewReplacer(pairs...), strings.NewReplacer(marks...)
}

// What a marker changes in the bytes of a pattern; all others stay.
const (
	beginning = 0xff
	within    = 0x7f
)

func marked(pattern string) string {
	b := []byte(pattern)
	for i := range b {
		b[i] ^= within
	}
	b[0] ^= within ^ beginning
	return string(b)
}

// spellings gives the forms in which a secret may come back: as it is, escaped for
// JSON, URL and HTML, in hex, and in base64, there also as a part of something longer.
// A secret shorter than 4 bytes is only known as a whole JSON string: elsewhere it
// would take out half the text.
func spellings(v string) []string {
	quoted, _ := json.Marshal(v) // a string always encodes
	inJSON := unquoted(quoted)
	if len(v) < 4 {
		return []string{string(quoted)}
	}
	all := []string{
		v, inJSON, strings.ReplaceAll(inJSON, "/", `\/`), unescapedJSON(v), asciiJSON(v, "%04x"), asciiJSON(v, "%04X"),
		url.QueryEscape(v), url.PathEscape(v), html.EscapeString(v),
		lowerEscapes(url.QueryEscape(v)), lowerEscapes(url.PathEscape(v)),
		hex.EncodeToString([]byte(v)), strings.ToUpper(hex.EncodeToString([]byte(v))),
		base64.StdEncoding.EncodeToString([]byte(v)), base64.URLEncoding.EncodeToString([]byte(v)),
	}
	if len(v) >= 6 {
		for shift := range 3 {
			all = append(all, inside(base64.RawStdEncoding, v, shift), inside(base64.RawURLEncoding, v, shift))
		}
	}
	return all
}

// inside gives the characters that v contributes alone to the base64 of a text in
// which it stands shift bytes (modulo 3) from the start.
func inside(enc *base64.Encoding, v string, shift int) string {
	s := enc.EncodeToString(append(make([]byte, shift), v...))
	return s[(shift*8+5)/6 : (shift+len(v))*8/6]
}

func unescapedJSON(v string) string {
	b, _ := plain(v) // a string always encodes
	return unquoted(b)
}

func unquoted(quoted []byte) string { return string(quoted[1 : len(quoted)-1]) }

// asciiJSON escapes what is not ASCII, as Python and PHP do.
func asciiJSON(v, digits string) string {
	var b strings.Builder
	for _, r := range unescapedJSON(v) {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u`+digits, unit)
		}
	}
	return b.String()
}

// plain encodes v with as few escapes as JSON allows.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// lowerEscapes writes %AB as %ab.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// Text takes known secrets out of s.
func (k *Secrets) Text(s string) string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.replacer == nil || s == "" {
		return s
	}
	return k.replacer.Replace(s)
}

// JSON takes known secrets out of a JSON text. Escapes that could hide one are
// resolved first.
func (k *Secrets) JSON(raw json.RawMessage) json.RawMessage {
	k.mu.RLock()
	none := k.replacer == nil
	k.mu.RUnlock()
	if none || raw == nil {
		return raw
	}
	if bytes.Contains(raw, []byte(`\u`)) {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var v any
		if d.Decode(&v) == nil {
			if text, err := plain(v); err == nil {
				raw = text
			}
		}
	}
	return json.RawMessage(k.Text(string(raw)))
}

// Texts takes known secrets out of the values of m, in place, and gives m.
func (k *Secrets) Texts(m map[string]string) map[string]string {
	for name, v := range m {
		m[name] = k.Text(v)
	}
	return m
}

// Reader takes known secrets out of content as it streams.
func (k *Secrets) Reader(content io.Reader) io.Reader {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.replacer == nil {
		return content
	}
	return &redacting{from: content, replacer: k.replacer, marker: k.marker, overlap: k.longest}
}

// JSONReader is Reader for a JSON text: escapes that could hide a secret are
// resolved first. The text means the same as before.
func (k *Secrets) JSONReader(content io.Reader) io.Reader {
	k.mu.RLock()
	none := k.replacer == nil
	k.mu.RUnlock()
	if none {
		return content
	}
	return k.Reader(&unescaping{from: bufio.NewReader(content)})
}

// unescaping writes \u0041 and \/ of a JSON text as the character itself, where that
// is plain ASCII and needs no escape.
type unescaping struct {
	from   *bufio.Reader
	stands bool // the next byte is escaped by a backslash that stays
}

func (u *unescaping) Read(p []byte) (int, error) {
	for n := range p {
		c, err := u.from.ReadByte()
		switch {
		case err != nil && n > 0:
			return n, nil // the error comes again
		case err != nil:
			return 0, err
		case u.stands:
			u.stands = false
		case c == '\\':
			plain, length := u.escape()
			u.stands = length == 0
			if length > 0 {
				_, _ = u.from.Discard(length) // it was peeked
				c = plain
			}
		}
		p[n] = c
	}
	return len(p), nil
}

// escape gives the character that the escape ahead stands for, and the length of the
// escape without its backslash; 0: it stays as it is.
func (u *unescaping) escape() (plain byte, length int) {
	ahead, _ := u.from.Peek(5) // fewer at the end
	switch {
	case len(ahead) > 0 && ahead[0] == '/':
		return '/', 1
	case len(ahead) == 5 && ahead[0] == 'u':
		v, err := strconv.ParseUint(string(ahead[1:]), 16, 16)
		if err == nil && v >= ' ' && v < 0x7f && v != '"' && v != '\\' {
			return byte(v), 5
		}
	}
	return 0, 0
}

// redacting holds back as much of what it read as could be the beginning of a
// secret.
type redacting struct {
	from     io.Reader
	replacer *strings.Replacer
	marker   *strings.Replacer
	overlap  int
	raw      []byte // read, not yet searched to its end
	ready    []byte // to be handed out
	err      error
}

func (r *redacting) Read(p []byte) (int, error) {
	for len(r.ready) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.more()
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}

func (r *redacting) more() {
	buf := make([]byte, 64<<10)
	n, err := io.ReadFull(r.from, buf)
	r.raw = append(r.raw, buf[:n]...)
	if err != nil {
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		r.err = err
		r.ready, r.raw = []byte(r.replacer.Replace(string(r.raw))), nil
		return
	}
	cut := r.cut()
	if cut == 0 {
		return
	}
	r.ready = []byte(r.replacer.Replace(string(r.raw[:cut])))
	r.raw = append([]byte(nil), r.raw[cut:]...)
}

// cut gives an offset that no secret spans. A pattern that begins before it ends before
// the end of raw, so what is replaced up to it is replaced for good.
func (r *redacting) cut() int {
	cut := max(0, len(r.raw)-r.overlap)
	if cut == 0 {
		return 0
	}
	marked := r.marker.Replace(string(r.raw))
	for cut > 0 && marked[cut]^r.raw[cut] == within {
		cut--
	}
	return cut
}
