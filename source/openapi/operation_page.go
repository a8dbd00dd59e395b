package openapi

import (
	"fmt"
	"slices"
	"strings"
)

// Names under which APIs page, the more telling first.
var (
	cursorArgs = []string{
		"cursor", "page_token", "pageToken", "next_token", "nextToken", "NextToken", "next_cursor", "nextCursor", "starting_after", "start_cursor",
		"page[cursor]", "page[after]", "after", "continue", "continuation_token", "continuationToken", "next_page_token", "nextPageToken",
		"start_after", "marker", "PageToken", "scroll_id", "pagination_token", "from_id", "search_after", "bookmark", "pageCursor", "page_cursor",
	}
	numberArgs = []string{"page", "page_number", "pageNumber", "page[number]", "Page", "offset", "page[offset]", "skip", "startAt", "start_at", "start_position", "page_num", "pageNo"}
	sizeArgs   = []string{"limit", "per_page", "page_size", "pageSize", "perPage", "PageSize", "page[size]", "page[limit]", "count", "max_results", "maxResults", "size", "take", "first", "top", "$top"}
	nextNames  = []string{
		"next_cursor", "nextCursor", "next_page_token", "nextPageToken", "next_token", "nextToken", "NextToken", "next_marker", "continuation_token", "continuationToken",
		"next_page", "nextPage", "end_cursor", "endCursor", "scroll_id", "cursor", "after", "continue", "last_id", "next", "bookmark",
	}
	moreNames = []string{"has_more", "hasMore", "has_next", "hasNext", "has_next_page", "hasNextPage", "is_truncated", "more"}
	pageHomes = []string{"response_metadata", "meta", "metadata", "pagination", "paging", "page", "page_info", "pageInfo", "result_info", "next_page", "cursors", "links"}
)

// page looks how an operation pages: by the names of its arguments and of its
// answer. Nil: it does not, or not in a way that can be told.
func (c *compiler) page(b *binding, a answer) *paging {
	var p paging
	p.Cursor = argNamed(b.Params, cursorArgs)
	p.Number = argNamed(b.Params, numberArgs)
	size := argNamed(b.Params, sizeArgs)
	if p.Cursor == "" && p.Number == "" {
		return nil
	}
	if p.Cursor == "" && size == "" && !a.linked && !slices.Contains([]string{"page", "page_number", "pageNumber", "offset"}, p.Number) {
		return nil
	}
	names := c.answerNames(a.source)
	for _, name := range nextNames {
		if at, ok := names[name]; ok && p.Cursor != "" {
			p.From = at
			break
		}
	}
	if p.Cursor == "starting_after" && p.From == "" && names["data"] != "" { // Stripe, and who follows it
		p.From = "/data/-1/id"
	}
	for _, name := range moreNames {
		if at, ok := names[name]; ok {
			p.More = at
			break
		}
	}
	if p.Cursor == "" && p.Number == "offset" && names["next_cursor"] == "/next_page/offset" { // Asana: an offset that is a cursor
		p.Cursor, p.Number, p.From = p.Number, "", names["next_cursor"]
	}
	return &p
}

// answerNames maps the properties of an answer, and of the objects that usually
// hold its paging, to their pointers.
func (c *compiler) answerNames(source node) map[string]string {
	names := map[string]string{}
	if !source.present() {
		return names
	}
	homes := map[string]node{}
	c.eachProperty(source, func(name string, schema node) {
		names[name] = "/" + escape(name)
		if slices.Contains(pageHomes, name) {
			homes[name] = schema
		}
	})
	for _, home := range pageHomes {
		if schema, ok := homes[home]; ok {
			c.eachProperty(schema, func(name string, _ node) {
				names[name] = "/" + escape(home) + "/" + escape(name)
				if home == "next_page" && name == "offset" || home == "cursors" && (name == "next" || name == "after") {
					names["next_cursor"] = names[name]
				}
			})
			if c.schemas.target(schema).get("properties").present() {
				delete(names, home)
			}
		}
	}
	return names
}

func argNamed(params []param, names []string) string {
	for _, name := range names {
		for _, p := range params {
			if p.Name == name && p.In == "query" {
				return p.Arg
			}
		}
	}
	return ""
}

// sentence tells an agent how to go on.
func (p *paging) sentence() string {
	var more string
	if p.More != "" {
		more = fmt.Sprintf(" while %q in the answer is true", strings.TrimPrefix(p.More, "/"))
	}
	switch {
	case p.Cursor == "starting_after":
		return fmt.Sprintf("Pages: pass the id of the last item as %q%s.", p.Cursor, more)
	case p.Cursor != "" && p.From != "":
		return fmt.Sprintf("Pages: pass %q of the answer as %q%s.", strings.TrimPrefix(p.From, "/"), p.Cursor, more)
	case p.Cursor != "":
		return fmt.Sprintf("Pages: pass the cursor of the answer as %q%s.", p.Cursor, more)
	}
	return fmt.Sprintf("Pages: raise %q for more%s.", p.Number, more)
}
