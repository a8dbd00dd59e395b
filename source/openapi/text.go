package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

const eventMedia = "text/event-stream"

// decodeText gives raw, of the media type's charset, as UTF-8.
func decodeText(raw []byte, media string) (string, error) {
	charset := charsetOf(raw, media)
	if charset == "" || strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "us-ascii") {
		if at := invalidUTF8(raw); at >= 0 {
			return "", fmt.Errorf("upstream called this text, but byte %d is not UTF-8", at)
		}
		return strings.TrimPrefix(string(raw), "\ufeff"), nil
	}
	encoding, err := htmlindex.Get(charset)
	if err != nil {
		return "", fmt.Errorf("charset %q is unknown", charset)
	}
	decoded, err := encoding.NewDecoder().Bytes(raw)
	if err != nil || bytes.ContainsRune(decoded, utf8.RuneError) {
		return "", fmt.Errorf("upstream called this %s, but some bytes are not", charset)
	}
	return string(decoded), nil
}

var xmlCharset = regexp.MustCompile(`^<\?xml[^>]*\bencoding=["']([A-Za-z0-9._-]+)["']`)

func charsetOf(raw []byte, media string) string {
	_, params, err := mime.ParseMediaType(media)
	if err == nil && params["charset"] != "" {
		return params["charset"]
	}
	if m := xmlCharset.FindSubmatch(raw[:min(len(raw), 200)]); m != nil {
		return string(m[1])
	}
	return ""
}

// records gives JSON lines as an array, or the number of the first line that is
// not JSON. Record separators are skipped (RFC 7464).
func records(raw []byte) (json.RawMessage, int) {
	out, n := []byte{'['}, 0
	for line := range bytes.SplitSeq(raw, []byte("\n")) {
		n++
		line = bytes.TrimSpace(bytes.Trim(line, "\x1e"))
		if len(line) == 0 {
			continue
		}
		if !json.Valid(line) {
			return nil, n
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, line...)
	}
	return append(out, ']'), 0
}

// events gives the data of server-sent events as an array: JSON where it is JSON,
// else a string.
func events(raw []byte) json.RawMessage {
	out := []byte{'['}
	var data []string
	end := func() {
		if data == nil {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		one := strings.Join(data, "\n")
		if json.Valid([]byte(one)) {
			out = append(out, strings.TrimSpace(one)...)
		} else {
			out = appendString(out, one)
		}
		data = nil
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(raw))
	for line := range strings.SplitSeq(text, "\n") {
		field, value, _ := strings.Cut(line, ":")
		switch {
		case line == "":
			end()
		case field == "data":
			data = append(data, strings.TrimPrefix(value, " "))
		}
	}
	end()
	return append(out, ']')
}

// lastEvent gives where the last whole event ends; 0 when there is none.
func lastEvent(raw []byte) int {
	end := 0
	for _, sep := range []string{"\n\n", "\r\n\r\n", "\r\r"} {
		if i := bytes.LastIndex(raw, []byte(sep)); i >= 0 {
			end = max(end, i+len(sep))
		}
	}
	return end
}
