package sample_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/open-executor/executor/sample"
)

// A request and the status that its answer has.
type request struct {
	op, method, path string
	body             string
	header           map[string]string
	status           int
}

var large = `{"name":"` + strings.Repeat("x", 300<<10) + `"}`

// requests has, in an order that works, one request for each answer that the
// description knows.
var requests = []request{
	{op: "status.get", method: "GET", path: "/status", status: 200},
	{op: "pets.list", method: "GET", path: "/pets", status: 200},
	{op: "pets.list", method: "GET", path: "/pets?tag=cat&limit=1", status: 200},
	{op: "pets.list", method: "GET", path: "/pets?limit=0", status: 422},
	{op: "pets.list", method: "GET", path: "/pets?limit=ten&cursor=%21", status: 422},
	{op: "pets.get", method: "GET", path: "/pets/2", status: 200},
	{op: "pets.get", method: "GET", path: "/pets/2", header: map[string]string{"If-None-Match": `"e9b1cd07e6e57e29"`}, status: 200},
	{op: "pets.get", method: "GET", path: "/pets/99", status: 404},
	{op: "pets.get", method: "GET", path: "/pets/x", status: 404},
	{op: "pets.search", method: "POST", path: "/pets/search", body: `{"name":"E","tag":"fish","status":"available","maxPrice":10}`, status: 200},
	{op: "pets.search", method: "POST", path: "/pets/search", body: `{"age":3}`, status: 422},
	{op: "pets.search", method: "POST", path: "/pets/search", body: large, status: 413},
	{op: "pets.create", method: "POST", path: "/pets", body: `{"name":"Ada","tag":"dog","price":12.5,"born":"2025-01-02"}`, status: 201},
	{op: "pets.create", method: "POST", path: "/pets", body: `{"name":"","price":-1,"status":"lost","born":"soon","age":3}`, status: 422},
	{op: "pets.create", method: "POST", path: "/pets", body: `[]`, status: 422},
	{op: "pets.create", method: "POST", path: "/pets", body: large, status: 413},
	{op: "pets.update", method: "PATCH", path: "/pets/7", body: `{"status":"sold","born":null}`, status: 200},
	{op: "pets.update", method: "PATCH", path: "/pets/99", body: `{}`, status: 404},
	{op: "pets.update", method: "PATCH", path: "/pets/7", body: `{"id":8}`, status: 422},
	{op: "pets.update", method: "PATCH", path: "/pets/7", body: `{}`, header: map[string]string{"If-Match": `"old"`}, status: 412},
	{op: "pets.update", method: "PATCH", path: "/pets/7", body: large, status: 413},
	{op: "pets.photo.get", method: "GET", path: "/pets/1/photo", status: 200},
	{op: "pets.photo.get", method: "GET", path: "/pets/2/photo", status: 404},
	{op: "pets.photo.put", method: "PUT", path: "/pets/2/photo", body: "\x89PNG", header: map[string]string{"Content-Type": "image/png"}, status: 204},
	{op: "pets.photo.put", method: "PUT", path: "/pets/99/photo", body: "x", header: map[string]string{"Content-Type": "image/png"}, status: 404},
	{op: "pets.photo.put", method: "PUT", path: "/pets/2/photo", body: "<script>", header: map[string]string{"Content-Type": "text/html"}, status: 415},
	{op: "pets.photo.put", method: "PUT", path: "/pets/2/photo", header: map[string]string{"Content-Type": "image/png"}, status: 422},
	{op: "pets.photo.put", method: "PUT", path: "/pets/2/photo", body: large, header: map[string]string{"Content-Type": "image/png"}, status: 413},
	{op: "orders.list", method: "GET", path: "/orders?limit=1", status: 200},
	{op: "orders.list", method: "GET", path: "/orders?limit=1000", status: 422},
	{op: "orders.create", method: "POST", path: "/orders", body: `{"pet":6,"note":"a present"}`, status: 201},
	{op: "orders.create", method: "POST", path: "/orders", body: `{"pet":6}`, status: 409},
	{op: "orders.create", method: "POST", path: "/orders", body: `{"pet":99}`, status: 422},
	{op: "orders.create", method: "POST", path: "/orders", body: `{}`, status: 422},
	{op: "orders.create", method: "POST", path: "/orders", body: large, status: 413},
	{op: "pets.delete", method: "DELETE", path: "/pets/5", header: map[string]string{"If-Match": `"old"`}, status: 412},
	{op: "pets.delete", method: "DELETE", path: "/pets/5", status: 204},
	{op: "pets.delete", method: "DELETE", path: "/pets/5", status: 404},
}

// doors are the ways to a shop: each gives a client and the URL to ask.
var doors = map[string]func(t *testing.T, s *sample.Shop) (*http.Client, string){
	"over a socket": func(t *testing.T, s *sample.Shop) (*http.Client, string) {
		server := httptest.NewServer(s)
		t.Cleanup(server.Close)
		return server.Client(), server.URL
	},
	"in process": func(_ *testing.T, s *sample.Shop) (*http.Client, string) {
		return &http.Client{Transport: s.Transport(nil)}, sample.Origin
	},
}

func do(t *testing.T, client *http.Client, base string, r request) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequest(r.method, base+r.path, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	return resp, body
}

// description is what these tests read of it.
type description struct {
	Paths map[string]map[string]json.RawMessage `json:"paths"`

	Components struct {
		Responses map[string]response `json:"responses"`
	} `json:"components"`
}

type operation struct {
	ID        string              `json:"operationId"`
	Responses map[string]response `json:"responses"`
}

type response struct {
	Ref     string `json:"$ref"`
	Content map[string]struct {
		Schema struct {
			Ref    string `json:"$ref"`
			Format string `json:"format"`
		} `json:"schema"`
	} `json:"content"`
}

func described(t *testing.T) map[string]operation {
	t.Helper()
	var d description
	if err := json.Unmarshal(sample.Description(), &d); err != nil {
		t.Fatal(err)
	}
	ops := map[string]operation{}
	for _, item := range d.Paths {
		for method, raw := range item {
			if method == "parameters" {
				continue
			}
			var op operation
			if err := json.Unmarshal(raw, &op); err != nil {
				t.Fatal(err)
			}
			for status, r := range op.Responses {
				if name, ok := strings.CutPrefix(r.Ref, "#/components/responses/"); ok {
					op.Responses[status] = d.Components.Responses[name]
				}
			}
			ops[op.ID] = op
		}
	}
	return ops
}

func TestEveryAnswerIsAsDescribed(t *testing.T) {
	ops := described(t)
	for door, open := range doors {
		t.Run(door, func(t *testing.T) {
			client, base := open(t, sample.New())
			seen := map[string]bool{}
			check := func(r request) {
				resp, body := do(t, client, base, r)
				if resp.StatusCode != r.status {
					t.Errorf("%s %s: status %d, want %d: %s", r.method, r.path, resp.StatusCode, r.status, body)
				}
				want, ok := ops[r.op].Responses[fmt.Sprint(r.status)]
				if !ok {
					t.Errorf("%s: status %d is not described", r.op, r.status)
				}
				fits(t, want, resp, body)
				seen[fmt.Sprintf("%s %d", r.op, r.status)] = true
			}
			resp, _ := do(t, client, base, request{method: "GET", path: "/pets/2"})
			check(request{op: "pets.get", method: "GET", path: "/pets/2", header: map[string]string{"If-None-Match": resp.Header.Get("ETag")}, status: 304})
			for _, r := range requests {
				check(r)
			}
			fill(t, client, base)
			check(request{op: "pets.create", method: "POST", path: "/pets", body: `{"name":"One too many"}`, status: 409})
			check(request{op: "pets.photo.put", method: "PUT", path: "/pets/100/photo", body: "x", header: map[string]string{"Content-Type": "image/png"}, status: 409})
			for id, op := range ops {
				for status := range op.Responses {
					if !seen[id+" "+status] {
						t.Errorf("%s: no request gives the status %s", id, status)
					}
				}
			}
		})
	}
}

// fill makes the shop full of pets and photos.
func fill(t *testing.T, client *http.Client, base string) {
	t.Helper()
	for range 994 {
		do(t, client, base, request{method: "POST", path: "/pets", body: `{"name":"Many"}`})
	}
	for id := 8; id < 26; id++ {
		do(t, client, base, request{method: "PUT", path: fmt.Sprintf("/pets/%d/photo", id), body: "x", header: map[string]string{"Content-Type": "image/png"}})
	}
}

// fits checks the media type and the body of an answer.
func fits(t *testing.T, want response, resp *http.Response, body []byte) {
	t.Helper()
	where := resp.Request.Method + " " + resp.Request.URL.Path
	if len(want.Content) == 0 {
		if len(body) > 0 {
			t.Errorf("%s: a body of %d bytes, want none", where, len(body))
		}
		return
	}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	media, ok := want.Content[kind]
	if err != nil || !ok {
		t.Errorf("%s: media type %q is not described", where, resp.Header.Get("Content-Type"))
		return
	}
	if media.Schema.Format == "binary" {
		return
	}
	var whole, value any
	if err := errors.Join(json.Unmarshal(sample.Description(), &whole), json.Unmarshal(body, &value)); err != nil {
		t.Fatalf("%s: %v in %s", where, err, body)
	}
	for _, wrong := range defects(whole, map[string]any{"$ref": media.Schema.Ref}, value, "") {
		t.Errorf("%s: %s in %s", where, wrong, body)
	}
}

// defects lists where value does not fit schema, as far as the description uses
// JSON Schema.
func defects(whole any, schema map[string]any, value any, at string) (found []string) {
	if ref, ok := schema["$ref"].(string); ok {
		target := whole
		for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			target = target.(map[string]any)[name]
		}
		schema = target.(map[string]any)
	}
	if choice, ok := schema["enum"].([]any); ok && !slices.Contains(choice, value) {
		found = append(found, fmt.Sprintf("%s: %v is none of %v", at, value, choice))
	}
	sort := ""
	switch v := value.(type) {
	case map[string]any:
		sort = "object"
		properties, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, there := v[name.(string)]; !there {
				found = append(found, fmt.Sprintf("%s/%s is missing", at, name))
			}
		}
		for name, member := range v {
			property, known := properties[name].(map[string]any)
			if !known {
				found = append(found, fmt.Sprintf("%s/%s is not described", at, name))
				continue
			}
			found = append(found, defects(whole, property, member, at+"/"+name)...)
		}
	case []any:
		sort = "array"
		for i, item := range v {
			found = append(found, defects(whole, schema["items"].(map[string]any), item, fmt.Sprintf("%s/%d", at, i))...)
		}
	case string:
		sort = "string"
	case float64:
		sort = "number"
		if schema["type"] == "integer" && v == math.Trunc(v) {
			sort = "integer"
		}
	}
	if schema["type"] != sort {
		found = append(found, fmt.Sprintf("%s is a value of type %q, not %v", at, sort, schema["type"]))
	}
	return found
}

func TestTheDescriptionHasTheOperationsAndTheServerThatWasAsked(t *testing.T) {
	var got []string
	for id := range described(t) {
		got = append(got, id)
	}
	slices.Sort(got)
	want := "orders.create orders.list pets.create pets.delete pets.get pets.list pets.photo.get pets.photo.put pets.search pets.update status.get"
	if strings.Join(got, " ") != want {
		t.Errorf("operations %v, want %s", got, want)
	}
	for door, open := range doors {
		client, base := open(t, sample.New())
		resp, body := do(t, client, base, request{method: "GET", path: "/openapi.json"})
		want := bytes.ReplaceAll(sample.Description(), []byte(sample.Origin), []byte(base))
		if resp.Header.Get("Content-Type") != "application/json" || !bytes.Equal(body, want) || !bytes.Contains(body, []byte(`"url": "`+base+`"`)) {
			t.Errorf("%s: the description is not the one of %s", door, base)
		}
	}
}
