package cli

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/open-executor/executor"
)

const argumentForms = "write key=value, key:=json, key=@file, @file, - for stdin, or a JSON object"

// address takes the address from the front of words: the dotted form, or its
// parts as words. It gives the words after it.
func address(words []string) (executor.Address, []string, error) {
	n := 1
	for n < len(words) && strings.Count(strings.Join(words[:n], "."), ".") < 3 && isName(words[n]) {
		n++
	}
	if n > 1 { // it was begun in words, so all bare words belong to it
		for n < len(words) && isName(words[n]) {
			n++
		}
	}
	if len(words) == 0 {
		return executor.Address{}, nil, usageError("<address> is missing", "to find one, run: executor tools search <words>")
	}
	a, err := executor.ParseAddress(strings.Join(words[:n], "."))
	return a, words[n:], err
}

// isName tells whether a word could be part of an address, and is no argument.
func isName(word string) bool {
	return word != "" && word != "-" && !strings.ContainsFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.')
	})
}

// arguments makes the JSON object of a call from its words. Later words stand
// over earlier ones; a list that is given again grows.
func (a *app) arguments(words []string, input shape) (json.RawMessage, error) {
	args := map[string]any{}
	stdin := false
	for _, word := range words {
		key, value, assigns := strings.Cut(word, "=")
		var err error
		switch {
		case word == "-" && stdin:
			err = usageError("stdin is asked for twice", "give - once")
		case word == "-":
			stdin = true
			err = merge(args, "stdin", func() ([]byte, error) { return io.ReadAll(a.In) })
		case strings.HasPrefix(word, "@"):
			err = merge(args, word, func() ([]byte, error) { return os.ReadFile(word[1:]) })
		case strings.HasPrefix(strings.TrimSpace(word), "{"):
			err = merge(args, "the argument", func() ([]byte, error) { return []byte(word), nil })
		case !assigns || key == "" || key == ":":
			err = bareWord(word, input)
		default:
			err = assign(args, key, value, input)
		}
		if err != nil {
			return nil, err
		}
	}
	return encode(args)
}

func bareWord(word string, input shape) error {
	hint := argumentForms
	if names := input.names(); len(names) > 0 {
		hint += "; the tool takes: " + strings.Join(names, ", ")
	}
	return usageError(fmt.Sprintf("%q is not an argument", word), hint)
}

// merge sets the members of a JSON object.
func merge(args map[string]any, from string, read func() ([]byte, error)) error {
	data, err := read()
	if err != nil {
		return unreadable(from, err)
	}
	var object map[string]any
	err = decode(string(data), &object)
	switch {
	case err == nil && object == nil, errors.As(err, new(*json.UnmarshalTypeError)):
		return usageError(from+" is not a JSON object", `write {"key": value, …}`)
	case err != nil:
		return usageError(from+" is not JSON: "+err.Error(), `write {"key": value, …}`)
	}
	for key, value := range object {
		args[key] = value
	}
	return nil
}

func unreadable(what string, err error) error {
	return &executor.Error{Code: executor.Invalid, Op: opUsage, Msg: what + " cannot be read: " + err.Error()}
}

// assign does key=value, key=@file and key:=json.
func assign(args map[string]any, key, value string, input shape) error {
	if name, ok := strings.CutSuffix(key, ":"); ok {
		var v any
		if err := decode(value, &v); err != nil {
			return usageError(fmt.Sprintf("the value of %q is not JSON: %v", name, err), fmt.Sprintf("for text, write %s=…", name))
		}
		args, name, _ := place(args, name, input)
		args[name] = v
		return nil
	}
	if at := notUTF8(key + "=" + value); at >= 0 && (at <= len(key) || !strings.HasPrefix(value, "@")) { // the name of a file may be anything
		return usageError(fmt.Sprintf("byte %d of %q is not UTF-8", at, key+"="+value), "write the text in UTF-8, or key=@file where the tool takes a file")
	}
	args, key, at := place(args, key, input)
	v := at.read(value)
	if path, ok := strings.CutPrefix(value, "@"); ok {
		var err error
		if v, err = at.readFile(path); err != nil {
			return err
		}
	}
	if list, ok := v.([]any); ok {
		if before, ok := args[key].([]any); ok {
			v = append(before, list...)
		}
	}
	args[key] = v
	return nil
}

// place gives the object and key that a dotted key means: the property of that
// very name where the schema has one, else the way down. It makes objects on the
// way.
func place(args map[string]any, key string, input shape) (map[string]any, string, shape) {
	for {
		if at, ok := input.property(key); ok {
			return args, key, at
		}
		first, rest, ok := strings.Cut(key, ".")
		if !ok || first == "" || rest == "" {
			return args, key, shape{}
		}
		inner, ok := args[first].(map[string]any)
		if !ok {
			inner = map[string]any{}
			args[first] = inner
		}
		input, _ = input.property(first)
		args, key = inner, rest
	}
}

// readFile makes a value of a file: a File where the schema wants one, JSON where
// it wants anything but text, else text.
func (s shape) readFile(path string) (any, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, usageError("@"+path+" cannot be read: "+err.Error(), `for the text itself, write key:='"@…"'`)
	}
	list := s.is("array")
	if s.binary() || list && s.items().binary() {
		file := executor.File{
			Name: filepath.Base(path), Type: mime.TypeByExtension(filepath.Ext(path)),
			Base64: base64.StdEncoding.EncodeToString(data),
		}
		if list {
			return []any{file}, nil
		}
		return file, nil
	}
	if list || !s.is("string") && (s.is("object") || s.is("number") || s.is("integer") || s.is("boolean")) {
		var v any
		if err := decode(string(data), &v); err != nil {
			return nil, usageError("@"+path+" is not JSON, which the tool wants there: "+err.Error(), "")
		}
		return v, nil
	}
	if !utf8.Valid(data) {
		return nil, usageError("@"+path+" is not text, and the tool takes no file there", "")
	}
	return string(data), nil
}
