package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/open-executor/executor"
)

// heldBytes of an answer are read at once and checked. What is longer is handed
// over as it comes, unchecked.
const heldBytes = 256 << 10

// shortText becomes a JSON string. A longer one would end up behind a handle, where
// text is of more use than JSON.
const shortText = 48 << 10

// A reply is what came back, with the beginning of its body.
type reply struct {
	*http.Response
	body  io.ReadCloser // the rest of it
	head  []byte        // its first heldBytes, or all of it
	whole bool          // head is all of it
	media string        // Content-Type; may be empty
	notes []string
}

var null = json.RawMessage("null")

// result turns an answer into a Result. It closes the body, or hands it over.
func (b binding) result(resp *http.Response) (executor.Result, error) {
	a := reply{Response: resp, body: &incoming{ReadCloser: resp.Body, host: b.host()}, media: resp.Header.Get("Content-Type")}
	switch {
	case resp.StatusCode >= 400, resp.StatusCode >= 300 && resp.StatusCode != http.StatusNotModified:
		defer a.body.Close()
		return a.fault(), nil
	case b.Method == http.MethodHead:
		defer a.body.Close()
		return executor.Result{Value: a.outline(), Headers: worth(resp.Header)}, nil
	case resp.StatusCode == http.StatusNotModified:
		defer a.body.Close()
		return executor.Result{Value: null, Headers: worth(resp.Header), Notes: []string{"not modified: upstream sent no content (304)"}}, nil
	}
	if err := a.read(heldBytes); err != nil {
		a.body.Close()
		return executor.Result{}, err
	}
	r := a.decode()
	r.Headers, r.Notes = worth(resp.Header), a.notes
	if r.Body == nil {
		a.body.Close()
	}
	return r, nil
}

// read fills head.
func (a *reply) read(limit int64) error {
	head, err := io.ReadAll(io.LimitReader(a.body, limit+1))
	a.whole = int64(len(head)) <= limit
	a.head = head
	if err == nil {
		return nil
	}
	if events := lastEvent(head); events > 0 && baseType(a.media) == eventMedia && errors.Is(err, errLate) {
		a.head, a.whole = head[:events], true
		a.note("the stream did not end in time: these are the events until then")
		return nil
	}
	return err
}

// decode gives the value, or the body where it is large or not text.
func (a *reply) decode() executor.Result {
	encoding := a.Header.Get("Content-Encoding")
	base := baseType(a.media)
	switch {
	case encoding != "" && !strings.EqualFold(encoding, "identity") && !a.Uncompressed:
		a.note("content encoding %q is not decoded", encoding)
		return a.binary("application/octet-stream")
	case a.whole && len(bytes.TrimSpace(a.head)) == 0 && (len(a.head) == 0 || carriesJSON(base)):
		return executor.Result{Value: null}
	case base == "":
		return a.sniff()
	case carriesJSON(base):
		return a.json()
	case carriesLines(base), base == eventMedia:
		return a.sequence(base)
	case carriesText(base):
		return a.text()
	}
	return a.binary(a.media)
}

// json checks what it can see; what is not JSON is handed over as what it is.
func (a *reply) json() executor.Result {
	if !a.whole {
		return a.binary("application/json")
	}
	value := bytes.TrimSpace(bytes.TrimPrefix(a.head, []byte("\ufeff")))
	if at := invalidUTF8(value); at >= 0 {
		a.note("upstream called this JSON, but byte %d is not UTF-8", at)
		return a.binary("application/octet-stream")
	}
	if err := json.Unmarshal(value, new(json.RawMessage)); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			a.note("upstream called this JSON, but it is not from byte %d on: %s", syntax.Offset, syntax)
		}
		return a.binary("text/plain")
	}
	return executor.Result{Value: value}
}

// text gives text in UTF-8: as a JSON string, or as it is where it is long.
func (a *reply) text() executor.Result {
	if !a.whole {
		return a.binary(a.media)
	}
	s, err := decodeText(a.head, a.media)
	if err != nil {
		a.note("%s", err)
		return a.binary("application/octet-stream")
	}
	if len(s) > shortText {
		a.head = []byte(s)
		return a.binary(baseType(a.media) + "; charset=utf-8")
	}
	return executor.Result{Value: appendString(nil, s)}
}

// sequence gives JSON lines or server-sent events as an array.
func (a *reply) sequence(base string) executor.Result {
	if !a.whole {
		return a.binary(base)
	}
	if at := invalidUTF8(a.head); at >= 0 {
		a.note("upstream called this %s, but byte %d is not UTF-8", base, at)
		return a.binary("application/octet-stream")
	}
	if base == eventMedia {
		return executor.Result{Value: events(a.head)}
	}
	value, line := records(a.head)
	if line > 0 {
		a.note("upstream called this %s, but line %d is not JSON", base, line)
		return a.binary("text/plain")
	}
	return executor.Result{Value: value}
}

// sniff decides for an answer without a media type.
func (a *reply) sniff() executor.Result {
	if !a.whole {
		return a.binary(http.DetectContentType(a.head))
	}
	if json.Valid(a.head) && utf8.Valid(a.head) {
		return executor.Result{Value: bytes.TrimSpace(a.head)}
	}
	if utf8.Valid(a.head) && !bytes.ContainsRune(a.head, 0) {
		return executor.Result{Value: appendString(nil, string(a.head))}
	}
	return a.binary(http.DetectContentType(a.head))
}

// binary hands the answer over, head and rest.
func (a *reply) binary(media string) executor.Result {
	if _, _, err := mime.ParseMediaType(media); err != nil {
		media = "application/octet-stream"
	}
	return executor.Result{Body: &executor.Body{
		Content:   joined{io.MultiReader(bytes.NewReader(a.head), a.body), a.body},
		MediaType: media,
		Name:      fileName(a.Header.Get("Content-Disposition")),
	}}
}

// outline is what a HEAD answers.
func (a *reply) outline() json.RawMessage {
	headers := map[string]string{}
	for name, values := range a.Header {
		if name != "Set-Cookie" {
			headers[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\ufffd")
		}
	}
	out, _ := json.Marshal(map[string]any{"status": a.StatusCode, "headers": headers}) // text and numbers always encode
	return out
}

func (a *reply) note(format string, values ...any) {
	a.notes = append(a.notes, fmt.Sprintf(format, values...))
}

// joined reads from one and closes the other.
type joined struct {
	io.Reader
	io.Closer
}

// fileName gives the file name of a Content-Disposition without any folder.
func fileName(disposition string) string {
	_, params, err := mime.ParseMediaType(disposition)
	if err != nil {
		return ""
	}
	name := params["filename"]
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if name == "." || name == ".." || !utf8.ValidString(name) || strings.ContainsFunc(name, control) {
		return ""
	}
	return name
}

// invalidUTF8 gives the first byte that is not UTF-8, or -1.
func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return -1
}
