package openapi

import (
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"

	"github.com/open-executor/executor"
)

// A file is an executor.File with its content at hand: in memory, or as the output
// of a run still to be read.
type file struct {
	name    string
	media   string // as the caller told; may be empty
	own     string // media type that the run's output has by itself
	content []byte
	run     io.Reader // nil: content
	size    int64     // of run; bytes
}

// file reads v, a string or an executor.File, found at pointer in the arguments.
func (u *upload) file(v any, pointer string) (file, error) {
	if s, ok := v.(string); ok {
		return file{content: []byte(s)}, nil
	}
	o, ok := v.(object)
	if !ok {
		return file{}, refuse(pointer, `is neither text nor a file: give a string, {"text": …}, {"base64": …} or {"run": …}`)
	}
	fields := map[string]string{}
	for _, p := range o {
		if !slices.Contains([]string{"name", "type", "text", "base64", "run"}, p.name) {
			return file{}, refuse(pointer+"/"+escape(p.name), "is not a property of a file: name, type, text, base64, run")
		}
		s, ok := p.value.(string)
		if !ok && p.value != nil {
			return file{}, refuse(pointer+"/"+escape(p.name), "is not a string")
		}
		fields[p.name] = s
	}
	f := file{name: fields["name"], media: fields["type"], content: []byte(fields["text"])}
	if _, _, err := mime.ParseMediaType(f.media); f.media != "" && err != nil {
		return file{}, refuse(pointer+"/type", "is not a media type")
	}
	sources := 0
	for _, name := range []string{"text", "base64", "run"} {
		if fields[name] != "" {
			sources++
		}
	}
	switch {
	case sources > 1:
		return file{}, refuse(pointer, "has more than one of text, base64 and run")
	case fields["run"] != "":
		err := u.fromRun(&f, executor.RunID(fields["run"]), pointer+"/run")
		return f, err
	case fields["base64"] != "":
		content, err := base64.StdEncoding.DecodeString(fields["base64"])
		if err != nil {
			return file{}, refuse(pointer+"/base64", "is not standard base64")
		}
		f.content = content
	}
	return f, nil
}

// fromRun fills f from the output of a run.
func (u *upload) fromRun(f *file, id executor.RunID, pointer string) error {
	content, h, err := u.open(id)
	if err != nil {
		e := refuse(pointer, fmt.Sprintf("the output of run %q cannot be had", id))
		e.Err = err
		return e
	}
	u.runs = append(u.runs, content)
	f.run, f.size, f.own = content, h.Size, h.MediaType
	if f.name == "" {
		f.name = h.Name
	}
	return nil
}

// looksLikeFile tells whether v can only be meant as an executor.File.
func looksLikeFile(v any) bool {
	o, ok := v.(object)
	if !ok {
		return false
	}
	content := 0
	for _, m := range o {
		switch m.name {
		case "text", "base64", "run":
			content++
		case "name", "type":
		default:
			return false
		}
	}
	return content > 0
}

// mediaOf picks the media type of f among those declared (comma-separated; "" and
// wildcards leave the choice to the caller).
func (f file) mediaOf(declared, pointer string) (string, error) {
	var first string
	for one := range strings.SplitSeq(declared, ",") {
		one = strings.TrimSpace(one)
		concrete := one != "" && !strings.Contains(one, "*")
		if concrete && first == "" {
			first = one
		}
		if f.media != "" && (one == "" || matches(one, f.media)) {
			return f.media, nil
		}
	}
	switch {
	case f.media != "" && baseType(first) != "application/octet-stream":
		return "", refuse(pointer+"/type", "is not one of "+declared)
	case f.media != "":
		return f.media, nil
	case first != "":
		return first, nil
	case f.own != "":
		return f.own, nil
	}
	return "application/octet-stream", nil
}

// matches tells whether media is of the kind that pattern ("image/*") names.
func matches(pattern, media string) bool {
	pattern, media = baseType(pattern), baseType(media)
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return pattern == "*/*" || strings.HasPrefix(media, prefix)
	}
	return pattern == media
}
