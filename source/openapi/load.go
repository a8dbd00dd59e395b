package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

const (
	maxFile  = 128 << 20 // bytes of one file
	maxFiles = 20000     // files of one description
	accepted = "application/json, application/yaml, text/yaml;q=0.9, */*;q=0.8"
)

// A loader reads the files of one description. Files lie below the folder of the
// first; URLs have its origin.
type loader struct {
	ctx    context.Context
	client *http.Client
	dir    *os.Root // nil: not read from files
	folder string   // of dir, with slashes
	home   *url.URL // of the first document; nil for text
	docs   map[string]*document
	bad    map[string]error // files that gave nothing
	notes  notes
}

// open reads the first document.
func (l *loader) open(cfg config) (*document, error) {
	l.docs, l.bad = map[string]*document{}, map[string]error{}
	if cfg.Text != "" {
		return l.parse([]byte(cfg.Text), nil, "")
	}
	if u, err := url.Parse(cfg.Spec); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		body, final, err := l.fetch(u)
		if err != nil {
			return nil, err
		}
		l.home = final
		return l.keep(final, body, "")
	}
	name := strings.TrimPrefix(cfg.Spec, "file://")
	if !filepath.IsAbs(name) {
		return nil, invalid(fmt.Sprintf("spec %q is neither a URL nor an absolute file path", cfg.Spec), "give https://… or the whole path of the file")
	}
	dir, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, unreadable(name, err)
	}
	l.dir, l.folder = dir, filepath.ToSlash(filepath.Dir(name))
	l.home = &url.URL{Scheme: "file", Path: filepath.ToSlash(name)}
	body, err := l.file(l.home)
	if err != nil {
		return nil, unreadable(name, err)
	}
	return l.keep(l.home, body, "")
}

func (l *loader) close() {
	if l.dir != nil {
		_ = l.dir.Close() // nothing was written
	}
}

// load gives another document of the description.
func (l *loader) load(u *url.URL) (*document, error) {
	key := u.String()
	if d, ok := l.docs[key]; ok {
		return d, nil
	}
	if err, ok := l.bad[key]; ok {
		return nil, err
	}
	d, err := l.read(u)
	if err != nil {
		l.bad[key] = err
	}
	return d, err
}

func (l *loader) read(u *url.URL) (*document, error) {
	switch {
	case len(l.docs)+len(l.bad) >= maxFiles:
		return nil, fmt.Errorf("the description has more than %d files", maxFiles)
	case l.home == nil:
		return nil, errors.New("a description given as text has no other files")
	case u.Scheme == "file" && l.dir != nil:
		body, err := l.file(u)
		if err != nil {
			return nil, err
		}
		return l.keep(u, body, l.rel(u))
	case u.Scheme == l.home.Scheme && strings.EqualFold(u.Host, l.home.Host):
		body, _, err := l.fetch(u)
		if err != nil {
			return nil, err
		}
		return l.keep(u, body, u.Path)
	}
	return nil, errors.New("it is outside of the description's own folder or host")
}

func (l *loader) rel(u *url.URL) string {
	return strings.TrimPrefix(path.Clean(u.Path), strings.TrimSuffix(l.folder, "/")+"/")
}

// file reads one file below the folder. os.Root refuses links that lead out.
func (l *loader) file(u *url.URL) ([]byte, error) {
	rel := l.rel(u)
	if strings.HasPrefix(rel, "/") || !filepath.IsLocal(rel) {
		return nil, errors.New("it is outside of the description's own folder")
	}
	f, err := l.dir.Open(rel)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !stat.Mode().IsRegular() || stat.Size() > maxFile {
		return nil, fmt.Errorf("%q is not a file of at most %d MiB", rel, maxFile>>20)
	}
	body := make([]byte, stat.Size())
	n, err := io.ReadFull(f, body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return body[:n], nil
}

// fetch gets one URL and says where redirects led.
func (l *loader) fetch(u *url.URL) ([]byte, *url.URL, error) {
	bare := *u
	bare.Fragment, bare.RawFragment = "", ""
	req, err := http.NewRequestWithContext(l.ctx, http.MethodGet, bare.String(), nil)
	if err != nil {
		return nil, nil, invalid(fmt.Sprintf("%q is not a usable URL", u.Redacted()), "")
	}
	req.Header.Set("Accept", accepted)
	resp, err := l.client.Do(req)
	if err != nil {
		return nil, nil, unreachable(u, err)
	}
	defer resp.Body.Close()
	var buffer bytes.Buffer
	buffer.Grow(int(min(max(resp.ContentLength, 0), 32<<20)) + bytes.MinRead) // a large body is not copied as it grows
	if _, err := buffer.ReadFrom(resp.Body); err != nil {
		return nil, nil, unreachable(u, err)
	}
	body := buffer.Bytes()
	media, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if resp.StatusCode/100 != 2 || media == "text/html" || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		return nil, nil, notADescription(u, resp.StatusCode, media, body)
	}
	return body, resp.Request.URL, nil
}

// keep parses a file and remembers it.
func (l *loader) keep(u *url.URL, body []byte, name string) (*document, error) {
	d, err := l.parse(body, u, name)
	if err == nil {
		l.docs[u.String()] = d
	}
	return d, err
}

// parse reads JSON or YAML. A Markdown file is a JSON string.
func (l *loader) parse(body []byte, base *url.URL, name string) (*document, error) {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(body) {
		body = bytes.ToValidUTF8(body, []byte("\uFFFD"))
	}
	shown := name
	if shown == "" && base != nil {
		shown = path.Base(base.Path)
	}
	if shown == "" {
		shown = "the description"
	}
	d := &document{name: name, base: base, raw: body}
	trimmed := bytes.TrimSpace(body)
	switch {
	case json.Valid(body):
		return d, nil
	case base != nil && (strings.HasSuffix(base.Path, ".md") || strings.HasSuffix(base.Path, ".txt")):
		d.raw = quote(nil, string(body))
		return d, nil
	case bytes.HasPrefix(trimmed, []byte("<")):
		return nil, invalid(shown+" is HTML or XML, not an API description", "give the URL of the JSON or YAML itself")
	}
	raw, err := yamlJSON(body, func(line int, text string) {
		l.notes.add(fmt.Sprintf("%s line %d", shown, line), text)
	})
	if err == nil && json.Valid(raw) {
		d.raw = raw
		return d, nil
	}
	if bytes.HasPrefix(trimmed, []byte("{")) {
		return nil, invalid(fmt.Sprintf("%s is not JSON: %s", shown, syntax(body)), "mend the file; 0 operations are usable")
	}
	if err == nil {
		err = errors.New("the text has no JSON form")
	}
	return nil, invalid(fmt.Sprintf("%s is not YAML: %s", shown, strings.TrimPrefix(err.Error(), "yaml: ")), "mend the file; 0 operations are usable")
}

// syntax says where JSON text is broken.
func syntax(body []byte) string {
	var whole json.RawMessage
	err := json.Unmarshal(body, &whole)
	var at *json.SyntaxError
	if !errors.As(err, &at) {
		return "it ends too early"
	}
	before := body[:min(int(at.Offset), len(body))]
	line := 1 + bytes.Count(before, []byte("\n"))
	return fmt.Sprintf("line %d, column %d: %s", line, len(before)-bytes.LastIndexByte(before, '\n')-1, at)
}
