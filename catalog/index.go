package catalog

import (
	"cmp"
	"slices"
	"strings"

	executor "github.com/open-executor/executor"
)

// A View is a part as one connection sees it.
type View struct {
	Part       *Part
	Source     executor.SourceID
	Title      string // of the source; may be empty
	Scope      executor.ScopeID
	Connection executor.ConnectionName
}

// An Index searches the tools of several connections. It copies no tools: views of
// one part share it. Safe for concurrent use.
type Index struct {
	groups []group
	parts  []*Part // distinct
	tools  int     // of the distinct parts
	thes   thesaurus
}

// A group is a part under one source, with the connections that see it.
type group struct {
	part  *Part
	title []string // terms of the source's id and titles
	views []View   // by scope and connection
}

// New makes an index of views, in any order.
func New(views ...View) *Index {
	sorted := slices.Clone(views)
	slices.SortStableFunc(sorted, func(a, b View) int {
		return cmp.Or(strings.Compare(string(a.Source), string(b.Source)),
			strings.Compare(string(a.Scope), string(b.Scope)),
			strings.Compare(string(a.Connection), string(b.Connection)))
	})
	x := &Index{thes: synonyms()}
	stems := newStemmer()
	for _, v := range sorted {
		i := slices.IndexFunc(x.groups, func(g group) bool {
			return g.part == v.Part && g.views[0].Source == v.Source
		})
		if i >= 0 {
			x.groups[i].views = append(x.groups[i].views, v)
			continue
		}
		title := append(titleTerms(stems, string(v.Source), v.Title), v.Part.title...)
		x.groups = append(x.groups, group{part: v.Part, title: title, views: []View{v}})
		if !slices.Contains(x.parts, v.Part) {
			x.parts = append(x.parts, v.Part)
			x.tools += len(v.Part.docs)
		}
	}
	return x
}

// A Filter narrows a search. The zero Filter takes everything.
type Filter struct {
	Sources    []executor.SourceID           // nil: all
	Scope      executor.ScopeID              // "": all
	Connection executor.ConnectionName       // "": all
	Effect     executor.Effect               // "": all; a tool of unknown effect is a Write
	Visible    func(a executor.Address) bool // what the caller may know of; nil: everything. Asked for hits only
	Limit      int                           // 0: 10
}

const defaultLimit = 10

func (f Filter) limit() int {
	if f.Limit > 0 {
		return f.Limit
	}
	return defaultLimit
}

func (f Filter) takes(v View) bool {
	return (f.Sources == nil || slices.Contains(f.Sources, v.Source)) &&
		(f.Scope == "" || f.Scope == v.Scope) &&
		(f.Connection == "" || f.Connection == v.Connection)
}

func (f Filter) takesTool(t *executor.Tool) bool {
	switch f.Effect {
	case "":
		return true
	case executor.Write:
		return t.Effect != executor.Read && t.Effect != executor.Destroy
	}
	return t.Effect == f.Effect
}

// A Hit is one tool that was found, as one connection sees it.
type Hit struct {
	Address  executor.Address
	Score    float64            // comparable within one search only
	Tool     *executor.Tool     // shared: do not change it
	Manifest *executor.Manifest // likewise
}

// Search gives the tools that do what query says, best first: words in any order
// and form, a whole sentence, the beginning of a word, a misspelt word, a tool's
// name or a whole address. A tool that several connections see is a hit for each,
// with one score, ordered by scope and connection. An empty query lists tools by
// address.
func (x *Index) Search(query string, f Filter) []Hit {
	s := searches.Get().(*search)
	defer searches.Put(s)
	s.begin(x, query)
	s.rank(f)
	var hits []Hit
	for len(hits) < f.limit() {
		c, ok := s.next()
		if !ok {
			break
		}
		hits = x.expand(hits, c, f)
	}
	return hits
}

// expand adds a hit for each connection through which a candidate is seen.
func (x *Index) expand(hits []Hit, c candidate, f Filter) []Hit {
	g := &x.groups[c.group]
	tool := g.tool(c)
	for _, v := range g.views {
		a := executor.Address{Source: v.Source, Scope: v.Scope, Connection: v.Connection, Tool: tool.Name}
		if f.takes(v) && (f.Visible == nil || f.Visible(a)) && len(hits) < f.limit() {
			hits = append(hits, Hit{Address: a, Score: float64(c.score), Tool: tool, Manifest: g.part.manifest})
		}
	}
	return hits
}
