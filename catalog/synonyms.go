package catalog

import (
	"strings"
	"sync"
)

// Words that say the same in requests and in descriptions of software. A word may
// stand in several groups. Groups are generic on purpose: they name what people
// do with any API, never what one API offers.

// verbGroups are what a tool can do. A tool's verb has weight of its own in
// ranking, so their number is bounded by the bits of a verbSet.
var verbGroups = []string{
	"get show fetch read retrieve view display see inspect describe obtain look load give tell print",
	"list all enumerate browse listing every index",
	"search find query lookup locate discover seek",
	"create add new make insert generate open register compose build",
	"delete remove destroy erase drop purge discard clear",
	"update edit modify change patch set alter adjust configure replace",
	"send post publish submit deliver",
	"run execute invoke trigger dispatch perform launch start rerun evaluate",
	"stop cancel abort terminate kill end halt quit",
	"copy duplicate clone",
	"move rename relocate transfer",
	"merge combine join concatenate",
	"convert transform translate render",
	"download export",
	"upload attach import",
	"enable activate",
	"disable deactivate",
	"approve accept confirm allow",
	"reject decline deny dismiss refuse",
	"write save store persist record put overwrite",
	"compare diff difference differ",
	"close finish complete resolve done",
	"restore revert undo rollback recover undelete reset",
	"check verify validate test",
	"subscribe watch follow",
	"invite invitation",
	"analyze analyse analysis examine",
	"count number many",
	"begin start initialize init initialise",
}

// Verb groups that ranking knows by name.
const (
	show verbSet = 1 << 0
	list verbSet = 1 << 1

	// What answers a question: show, list, find, check and count.
	answering = show | list | 1<<2 | 1<<23 | 1<<27
)

// qualifiers say which, not what to do, though verbs mean the same.
var qualifiers = map[string]bool{"all": true, "every": true, "new": true, "many": true, "number": true, "index": true, "record": true, "difference": true, "analysis": true, "invitation": true}

// nounGroups are what tools work on.
var nounGroups = []string{
	"repo repository",
	"directory folder dir",
	"file document doc",
	"text sms",
	"email mail inbox",
	"image picture photo pic",
	"organization organisation org",
	"user account member person people",
	"teammate colleague member collaborator reviewer",
	"message msg",
	"config configuration setting preference option",
	"database db",
	"spreadsheet sheet worksheet workbook excel",
	"presentation slideshow powerpoint slide deck",
	"issue bug ticket defect",
	"comment reply remark",
	"task todo",
	"job pipeline build",
	"team group",
	"label tag",
	"secret credential",
	"log history",
	"url link uri",
	"website webpage page site web",
	"content body contents",
	"info information detail metadata",
	"summary summarize overview abstract",
	"statistic stats metric analytics",
	"environment env",
	"limit quota",
	"admin administrator",
	"identifier id",
	"current now",
	"latest newest recent last",
	"container docker",
	"process program",
	"command shell terminal",
	"server host machine",
	"webhook hook",
	"permission access",
	"payment charge",
	"refund reimburse reimbursement",
	"invoice bill",
	"customer client",
	"schedule calendar",
	"event meeting appointment",
	"weather forecast",
	"place location",
	"price cost",
	"video movie clip",
	"song track",
	"chart graph plot",
	"language lang",
	"reaction emoji react",
	"conversation channel chat",
	"note memo",
	"paper article publication",
	"tree hierarchy nested recursive",
	"size large big",
	"line row",
	"table relation",
	"column field",
	"key pubkey",
	"branch ref",
	"error failure failed failing",
	"status state",
	"review feedback",
	"multiple several many various",
	"my me mine authenticated own",
	"authentication auth login logged signin",
	"edge relationship connection relation",
	"entity node object",
	"timezone tz zone",
	"internet online web",
}

// phrases are short forms that stand for several words.
var phrases = map[string]string{
	"pr": "pull request", "prs": "pull requests",
	"dm": "direct message", "ci": "continuous integration",
	"kb": "knowledge base", "mr": "merge request", "mrs": "merge requests",
	"ppt": "powerpoint", "k8s": "kubernetes", "repos": "repositories",
}

const stopWords = `a an and any are as at be been but by can could do does for from had has have
he her here him his how i if in into is it its itself just kindly let lets like may might need of off on once
one or our please shall she should so some someone something such than that the their them then there these
they this those to too under until up us want was we were what when where which while who whom whose why will with
without would you your about after again also am before being both each etc via per inside within`

// A verbSet holds verb groups, one bit each.
type verbSet uint32

// A thesaurus tells the groups of a stem. The group's own term, "=3" for the
// fourth, stands beside the stem wherever the word occurs.
type thesaurus struct {
	terms map[string][]string // by stem
	verbs map[string]verbSet  // by stem
	stops map[string]bool     // by word
}

var synonyms = sync.OnceValue(func() thesaurus {
	t := thesaurus{terms: map[string][]string{}, verbs: map[string]verbSet{}, stops: map[string]bool{}}
	stems := newStemmer()
	add := func(group, term string, bit verbSet) {
		for _, w := range strings.Fields(group) {
			s := stems.stem(w)
			if has := t.terms[s]; len(has) == 0 || has[len(has)-1] != term {
				t.terms[s] = append(has, term)
			}
			if !qualifiers[w] {
				t.verbs[s] |= bit
			}
		}
	}
	for i, group := range verbGroups {
		add(group, "="+string(rune('A'+i)), 1<<i)
	}
	for i, group := range nounGroups {
		add(group, "~"+string(rune('A'+i)), 0)
	}
	for _, w := range strings.Fields(stopWords) {
		t.stops[w] = true
	}
	return t
})
