package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/open-executor/executor"
)

// A sink is the file that a result goes to. It is opened before the call, so that
// none is made whose result has nowhere to go.
type sink struct {
	path string
	file *os.File // nil: stdout, or nowhere where path is ""
	made bool     // the file was not there before
}

// openSink opens the file at path and leaves in it what is there. "" is no file,
// "-" is stdout.
func openSink(path string) (*sink, error) {
	s := &sink{path: path}
	if path == "" || path == "-" {
		return s, nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if s.made = err == nil; errors.Is(err, fs.ErrExist) {
		file, err = os.OpenFile(path, os.O_WRONLY, 0)
	}
	if err != nil {
		return nil, usageError("the result cannot be written: "+err.Error(), "give --output a path that can be written")
	}
	s.file = file
	return s, nil
}

// close ends a sink. A file that was made and did not get the whole result goes
// again.
func (s *sink) close() {
	if s.file == nil {
		return
	}
	_ = s.file.Close() // whoever wrote has closed it already
	if s.made {
		_ = os.Remove(s.path) // half a result is none
	}
}

// take writes everything that from gives, over what was there.
func (s *sink) take(stdout io.Writer, from io.Reader) (int64, error) {
	if s.file == nil {
		return io.Copy(stdout, from)
	}
	stat, err := s.file.Stat()
	if err == nil && stat.Mode().IsRegular() {
		err = s.file.Truncate(0)
	}
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(s.file, from)
	if err = errors.Join(err, s.file.Close()); err == nil {
		s.made = false
	}
	return n, err
}

// save writes the content of a result to a file: bytes as they came, text as
// it is, everything else as JSON. value is what the run's record holds of it.
func (a *app) save(ctx context.Context, e *executor.Executor, id executor.RunID, value json.RawMessage, to *sink) (*written, error) {
	var text string
	var from io.ReadCloser
	if len(value) > 0 && json.Unmarshal(value, &text) == nil && string(value) != "null" {
		from = io.NopCloser(strings.NewReader(text))
	} else {
		content, _, err := e.Open(ctx, id)
		if err != nil {
			return nil, err
		}
		from = content
	}
	defer func() { _ = from.Close() }() // it was only read
	n, err := to.take(a.Out, from)
	if err != nil {
		return nil, &executor.Error{
			Code: executor.Internal, Op: "output", Run: id, Err: err,
			Msg:  fmt.Sprintf("the result was not written: %v", err),
			Hint: "run: executor runs show " + string(id) + " --output FILE",
		}
	}
	return &written{to.path, n}, nil
}
