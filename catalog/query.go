package catalog

import (
	"math"
	"strings"
	"unicode/utf8"
)

// A concept is one thing the query asks for: a word, with everything that counts
// as that word.
type concept struct {
	variants []variant
	idf      float32 // how much the concept tells; of its most common exact form
	optional bool    // adds to the score where found, costs nothing where not
}

// A variant is a term that stands for a concept, with how well it does.
type variant struct {
	term   string
	weight float32
}

// What a match is worth against the word itself.
var groupWeight float32 = 0.55

const (
	joinedWeight = 0.9 // "web hook" for "webhook"
	prefixWeight = 0.7
	slipWeight   = 0.75 // for each slip
)

// An ask is a query taken apart.
type ask struct {
	concepts []concept
	verbs    verbSet  // of the whole query
	lead     string   // stem of the first word: what is asked to be done
	sources  []string // stems that name a source
	blank    bool     // the query is empty
	literal  string   // the query as typed, lower case, if it may be a name or an address
}

// read takes a query apart with the words that x knows.
func (s *search) read(query string) ask {
	r := ask{}
	if q := strings.TrimSpace(query); q != "" && !strings.ContainsAny(q, " \t\n") {
		r.literal = strings.ToLower(q)
	}
	typed := s.typed(query)
	r.blank = strings.TrimSpace(query) == ""
	if r.verbs = asking(query); r.verbs == 0 && len(typed) > 0 {
		r.lead = s.stems.stem(typed[0])
		r.verbs = s.verbOf(typed)
	}
	for i, w := range typed {
		if t := s.stems.stem(w); s.titled(t) {
			r.sources = append(r.sources, t)
		}
		c := s.concept(w, i == len(typed)-1)
		c.optional = possessive[w]
		for _, pair := range neighbours(typed, i) {
			if t := s.stems.stem(pair); s.frequency(t) > 0 {
				c.variants = append(c.variants, variant{t, joinedWeight})
				c.idf = max(c.idf, s.idf(s.frequency(t)))
			}
		}
		if len(c.variants) > 0 && !s.holds(r.concepts, c) {
			r.concepts = append(r.concepts, c)
		}
	}
	return r
}

// asking gives what a question wants done; nothing for an order.
func asking(query string) verbSet {
	first, _, _ := strings.Cut(strings.TrimLeft(strings.ToLower(query), " \t\n"), " ")
	if questions[strings.TrimSuffix(first, "'s")] {
		return answering
	}
	return 0
}

var questions = map[string]bool{"who": true, "whose": true, "which": true, "what": true, "where": true, "when": true, "how": true, "is": true, "are": true, "does": true, "has": true}

// verbOf gives the verb of an order: it stands at the beginning.
func (s *search) verbOf(typed []string) verbSet {
	for _, w := range typed[:min(2, len(typed))] {
		if v := s.x.thes.verbs[s.stems.stem(w)]; v != 0 {
			if v == show {
				v |= list // "show issues" and "show an issue"
			}
			return v
		}
	}
	return 0
}

// possessive words say whose; few descriptions repeat them.
var possessive = map[string]bool{"my": true, "me": true, "mine": true, "own": true}

// typed gives the words of the query that carry meaning; all of them if none does.
func (s *search) typed(query string) []string {
	var all, telling []string
	skip := 0
	words(query, func(w word) {
		if skip > 0 && w.part {
			skip--
			return
		}
		skip = 0
		if w.compound {
			if s.frequency(s.stems.stem(w.text)) == 0 {
				return
			}
			skip = compoundParts
		}
		long := []string{w.text}
		if p, ok := phrases[w.text]; ok {
			long = strings.Fields(p)
		}
		for _, t := range long {
			all = append(all, t)
			if !s.x.thes.stops[t] && (len(t) > 1 || t[0] >= '0' && t[0] <= '9') {
				telling = append(telling, t)
			}
		}
	})
	if len(telling) == 0 {
		return all
	}
	return telling
}

// neighbours joins the i-th word with the one before and the one after it.
func neighbours(typed []string, i int) []string {
	var pairs []string
	if i > 0 {
		pairs = append(pairs, typed[i-1]+typed[i])
	}
	if i+1 < len(typed) {
		pairs = append(pairs, typed[i]+typed[i+1])
	}
	return pairs
}

// holds tells whether a concept with the same first variant is there.
func (s *search) holds(concepts []concept, c concept) bool {
	for _, other := range concepts {
		if other.variants[0] == c.variants[0] {
			return true
		}
	}
	return false
}

// concept gathers what counts as the word w. The last word may be unfinished.
func (s *search) concept(w string, last bool) concept {
	var c concept
	stem := s.stems.stem(w)
	own := s.frequency(stem)
	if own > 0 {
		c.variants = append(c.variants, variant{stem, 1})
		c.idf = s.idf(own)
	}
	for _, g := range s.x.thes.terms[stem] {
		n := s.frequency(g)
		if n == 0 {
			continue
		}
		weight := float32(groupWeight)
		if own == 0 {
			weight = 0.8
		}
		c.variants = append(c.variants, variant{g, weight})
		if g[0] == '=' || own == 0 { // what a verb tells is what all words for it tell
			c.idf = s.idf(max(n, own))
		}
	}
	if len(c.variants) == 0 && !s.titled(stem) && utf8.RuneCountInString(w) >= minWord {
		s.guess(w, &c)
	}
	if last && own > 0 && len(c.variants) == 1 && own < 3 && len(w) >= minWord {
		s.complete(w, &c)
	}
	return c
}

// guess finds what an unknown word may mean: a beginning of known words, else two
// words in one, else a word with a slip.
func (s *search) guess(w string, c *concept) {
	if len(w) > maxWord {
		return
	}
	if s.complete(w, c); len(c.variants) > 0 {
		return
	}
	limit := allowedSlips(len(w))
	if limit == 0 {
		return
	}
	best := limit
	for _, p := range s.x.parts {
		p.words.near(w, limit, func(term uint32, n int) {
			best = min(best, n)
			s.vary(c, p.terms.at(int(term)), powSlip(n))
		})
	}
	keep := c.variants[:0]
	for _, v := range c.variants {
		if v.weight >= powSlip(best) { // fewer slips are the likelier word
			keep = append(keep, v)
		}
	}
	c.variants = keep
	s.weigh(c)
}

func powSlip(n int) float32 { return float32(math.Pow(slipWeight, float64(n))) }

// complete adds the words that begin with w.
func (s *search) complete(w string, c *concept) {
	for _, p := range s.x.parts {
		p.words.beginning(w, func(whole string, term uint32) {
			s.vary(c, p.terms.at(int(term)), prefixWeight*float32(len(w))/float32(len(whole)))
		})
	}
	s.weigh(c)
}

const maxVariants = 24

// vary adds a variant or raises the weight of the one there is.
func (s *search) vary(c *concept, term string, weight float32) {
	for i := range c.variants {
		if c.variants[i].term == term {
			c.variants[i].weight = max(c.variants[i].weight, weight)
			return
		}
	}
	if len(c.variants) < maxVariants {
		c.variants = append(c.variants, variant{term, weight})
	}
}

// weigh sets the idf of a concept from its most common variant.
func (s *search) weigh(c *concept) {
	n := 0
	for _, v := range c.variants {
		n = max(n, s.frequency(v.term))
	}
	if n > 0 {
		c.idf = s.idf(n)
	}
}

// frequency counts the tools of all parts in which a term occurs.
func (s *search) frequency(term string) int {
	n := 0
	for _, p := range s.x.parts {
		n += len(p.list(term))
	}
	return n
}

// idf tells how much a term of n tools tells (BM25's, always positive).
func (s *search) idf(n int) float32 {
	N := float64(s.x.tools)
	return float32(math.Log(1 + (N-float64(n)+0.5)/(float64(n)+0.5)))
}

// titled tells whether a term names a source.
func (s *search) titled(term string) bool {
	for _, g := range s.x.groups {
		for _, t := range g.title {
			if t == term {
				return true
			}
		}
	}
	return false
}
