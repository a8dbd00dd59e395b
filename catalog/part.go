package catalog

import (
	"slices"
	"strings"
	"unicode/utf8"

	executor "github.com/open-executor/executor"
)

// A Part is the searchable form of one manifest: build it once, share it between
// all connections that see the manifest. Safe for concurrent use.
type Part struct {
	manifest *executor.Manifest
	docs     []doc // :: tool
	terms    lexicon
	starts   []uint32 // :: term → its first posting; one more than terms
	postings []posting
	words    vocabulary
	title    []string // terms of the manifest's title
}

// Manifest gives what the part was built from. Do not change it.
func (p *Part) Manifest() *executor.Manifest { return p.manifest }

// A doc is what ranking knows of a tool beside its words.
type doc struct {
	verbs verbSet   // what its name says it does; else its first sentence
	leads [2]uint32 // terms that the name's last segment and the description begin with
	name  uint8     // distinct words of the name
	first uint8     // distinct words of name and first sentence
	plain bool      // not deprecated
	reads side      // whether it changes anything
}

// A side tells reading from writing.
type side uint8

const (
	unsure side = iota
	reading
	writing
)

func sideOf(e executor.Effect) side {
	switch e {
	case executor.Read:
		return reading
	case executor.Write, executor.Destroy:
		return writing
	}
	return unsure
}

// side tells whether verbs only look.
func (v verbSet) side() side {
	switch {
	case v == 0:
		return unsure
	case v&^answering == 0:
		return reading
	}
	return writing
}

// A posting says that a term occurs in a tool: the tool in the low 20 bits, then
// whether it is a word of the name, then of the first sentence, then the weight of
// all its occurrences in 10 bits.
type posting uint32

const (
	docBits         = 20
	inName  posting = 1 << docBits
	inFirst posting = 1 << (docBits + 1)
	maxDocs         = 1 << docBits
	scale           = 1<<10 - 1
)

func (p posting) doc() int        { return int(p & (maxDocs - 1)) }
func (p posting) weight() float32 { return float32(p>>(docBits+2)) / scale }

// The fields of a tool.
const (
	fieldName = iota
	fieldFirst
	fieldRest
	fieldParam
	fieldParamText
	fieldTag
	fields
)

// BM25F (Robertson, Zaragoza, Taylor 2004). A field's typical length is a
// constant and not a mean over the catalog, so that a part never changes when
// another is added.
var bm25f = [fields]struct{ weight, b, typical float32 }{
	fieldName:      {3.0, 0.5, 4},
	fieldFirst:     {2.6, 0.6, 8},
	fieldRest:      {0.5, 0.7, 50},
	fieldParam:     {0.6, 0.7, 8},
	fieldParamText: {0.15, 0.7, 60},
	fieldTag:       {0.8, 0.3, 2},
}

const saturation = 1.5 // k1

// Build makes m searchable. It keeps m. Of more than a million tools the rest is
// not found.
func Build(m *executor.Manifest) *Part {
	b := newBuilder(m)
	docs := make([]doc, min(len(m.Tools), maxDocs))
	for i := range docs {
		docs[i] = b.tool(i, &m.Tools[i])
	}
	p := b.finish(docs)
	p.manifest = m
	p.title = titleTerms(b.stems, m.Title)
	return p
}

// A builder collects postings by term in the order in which terms turn up.
type builder struct {
	stems    *stemmer
	thes     thesaurus
	params   *paramReader
	ids      map[string]uint32 // :: term → id
	terms    []string          // :: id → term
	postings [][]posting       // :: id → postings
	seen     map[string]entry  // :: word → what is known of it
	counts   [][fields]float32 // :: id → occurrences in the tool at hand
	touched  []uint32          // ids that occur in the tool at hand
	lengths  [fields]float32
}

// An entry is what a word adds to a tool.
type entry struct {
	term   uint32
	groups []uint32
	verbs  verbSet
	stop   bool
}

func newBuilder(m *executor.Manifest) *builder {
	return &builder{
		stems: newStemmer(), thes: synonyms(), params: newParamReader(m),
		ids: map[string]uint32{}, seen: map[string]entry{},
	}
}

// tool indexes the i-th tool.
func (b *builder) tool(i int, t *executor.Tool) doc {
	b.lengths = [fields]float32{}
	first, rest := firstSentence(t.Description)
	verbs := b.text(fieldName, string(t.Name))
	if says := b.text(fieldFirst, first); verbs == 0 {
		verbs = says
	}
	b.text(fieldRest, rest)
	for _, tag := range t.Tags {
		b.text(fieldTag, tag)
	}
	for _, p := range b.params.read(t.Input) {
		b.text(fieldParam, p.name)
		b.text(fieldParamText, p.description)
	}
	last := string(t.Name[strings.LastIndexByte(string(t.Name), '.')+1:])
	return b.post(i, doc{verbs: verbs, plain: !t.Deprecated, reads: sideOf(t.Effect), leads: [2]uint32{b.lead(last), b.lead(first)}})
}

// text counts the words of one field and gives the verb it begins with: of a name
// that of the last segment that has one.
func (b *builder) text(field int, text string) verbSet {
	if field == fieldName {
		if dot := strings.LastIndexByte(text, '.'); dot >= 0 {
			before := b.text(field, text[:dot])
			if last := b.text(field, text[dot+1:]); last != 0 {
				return last
			}
			return before
		}
	}
	var verbs verbSet
	words(text, func(w word) {
		e := b.entry(w.text)
		if e.stop && field != fieldName {
			return
		}
		if !w.compound && !e.stop {
			b.lengths[field]++
		}
		if verbs == 0 {
			verbs = e.verbs
		}
		b.count(field, e.term)
		if !w.compound && !e.stop {
			for _, g := range e.groups {
				b.count(field, g)
			}
		}
	})
	return verbs
}

// lead gives the term of the first word of text, or none.
func (b *builder) lead(text string) uint32 {
	id := noTerm
	words(text, func(w word) {
		if e := b.entry(w.text); id == noTerm && !w.compound && !e.stop {
			id = e.term
		}
	})
	return id
}

const noTerm = ^uint32(0)

func (b *builder) entry(w string) entry {
	if e, ok := b.seen[w]; ok {
		return e
	}
	stem := b.stems.stem(w)
	e := entry{term: b.id(stem), verbs: b.thes.verbs[stem], stop: b.thes.stops[w]}
	for _, g := range b.thes.terms[stem] {
		e.groups = append(e.groups, b.id(g))
	}
	b.seen[w] = e
	return e
}

func (b *builder) id(term string) uint32 {
	id, ok := b.ids[term]
	if !ok {
		id = uint32(len(b.terms))
		b.ids[term] = id
		b.terms = append(b.terms, term)
		b.postings = append(b.postings, nil)
		b.counts = append(b.counts, [fields]float32{})
	}
	return id
}

func (b *builder) count(field int, id uint32) {
	c := &b.counts[id]
	if *c == ([fields]float32{}) {
		b.touched = append(b.touched, id)
	}
	c[field]++
}

// post turns what was counted for the i-th tool into postings and clears it.
func (b *builder) post(i int, d doc) doc {
	var norm [fields]float32
	for f, k := range bm25f {
		norm[f] = k.weight / (1 - k.b + k.b*b.lengths[f]/k.typical)
	}
	for _, id := range b.touched {
		c := &b.counts[id]
		var w float32
		for f, n := range c {
			w += n * norm[f]
		}
		p := posting(i) | posting(w/(saturation+w)*scale)<<(docBits+2)
		group := isGroup(b.terms[id])
		if c[fieldName] > 0 {
			p |= inName
			if !group && d.name < 255 {
				d.name++
			}
		}
		if c[fieldName] > 0 || c[fieldFirst] > 0 {
			p |= inFirst
			if !group && d.first < 255 {
				d.first++
			}
		}
		b.postings[id] = append(b.postings[id], p)
		*c = [fields]float32{}
	}
	b.touched = b.touched[:0]
	return d
}

func isGroup(term string) bool { return term != "" && (term[0] == '=' || term[0] == '~') }

// finish sorts the terms and packs everything. It renumbers the terms in docs.
func (b *builder) finish(docs []doc) *Part {
	order := make([]uint32, len(b.terms))
	total := 0
	for i := range order {
		order[i] = uint32(i)
		total += len(b.postings[i])
	}
	slices.SortFunc(order, func(x, y uint32) int { return strings.Compare(b.terms[x], b.terms[y]) })
	p := &Part{docs: docs, postings: make([]posting, 0, total), starts: make([]uint32, 0, len(order)+1)}
	sorted := make([]string, len(order))
	place := make([]uint32, len(order))
	for i, id := range order {
		sorted[i], place[id] = b.terms[id], uint32(i)
		p.starts = append(p.starts, uint32(len(p.postings)))
		p.postings = append(p.postings, b.postings[id]...)
	}
	p.starts = append(p.starts, uint32(len(p.postings)))
	for i := range docs {
		for j, id := range docs[i].leads {
			if id != noTerm {
				docs[i].leads[j] = place[id]
			}
		}
	}
	p.terms = newLexicon(sorted)
	spelt := map[string]uint32{}
	for w, e := range b.seen {
		if len(w) >= minWord && len(w) <= maxWord && len(b.postings[e.term]) > 0 {
			spelt[w] = place[e.term]
		}
	}
	p.words = newVocabulary(spelt)
	return p
}

// list gives the postings of a term; nil when it does not occur.
func (p *Part) list(term string) []posting {
	if i := p.terms.find(term); i >= 0 {
		return p.postings[p.starts[i]:p.starts[i+1]]
	}
	return nil
}

// firstSentence cuts a description after its first sentence, line or 300 bytes.
func firstSentence(s string) (first, rest string) {
	s = strings.TrimSpace(s)
	end := len(s)
	for _, stop := range []string{"\n", ". ", "。", "! ", "? "} {
		if i := strings.Index(s[:end], stop); i >= 0 {
			end = i
		}
	}
	if end > 300 {
		for end = 300; !utf8.RuneStart(s[end]); end-- {
		}
	}
	return s[:end], s[end:]
}

// titleTerms gives the distinct terms of a source's name or title.
func titleTerms(stems *stemmer, texts ...string) []string {
	var terms []string
	for _, text := range texts {
		words(text, func(w word) {
			if t := stems.stem(w.text); !synonyms().stops[w.text] && !generic[t] && !slices.Contains(terms, t) {
				terms = append(terms, t)
			}
		})
	}
	return terms
}

// generic words of titles do not tell one source from another.
var generic = map[string]bool{"api": true, "rest": true, "http": true, "v": true, "servic": true, "server": true, "mcp": true, "public": true, "open": true}
