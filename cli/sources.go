package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
)

// sourceView is a source as it is shown.
type sourceView struct {
	ID          executor.SourceID       `json:"id"`
	Kind        string                  `json:"kind"`
	Title       string                  `json:"title,omitempty"`
	Tools       int                     `json:"tools"`
	Effects     map[executor.Effect]int `json:"effects"`
	Found       int                     `json:"found"`
	Auth        []authView              `json:"auth"`
	Connections []string                `json:"connections"`
	Hosts       []string                `json:"hosts"`
	Config      json.RawMessage         `json:"config,omitempty"`
	Notes       []executor.Note         `json:"notes,omitempty"`
	Added       string                  `json:"added"`
	Refreshed   string                  `json:"refreshed"`
	Next        []string                `json:"next,omitempty"`

	Try       string `json:"-"` // address of a read that needs no arguments
	refreshed time.Time
}

type authView struct {
	Name string   `json:"name"`
	Keys []string `json:"keys"`
}

// viewSource looks at a source, its manifest and its connections.
func viewSource(ctx context.Context, e *executor.Executor, src executor.Source) (sourceView, error) {
	v := sourceView{
		ID: src.ID, Kind: src.Kind, Title: src.Title, Effects: map[executor.Effect]int{}, Hosts: src.Hosts,
		Config: folded(src.Config), Auth: []authView{}, Connections: []string{},
		Added: stamp(src.Added), Refreshed: stamp(src.Refreshed), refreshed: src.Refreshed,
	}
	for _, auth := range src.Auth {
		v.Auth = append(v.Auth, authView{auth.Name, auth.Keys()})
	}
	connections, err := e.Connections(ctx)
	if err != nil {
		return v, err
	}
	manifest, account := src.Manifest, ""
	for _, c := range connections {
		if c.Source == src.ID {
			account = string(c.Scope) + "." + string(c.Name)
			v.Connections = append(v.Connections, account)
			if manifest == "" {
				manifest = c.Manifest
			}
		}
	}
	if manifest == "" {
		return v, nil
	}
	m, err := e.Manifest(ctx, manifest)
	if err != nil {
		return v, err
	}
	v.Tools, v.Found, v.Notes = len(m.Tools), m.Found, m.Notes
	if v.Title == "" {
		v.Title = m.Title
	}
	if len(v.Hosts) == 0 {
		v.Hosts = m.Hosts
	}
	for i := range m.Tools {
		v.Effects[effectOf(m.Tools[i].Effect)]++
		if v.Try == "" && account != "" && m.Tools[i].Effect == executor.Read && !needsArguments(m, m.Tools[i]) {
			v.Try = string(src.ID) + "." + account + "." + string(m.Tools[i].Name)
		}
	}
	return v, nil
}

func needsArguments(m *executor.Manifest, t executor.Tool) bool {
	return slices.ContainsFunc(shapeOf(m, t.Input).parts(), func(part shape) bool {
		required, _ := part.node["required"].([]any)
		return len(required) > 0
	})
}

// folded shortens the description inside a config.
func folded(config json.RawMessage) json.RawMessage {
	var c map[string]json.RawMessage
	if json.Unmarshal(config, &c) != nil {
		return config
	}
	var text string
	if json.Unmarshal(c["text"], &text) != nil {
		return config
	}
	c["text"], _ = encode(fmt.Sprintf("(%d bytes)", len(text))) // text always encodes
	short, err := encode(c)
	if err != nil {
		return config
	}
	return short
}

func (a *app) sourceListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List sources", Args: wants(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(e *executor.Executor) error {
				views, err := viewSources(cmd.Context(), e)
				if err != nil {
					return err
				}
				a.listSources(views)
				return nil
			})
		},
	}
}

func viewSources(ctx context.Context, e *executor.Executor) ([]sourceView, error) {
	sources, err := e.Sources(ctx)
	if err != nil {
		return nil, err
	}
	var views []sourceView
	for _, src := range sources {
		v, err := viewSource(ctx, e, src)
		if err != nil {
			v.Notes = append(v.Notes, executor.Note{Where: "manifest", Text: err.Error()})
		}
		views = append(views, v)
	}
	return views, nil
}

func (a *app) listSources(views []sourceView) {
	if a.json() {
		for _, v := range views {
			v.Config, v.Notes = nil, nil
			a.out.value(v)
		}
		return
	}
	if len(views) == 0 {
		a.note("no sources")
		a.next("executor source add sample")
		return
	}
	t := &table{head: []string{"source", "kind", "tools", "connections", "title", "refreshed"}}
	now := time.Now()
	for _, v := range views {
		t.add(string(v.ID), v.Kind, fmt.Sprint(v.Tools), strings.Join(v.Connections, ", "), v.Title, ago(v.refreshed, now))
	}
	a.table(t)
}

func (a *app) sourceShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show <id>", Short: "Show one source", Args: wants("<id>"), ValidArgsFunction: a.completeSource,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(e *executor.Executor) error {
				src, err := e.Source(cmd.Context(), executor.SourceID(args[0]))
				if err != nil {
					return err
				}
				v, err := viewSource(cmd.Context(), e, src)
				if err != nil {
					return err
				}
				if a.json() {
					a.out.value(v)
				} else {
					a.showSource(v)
				}
				return nil
			})
		},
	}
}

func (a *app) showSource(v sourceView) {
	s := a.style
	var b strings.Builder
	row := func(name, value string) { fmt.Fprintf(&b, "%s %s\n", s.dim(fmt.Sprintf("%-11s", name)), value) }
	row("source", s.bold(string(v.ID))+note(v.Title))
	row("kind", v.Kind)
	row("tools", fmt.Sprintf("%d (%d read, %d write, %d destroy)", v.Tools,
		v.Effects[executor.Read], v.Effects[executor.Write], v.Effects[executor.Destroy]))
	for _, auth := range v.Auth {
		row("sign-in", line(auth.Name+" ("+strings.Join(auth.Keys, ", ")+")"))
	}
	row("connections", strings.Join(v.Connections, ", "))
	row("goes to", line(strings.Join(v.Hosts, ", ")))
	row("config", line(string(v.Config)))
	row("refreshed", v.Refreshed)
	for _, n := range v.Notes {
		row("note", line(n.Where+": "+n.Text))
	}
	a.out.text(b.String())
}

func (a *app) sourceRefreshCommand() *cobra.Command {
	return &cobra.Command{
		Use: "refresh <id>", Short: "Read the description again, and show what changed", Args: wants("<id>"),
		ValidArgsFunction: a.completeSource,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(e *executor.Executor) error {
				stop := a.progress("reading the description of " + args[0])
				src, drift, err := e.RefreshSource(cmd.Context(), executor.SourceID(args[0]))
				stop()
				if err != nil {
					return err
				}
				a.showDrift(src.ID, drift)
				return nil
			})
		},
	}
}

func (a *app) showDrift(id executor.SourceID, d executor.Drift) {
	if a.json() {
		a.out.value(struct {
			Source executor.SourceID `json:"source"`
			executor.Drift
		}{id, d})
		return
	}
	s := a.style
	for _, name := range d.Added {
		a.out.text(s.green("+ ") + string(name) + "\n")
	}
	for _, name := range d.Removed {
		a.out.text(s.red("- ") + string(name) + "\n")
	}
	for _, name := range d.Changed {
		a.out.text(s.yellow("~ ") + string(name) + "\n")
	}
	if len(d.Added)+len(d.Removed)+len(d.Changed) == 0 {
		a.out.text("nothing changed\n")
	}
	for _, host := range d.Hosts {
		a.note("the description now names %s, which calls may not reach; to allow it, remove the source and add it with --allow-host %s", clean(host), clean(host))
	}
}

func (a *app) sourceRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove <id>", Short: "Remove a source, its connections and its rules", Args: wants("<id>"),
		ValidArgsFunction: a.completeSource,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(e *executor.Executor) error {
				gone, err := e.RemoveSource(cmd.Context(), executor.SourceID(args[0]))
				if err != nil {
					return err
				}
				a.say(map[string]any{"removed": args[0], "connections": gone.Connections, "policies": gone.Policies},
					"removed %s, with %s and %s", args[0], count(gone.Connections, "connection"), count(gone.Policies, "rule"))
				return nil
			})
		},
	}
}
