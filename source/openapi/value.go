package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// An object is a JSON object whose properties keep the order they came in, which
// several parameter styles show on the wire.
type object []property

// A property is one property of an object.
type property struct {
	name  string
	value any
}

// get gives the value at name. Null counts as absent.
func (o object) get(name string) (any, bool) {
	for _, m := range o {
		if m.name == name {
			return m.value, m.value != nil
		}
	}
	return nil, false
}

// parse reads one JSON value: nil, bool, string, json.Number, []any or object. A
// number keeps its text. A property that occurs twice is refused, since whoever
// checked the arguments may have seen one of the two and upstream the other.
func parse(raw []byte) (any, error) {
	if !json.Valid(raw) {
		return nil, errors.New("is not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return parseValue(d)
}

func parseValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			item, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		return parseObject(d)
	}
	return token, nil
}

func parseObject(d *json.Decoder) (any, error) {
	o, seen := object{}, map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string) // the decoder gives nothing else here
		if seen[name] {
			return nil, fmt.Errorf("has property %q twice", name)
		}
		seen[name] = true
		value, err := parseValue(d)
		if err != nil {
			return nil, err
		}
		o = append(o, property{name, value})
	}
	_, err := d.Token()
	return o, err
}

// plainText gives v as it stands in a URL or header before escaping. What has parts is
// written as JSON: no style says how else.
func plainText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case nil:
		return ""
	}
	return string(appendJSON(nil, v))
}

// appendJSON appends the compact JSON of what parse gave.
func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case json.Number:
		return append(b, v.String()...)
	case string:
		return appendString(b, v)
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, item)
		}
		return append(b, ']')
	case object:
		b = append(b, '{')
		for i, m := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, m.name), ':')
			b = appendJSON(b, m.value)
		}
		return append(b, '}')
	}
	panic(fmt.Sprintf("openapi: parse never gives %T", v))
}

func appendString(b []byte, s string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}
