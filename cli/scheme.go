package cli

import (
	"fmt"
	"strings"

	"github.com/open-executor/executor"
)

// A scheme is a way to sign in as it is typed: one that the source offers, or one
// of none, bearer, basic, header:NAME, query:NAME and cookie:NAME. Several between
// commas are all applied to every call.

// checkScheme refuses what looks like a built-in scheme and is not one.
func checkScheme(scheme string) error {
	for _, one := range strings.Split(scheme, ",") {
		word, name, named := strings.Cut(one, ":")
		if one == "" || named && (name == "" || placeOf[word] == "") {
			return usageError(fmt.Sprintf("%q is not a way to sign in", one), builtinSchemes)
		}
	}
	return nil
}

const builtinSchemes = "built in are: none, bearer, basic, header:NAME, query:NAME, cookie:NAME"

var placeOf = map[string]executor.AuthPlace{
	"header": executor.InHeader, "query": executor.InQuery, "cookie": executor.InCookie,
}

// authOf makes the template that scheme names.
func authOf(src executor.Source, scheme string) (executor.Auth, error) {
	var all executor.Auth
	names := strings.Split(scheme, ",")
	for _, name := range names {
		auth, err := oneAuth(src, name, len(names) > 1)
		if err != nil {
			return executor.Auth{}, err
		}
		all.Parts = append(all.Parts, auth.Parts...)
		if len(names) == 1 {
			return auth, nil
		}
	}
	all.Name = scheme
	return all, nil
}

func oneAuth(src executor.Source, name string, joined bool) (executor.Auth, error) {
	for _, auth := range src.Auth {
		if auth.Name == name {
			return auth, nil
		}
	}
	key := "token"
	word, target, named := strings.Cut(name, ":")
	if joined && named {
		key = strings.ToLower(target)
	}
	part := executor.AuthPart{In: placeOf[word], Name: target, Secret: key}
	switch {
	case name == "none":
		return executor.Auth{Name: name}, nil
	case name == "bearer":
		part = executor.AuthPart{In: executor.Bearer, Secret: key}
	case name == "basic":
		part = executor.AuthPart{In: executor.Basic, Secret: "password"}
	case !named || target == "" || part.In == "":
		return executor.Auth{}, noScheme(src, name)
	case part.In != executor.InQuery && !isToken(target):
		return executor.Auth{}, usageError(fmt.Sprintf("%q cannot be the name of a %s", target, word), "use letters, digits and -")
	}
	return executor.Auth{Name: name, Parts: []executor.AuthPart{part}}, nil
}

// isToken tells whether a header or a cookie may have this name (RFC 9110, section
// 5.6.2).
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}

func noScheme(src executor.Source, name string) error {
	msg := fmt.Sprintf("source %q offers no way to sign in called %q", src.ID, name)
	if name == "" {
		msg = fmt.Sprintf("source %q does not say how to sign in", src.ID)
	}
	hint := "--auth takes one of its own"
	for i, auth := range src.Auth {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		hint += sep + auth.Name
	}
	if len(src.Auth) == 0 {
		hint = "give --auth"
	}
	return usageError(msg, hint+"; "+builtinSchemes)
}

// guessAuth chooses a template where none was named: the source's first, else
// what the keys of the secrets suggest.
func guessAuth(src executor.Source, secrets map[string]executor.SecretRef) (executor.Auth, error) {
	_, token := secrets["token"]
	_, username := secrets["username"]
	_, password := secrets["password"]
	switch {
	case len(src.Auth) > 0:
		return src.Auth[0], nil
	case len(secrets) == 1 && token:
		return authOf(src, "bearer")
	case len(secrets) == 2 && username && password:
		return authOf(src, "basic")
	}
	return executor.Auth{}, noScheme(src, "")
}
