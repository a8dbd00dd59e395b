package executor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// An Effect says what a tool does to the world. The zero value is unknown and
// counts as Write.
type Effect string

const (
	Read    Effect = "read"    // changes nothing; may be retried
	Write   Effect = "write"   // creates or changes
	Destroy Effect = "destroy" // removes, or cannot be undone
)

// known gives the effect that policy and ledger reckon with.
func (e Effect) known() Effect {
	if e == Read || e == Destroy {
		return e
	}
	return Write
}

// A Label marks data with what a policy may ask about it: "personal", "secret",
// "source:github".
type Label string

// A Tool is one operation of a source.
type Tool struct {
	Name        ToolName        `json:"name"`
	Description string          `json:"description,omitempty"` // Markdown; the first line stands alone
	Effect      Effect          `json:"effect,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`  // JSON Schema 2020-12 of type object; nil: no arguments. May refer to the manifest's Defs as "#/$defs/Name"
	Output      json.RawMessage `json:"output,omitempty"` // likewise; nil: unknown
	Labels      []Label         `json:"labels,omitempty"`
	Tags        []string        `json:"tags,omitempty"` // the source's own grouping; for search
	Deprecated  bool            `json:"deprecated,omitempty"`
	Binding     json.RawMessage `json:"binding,omitempty"` // how the kind invokes it; opaque to everyone else
}

// A Manifest is everything the executor knows of a source: normalised, stored
// by content, shared by every connection that sees the same. Listing tools
// never calls upstream.
type Manifest struct {
	Title       string                     `json:"title,omitempty"`
	Version     string                     `json:"version,omitempty"` // the description's own version
	Description string                     `json:"description,omitempty"`
	Tools       []Tool                     `json:"tools"`            // sorted by Name, names unique
	Defs        map[string]json.RawMessage `json:"defs,omitempty"`   // schemas that tools share, by name
	Auth        []Auth                     `json:"auth,omitempty"`   // ways to sign in that the description offers
	Public      bool                       `json:"public,omitempty"` // the description asks for no sign-in
	Hosts       []string                   `json:"hosts,omitempty"`  // origins that tools call, "https://api.example.com"
	Found       int                        `json:"found"`            // operations in the description; more than len(Tools) when some were unusable
	Notes       []Note                     `json:"notes,omitempty"`  // what was wrong with the description
}

// A Note is a remark about one place of a description.
type Note struct {
	Where string `json:"where"` // JSON pointer, or file and line
	Text  string `json:"text"`
}

// Schema makes one of the manifest's schemas whole: it adds, under "$defs", every
// shared schema that raw refers to, directly or through others. A nil raw gives
// nil.
func (m *Manifest) Schema(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	defs := map[string]json.RawMessage{}
	m.collect(raw, defs)
	if len(defs) == 0 {
		return raw
	}
	var whole map[string]json.RawMessage
	if json.Unmarshal(raw, &whole) != nil || whole == nil { // a boolean schema refers to nothing
		return raw
	}
	whole["$defs"], _ = json.Marshal(defs) // a map of RawMessage that was decoded once always encodes
	out, _ := json.Marshal(whole)
	return out
}

const defsPrefix = `#/$defs/`

// collect adds to defs what raw refers to.
func (m *Manifest) collect(raw []byte, defs map[string]json.RawMessage) {
	for _, name := range defRefs(raw) {
		if _, seen := defs[name]; seen {
			continue
		}
		if def, ok := m.Defs[name]; ok {
			defs[name] = def
			m.collect(def, defs)
		}
	}
}

// defRefs lists the names N of all "#/$defs/N" in raw. It reads the text: names of
// defs are plain (letters, digits, ".", "_", "-"), so no escape can occur in one.
func defRefs(raw []byte) []string {
	var names []string
	for s := string(raw); ; {
		i := strings.Index(s, `"`+defsPrefix)
		if i < 0 {
			return names
		}
		s = s[i+1+len(defsPrefix):]
		if j := strings.IndexAny(s, `"/`); j >= 0 {
			names = append(names, s[:j])
		}
	}
}

// sortTools orders by name and reports a name that occurs twice, or "".
func sortTools(tools []Tool) ToolName {
	slices.SortFunc(tools, func(a, b Tool) int { return strings.Compare(string(a.Name), string(b.Name)) })
	for i := 1; i < len(tools); i++ {
		if tools[i].Name == tools[i-1].Name {
			return tools[i].Name
		}
	}
	return ""
}

// A File is binary content in arguments, where a tool's schema marks a value
// with "format": "binary". A plain string there is a File with that text.
type File struct {
	Name   string `json:"name,omitempty"`   // file name told to upstream
	Type   string `json:"type,omitempty"`   // media type; empty: application/octet-stream
	Text   string `json:"text,omitempty"`   // the content as text, or
	Base64 string `json:"base64,omitempty"` // the content in standard base64, or
	Run    RunID  `json:"run,omitempty"`    // the output of an earlier run
}

// digest gives the SHA-256 of data in lower-case hex.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
