package executor

import (
	"context"
	"slices"
)

// A Drift is how a refreshed source differs from before.
type Drift struct {
	Added   []ToolName `json:"added"`
	Removed []ToolName `json:"removed"`
	Changed []ToolName `json:"changed"`
	Hosts   []string   `json:"hosts,omitempty"` // origins the description now names that calls may not reach
}

// RefreshSource resolves the description again. Policy, connections and the hosts that
// calls may reach stay as they are. Agents are Blocked.
func (e *Executor) RefreshSource(ctx context.Context, id SourceID) (Source, Drift, error) {
	if err := e.people("refresh a source"); err != nil {
		return Source{}, Drift{}, err
	}
	s, err := e.Source(ctx, id)
	if err != nil {
		return Source{}, Drift{}, err
	}
	m, err := e.resolve(ctx, s, nil)
	if CodeOf(err) == NeedsAuth && s.Manifest == "" {
		drift, err := e.refreshConnections(ctx, s)
		return s, drift, err
	}
	if err != nil {
		return Source{}, Drift{}, e.clean(err, "")
	}
	was := s.Manifest
	drift, err := e.replaceManifest(ctx, &s.Manifest, m, s.Hosts)
	if err != nil {
		return Source{}, Drift{}, err
	}
	s.Auth, s.Refreshed = m.Auth, e.now().UTC()
	if s.Version, err = put(ctx, e.house, Sources, string(id), s, s.Version); err != nil {
		return Source{}, Drift{}, err
	}
	if was != s.Manifest {
		err = e.dropManifest(ctx, was)
	}
	return s, drift, err
}

// refreshConnections resolves a source whose tools differ by connection, through each.
func (e *Executor) refreshConnections(ctx context.Context, s Source) (Drift, error) {
	all := Drift{Added: []ToolName{}, Removed: []ToolName{}, Changed: []ToolName{}}
	connections, err := e.Connections(ctx)
	if err != nil {
		return all, err
	}
	for _, c := range connections {
		if c.Source != s.ID {
			continue
		}
		sign, err := e.signatures(ctx, c)
		if err != nil {
			return all, e.clean(err, "")
		}
		m, err := e.resolve(ctx, s, sign)
		if err != nil {
			return all, e.clean(err, "")
		}
		was := c.Manifest
		drift, err := e.replaceManifest(ctx, &c.Manifest, m, s.Hosts)
		if err != nil {
			return all, err
		}
		if _, err := put(ctx, e.house, Connections, connectionKey(c.Source, c.Scope, c.Name), c, c.Version); err != nil {
			return all, err
		}
		if was != c.Manifest {
			if err := e.dropManifest(ctx, was); err != nil {
				return all, err
			}
		}
		all.Added, all.Removed, all.Changed = append(all.Added, drift.Added...), append(all.Removed, drift.Removed...), append(all.Changed, drift.Changed...)
		all.Hosts = append(all.Hosts, drift.Hosts...)
	}
	return all, nil
}

// replaceManifest keeps m and puts its digest in place of the one at digest.
func (e *Executor) replaceManifest(ctx context.Context, digest *string, m Manifest, hosts []string) (Drift, error) {
	old := &Manifest{}
	if *digest != "" {
		if kept, err := e.Manifest(ctx, *digest); err == nil { // a lost one is what refreshing mends
			old = kept
		}
	}
	fresh, err := e.keepManifest(ctx, &m)
	if err != nil {
		return Drift{}, err
	}
	*digest = fresh
	drift := drifted(old, &m)
	for _, h := range m.Hosts {
		if !slices.Contains(hosts, h) {
			drift.Hosts = append(drift.Hosts, h)
		}
	}
	return drift, nil
}

func drifted(old, fresh *Manifest) Drift {
	d := Drift{Added: []ToolName{}, Removed: []ToolName{}, Changed: []ToolName{}}
	before := map[ToolName]string{}
	for i := range old.Tools {
		before[old.Tools[i].Name] = old.whole(&old.Tools[i])
	}
	for i := range fresh.Tools {
		name := fresh.Tools[i].Name
		was, ok := before[name]
		switch {
		case !ok:
			d.Added = append(d.Added, name)
		case was != fresh.whole(&fresh.Tools[i]):
			d.Changed = append(d.Changed, name)
		}
		delete(before, name)
	}
	for i := range old.Tools {
		if _, gone := before[old.Tools[i].Name]; gone {
			d.Removed = append(d.Removed, old.Tools[i].Name)
		}
	}
	return d
}

// whole is the digest of a tool with all schemas it refers to.
func (m *Manifest) whole(t *Tool) string {
	full := *t
	full.Input, full.Output = m.Schema(t.Input), m.Schema(t.Output)
	return full.digest()
}
