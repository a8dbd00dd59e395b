package openapi

import (
	"encoding/json"
	"slices"
	"strings"
)

// An answer is what an operation gives when all is well.
type answer struct {
	schema json.RawMessage // of its JSON; nil: unknown
	source node            // that schema before it was compiled
	accept []string
	linked bool // a Link header is declared
}

// success reads the lowest 2xx response with content, else the default one.
func (c *compiler) success(op operation) answer {
	var a answer
	responses := op.own.get("responses")
	list := responses.object()
	slices.SortStableFunc(list, func(a, b member) int { return strings.Compare(statusKey(a.name), statusKey(b.name)) })
	for _, m := range list {
		key := statusKey(m.name)
		if key[0] != '2' && (m.name != "default" || len(a.accept) > 0) {
			continue
		}
		r, ok := c.follow(responses.child(m))
		if !ok {
			continue
		}
		for _, h := range r.get("headers").object() {
			a.linked = a.linked || strings.EqualFold(h.name, "Link")
		}
		medias, schema := c.responseContent(op, r)
		for _, media := range medias {
			if !slices.Contains(a.accept, media) {
				a.accept = append(a.accept, media)
			}
		}
		if a.schema == nil && schema.present() {
			a.source = schema
			a.schema = c.schemas.render(schema, response, nil)
		}
	}
	slices.SortStableFunc(a.accept, func(x, y string) int { return acceptRank(x) - acceptRank(y) })
	return a
}

// statusKey sorts exact codes before ranges ("2XX") and both before the default.
func statusKey(status string) string {
	if status == "" || status == "default" {
		return "~"
	}
	return strings.ToLower(status)
}

// responseContent gives the media types of a response and the schema of its JSON.
func (c *compiler) responseContent(op operation, r node) (medias []string, schema node) {
	if c.swagger {
		schema = r.get("schema")
		if !schema.present() {
			return nil, schema
		}
		medias = c.mediaList(op, "produces")
		json := len(medias) == 0 || slices.ContainsFunc(medias, func(m string) bool { return isJSON(m) || strings.Contains(m, "*") })
		if !json || str(lookup(schema.raw, "type")) == "file" {
			schema = node{}
		}
		return medias, schema
	}
	content := r.get("content")
	for _, m := range content.object() {
		medias = append(medias, m.name)
		if !schema.present() && (isJSON(m.name) || m.name == "*/*") {
			media, _ := c.follow(content.child(m))
			schema = media.get("schema")
			if m.name == "*/*" && str(lookup(c.schemas.target(schema).raw, "type")) == "string" {
				schema = node{}
			}
		}
	}
	return medias, schema
}

func acceptRank(media string) int {
	switch {
	case bareMedia(media) == "application/json":
		return 0
	case isJSON(media):
		return 1
	case strings.Contains(media, "*"):
		return 9
	case strings.HasPrefix(media, "text/"):
		return 3
	}
	return 2
}
