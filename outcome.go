package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// take turns what a kind answered into what a caller may have: secrets taken out,
// large or binary content stored behind a handle.
func (e *Executor) take(ctx context.Context, res Result) (Result, error) {
	if res.Fault != nil {
		f := *res.Fault
		f.Message, f.Body, f.Headers = e.secrets.Text(f.Message), e.maskedJSON(f.Body), e.secrets.Texts(f.Headers)
		res.Fault = &f
	}
	if res.Page != nil {
		p := *res.Page
		p.Next, p.Args = e.secrets.Text(p.Next), e.maskedJSON(p.Args)
		res.Page = &p
	}
	e.secrets.Texts(res.Headers)
	for i, n := range res.Notes {
		res.Notes[i] = e.secrets.Text(n)
	}
	body := res.Body
	res.Body = nil
	if body == nil && len(res.Value) > e.inline {
		body = &Body{Content: io.NopCloser(bytes.NewReader(res.Value)), MediaType: "application/json"}
		res.Value = nil
	}
	if body == nil {
		res.Value = e.maskedJSON(res.Value)
		return res, nil
	}
	defer body.Content.Close() //nolint:errcheck // what matters was read
	return e.keep(ctx, res, body)
}

// keep reads a body to its end: into Value when it is small JSON, else into a blob.
func (e *Executor) keep(ctx context.Context, res Result, body *Body) (Result, error) {
	content := e.secrets.Reader(body.Content)
	if isJSON(body.MediaType) {
		content = e.secrets.JSONReader(body.Content)
	}
	head, whole, err := limited(content, e.inline)
	if err != nil {
		return Result{}, err
	}
	if whole && isJSON(body.MediaType) && json.Valid(head) {
		res.Value = e.maskedJSON(head)
		return res, nil
	}
	sum, size, err := e.storage.Blobs().Put(ctx, io.MultiReader(bytes.NewReader(head), content))
	if err != nil {
		return Result{}, err
	}
	res.Handle = &Handle{Digest: sum, Size: size, MediaType: e.secrets.Text(body.MediaType), Name: e.secrets.Text(body.Name), Preview: preview(head, body.MediaType)}
	return res, nil
}

// maskedJSON takes secrets out of raw. What is no JSON then, as where a number was
// one, becomes a JSON string: a run that holds anything else cannot be recorded.
func (e *Executor) maskedJSON(raw json.RawMessage) json.RawMessage {
	out := e.secrets.JSON(raw)
	if len(out) > 0 && !json.Valid(out) {
		out, _ = json.Marshal(string(out)) // a string always encodes
	}
	return out
}

func isJSON(mediaType string) bool {
	t, _, _ := strings.Cut(mediaType, ";")
	t = strings.ToLower(strings.TrimSpace(t))
	return t == "application/json" || strings.HasSuffix(t, "+json")
}

const previewBytes = 1 << 10

// preview gives the beginning of text; "" for anything else.
func preview(head []byte, mediaType string) string {
	cut := head[:min(len(head), previewBytes)]
	for i := 0; i < utf8.UTFMax && len(cut) > 0 && !utf8.Valid(cut); i++ {
		cut = cut[:len(cut)-1] // it may end inside a character
	}
	if !utf8.Valid(cut) || bytes.IndexByte(cut, 0) >= 0 || strings.HasPrefix(mediaType, "image/") {
		return ""
	}
	return string(cut)
}

// output is a result as a run keeps it.
func output(res Result) *Output {
	o := &Output{Value: res.Value, Handle: res.Handle, Fault: res.Fault, Page: res.Page}
	switch {
	case res.Handle != nil:
		o.Digest = res.Handle.Digest
	case res.Fault != nil:
		o.Digest = digest(res.Fault.Body)
	default:
		o.Digest = digest(res.Value)
	}
	return o
}

// Open gives the output of a run, as it was handed to the caller; the caller of
// Open closes it. A run without output, or one that e may not see, is NotFound.
func (e *Executor) Open(ctx context.Context, id RunID) (io.ReadCloser, Handle, error) {
	run, err := e.Run(ctx, id)
	if err != nil {
		return nil, Handle{}, err
	}
	o := run.Output
	switch {
	case o != nil && o.Handle != nil:
		content, err := e.storage.Blobs().Open(ctx, o.Handle.Digest)
		return content, *o.Handle, err
	case o != nil && o.Value != nil:
		h := Handle{Run: id, Digest: o.Digest, Size: int64(len(o.Value)), MediaType: "application/json"}
		return io.NopCloser(bytes.NewReader(o.Value)), h, nil
	}
	return nil, Handle{}, &Error{Code: NotFound, Op: "open", Run: id, Msg: fmt.Sprintf("run %s has no output", id)}
}

// clean makes an error fit to leave: of our kind, with its run, without secrets.
func (e *Executor) clean(err error, run RunID) error {
	if err == nil {
		return nil
	}
	var ours *Error
	if !errors.As(err, &ours) {
		ours = &Error{Code: Internal, Msg: "the kind of source did not answer as it should", Err: err}
		if isContext(err) {
			ours = &Error{Code: Unavailable, Op: "invoke", Msg: "the call was cancelled", Err: err}
		}
	}
	out := *ours
	out.Msg, out.Hint, out.Run = e.secrets.Text(out.Msg), e.secrets.Text(out.Hint), run
	out.Fields = slices.Clone(ours.Fields)
	for i := range out.Fields {
		out.Fields[i] = FieldError{e.secrets.Text(out.Fields[i].Pointer), e.secrets.Text(out.Fields[i].Msg)}
	}
	if out.Err != nil {
		out.Err = cause{e.secrets.Text(out.Err.Error()), out.Err}
	}
	return &out
}

// A cause is what lies behind an error, by its text alone; whether it was the
// caller's context can still be asked.
type cause struct {
	text string
	err  error
}

func (c cause) Error() string { return c.text }

// Is answers errors.Is for the errors of a context.
func (c cause) Is(target error) bool {
	return (target == context.Canceled || target == context.DeadlineExceeded) && errors.Is(c.err, target)
}

func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// reason is an error in one clause, without its cause.
func reason(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return ""
	}
	shown := *e
	shown.Op, shown.Err = "", nil
	return shown.Error()
}
