package openapi_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/open-executor/executor/source/openapi"
	"github.com/open-executor/executor/source/sourcetest"
)

const phoneBook = `{
	"openapi": "3.1.0", "info": {"title": "Phone book", "version": "1"}, "servers": [{"url": "` + sourcetest.Base + `/v1"}],
	"paths": {
		"/entries": {
			"get": {"operationId": "list", "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
				"responses": {"200": {"description": "", "content": {"application/json": {"schema": {"type": "array"}}}}}},
			"post": {"operationId": "add", "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Entry"}}}},
				"responses": {"201": {"description": ""}}}
		},
		"/entries/{id}": {
			"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
			"delete": {"operationId": "remove", "responses": {"204": {"description": ""}}}
		},
		"/photo": {"get": {"operationId": "photo", "responses": {"200": {"description": "", "content": {"image/png": {}}}}}}
	},
	"components": {"schemas": {"Entry": {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/components/schemas/Entry"}}}}}
}`

func phoneBookServer() http.Handler {
	mux := http.NewServeMux()
	write := func(w http.ResponseWriter, status int, media, text string) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text) // a recorder takes everything
	}
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) { write(w, 200, "application/json", phoneBook) })
	mux.HandleFunc("GET /v1/entries", func(w http.ResponseWriter, r *http.Request) {
		write(w, 200, "application/json", fmt.Sprintf(`[{"name":%q}]`, r.URL.Query().Get("q")))
	})
	mux.HandleFunc("POST /v1/entries", func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		if err != nil {
			write(w, 500, "text/plain", err.Error())
			return
		}
		write(w, 201, "application/json", string(content))
	})
	mux.HandleFunc("DELETE /v1/entries/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") == "7" {
			w.WriteHeader(204)
			return
		}
		write(w, 404, "application/json", `{"message":"no such entry"}`)
	})
	mux.HandleFunc("GET /v1/photo", func(w http.ResponseWriter, _ *http.Request) { write(w, 200, "image/png", "\x89PNG") })
	return mux
}

func TestKindKeepsItsContract(t *testing.T) {
	for name, config := range map[string]string{
		"a description at a URL":  `{"spec":"` + sourcetest.Base + `/openapi.json"}`,
		"a description as a text": string(encode(t, map[string]string{"text": phoneBook})),
	} {
		t.Run(name, func(t *testing.T) {
			sourcetest.Run(t, openapi.Kind{}, sourcetest.Case{
				Config: config, Upstream: phoneBookServer(), Tools: []string{"add", "list", "photo", "remove"},
				Calls: []sourcetest.Call{
					{Tool: "list", Args: `{"q":"a b&c"}`, Value: `[{"name":"a b&c"}]`},
					{Tool: "add", Args: `{"body":{"name":"x","next":{}}}`, Value: `{"name":"x","next":{}}`},
					{Tool: "remove", Args: `{"id":7}`, Value: `null`},
					{Tool: "remove", Args: `{"id":8}`, Fault: 404},
					{Tool: "photo", Args: `{}`, Body: "\x89PNG"},
				},
			})
		})
	}
}
