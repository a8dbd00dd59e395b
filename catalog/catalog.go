package catalog

import (
	"context"
	"errors"
	"fmt"
	"sync"

	executor "github.com/open-executor/executor"
)

// Sees is what a catalog asks of an executor: what its caller may know of.
type Sees interface {
	Sources(ctx context.Context) ([]executor.Source, error)
	Connections(ctx context.Context) ([]executor.Connection, error)
	Manifest(ctx context.Context, digest string) (*executor.Manifest, error)
}

// A Catalog keeps the searchable form of manifests by their digests, so that each
// is built once for all connections, callers and searches. The zero Catalog is
// ready. Safe for concurrent use.
type Catalog struct {
	mu    sync.Mutex
	parts map[string]*Part // :: digest of the manifest → its part
}

// Index gives an index of all connections that e sees. It builds the manifests that
// are new; connections cost no more than their names. What a toolkit hides is for
// Filter.Visible to tell.
func (c *Catalog) Index(ctx context.Context, e Sees) (*Index, error) {
	sources, err := e.Sources(ctx)
	if err != nil {
		return nil, err
	}
	connections, err := e.Connections(ctx)
	if err != nil {
		return nil, err
	}
	byID := map[executor.SourceID]executor.Source{}
	for _, s := range sources {
		byID[s.ID] = s
	}
	var views []View
	var lost []error
	for _, conn := range connections {
		source, ok := byID[conn.Source]
		digest := conn.Manifest
		if digest == "" {
			digest = source.Manifest
		}
		if !ok || digest == "" {
			continue // its source was removed, or no description was read yet
		}
		part, err := c.part(ctx, e, digest)
		if err != nil {
			lost = append(lost, fmt.Errorf("source %q: %w", conn.Source, err))
			continue
		}
		views = append(views, View{Part: part, Source: conn.Source, Title: source.Title, Scope: conn.Scope, Connection: conn.Name})
	}
	return New(views...), errors.Join(lost...)
}

// Forget drops the parts of manifests that keep does not want. Indexes that use
// them go on working.
func (c *Catalog) Forget(keep func(digest string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for digest := range c.parts {
		if !keep(digest) {
			delete(c.parts, digest)
		}
	}
}

func (c *Catalog) part(ctx context.Context, e Sees, digest string) (*Part, error) {
	c.mu.Lock()
	part, ok := c.parts[digest]
	c.mu.Unlock()
	if ok {
		return part, nil
	}
	m, err := e.Manifest(ctx, digest)
	if err != nil {
		return nil, err
	}
	part = Build(m)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parts == nil {
		c.parts = map[string]*Part{}
	}
	if first, ok := c.parts[digest]; ok { // somebody was faster
		return first, nil
	}
	c.parts[digest] = part
	return part, nil
}
