package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
)

func (a *app) sourceCommand() *cobra.Command {
	return group("source", "Where tools come from", a.sourceAddCommand(), a.sourceListCommand(),
		a.sourceShowCommand(), a.sourceRefreshCommand(), a.sourceRemoveCommand())
}

// sourceFlags is what `source add` is told.
type sourceFlags struct {
	kind, spec, base, auth, title string
	headers, hosts                []string
	private                       bool
	timeout                       time.Duration
	maxBytes                      int64
}

func (a *app) sourceAddCommand() *cobra.Command {
	var f sourceFlags
	cmd := &cobra.Command{
		Use:   "add <id>",
		Short: "Add an API",
		Long: `Add an API. Its description is read, and every operation becomes a tool.
"executor source add sample" adds an API that answers from inside this program.

Where the description asks for no sign-in, or with --auth none, the connection
"public" exists at once and the tools can be called.`,
		Example: `  executor source add sample
  executor source add github --spec https://example.com/openapi.json
  executor source add pets --spec ./openapi.yaml --base-url http://localhost:8080 --allow-private`,
		Args: wants("<id>"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.addSource(cmd.Context(), executor.SourceID(args[0]), f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.kind, "kind", "openapi", "kind of source")
	flags.StringVar(&f.spec, "spec", "", "URL or file of the description, - for stdin")
	flags.StringVar(&f.base, "base-url", "", "where calls go, if not where the description says")
	flags.BoolVar(&f.private, "allow-private", false, "let calls reach loopback and private addresses")
	flags.StringArrayVar(&f.hosts, "allow-host", nil, "another `origin` calls may reach, https://api.example.com")
	flags.StringArrayVar(&f.headers, "header", nil, "`name=value` sent with every call; never a secret")
	flags.StringVar(&f.auth, "auth", "", "way to sign in: none, or the `scheme` that connect will use")
	flags.DurationVar(&f.timeout, "timeout", 0, "for one call; 0: 60s")
	flags.Int64Var(&f.maxBytes, "max-bytes", 0, "of one answer; 0: 128 MiB")
	flags.StringVar(&f.title, "title", "", "name for people")
	return cmd
}

const sampleID executor.SourceID = "sample"

func (a *app) addSource(ctx context.Context, id executor.SourceID, f sourceFlags) error {
	headers, err := staticHeaders(f.headers)
	if err != nil {
		return err
	}
	src := executor.Source{
		ID: id, Kind: f.kind, Title: f.title, Headers: headers, Hosts: f.hosts, AllowPrivate: f.private,
		Limits: executor.Limits{Timeout: executor.Duration(f.timeout), MaxBytes: f.maxBytes},
	}
	if src.Config, err = a.sourceConfig(id, f); err != nil {
		return err
	}
	if f.auth != "" && f.auth != "none" {
		if err := checkScheme(f.auth); err != nil {
			return err
		}
	}
	return a.with(ctx, func(e *executor.Executor) error {
		stop := a.progress("reading the description of " + string(id))
		added, err := e.AddSource(ctx, src)
		stop()
		if err != nil {
			return err
		}
		if f.auth == "none" {
			if err := ensurePublic(ctx, e, id); err != nil {
				return err
			}
		}
		view, err := viewSource(ctx, e, added)
		if err != nil {
			return err
		}
		a.showAdded(view, f.auth)
		return nil
	})
}

// sourceConfig makes the config of a kind that reads a description.
func (a *app) sourceConfig(id executor.SourceID, f sourceFlags) (json.RawMessage, error) {
	if f.spec == "" && id == sampleID && f.base == "" && f.kind == "openapi" {
		return a.Sample.Config(), nil
	}
	config := map[string]string{}
	if f.base != "" {
		config["base"] = f.base
	}
	switch {
	case f.spec == "" && f.kind == "openapi":
		return nil, usageError("--spec is missing", "write: executor source add "+string(id)+" --spec <url, file or ->")
	case f.spec == "-":
		text, err := io.ReadAll(a.In)
		if err != nil {
			return nil, unreadable("stdin", err)
		}
		config["text"] = string(text)
	case isURL(f.spec):
		config["spec"] = f.spec
	case f.spec != "":
		path, err := filepath.Abs(f.spec)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(path); err != nil {
			return nil, usageError("the description cannot be read: "+err.Error(), "--spec takes a URL, a file, or - for stdin")
		}
		config["spec"] = path
	}
	return encode(config)
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// staticHeaders reads "name=value" words of --header. They are kept as they are, so
// none may be a credential; a word is never repeated, for it may hold one.
func staticHeaders(words []string) (map[string]string, error) {
	if len(words) == 0 {
		return nil, nil
	}
	headers := map[string]string{}
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		switch {
		case !ok || !isToken(name):
			return nil, usageError("--header is not name=value", "write: --header name=value")
		case strings.ContainsAny(value, "\r\n\x00"):
			return nil, usageError(fmt.Sprintf("the value of the header %q has a line break", name), "write it on one line")
		case signsIn(name):
			return nil, usageError(fmt.Sprintf("the header %q signs in, and --header is not for secrets", name),
				"run: executor connect <source> <name> --auth header:"+name+" --secret token=env://NAME")
		}
		headers[name] = value
	}
	return headers, nil
}

// signsIn tells whether a header is there to carry a credential.
func signsIn(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	return slices.ContainsFunc([]string{"authorization", "cookie", "api-key", "apikey", "secret", "password"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}

// ensurePublic makes the connection that signs nothing, unless there is one.
func ensurePublic(ctx context.Context, e *executor.Executor, id executor.SourceID) error {
	connections, err := e.Connections(ctx)
	if err != nil {
		return err
	}
	for _, c := range connections {
		if c.Source == id && c.Name == executor.Public {
			return nil
		}
	}
	_, err = e.Connect(ctx, executor.Connection{
		Source: id, Scope: e.Scopes().Inner(), Name: executor.Public, Auth: executor.Auth{Name: "none"},
	})
	return err
}

func (a *app) showAdded(v sourceView, auth string) {
	if a.json() {
		v.Next = nextFor(v, auth)
		a.out.value(v)
		return
	}
	s := a.style
	a.out.text(fmt.Sprintf("added %s: %s (%d read, %d write, %d destroy)\n", s.bold(string(v.ID)), count(v.Tools, "tool"),
		v.Effects[executor.Read], v.Effects[executor.Write], v.Effects[executor.Destroy]))
	if v.Found > v.Tools {
		a.note("%s of the description could not be used", count(v.Found-v.Tools, "operation"))
	}
	for i, n := range v.Notes {
		if i == 5 {
			a.note("  … and %d more; executor source show %s has all", len(v.Notes)-i, v.ID)
			break
		}
		a.note("  %s: %s", line(n.Where), line(n.Text))
	}
	a.next(nextFor(v, auth)...)
}

// nextFor gives the command to type after a source was added.
func nextFor(v sourceView, auth string) []string {
	if v.ID == sampleID {
		return firstSteps[2:]
	}
	if len(v.Connections) > 0 {
		if v.Try != "" {
			return []string{"executor call " + v.Try}
		}
		return []string{"executor tools list --source " + string(v.ID)}
	}
	keys := []string{"token"}
	scheme := ""
	if auth != "" {
		scheme = " --auth " + auth
	} else if len(v.Auth) > 0 {
		keys = v.Auth[0].Keys
	}
	command := "executor connect " + string(v.ID) + " main" + scheme
	for _, key := range keys {
		command += " --secret " + key + "=env://" + envName(string(v.ID)+"_"+key)
	}
	return []string{command}
}

// envName makes a name for an environment variable.
func envName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(s))
}
