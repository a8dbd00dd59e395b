package catalog

import (
	"math/bits"
	"slices"
	"sort"
	"strings"
)

// A lexicon is a sorted list of distinct strings in one piece of memory.
type lexicon struct {
	text string
	ends []uint32
}

func newLexicon(sorted []string) lexicon {
	l := lexicon{ends: make([]uint32, 0, len(sorted))}
	var b strings.Builder
	for _, s := range sorted {
		b.WriteString(s)
		l.ends = append(l.ends, uint32(b.Len()))
	}
	l.text = b.String()
	return l
}

func (l lexicon) len() int { return len(l.ends) }

func (l lexicon) at(i int) string {
	if i == 0 {
		return l.text[:l.ends[0]]
	}
	return l.text[l.ends[i-1]:l.ends[i]]
}

// from gives the index of the first string that is not less than s.
func (l lexicon) from(s string) int {
	return sort.Search(len(l.ends), func(i int) bool { return l.at(i) >= s })
}

// find gives the index of s, or -1.
func (l lexicon) find(s string) int {
	if i := l.from(s); i < l.len() && l.at(i) == s {
		return i
	}
	return -1
}

// A vocabulary holds the words of a part as they are written, for words that are
// not finished or not spelt right.
type vocabulary struct {
	words lexicon
	stems []uint32 // :: word → term
	masks []uint64 // :: word → its characters, for typos
}

// beginning calls yield for each word that begins with prefix, in order.
func (v vocabulary) beginning(prefix string, yield func(word string, term uint32)) {
	for i := v.words.from(prefix); i < v.words.len() && strings.HasPrefix(v.words.at(i), prefix); i++ {
		yield(v.words.at(i), v.stems[i])
	}
}

// near calls yield for each word at most limit typing slips from w.
func (v vocabulary) near(w string, limit int, yield func(term uint32, slips int)) {
	mask := characters(w)
	for i, m := range v.masks {
		// One slip changes at most two bits.
		if bits.OnesCount64(m^mask) > 2*limit {
			continue
		}
		other := v.words.at(i)
		if d := len(other) - len(w); d > limit || d < -limit {
			continue
		}
		if n := slips(w, other, limit); n <= limit {
			yield(v.stems[i], n)
		}
	}
}

// allowedSlips is how many slips a word of n letters may hold.
func allowedSlips(n int) int {
	switch {
	case n >= 8:
		return 2
	case n >= 4:
		return 1
	}
	return 0
}

// characters gives the set of characters of w, one bit for each of 64 classes.
func characters(w string) uint64 {
	var mask uint64
	for i := 0; i < len(w); i++ {
		mask |= 1 << (w[i] & 63)
	}
	return mask
}

// slips counts the insertions, deletions, replacements and swaps of neighbours
// that lead from a to b (optimal string alignment). More than limit gives
// limit+1. Both are shorter than maxWord.
func slips(a, b string, limit int) int {
	var rows [3][maxWord + 2]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := 0; j <= len(b); j++ {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		best := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			n := min(row[j-1]+1, last[j]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				n = min(n, before[j-2]+1)
			}
			row[j] = n
			best = min(best, n)
		}
		if best > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit+1)
}

const (
	minWord = 3 // shorter words are not completed or corrected
	maxWord = 32
)

func newVocabulary(byWord map[string]uint32) vocabulary {
	sorted := make([]string, 0, len(byWord))
	for w := range byWord {
		sorted = append(sorted, w)
	}
	slices.Sort(sorted)
	v := vocabulary{words: newLexicon(sorted), stems: make([]uint32, len(sorted)), masks: make([]uint64, len(sorted))}
	for i, w := range sorted {
		v.stems[i], v.masks[i] = byWord[w], characters(w)
	}
	return v
}
