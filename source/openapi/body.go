package openapi

import (
	"encoding/json"
	"fmt"
	"strings"
)

// compose writes the request body, where there is one.
func (b binding) compose(u *upload, args object, raw map[string]json.RawMessage) error {
	if len(b.Bodies) == 0 {
		return nil
	}
	chosen, err := b.choose(args)
	if err != nil {
		return err
	}
	v, ok := args.get("body")
	if ok {
		chosen = b.suited(chosen, v)
		return chosen.write(u, v, raw["body"])
	}
	if chosen.Required {
		return refuse("/body", "is required")
	}
	return nil
}

// choose gives the body that the argument "content_type" names, or the preferred
// one.
func (b binding) choose(args object) (body, error) {
	v, ok := args.get("content_type")
	if !ok {
		return b.Bodies[0], nil
	}
	media, _ := v.(string)
	var offered []string
	for _, one := range b.Bodies {
		if one.Media == media { // parameters may tell two apart
			return one, nil
		}
	}
	for _, one := range b.Bodies {
		if baseType(one.Media) == baseType(media) {
			return one, nil
		}
		offered = append(offered, one.Media)
	}
	for _, one := range b.Bodies {
		if strings.Contains(baseType(media), "/") && !strings.ContainsAny(media, "*\r\n") && matches(one.Media, media) {
			one.Media = media
			return one, nil
		}
	}
	return body{}, refuse("/content_type", fmt.Sprintf("%q is not one of %s", media, strings.Join(offered, ", ")))
}

// suited gives the body that the type of a file fits, where the caller left the
// choice to the preferred one and that is for other files.
func (b binding) suited(chosen body, v any) body {
	file, _ := v.(object)
	of, _ := file.get("type")
	media, _ := of.(string)
	if chosen.Media != b.Bodies[0].Media || media == "" || !looksLikeFile(v) || chosen.structured() || matches(chosen.Media, media) {
		return chosen
	}
	for _, one := range b.Bodies {
		if !one.structured() && matches(one.Media, media) {
			return one
		}
	}
	return chosen
}

// structured tells the bodies whose content is written from a value, not given as
// it is.
func (b body) structured() bool {
	return carriesJSON(b.Media) || carriesLines(b.Media) || isForm(b.Media) || isMultipart(b.Media)
}

// write writes v as the media type of b. raw is v as it came.
func (b body) write(u *upload, v any, raw json.RawMessage) error {
	base := baseType(b.Media)
	u.media = b.Media
	switch {
	case carriesJSON(base):
		u.text.Write(raw)
		return nil
	case base == formMedia:
		return b.form(u, v)
	case strings.HasPrefix(base, "multipart/"):
		return b.multipart(u, v)
	case carriesLines(base):
		return lines(u, v, base)
	case base == "*/*" && !looksLikeFile(v):
		u.media = "application/json"
		u.text.Write(raw)
		return nil
	case carriesText(base) && base != "text/*" && !looksLikeFile(v):
		if _, isString := v.(string); !isString && strings.HasSuffix(base, "xml") {
			return refuse("/body", "is not a string: write the XML out")
		}
		u.text.WriteString(plainText(v))
		return nil
	}
	f, err := u.file(v, "/body")
	if err != nil {
		return err
	}
	u.add(f)
	u.media, err = f.mediaOf(b.Media, "/body")
	return err
}

// lines writes an array as one JSON value a line, and any other value as one line;
// application/json-seq puts a record separator before each (RFC 7464).
func lines(u *upload, v any, media string) error {
	if s, ok := v.(string); ok {
		u.text.WriteString(s)
		return nil
	}
	items, ok := v.([]any)
	if !ok {
		items = []any{v}
	}
	for _, item := range items {
		if media == "application/json-seq" {
			u.text.WriteByte(0x1e)
		}
		u.text.Write(append(appendJSON(nil, item), '\n'))
	}
	return nil
}

// form writes an object as application/x-www-form-urlencoded. What has parts and no
// style is JSON, as OpenAPI's default media type for it is.
func (b body) form(u *upload, v any) error {
	if s, ok := v.(string); ok {
		u.text.WriteString(s)
		return nil
	}
	o, ok := v.(object)
	if !ok {
		return refuse("/body", "is not an object")
	}
	var pairs []string
	for _, m := range o {
		enc := b.Encoding[m.name]
		p := param{
			Arg: m.name, Name: m.name, In: "query", Reserved: enc.Reserved,
			Style: enc.Style, Explode: enc.Explode,
			Brackets: true, // an encoding cannot say how arrays in a deepObject are written; Stripe and Rails want it so
		}
		value := m.value
		switch {
		case enc.Binary:
			f, err := u.file(value, "/body/"+escape(m.name))
			if err != nil {
				return err
			}
			if f.run != nil {
				return refuse("/body/"+escape(m.name), "the output of a run cannot be sent in a form; give its content")
			}
			value = string(f.content)
		case enc.Style == "":
			p.Style, p.Explode = "form", true
			if _, ok := value.(object); ok || carriesJSON(enc.Media) {
				value = string(appendJSON(nil, value))
			}
		}
		pairs = append(pairs, p.pairs(value)...)
	}
	u.text.WriteString(join(pairs, "&"))
	return nil
}
