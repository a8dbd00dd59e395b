package openapi

import (
	"bytes"
	"encoding/json"
	"strings"
)

// A member is one name and value of a JSON object, the value not decoded.
type member struct {
	name string
	key  []byte // the name as it stands in the text, with quotes
	raw  []byte
}

// The functions below split JSON text that json.Valid has accepted. They look at
// nothing but quotes and brackets, so that a description of many megabytes is
// read in one pass and only the parts that matter are read again.

// each calls f with every member of the object raw until f says stop. False: raw
// is not an object.
func each(raw []byte, f func(key, value []byte) bool) bool {
	i := blank(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return false
	}
	i = blank(raw, i+1)
	for i < len(raw) && raw[i] != '}' {
		end := skip(raw, i)
		key := raw[i:end]
		i = blank(raw, blank(raw, end)+1) // past the colon
		end = skip(raw, i)
		if !f(key, raw[i:end]) {
			return true
		}
		i = blank(raw, end)
		if i < len(raw) && raw[i] == ',' {
			i = blank(raw, i+1)
		}
	}
	return true
}

// members lists an object in order. Of a name that occurs twice the last value
// counts. Nil: raw is not an object, or is empty.
func members(raw []byte) []member {
	var list []member
	var seen map[string]int // only for large objects
	each(raw, func(key, value []byte) bool {
		m := member{unquote(key), key, value}
		at := -1
		if seen != nil {
			if i, ok := seen[m.name]; ok {
				at = i
			}
		} else {
			for i := range list {
				if list[i].name == m.name {
					at = i
					break
				}
			}
		}
		if at >= 0 {
			list[at].raw = value
			return true
		}
		list = append(list, m)
		if seen != nil {
			seen[m.name] = len(list) - 1
		} else if len(list) == 24 {
			seen = make(map[string]int, 64)
			for i := range list {
				seen[list[i].name] = i
			}
		}
		return true
	})
	return list
}

// elements lists an array. Nil: raw is not an array, or is empty.
func elements(raw []byte) [][]byte {
	i := blank(raw, 0)
	if i >= len(raw) || raw[i] != '[' {
		return nil
	}
	var list [][]byte
	i = blank(raw, i+1)
	for i < len(raw) && raw[i] != ']' {
		end := skip(raw, i)
		list = append(list, raw[i:end])
		i = blank(raw, end)
		if i < len(raw) && raw[i] == ',' {
			i = blank(raw, i+1)
		}
	}
	return list
}

// lookup gives one member of an object, or nil.
func lookup(raw []byte, name string) []byte {
	var found []byte
	each(raw, func(key, value []byte) bool {
		if len(key) == len(name)+2 && string(key[1:len(key)-1]) == name || bytes.IndexByte(key, '\\') >= 0 && unquote(key) == name {
			found = value
		}
		return true
	})
	return found
}

// pick gives one of ms, or nil.
func pick(ms []member, name string) []byte {
	for i := range ms {
		if ms[i].name == name {
			return ms[i].raw
		}
	}
	return nil
}

// sortOf tells what raw is: '{', '[', '"', 't', 'f', 'n', '0' for a number, 0 for nothing.
func sortOf(raw []byte) byte {
	i := blank(raw, 0)
	if i >= len(raw) {
		return 0
	}
	if c := raw[i]; c != '-' && (c < '0' || c > '9') {
		return c
	}
	return '0'
}

// text gives the string that raw is.
func text(raw []byte) (string, bool) {
	if sortOf(raw) != '"' {
		return "", false
	}
	return unquote(raw), true
}

// str gives the string that raw is, or "".
func str(raw []byte) string {
	s, _ := text(raw)
	return s
}

// yes tells whether raw is true, or a string that says so.
func yes(raw []byte) bool {
	if s, ok := text(raw); ok {
		return strings.EqualFold(s, "true")
	}
	return sortOf(raw) == 't'
}

func unquote(raw []byte) string {
	if len(raw) < 2 {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // the text was valid, so a string decodes
	return s
}

// quote writes s as a JSON string, readable: < > & stay as they are.
func quote(dst []byte, s string) []byte {
	plain := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			plain = false
			break
		}
	}
	if plain {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return append(dst, bytes.TrimRight(b.Bytes(), "\n")...)
}

// compact appends raw without the blanks between its parts.
func compact(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
		case '"':
			end := skip(raw, i)
			dst = append(dst, raw[i:end]...)
			i = end
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst
}

func blank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skip gives the end of the value that begins at i.
func skip(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				i = skipString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return len(b)
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
		i++
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return len(b)
		}
		slash := 0
		for k := i + j - 1; k >= i && b[k] == '\\'; k-- {
			slash++
		}
		i += j
		if slash%2 == 0 {
			return i + 1
		}
	}
	return len(b)
}
