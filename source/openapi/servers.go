package openapi

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/open-executor/executor"
)

// base gives the server of one operation: an override, else the first usable one
// of the operation, its path item, the document. "" where there is none; then a
// note says so and calls need an override.
func (c *compiler) base(op operation) string {
	base := c.cfg.Base
	if base == "" && c.swagger {
		base = c.swaggerBase(op)
	} else if base == "" {
		for _, from := range []node{op.own.get("servers"), op.shared("servers"), c.doc.get("servers")} {
			if base = c.server(from); base != "" {
				break
			}
		}
		if base == "" {
			base = c.homeOrigin("/servers")
		}
	}
	if u, err := url.Parse(base); err == nil && u.Host != "" {
		c.hosts[origin(u)] = true
	}
	return base
}

// server gives the first usable URL of a list of servers, or "".
func (c *compiler) server(list node) string {
	var chosen string
	var others []string
	for _, s := range list.array() {
		raw := s.str("url")
		filled := c.fill(s, raw)
		if filled == "" && raw != "" || strings.ContainsAny(filled, "{}") {
			continue
		}
		if chosen != "" {
			if one := strings.TrimRight(filled, "/"); one != chosen && !slices.Contains(others, one) {
				others = append(others, one)
			}
			continue
		}
		u, err := url.Parse(filled)
		if err != nil {
			c.notes.add(s.where(), fmt.Sprintf("the server %q is not a URL", filled))
			continue
		}
		if !u.IsAbs() && c.home != nil && c.home.Scheme != "file" {
			u = c.home.ResolveReference(u)
		}
		if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			c.notes.add(s.where(), fmt.Sprintf("the server %q has no host", filled))
			continue
		}
		u.RawQuery, u.Fragment = "", ""
		chosen = strings.TrimRight(u.String(), "/")
	}
	if len(others) > 0 {
		c.notes.add(list.where(), fmt.Sprintf("the first of several servers is used; others are %q", others))
	}
	return chosen
}

var blankServer = regexp.MustCompile(`\{([^{}]*)\}`)

// fill puts values into the blanks of a server's URL: the config's, else the
// default, else the first one allowed.
func (c *compiler) fill(server node, raw string) string {
	variables := server.get("variables")
	return blankServer.ReplaceAllStringFunc(raw, func(blank string) string {
		name := blank[1 : len(blank)-1]
		if value, ok := c.cfg.Variables[name]; ok {
			return value
		}
		v := variables.get(name)
		value := strings.Trim(string(compact(nil, lookup(v.raw, "default"))), `"`)
		if allowed := v.get("enum").strings(); value == "" && len(allowed) > 0 {
			value = allowed[0]
		}
		if value == "" {
			c.notes.add(server.where(), fmt.Sprintf("the server variable %q has no value; set it in the source's variables", name))
			return blank
		}
		return value
	})
}

// swaggerBase joins scheme, host and basePath; https where it may be chosen.
func (c *compiler) swaggerBase(op operation) string {
	schemes := op.own.get("schemes").strings()
	if len(schemes) == 0 {
		schemes = c.doc.get("schemes").strings()
	}
	host, scheme := c.doc.str("host"), ""
	for _, s := range schemes {
		if s == "https" || s == "http" && scheme == "" {
			scheme = s
		}
	}
	remote := c.home != nil && c.home.Scheme != "file"
	if scheme == "" {
		scheme = "https"
		if remote && (host == "" || host == c.home.Host) {
			scheme = c.home.Scheme
		}
	}
	path := strings.TrimRight(c.doc.str("basePath"), "/")
	if path != "" && path[0] != '/' {
		path = "/" + path
	}
	if host == "" {
		if remote {
			return scheme + "://" + c.home.Host + path
		}
		c.notes.add("/host", noServer)
		return ""
	}
	return scheme + "://" + host + path
}

const noServer = "the description names no usable server: add the source with --base-url before calling its tools"

func (c *compiler) homeOrigin(where string) string {
	if c.home != nil && c.home.Scheme != "file" {
		return origin(c.home)
	}
	c.notes.add(where, noServer)
	return ""
}

// origin gives scheme and host in lower case, without the scheme's own port
// (RFC 6454).
func origin(u *url.URL) string {
	host, port := u.Hostname(), u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	scheme := strings.ToLower(u.Scheme)
	if port == "" || port == "80" && scheme == "http" || port == "443" && scheme == "https" {
		return scheme + "://" + strings.ToLower(host)
	}
	return scheme + "://" + strings.ToLower(net.JoinHostPort(u.Hostname(), port))
}

// absolute checks an override.
func absolute(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", &executor.Error{
			Code: executor.Invalid, Op: "resolve",
			Msg:  fmt.Sprintf("base %q is not an absolute URL", base),
			Hint: "write it with its scheme, for example https://api.example.com/v1",
		}
	}
	return strings.TrimRight(base, "/"), nil
}
