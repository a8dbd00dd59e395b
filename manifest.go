package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// A shelf holds the manifests in use, each parsed once. The zero value is empty.
type shelf struct {
	mu   sync.Mutex
	held map[string]*held // :: digest → manifest
}

// held is a manifest with what is worked out from it when first needed.
type held struct {
	*Manifest
	byName map[ToolName]*Tool

	mu     sync.Mutex
	inputs map[ToolName]input
}

// Manifest gives the manifest with that digest. It is parsed once and shared: do
// not change it.
func (e *Executor) Manifest(ctx context.Context, digest string) (*Manifest, error) {
	h, err := e.manifest(ctx, digest)
	if err != nil {
		return nil, err
	}
	return h.Manifest, nil
}

func (h *house) manifest(ctx context.Context, digest string) (*held, error) {
	h.manifests.mu.Lock()
	defer h.manifests.mu.Unlock()
	if m := h.manifests.held[digest]; m != nil {
		return m, nil
	}
	content, err := h.storage.Artifacts().Open(ctx, digest)
	if err != nil {
		return nil, &Error{Code: Internal, Op: "find", Msg: fmt.Sprintf("manifest %.12s is missing", digest), Err: err}
	}
	defer content.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(content)
	if err != nil {
		return nil, &Error{Code: Internal, Op: "find", Msg: fmt.Sprintf("manifest %.12s cannot be read", digest), Err: err}
	}
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, &Error{Code: Internal, Op: "find", Msg: fmt.Sprintf("manifest %.12s cannot be decoded", digest), Err: err}
	}
	return h.manifests.hold(digest, &m), nil
}

// hold puts m on the shelf; the caller holds its lock.
func (s *shelf) hold(digest string, m *Manifest) *held {
	h := &held{Manifest: m, byName: make(map[ToolName]*Tool, len(m.Tools)), inputs: map[ToolName]input{}}
	for i := range m.Tools {
		h.byName[m.Tools[i].Name] = &m.Tools[i]
	}
	if s.held == nil {
		s.held = map[string]*held{}
	}
	s.held[digest] = h
	return h
}

// keepManifest checks, stores and shelves what a kind resolved.
func (h *house) keepManifest(ctx context.Context, m *Manifest) (string, error) {
	if twice := sortTools(m.Tools); twice != "" {
		return "", &Error{Code: Internal, Op: "resolve", Msg: fmt.Sprintf("tool name %q occurs twice", twice)}
	}
	for i := range m.Tools {
		if err := checkToolName(m.Tools[i].Name); err != nil {
			return "", err
		}
	}
	data, err := json.Marshal(m)
	if err != nil {
		return "", &Error{Code: Internal, Op: "resolve", Msg: "manifest cannot be encoded", Err: err}
	}
	digest, _, err := h.storage.Artifacts().Put(ctx, bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	// What is kept is what was stored: small, and free of the description it came from.
	var stored Manifest
	if err := json.Unmarshal(data, &stored); err != nil {
		return "", &Error{Code: Internal, Op: "resolve", Msg: "manifest cannot be decoded", Err: err}
	}
	h.manifests.mu.Lock()
	defer h.manifests.mu.Unlock()
	h.manifests.hold(digest, &stored)
	*m = stored
	return digest, nil
}

// dropManifest removes a manifest that no source and no connection names.
func (e *Executor) dropManifest(ctx context.Context, digest string) error {
	if digest == "" {
		return nil
	}
	for _, noun := range []Noun{Sources, Connections} {
		records, err := e.storage.Table(noun).List(ctx, "")
		if err != nil {
			return err
		}
		for _, r := range records {
			if bytes.Contains(r.Value, []byte(`"`+digest+`"`)) {
				return nil
			}
		}
	}
	e.manifests.mu.Lock()
	delete(e.manifests.held, digest)
	e.manifests.mu.Unlock()
	return e.storage.Artifacts().Delete(ctx, digest)
}
