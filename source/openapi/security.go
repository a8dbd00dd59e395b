package openapi

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/open-executor/executor"
)

// security is what a description says about signing in.
type security struct {
	auths    []executor.Auth
	schemes  map[string][]executor.AuthPart // name → parts; nil parts: signs nothing we can do
	keys     map[string]bool                // "place name" of API keys
	fallback node                           // the document's own requirement
	said     bool                           // some requirement was met
	required bool                           // some operation cannot be called without a sign-in
	offered  map[string]bool                // names in auths
}

// readSecurity offers every scheme by itself; combinations follow as operations
// ask for them.
func (c *compiler) readSecurity() security {
	s := security{
		schemes: map[string][]executor.AuthPart{}, keys: map[string]bool{}, offered: map[string]bool{},
		fallback: c.doc.get("security"),
	}
	list := c.doc.get("components").get("securitySchemes")
	if c.swagger {
		list = c.doc.get("securityDefinitions")
	}
	for _, m := range list.object() {
		scheme, ok := c.follow(list.child(m))
		if !ok || strings.HasPrefix(m.name, "x-") {
			continue
		}
		parts, why := authParts(m.name, scheme)
		if why != "" {
			c.notes.add(scheme.where(), why)
		}
		s.schemes[m.name] = parts
		if len(parts) == 0 {
			continue
		}
		if scheme.str("type") == "apiKey" {
			s.keys[scheme.str("in")+" "+strings.ToLower(parts[0].Name)] = true
		}
		s.offered[m.name] = true
		s.auths = append(s.auths, executor.Auth{Name: m.name, Description: cut(c.prose(scheme.get("description")), 500), Parts: parts})
	}
	return s
}

// authParts turns a security scheme into what goes onto the wire, or says why not.
func authParts(name string, scheme node) ([]executor.AuthPart, string) {
	bearer := []executor.AuthPart{{In: executor.Bearer, Secret: "token"}}
	kind := scheme.str("type")
	switch kind {
	case "oauth2", "openIdConnect":
		return bearer, ""
	case "basic":
		return []executor.AuthPart{{In: executor.Basic, Secret: "password"}}, ""
	case "http":
		switch word := scheme.str("scheme"); strings.ToLower(word) {
		case "bearer":
			return bearer, ""
		case "basic":
			return []executor.AuthPart{{In: executor.Basic, Secret: "password"}}, ""
		case "digest", "negotiate", "mutual", "scram-sha-1", "scram-sha-256", "hoba":
			return nil, fmt.Sprintf("HTTP authentication %q needs several messages; it is not offered", word)
		case "":
			return bearer, "the scheme names no HTTP authentication; bearer is assumed"
		default:
			return []executor.AuthPart{{In: executor.InHeader, Name: "Authorization", Prefix: word + " ", Secret: secretKey(name)}}, ""
		}
	case "apiKey":
		place := map[string]executor.AuthPlace{"header": executor.InHeader, "query": executor.InQuery, "cookie": executor.InCookie}[scheme.str("in")]
		if place == "" || scheme.str("name") == "" {
			return nil, "an API key needs a place and a name; it is not offered"
		}
		part := executor.AuthPart{In: place, Name: scheme.str("name"), Secret: secretKey(name)}
		if place == executor.InHeader && strings.EqualFold(part.Name, "Authorization") {
			part.Prefix = keyPrefix(name, scheme.str("description"))
		}
		return []executor.AuthPart{part}, ""
	case "mutualTLS":
		return nil, "the client certificate of mutual TLS is not offered as a sign-in"
	}
	return nil, fmt.Sprintf("a security scheme of type %q is not known; it is not offered", kind)
}

var shownFormat = regexp.MustCompile("[`\"']([A-Za-z][\\w-]* (?:[\\w-]+=)?)[\"']?[<{\\[$]")

// keyPrefix tells what stands before an API key in the header Authorization: as
// its description shows ("Token token=<key>"), or as its name says ("BotToken").
func keyPrefix(name, about string) string {
	if m := shownFormat.FindStringSubmatch(about); m != nil {
		return m[1]
	}
	switch words := splitWords(name); {
	case leads(words, []string{"bearer"}):
		return "Bearer "
	case leads(words, []string{"bot"}):
		return "Bot "
	}
	return ""
}

func secretKey(name string) string {
	if key := plainName(name); key != "" {
		return key
	}
	return "key"
}

// use reads the requirement of one operation.
func (s *security) use(own node) {
	if own.raw == nil {
		own = s.fallback
	}
	if sortOf(own.raw) != '[' {
		return
	}
	s.said = true
	alternatives := own.array()
	optional := len(alternatives) == 0
	for _, one := range alternatives {
		names := one.object()
		optional = optional || len(names) == 0
		s.combine(names)
	}
	s.required = s.required || !optional
}

// combine offers schemes that are wanted together.
func (s *security) combine(names []member) {
	if len(names) < 2 {
		return
	}
	var auth executor.Auth
	var all []string
	for _, m := range names {
		parts := s.schemes[m.name]
		if len(parts) == 0 { // done outside of requests, or not by us: the others still help
			continue
		}
		all = append(all, m.name)
		auth.Parts = append(auth.Parts, parts...)
	}
	auth.Name = strings.Join(all, "+")
	if len(all) > 1 && !s.offered[auth.Name] {
		s.offered[auth.Name] = true
		s.auths = append(s.auths, auth)
	}
}

// public tells whether nothing asks for a sign-in. Schemes that nobody refers to
// are taken as an oversight, not as an offer.
func (s *security) public() bool {
	if s.said {
		return !s.required
	}
	return len(s.auths) == 0
}

// isKey tells of a parameter that repeats an API key: the connection sends it.
func (s *security) isKey(name, place string) bool { return s.keys[place+" "+strings.ToLower(name)] }

var tokenNames = []string{"token", "access_token", "api_key", "apikey", "auth_token", "oauth_token"}

// supplies tells of a required parameter that only repeats the sign-in, as Slack's
// "token" does: it need not be given where the operation is signed.
func (s *security) supplies(p, own node) bool {
	if own.raw == nil {
		own = s.fallback
	}
	place := p.str("in")
	return (place == "query" || place == "header" || place == "formData") && len(own.array()) > 0 &&
		slices.Contains(tokenNames, strings.ToLower(p.str("name"))) &&
		strings.HasPrefix(strings.ToLower(p.str("description")), "authentication token")
}
