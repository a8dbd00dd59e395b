package openapi

import (
	"fmt"
	"mime"
	"mime/multipart"
	"net/textproto"
	"strconv"
	"strings"
)

// multipart writes an object as one part a property, or a part an item of an array.
func (b body) multipart(u *upload, v any) error {
	o, ok := v.(object)
	if !ok {
		return refuse("/body", "is not an object")
	}
	w := multipart.NewWriter(u)
	u.media = mime.FormatMediaType(baseType(b.Media), map[string]string{"boundary": w.Boundary()})
	for _, p := range o {
		enc, pointer := b.Encoding[p.name], "/body/"+escape(p.name)
		items, split := p.value.([]any)
		if split = split && (enc.Array || !carriesJSON(enc.Media)); !split {
			items = []any{p.value}
		}
		for i, item := range items {
			at := pointer
			if split {
				at += "/" + strconv.Itoa(i)
			}
			if err := enc.part(u, w, p.name, item, at); err != nil {
				return err
			}
		}
	}
	return w.Close()
}

// part writes one part. A plain value carries no media type unless the description
// tells one, as browsers do; what has parts is JSON.
func (e encoding) part(u *upload, w *multipart.Writer, name string, v any, pointer string) error {
	if v == nil {
		return nil
	}
	disposition := fmt.Sprintf(`form-data; name="%s"`, quoted.Replace(name))
	f, media := file{content: []byte(plainText(v))}, e.Media
	switch {
	case e.Binary || e.Media == "" && looksLikeFile(v):
		var err error
		if f, err = u.file(v, pointer); err != nil {
			return err
		}
		if media, err = f.mediaOf(e.Media, pointer); err != nil {
			return err
		}
		if f.name == "" {
			f.name = name // without one, many servers take the part for text
		}
		disposition += fmt.Sprintf(`; filename="%s"`, quoted.Replace(f.name))
	case carriesJSON(media), media == "" && !plain(v):
		media = "application/json"
		f.content = appendJSON(nil, v)
	}
	header := textproto.MIMEHeader{"Content-Disposition": {disposition}}
	if media != "" && !strings.ContainsAny(media, ",*") {
		header.Set("Content-Type", media)
	}
	if _, err := w.CreatePart(header); err != nil {
		return err
	}
	u.add(f)
	return nil
}

// quoted escapes names in a Content-Disposition as browsers do (HTML, "multipart/form-data
// encoding algorithm").
var quoted = strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22")
