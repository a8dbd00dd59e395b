package openapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/open-executor/executor"
)

// Check reads who the connection is, or what else is cheap and needs nothing: a GET
// without required arguments whose name tells that it is about the caller. Where
// there is none, it is the shortest GET; where there is no GET, NotFound.
func (Kind) Check(ctx context.Context, src executor.Source, m executor.Manifest, cred executor.Credential) error {
	tool, b, ok := cheapest(m.Tools)
	if !ok {
		return &executor.Error{
			Code: executor.NotFound, Op: "check", Msg: "no call is known that needs no arguments and changes nothing", Unsent: true,
			Hint: "call any tool of the source to see whether the connection works",
		}
	}
	r, err := b.exchange(ctx, executor.Call{Source: src, Tool: tool, Args: json.RawMessage(`{}`), Credential: cred})
	if err != nil {
		return err
	}
	if r.Body != nil {
		_ = r.Body.Content.Close() // only the status was wanted
	}
	switch {
	case r.Fault == nil:
		return nil
	case r.Fault.Status == http.StatusUnauthorized, r.Fault.Status == http.StatusForbidden:
		return &executor.Error{
			Code: executor.NeedsAuth, Op: "check", Msg: fmt.Sprintf("upstream refused the credential at %s: %s", tool.Name, r.Fault.Message),
			Hint: "connect again with a credential that is valid",
		}
	case r.Fault.Status >= 500:
		return &executor.Error{Code: executor.Unavailable, Op: "check", Msg: fmt.Sprintf("upstream is in trouble at %s: %s", tool.Name, r.Fault.Message)}
	}
	return nil // another refusal still means that the credential passed
}

// cheapest picks the tool that Check calls.
func cheapest(tools []executor.Tool) (tool executor.Tool, how binding, ok bool) {
	least := -1
	for _, t := range tools {
		var b binding
		if json.Unmarshal(t.Binding, &b) != nil || b.Method != http.MethodGet || strings.Contains(b.Path, "{") || needsArguments(t.Input) {
			continue
		}
		if cost := costOf(t, b); least < 0 || cost < least {
			tool, how, least = t, b, cost
		}
	}
	return tool, how, least >= 0
}

// costOf is low for what is about the caller, then for what is small, then for what
// has a short path.
func costOf(tool executor.Tool, b binding) int {
	words := strings.FieldsFunc(strings.ToLower(b.Path+"/"+string(tool.Name)), func(r rune) bool { return strings.ContainsRune("/._-", r) })
	cost := 1000 + len(b.Path)
	for i, names := range [][]string{{"me", "whoami", "self", "userinfo"}, {"user", "account", "viewer", "profile"}, {"auth", "token", "session"}, {"status", "ping"}} {
		for _, name := range names {
			if slices.Contains(words, name) {
				cost = min(cost, 200*i+len(b.Path))
			}
		}
	}
	if tool.Deprecated {
		cost += 5000
	}
	return cost
}

func needsArguments(schema json.RawMessage) bool {
	var s struct {
		Required []string `json:"required"`
	}
	return len(schema) > 0 && json.Unmarshal(schema, &s) != nil || len(s.Required) > 0
}
