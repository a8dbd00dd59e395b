package openapi

// A binding says how one operation is called. Resolve leaves it, as JSON, in
// Tool.Binding for Invoke.
//
// The arguments of a tool are one JSON object: each parameter is a property of its
// own, the request body is the property "body", and where an operation takes
// several media types that the caller must choose between, "content_type" names one.
type binding struct {
	Method string   `json:"method"`           // upper case
	Base   string   `json:"base"`             // absolute server URL, variables filled, no trailing slash
	Path   string   `json:"path"`             // template: "/repos/{owner}/{repo}"
	Params []param  `json:"params,omitempty"` // in the order of the description
	Bodies []body   `json:"bodies,omitempty"` // the preferred one first
	Accept []string `json:"accept,omitempty"` // media types of success answers, the preferred one first
	Page   *paging  `json:"page,omitempty"`   // how the operation pages, where that can be told
}

// A param is one parameter of an operation.
type param struct {
	Arg      string `json:"arg"`   // property of the arguments; differs from Name where names collide
	Name     string `json:"name"`  // on the wire
	In       string `json:"in"`    // path, query, header, cookie, querystring
	Style    string `json:"style"` // simple, label, matrix, form, spaceDelimited, pipeDelimited, tabDelimited (Swagger 2 "tsv"), deepObject, cookie
	Explode  bool   `json:"explode,omitempty"`
	Reserved bool   `json:"reserved,omitempty"` // allowReserved: RFC 3986 reserved characters stay as they are
	Brackets bool   `json:"brackets,omitempty"` // deepObject arrays as name[] (Stripe, Rails), where the description or an x- hint says so or leaves it open
	Media    string `json:"media,omitempty"`    // the parameter has "content": its value is written as this media type
}

// A body is one way to send the request body.
type body struct {
	Media    string              `json:"media"` // "application/json", "multipart/form-data" …
	Required bool                `json:"required,omitempty"`
	Encoding map[string]encoding `json:"encoding,omitempty"` // by property; form and multipart only
}

// An encoding says how one property of a form or multipart body is written.
type encoding struct {
	Media    string `json:"media,omitempty"` // of the part; several, comma-separated, when the caller may choose
	Style    string `json:"style,omitempty"` // as param.Style; form bodies only
	Explode  bool   `json:"explode,omitempty"`
	Reserved bool   `json:"reserved,omitempty"`
	Binary   bool   `json:"binary,omitempty"` // the value is a file (executor.File, or a plain string)
	Array    bool   `json:"array,omitempty"`  // the property is an array: one part an item
}

// paging names what a caller needs to go on after a partial answer.
type paging struct {
	Cursor string `json:"cursor,omitempty"` // argument that takes the cursor
	From   string `json:"from,omitempty"`   // JSON pointer to the next cursor in the answer
	More   string `json:"more,omitempty"`   // JSON pointer to a "there is more" boolean
	Number string `json:"number,omitempty"` // argument that takes a page number or an offset
}
