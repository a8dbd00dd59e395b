package openapi_test

import (
	"net/http"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/source/openapi"
)

var _ executor.Checker = openapi.Kind{}

func TestACheckAsksWhoTheConnectionIs(t *testing.T) {
	status := http.StatusOK
	u := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	tool := func(name, method, path, input string) executor.Tool {
		return executor.Tool{Name: executor.ToolName(name), Input: []byte(input), Binding: encode(t, binding{Method: method, Base: u.URL, Path: path})}
	}
	tools := []executor.Tool{
		tool("things.list", "GET", "/t", `{}`),
		tool("health.ping", "GET", "/ping", `{}`),
		tool("user.delete", "DELETE", "/me", `{}`),
		tool("users.get", "GET", "/users/{id}", `{"required":["id"]}`),
		tool("user.current", "GET", "/user", `{"properties":{"q":{}}}`),
		tool("user.search", "GET", "/me", `{"required":["q"]}`),
	}
	check := func(tools []executor.Tool) error {
		return openapi.Kind{}.Check(t.Context(), executor.Source{}, executor.Manifest{Tools: tools}, executor.Unsigned(u.Client()))
	}
	if err := check(tools); err != nil || u.seen[0].Line != "GET /user" {
		t.Errorf("Check = %v after %q, want nil after GET /user", err, u.seen[0].Line)
	}
	if err := check(tools[:1]); err != nil || u.seen[1].Line != "GET /t" {
		t.Errorf("Check = %v after %q, want nil after GET /t", err, u.seen[1].Line)
	}
	for given, want := range map[int]executor.Code{401: executor.NeedsAuth, 403: executor.NeedsAuth, 404: "", 503: executor.Unavailable} {
		status = given
		if got := executor.CodeOf(check(tools)); got != want {
			t.Errorf("Check after %d = %q, want %q", given, got, want)
		}
	}
	if got := executor.CodeOf(check(tools[2:4])); got != executor.NotFound {
		t.Errorf("Check without a cheap GET = %q, want not_found", got)
	}
}
