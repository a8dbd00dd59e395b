package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
)

// connectFlags is what `connect` is told.
type connectFlags struct {
	scope, auth      string
	secrets, headers []string
}

func (a *app) connectCommand() *cobra.Command {
	var f connectFlags
	cmd := &cobra.Command{
		Use:   "connect <source> <name>",
		Short: "Sign in to a source",
		Long: `Sign in to a source. The name says which account it is: work, prod, ada.

A secret is given as a reference, --secret token=env://NAME, and read when a call
needs it. A secret that is not given is typed at the terminal, unseen, and kept
encrypted. A value on the command line is refused: other processes would see it.

--auth names a way to sign in that the source offers, or one of none, bearer,
basic, header:NAME, query:NAME, cookie:NAME; several between commas are all
applied. Without it the first that the source offers is taken.`,
		Example: `  executor connect github work --secret token=env://GITHUB_TOKEN
  executor connect crm main --auth header:X-Api-Key
  executor connect shop prod --auth basic --secret username=env://U --secret password=env://P`,
		Args:              unechoed(wants("<source>", "<name>")),
		ValidArgsFunction: a.completeSource,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.connect(cmd.Context(), executor.SourceID(args[0]), executor.ConnectionName(args[1]), f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.scope, "scope", "", "where the account belongs; the innermost scope (user) if not given")
	flags.StringVar(&f.auth, "auth", "", "way to sign in")
	_ = cmd.RegisterFlagCompletionFunc("auth", a.completeScheme) // the flag was just made
	flags.StringArrayVar(&f.secrets, "secret", nil, "`key=reference` of a secret, token=env://NAME")
	flags.StringArrayVar(&f.headers, "header", nil, "`name=value` sent with every call; never a secret")
	return cmd
}

// unechoed does not repeat an argument that is too many: it may be a secret.
func unechoed(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err == nil || len(args) <= 2 {
			return err
		}
		return usageError("there is one argument too many",
			"write: "+cmd.CommandPath()+" <source> <name>; a secret is given as --secret token=env://NAME, or typed at the prompt")
	}
}

func (a *app) connect(ctx context.Context, id executor.SourceID, name executor.ConnectionName, f connectFlags) error {
	headers, err := staticHeaders(f.headers)
	if err != nil {
		return err
	}
	refs, err := secretRefs(f.secrets)
	if err != nil {
		return err
	}
	var src executor.Source
	var scope executor.ScopeID
	err = a.with(ctx, func(e *executor.Executor) (err error) {
		scope = e.Scopes().Inner()
		src, err = e.Source(ctx, id)
		return err
	})
	if err != nil {
		return err
	}
	if f.scope != "" {
		scope = executor.ScopeID(f.scope)
	}
	var auth executor.Auth
	if f.auth != "" {
		auth, err = authOf(src, f.auth)
	} else {
		auth, err = guessAuth(src, refs)
	}
	if err != nil {
		return err
	}
	refs = renamed(refs, auth.Keys())
	if err := a.resolveAll(ctx, auth, refs); err != nil {
		return err
	}
	typed, err := a.askMissing(ctx, id, name, auth, refs)
	if err != nil {
		return err
	}
	c := executor.Connection{Source: id, Scope: scope, Name: name, Auth: auth, Secrets: refs, Headers: headers}
	return a.with(ctx, func(e *executor.Executor) error {
		for _, key := range sortedKeys(typed) {
			place := strings.Join([]string{string(id), string(scope), string(name), key}, "/")
			ref, err := e.Keep(ctx, "file", place, typed[key])
			if err != nil {
				return err
			}
			c.Secrets[key] = ref
		}
		stop := a.progress("connecting " + string(id))
		made, err := e.Connect(ctx, c)
		stop()
		if err != nil {
			return err
		}
		return a.showConnected(ctx, e, src, made)
	})
}

// secretRefs reads --secret words. Only references are taken.
func secretRefs(words []string) (map[string]executor.SecretRef, error) {
	refs := map[string]executor.SecretRef{}
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		ref := executor.SecretRef(value)
		switch {
		case !ok && !strings.Contains(word, "://") || key == "":
			return nil, usageError("--secret is not key=reference", "write: --secret token=env://NAME")
		case !ok:
			key, ref = "token", executor.SecretRef(word)
		case ref.Scheme() == "" || ref.Rest() == "":
			return nil, usageError(
				fmt.Sprintf("the secret %q is not a reference: a value on the command line would be seen by other processes", key),
				fmt.Sprintf("put it into a variable and write --secret %s=env://NAME, or leave it out and type it at the prompt", key))
		}
		refs[key] = ref
	}
	return refs, nil
}

// renamed gives the only secret the key that is wanted, where only one is.
func renamed(refs map[string]executor.SecretRef, keys []string) map[string]executor.SecretRef {
	if len(refs) != 1 || len(keys) != 1 {
		return refs
	}
	for _, ref := range refs {
		return map[string]executor.SecretRef{keys[0]: ref}
	}
	return refs
}

// resolveAll tells a person which reference leads nowhere, and why. An agent is
// refused by the executor, and learns nothing here.
func (a *app) resolveAll(ctx context.Context, auth executor.Auth, refs map[string]executor.SecretRef) error {
	if len(auth.Keys()) == 0 && len(refs) > 0 {
		return usageError(fmt.Sprintf("signing in with %q takes no secret", auth.Name), "leave out --secret, or name another way with --auth")
	}
	if a.agent != "" {
		return nil
	}
	for _, key := range sortedKeys(refs) {
		if err := a.Resolve(ctx, refs[key]); err != nil {
			f := failureOf(err)
			code := executor.NeedsAuth
			if executor.CodeOf(err) == executor.Invalid { // no sign-in helps a reference that is none
				code = executor.Invalid
			}
			return &executor.Error{
				Code: code, Op: "connect", Err: err,
				Msg: fmt.Sprintf("the secret %q is not to be had: %s", key, f.Message), Hint: f.Hint,
			}
		}
	}
	return nil
}

// askMissing asks the person at the terminal for the secrets that no reference was
// given for.
func (a *app) askMissing(ctx context.Context, id executor.SourceID, name executor.ConnectionName, auth executor.Auth, refs map[string]executor.SecretRef) (map[string]executor.Secret, error) {
	missing := slices.DeleteFunc(auth.Keys(), func(key string) bool { return refs[key] != "" })
	if len(missing) == 0 {
		return nil, nil
	}
	var flags []string
	for _, key := range missing {
		flags = append(flags, "--secret "+key+"=env://NAME")
	}
	tty, err := a.terminal()
	if err != nil || a.agent != "" || !isTerminal(a.In) {
		if err == nil {
			tty.close()
		}
		return nil, usageError(fmt.Sprintf("signing in with %q needs %s", auth.Name, strings.Join(missing, " and ")),
			"give "+strings.Join(flags, " "))
	}
	defer tty.close()
	tty.print(fmt.Sprintf("Connecting %s as %q. What you type is not shown, and is kept encrypted.\n", id, name))
	typed := map[string]executor.Secret{}
	for _, key := range missing {
		value, err := tty.ask(ctx, key+": ", key != "username")
		if err != nil {
			return nil, err
		}
		if value == "" {
			return nil, &cancelled{"nothing was typed, so nothing was connected"}
		}
		typed[key] = executor.NewSecret(value)
	}
	return typed, nil
}

func (a *app) showConnected(ctx context.Context, e *executor.Executor, src executor.Source, c executor.Connection) error {
	v := viewConnection(c)
	view, err := viewSource(ctx, e, src)
	if err != nil {
		return err
	}
	v.Next = []string{"executor tools list --source " + string(c.Source)}
	if view.Tools > 0 {
		v.Next = append(v.Next, fmt.Sprintf("executor connection check %s %s", c.Source, c.Name))
	}
	if a.json() {
		a.out.value(v)
		return nil
	}
	a.out.text(fmt.Sprintf("connected %s as %s (%s)\n", c.Source, a.style.bold(string(c.Name)), line(c.Auth.Name)))
	a.next(v.Next...)
	return nil
}
