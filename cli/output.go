package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// output writes data. After the first failed write it writes no more.
type output struct {
	w   io.Writer
	err error
}

// text writes s.
func (o *output) text(s string) {
	if o.err == nil {
		_, o.err = io.WriteString(o.w, s)
	}
}

// value writes v as one line of JSON. It may end up on a terminal, so what would
// act there is written as its code.
func (o *output) value(v any) {
	data, err := encode(v)
	if err != nil {
		o.err = err
		return
	}
	o.text(escaped(data) + "\n")
}

// escaped writes JSON without harmful characters. They can only be in its strings,
// where the code says the same.
func escaped(data []byte) string {
	text := string(data)
	if !strings.ContainsFunc(text, harmful) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if harmful(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// encode writes v as compact JSON that keeps <, > and & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// say writes a sentence for people to stdout. In JSON mode v is written instead.
func (a *app) say(v any, format string, args ...any) {
	if a.json() {
		a.out.value(v)
		return
	}
	a.out.text(fmt.Sprintf(format, args...) + "\n")
}

// note tells people something beside the data.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.Err, format+"\n", args...)
	}
}

// warn tells what is left out because of err; nil is nothing.
func (a *app) warn(err error) {
	if err == nil {
		return
	}
	f := failureOf(err)
	fmt.Fprintln(a.Err, "warning: "+line(err.Error()))
	if f.Hint != "" {
		fmt.Fprintln(a.Err, f.Hint)
	}
}

// next tells people what to type next. Programs find it in the data.
func (a *app) next(commands ...string) {
	if a.json() {
		return
	}
	for _, c := range commands {
		a.note("%s", style{on: a.colours(a.Err)}.dim("next: ")+c)
	}
}
