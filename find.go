package executor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/open-executor/executor/internal/spelling"
)

// Found is a tool as seen through a connection.
type Found struct {
	Address    Address
	Tool       *Tool     // shared: do not change it
	Manifest   *Manifest // likewise
	Source     Source
	Connection Connection
}

// found is a tool that this executor sees. Only find makes one.
type found struct {
	Found
	held   *held
	digest string // of the manifest
}

// Find gives the tool at a. A tool that does not exist and one that e may not see
// are the same NotFound.
func (e *Executor) Find(ctx context.Context, a Address) (Found, error) {
	f, err := e.find(ctx, a)
	return f.Found, err
}

// Tools gives everything e sees, by source, scope, connection and name.
func (e *Executor) Tools(ctx context.Context) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		connections, err := e.Connections(ctx)
		if err != nil {
			yield(Found{}, err)
			return
		}
		for _, c := range connections {
			src, m, _, err := e.through(ctx, c)
			if err != nil {
				if !yield(Found{}, err) {
					return
				}
				continue
			}
			for i := range m.Tools {
				a := Address{c.Source, c.Scope, c.Name, m.Tools[i].Name}
				if e.Sees(a) && !yield(Found{Address: a, Tool: &m.Tools[i], Manifest: m.Manifest, Source: *src, Connection: c}, nil) {
					return
				}
			}
		}
	}
}

// Sees tells whether scopes and toolkits let e know of a.
func (e *Executor) Sees(a Address) bool {
	if !e.scopes.Holds(a.Scope) {
		return false
	}
	for _, t := range e.toolkits {
		if !t.Selects(a) {
			return false
		}
	}
	return true
}

func (e *Executor) find(ctx context.Context, a Address) (found, error) {
	if err := a.check(); err != nil {
		return found{}, err
	}
	if !e.Sees(a) {
		return found{}, e.unseen(ctx, a)
	}
	c, _, err := get[Connection](ctx, e.house, Connections, connectionKey(a.Source, a.Scope, a.Connection))
	if isAbsent(err) {
		return found{}, e.unseen(ctx, a)
	} else if err != nil {
		return found{}, err
	}
	src, m, digest, err := e.through(ctx, *c)
	if err != nil {
		return found{}, err
	}
	tool := m.byName[a.Tool]
	if tool == nil {
		return found{}, e.unseen(ctx, a)
	}
	return found{Found{Address: a, Tool: tool, Manifest: m.Manifest, Source: *src, Connection: *c}, m, digest}, nil
}

// through gives the source of a connection and the manifest it sees.
func (e *Executor) through(ctx context.Context, c Connection) (*Source, *held, string, error) {
	src, _, err := get[Source](ctx, e.house, Sources, string(c.Source))
	if err != nil {
		return nil, nil, "", err
	}
	digest := c.Manifest
	if digest == "" {
		digest = src.Manifest
	}
	m, err := e.manifest(ctx, digest)
	var lost *Error
	if errors.As(err, &lost) {
		lost.Hint = fmt.Sprintf("run: executor source refresh %s", src.ID)
	}
	return src, m, digest, err
}

// unseen is the error for a tool that is not there or not for e. What it offers
// instead is what e sees.
func (e *Executor) unseen(ctx context.Context, a Address) error {
	err := &Error{
		Code: NotFound, Op: "find",
		Msg:  fmt.Sprintf("there is no tool %q", a),
		Hint: "run: executor tools search <what it should do>",
	}
	if near := e.near(ctx, a); len(near) > 0 {
		err.Hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return err
}

// near gives up to three addresses that look like a.
func (e *Executor) near(ctx context.Context, a Address) []string {
	type candidate struct {
		text     string
		distance int
	}
	var all []candidate
	want := a.String()
	for f, err := range e.Tools(ctx) {
		if err != nil {
			continue
		}
		text := f.Address.String()
		if d := spelling.Distance(want, text, len(want)/4+1); d <= len(want)/4 {
			all = append(all, candidate{text, d})
		}
	}
	slices.SortStableFunc(all, func(x, y candidate) int { return x.distance - y.distance })
	var texts []string
	for _, c := range all[:min(3, len(all))] {
		texts = append(texts, c.text)
	}
	return texts
}

// isAbsent tells whether err says that something is not there.
func isAbsent(err error) bool { return CodeOf(err) == NotFound }
