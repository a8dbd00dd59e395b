package sample

import (
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// fields reads the body's JSON object one member at a time, and notes what is
// wrong with each.
type fields struct {
	raw   map[string]json.RawMessage
	wrong []Wrong
}

func readFields(body io.Reader) *fields {
	f := &fields{}
	content, _ := io.ReadAll(body) // in memory already
	if json.Unmarshal(content, &f.raw) != nil || f.raw == nil {
		f.wrong = append(f.wrong, Wrong{Detail: "the body must be a JSON object"})
	}
	return f
}

// text takes a member that is a string of min to max characters, and ok.
func (f *fields) text(name string, min, max int, ok func(string) bool, must string) *string {
	var v *string
	return take(f, name, &v, func(s string) bool {
		n := utf8.RuneCountInString(s)
		return n >= min && n <= max && (ok == nil || ok(s))
	}, must)
}

func (f *fields) number(name string, ok func(float64) bool, must string) *float64 {
	var v *float64
	return take(f, name, &v, ok, must)
}

// take removes a member and gives its value, or nil when there is none.
func take[T any](f *fields, name string, v **T, ok func(T) bool, must string) *T {
	raw, there := f.raw[name]
	delete(f.raw, name)
	if !there {
		return nil
	}
	if json.Unmarshal(raw, v) == nil && *v != nil && ok(**v) {
		return *v
	}
	f.wrong = append(f.wrong, Wrong{Pointer: "/" + name, Detail: must})
	return nil
}

// rest gives all that is wrong, members that nobody took included.
func (f *fields) rest() []Wrong {
	var unknown []Wrong
	for name := range f.raw {
		pointer := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		unknown = append(unknown, Wrong{Pointer: pointer, Detail: "is not a known member"})
	}
	slices.SortFunc(unknown, func(a, b Wrong) int { return strings.Compare(a.Pointer, b.Pointer) })
	return append(f.wrong, unknown...)
}

var statuses = []string{"available", "pending", "sold"}

func isStatus(s string) bool { return slices.Contains(statuses, s) }

// A draft is what a caller says of a pet; nil: nothing.
type draft struct {
	Name, Tag, Status, Born *string
	Price                   *float64
}

func readDraft(body io.Reader) (draft, []Wrong) {
	f := readFields(body)
	if string(f.raw["born"]) == "null" { // forgets the date
		f.raw["born"] = json.RawMessage(`""`)
	}
	d := draft{
		Name:   f.text("name", 1, 80, nil, "must be a string of 1 to 80 characters"),
		Tag:    f.text("tag", 0, 40, nil, "must be a string of at most 40 characters"),
		Status: f.text("status", 1, 20, isStatus, "must be available, pending or sold"),
		Price:  f.number("price", func(v float64) bool { return v >= 0 && v <= 1e6 }, "must be a number from 0 to 1000000"),
		Born:   f.text("born", 0, 10, isDate, "must be a date, for example 2024-05-31, or null"),
	}
	return d, f.rest()
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return s == "" || err == nil
}

// apply changes p to what the draft says.
func (d draft) apply(p *Pet) {
	for _, part := range []struct{ to, from *string }{{&p.Name, d.Name}, {&p.Tag, d.Tag}, {&p.Status, d.Status}, {&p.Born, d.Born}} {
		if part.from != nil {
			*part.to = *part.from
		}
	}
	if d.Price != nil {
		p.Price = *d.Price
	}
}

// A search is what the pets looked for have; nil: anything.
type search struct {
	name, tag, status *string
	maxPrice          *float64
}

func readSearch(body io.Reader) (search, []Wrong) {
	f := readFields(body)
	q := search{
		name:     f.text("name", 0, 80, nil, "must be a string of at most 80 characters"),
		tag:      f.text("tag", 0, 40, nil, "must be a string of at most 40 characters"),
		status:   f.text("status", 1, 20, isStatus, "must be available, pending or sold"),
		maxPrice: f.number("maxPrice", func(v float64) bool { return v >= 0 }, "must be a number from 0"),
	}
	return q, f.rest()
}

func (q search) matches(p Pet) bool {
	return (q.name == nil || strings.Contains(strings.ToLower(p.Name), strings.ToLower(*q.name))) &&
		(q.tag == nil || *q.tag == p.Tag) &&
		(q.status == nil || *q.status == p.Status) &&
		(q.maxPrice == nil || p.Price <= *q.maxPrice)
}

// readOrder gives the pet that is ordered, and the note.
func readOrder(body io.Reader) (pet int, note string, wrong []Wrong) {
	f := readFields(body)
	id := f.number("pet", func(v float64) bool { return v >= 1 && v == math.Trunc(v) && v < 1<<31 }, "must be the id of a pet")
	text := f.text("note", 0, 200, nil, "must be a string of at most 200 characters")
	wrong = f.rest()
	switch {
	case len(wrong) > 0:
		return 0, "", wrong
	case id == nil:
		return 0, "", []Wrong{{Pointer: "/pet", Detail: "is required"}}
	case text != nil:
		note = *text
	}
	return int(*id), note, nil
}
