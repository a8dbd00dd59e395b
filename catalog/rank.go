package catalog

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"sync"

	executor "github.com/open-executor/executor"
)

// A search is the scratch memory of one query; it is used again.
type search struct {
	x     *Index
	stems *stemmer
	ask
	total   []float32   // :: doc → score
	covered []float32   // :: doc → idf of the concepts found
	best    []float32   // :: doc → score of the concept at hand
	quality []float32   // :: doc → how well the concept at hand matched
	named   []uint8     // :: doc → concepts found in the name
	opened  []uint8     // :: doc → concepts found in name or first sentence
	where   []uint8     // :: doc → where the concept at hand was found
	touched []uint32    // docs of the concept at hand
	found   []uint32    // docs with any concept
	top     []candidate // a heap after rank
}

// stemsKept bounds the stems that scratch memory remembers.
const stemsKept = 10_000

var searches = sync.Pool{New: func() any { return &search{stems: newStemmer()} }}

// A candidate is one tool of one group.
type candidate struct {
	score float32
	group uint32
	doc   uint32
}

// tiny keeps the score of a tool that was found from being zero.
const tiny = 1e-6

// How ranking weighs, beside BM25F. All multiply.
const (
	coverFloor     = 0.25 // score of a tool that has none of the query's weight, if that could be
	nameBonus      = 0.25 // every word of the name was asked for
	firstBonus     = 0.4  // every word of name and first sentence was asked for
	leadBonus      = 1.15 // name or description begins with the word that the query begins with
	verbBonus      = 1.15 // the tool does what the query's verb says
	verbMalus      = 0.80 // it does something else
	optionalWeight = 0.4  // a word that few descriptions repeat
	sideMalus      = 0.75 // it writes where only looking was asked for, or the other way
	oldMalus       = 0.50 // deprecated
	titleWeight    = 2.0  // a word of the query that names the source
	literalWeight  = 1000 // the query is the name or the address
)

func (s *search) begin(x *Index, query string) {
	s.x = x
	if len(s.stems.seen) > stemsKept {
		s.stems = newStemmer()
	}
	s.ask = s.read(query)
}

// rank scores everything that f takes. Then next gives the candidates, best first.
func (s *search) rank(f Filter) {
	s.top = s.top[:0]
	for _, p := range s.x.parts {
		scored := false
		for i := range s.x.groups {
			g := &s.x.groups[i]
			if g.part != p || !slices.ContainsFunc(g.views, f.takes) {
				continue
			}
			if !scored {
				s.score(p)
				scored = true
			}
			s.collect(uint32(i), g, f)
		}
		s.clear()
	}
	heap.Init(s)
}

// next takes the best candidate that is left.
func (s *search) next() (candidate, bool) {
	if len(s.top) == 0 {
		return candidate{}, false
	}
	return heap.Pop(s).(candidate), true
}

func (s *search) Len() int           { return len(s.top) }
func (s *search) Less(i, j int) bool { return s.compare(s.top[i], s.top[j]) < 0 }
func (s *search) Swap(i, j int)      { s.top[i], s.top[j] = s.top[j], s.top[i] }
func (s *search) Push(any)           {} // candidates are appended before Init

func (s *search) Pop() any {
	last := s.top[len(s.top)-1]
	s.top = s.top[:len(s.top)-1]
	return last
}

// score gives every tool of p what the query's concepts are worth in it.
func (s *search) score(p *Part) {
	s.grow(len(p.docs))
	for i := range s.concepts {
		c := &s.concepts[i]
		for _, v := range c.variants {
			for _, post := range p.list(v.term) {
				s.touch(post, v.weight)
			}
		}
		for _, d := range s.touched {
			s.settle(d, c)
		}
		s.touched = s.touched[:0]
	}
}

// touch notes that a variant of the concept at hand occurs in a tool: the best
// one counts.
func (s *search) touch(post posting, weight float32) {
	d := post.doc()
	if s.quality[d] == 0 {
		s.touched = append(s.touched, uint32(d))
	}
	s.best[d] = max(s.best[d], weight*post.weight())
	s.quality[d] = max(s.quality[d], weight)
	if post&inName != 0 {
		s.where[d] |= 1
	}
	if post&inFirst != 0 {
		s.where[d] |= 2
	}
}

// settle adds the concept at hand to a tool and clears it.
func (s *search) settle(d uint32, c *concept) {
	if s.total[d] == 0 {
		s.found = append(s.found, d)
	}
	if c.optional {
		s.total[d] += optionalWeight*s.best[d]*c.idf + tiny
	} else {
		s.total[d] += s.best[d]*c.idf + tiny
		s.covered[d] += c.idf * (0.5 + 0.5*s.quality[d])
	}
	s.named[d] += s.where[d] & 1
	s.opened[d] += s.where[d] >> 1
	s.best[d], s.quality[d], s.where[d] = 0, 0, 0
}

// collect turns the scores of a part into candidates of one group.
func (s *search) collect(gi uint32, g *group, f Filter) {
	if s.literal != "" || len(s.concepts) == 0 {
		s.collectRest(gi, g, f)
	}
	titled := titleWeight * float32(s.naming(g))
	lead := noTerm
	if i := g.part.terms.find(s.lead); i >= 0 && s.lead != "" {
		lead = uint32(i)
	}
	var all float32
	for _, c := range s.concepts {
		if !c.optional {
			all += c.idf
		}
	}
	for _, d := range s.found {
		tool := &g.part.manifest.Tools[d]
		if !f.takesTool(tool) {
			continue
		}
		score := (s.total[d] + titled) * s.fit(d, &g.part.docs[d], lead, all, titled)
		if s.literal != "" && s.names(g, string(tool.Name)) {
			score += literalWeight
		}
		s.top = append(s.top, candidate{score, gi, d})
	}
}

// fit is what a tool's score is multiplied with: how much of the query it has, how
// much of its name was asked for, and whether it does what the query's verb says.
func (s *search) fit(d uint32, doc *doc, lead uint32, all, titled float32) float32 {
	cover := float32(1)
	if all > 0 {
		cover = min(1, (s.covered[d]+titled)/all)
	}
	m := coverFloor + (1-coverFloor)*cover
	if lead != noTerm && (doc.leads[0] == lead || doc.leads[1] == lead) {
		m *= leadBonus
	}
	m *= 1 + nameBonus*share(s.named[d], doc.name) + firstBonus*share(s.opened[d], doc.first)
	switch {
	case s.verbs == 0 || doc.verbs == 0:
	case s.verbs&doc.verbs != 0:
		m *= verbBonus
	default:
		m *= verbMalus
	}
	if asked := s.ask.verbs.side(); asked != unsure && doc.reads != unsure && asked != doc.reads {
		m *= sideMalus
	}
	if !doc.plain {
		m *= oldMalus
	}
	return m
}

// naming counts the words of the query that name the group's source.
func (s *search) naming(g *group) int {
	n := 0
	for _, t := range s.sources {
		if slices.Contains(g.title, t) {
			n++
		}
	}
	return n
}

// collectRest adds tools that share no word with the query: those whose name or
// address was typed, all of a source when only that was named, and all when the
// query is empty.
func (s *search) collectRest(gi uint32, g *group, f Filter) {
	naming := float32(s.naming(g))
	all := len(s.concepts) == 0 && (naming > 0 || s.blank)
	for d := range g.part.docs {
		tool := &g.part.manifest.Tools[d]
		if s.total[d] > 0 || !f.takesTool(tool) {
			continue
		}
		if s.literal != "" && s.names(g, string(tool.Name)) {
			s.top = append(s.top, candidate{literalWeight, gi, uint32(d)})
		} else if all {
			s.top = append(s.top, candidate{naming * titleWeight, gi, uint32(d)})
		}
	}
}

func share(n, of uint8) float32 {
	if of == 0 {
		return 0
	}
	return min(1, float32(n)/float32(of))
}

// names tells whether the query is a tool's name, its address, or its source and
// name.
func (s *search) names(g *group, tool string) bool {
	n := len(s.literal) - len(tool)
	if n < 0 || !strings.EqualFold(s.literal[n:], tool) {
		return false
	}
	before := s.literal[:n]
	return before == "" || before == string(g.views[0].Source)+"." ||
		slices.ContainsFunc(g.views, func(v View) bool {
			return before == string(v.Source)+"."+string(v.Scope)+"."+string(v.Connection)+"."
		})
}

// compare orders by score, then by source and name.
func (s *search) compare(a, b candidate) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	ga, gb := &s.x.groups[a.group], &s.x.groups[b.group]
	return cmp.Or(
		strings.Compare(string(ga.views[0].Source), string(gb.views[0].Source)),
		strings.Compare(string(ga.tool(a).Name), string(gb.tool(b).Name)),
		cmp.Compare(a.group, b.group))
}

func (g *group) tool(c candidate) *executor.Tool { return &g.part.manifest.Tools[c.doc] }

// grow makes room for n tools.
func (s *search) grow(n int) {
	if len(s.total) >= n {
		return
	}
	s.total, s.covered = make([]float32, n), make([]float32, n)
	s.best, s.quality = make([]float32, n), make([]float32, n)
	s.named, s.opened, s.where = make([]uint8, n), make([]uint8, n), make([]uint8, n)
}

// clear forgets the scores of the part at hand.
func (s *search) clear() {
	for _, d := range s.found {
		s.total[d], s.covered[d], s.named[d], s.opened[d] = 0, 0, 0, 0
	}
	s.found = s.found[:0]
}
