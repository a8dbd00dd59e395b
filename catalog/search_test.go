package catalog_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	executor "github.com/open-executor/executor"
	"github.com/open-executor/executor/catalog"
)

// found lists the addresses of the hits.
func found(hits []catalog.Hit) []string {
	var list []string
	for _, h := range hits {
		list = append(list, h.Address.String())
	}
	return list
}

var phone = &executor.Manifest{Title: "Phone API", Tools: []executor.Tool{
	{Name: "book.delete", Description: "Delete a contact.", Effect: executor.Destroy},
	{Name: "book.find", Description: "Find contacts.", Effect: executor.Read},
	{Name: "book.lookup", Description: "Find contacts.", Effect: executor.Read, Deprecated: true},
	{Name: "call", Description: "Call a number."},
	{Name: "sendSMS", Description: "Send a text.", Effect: executor.Write},
}}

func phones() *catalog.Index {
	p := catalog.Build(phone)
	return catalog.New(
		catalog.View{Part: p, Source: "phone", Scope: "user", Connection: "work"},
		catalog.View{Part: p, Source: "phone", Scope: "user", Connection: "home"},
		catalog.View{Part: p, Source: "phone", Scope: "org", Connection: "work"},
	)
}

func TestToolsOfAnOfficeAreFoundByIntent(t *testing.T) {
	q := judge(t, serverIndex(t, "testdata/office.tools.json"), load[[]intent](t, "testdata/office_intents.json"))
	if q.hit1 < 0.85 || q.hit5 < 0.95 {
		t.Errorf("hit@1 = %.3f, hit@5 = %.3f, want at least 0.85 and 0.95", q.hit1, q.hit5)
	}
}

func TestWhatIsAskedForComesFirst(t *testing.T) {
	for _, c := range []struct {
		name, query string
		filter      catalog.Filter
		want        []string
	}{
		{"a tool is a hit for each connection, by scope and name", "send sms", catalog.Filter{Limit: 3}, []string{"phone.org.work.sendSMS", "phone.user.home.sendSMS", "phone.user.work.sendSMS"}},
		{"by scope", "send sms", catalog.Filter{Scope: "org", Limit: 1}, []string{"phone.org.work.sendSMS"}},
		{"by connection", "text", catalog.Filter{Connection: "home"}, []string{"phone.user.home.sendSMS"}},
		{"by effect", "contact", catalog.Filter{Scope: "org", Effect: executor.Destroy}, []string{"phone.org.work.book.delete"}},
		{"an unknown effect is a write", "", catalog.Filter{Scope: "org", Effect: executor.Write}, []string{"phone.org.work.call", "phone.org.work.sendSMS"}},
		{"signs without a word find nothing", "!!! 🙂", catalog.Filter{}, nil},
		{"by source", "contact", catalog.Filter{Sources: []executor.SourceID{"fax"}}, nil},
		{"what is not visible is not found", "contact", catalog.Filter{Scope: "org", Visible: func(a executor.Address) bool { return a.Tool == "book.find" }}, []string{"phone.org.work.book.find"}},
		{"a deprecated tool comes later although it fits better", "lookup contacts", catalog.Filter{Scope: "org", Limit: 2}, []string{"phone.org.work.book.find", "phone.org.work.book.lookup"}},
		{"a tool's name", "book.lookup", catalog.Filter{Scope: "org", Limit: 1}, []string{"phone.org.work.book.lookup"}},
		{"a tool's name in other case", "SENDsms", catalog.Filter{Scope: "org", Limit: 1}, []string{"phone.org.work.sendSMS"}},
		{"a whole address", "phone.org.work.book.lookup", catalog.Filter{Scope: "org", Limit: 1}, []string{"phone.org.work.book.lookup"}},
		{"a synonym", "erase a contact", catalog.Filter{Scope: "org", Limit: 1}, []string{"phone.org.work.book.delete"}},
		{"another form of the word", "deleting", catalog.Filter{Scope: "org"}, []string{"phone.org.work.book.delete"}},
		{"an unfinished word", "cont", catalog.Filter{Scope: "org", Effect: executor.Destroy}, []string{"phone.org.work.book.delete"}},
		{"a misspelt word", "contcat", catalog.Filter{Scope: "org", Effect: executor.Destroy}, []string{"phone.org.work.book.delete"}},
		{"two words for one", "send s ms", catalog.Filter{Scope: "org", Limit: 1}, []string{"phone.org.work.sendSMS"}},
		{"only the source", "phone", catalog.Filter{Scope: "org", Limit: 2}, []string{"phone.org.work.book.delete", "phone.org.work.book.find"}},
		{"an empty query lists all", " ", catalog.Filter{Scope: "org", Limit: 2}, []string{"phone.org.work.book.delete", "phone.org.work.book.find"}},
		{"nothing like it", "zeppelin", catalog.Filter{}, nil},
	} {
		if got := found(phones().Search(c.query, c.filter)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q\n got %v\nwant %v", c.name, c.query, got, c.want)
		}
	}
}

func TestAHitRefersToTheToolAndItsManifest(t *testing.T) {
	hits := phones().Search("sendSMS", catalog.Filter{Limit: 2})
	if len(hits) != 2 || hits[0].Tool != &phone.Tools[4] || hits[0].Manifest != phone || hits[0].Score != hits[1].Score {
		t.Errorf("hits = %+v, want two of one score that refer to sendSMS", hits)
	}
}

func TestASourceNamedInTheQueryGoesBeforeOthers(t *testing.T) {
	p := catalog.Build(&executor.Manifest{Tools: []executor.Tool{{Name: "messages.send", Description: "Send a message."}}})
	x := catalog.New(
		catalog.View{Part: p, Source: "slack", Scope: "user", Connection: "work"},
		catalog.View{Part: p, Source: "teams", Scope: "user", Connection: "work"},
	)
	for query, want := range map[string]string{"send a slack message": "slack.user.work.messages.send", "message on teams": "teams.user.work.messages.send"} {
		if got := found(x.Search(query, catalog.Filter{Limit: 1})); !slices.Equal(got, []string{want}) {
			t.Errorf("%q: got %v, want %s", query, got, want)
		}
	}
}

func TestSearchesAtTheSameTimeGiveTheSameHits(t *testing.T) {
	x := serverIndex(t, "testdata/office.tools.json")
	queries := load[[]intent](t, "testdata/office_intents.json")
	want := make([][]catalog.Hit, len(queries))
	for i, q := range queries {
		want[i] = x.Search(q.Query, catalog.Filter{})
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for i, q := range queries {
				if got := x.Search(q.Query, catalog.Filter{}); !reflect.DeepEqual(got, want[i]) {
					t.Errorf("%q gives %v, alone %v", q.Query, found(got), found(want[i]))
				}
			}
		})
	}
	wait.Wait()
}

// A caller is what a catalog sees of an executor.
type caller struct {
	sources     []executor.Source
	connections []executor.Connection
	manifests   map[string]*executor.Manifest
	asked       int
}

func (c *caller) Sources(context.Context) ([]executor.Source, error) { return c.sources, nil }
func (c *caller) Connections(context.Context) ([]executor.Connection, error) {
	return c.connections, nil
}
func (c *caller) Manifest(_ context.Context, digest string) (*executor.Manifest, error) {
	c.asked++
	if m, ok := c.manifests[digest]; ok {
		return m, nil
	}
	return nil, &executor.Error{Code: executor.Internal, Msg: "manifest is missing"}
}

func TestALostManifestTakesOutItsOwnSourceOnly(t *testing.T) {
	c := &caller{
		sources:     []executor.Source{{ID: "fax", Manifest: "lost"}, {ID: "phone", Manifest: "one"}},
		connections: []executor.Connection{{Source: "fax", Scope: "user", Name: "public"}, {Source: "phone", Scope: "user", Name: "work"}},
		manifests:   map[string]*executor.Manifest{"one": phone},
	}
	var all catalog.Catalog
	x, err := all.Index(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), `source "fax"`) || x == nil {
		t.Fatalf("Index gives %v and %v, want an index beside an error that names fax", x, err)
	}
	if got, want := found(x.Search("sendSMS", catalog.Filter{})), []string{"phone.user.work.sendSMS"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAManifestIsBuiltOnceForAllConnections(t *testing.T) {
	c := &caller{
		sources: []executor.Source{{ID: "phone", Title: "Phone", Manifest: "one"}, {ID: "fax", Manifest: "one"}, {ID: "empty"}},
		connections: []executor.Connection{
			{Source: "phone", Scope: "user", Name: "home"}, {Source: "phone", Scope: "user", Name: "work"},
			{Source: "fax", Scope: "user", Name: "public"}, {Source: "empty", Scope: "user", Name: "public"},
			{Source: "gone", Scope: "user", Name: "public"}, {Source: "phone", Scope: "user", Name: "old", Manifest: "two"},
		},
		manifests: map[string]*executor.Manifest{"one": phone, "two": {Tools: []executor.Tool{{Name: "sendSMS"}}}},
	}
	var all catalog.Catalog
	for range 2 {
		x, err := all.Index(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		got := found(x.Search("sendSMS", catalog.Filter{}))
		slices.Sort(got)
		want := []string{"fax.user.public.sendSMS", "phone.user.home.sendSMS", "phone.user.old.sendSMS", "phone.user.work.sendSMS"}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if c.asked != 2 {
		t.Errorf("manifests were asked for %d times, want 2", c.asked)
	}
	all.Forget(func(digest string) bool { return digest == "one" })
	if _, err := all.Index(t.Context(), c); err != nil || c.asked != 3 {
		t.Errorf("after Forget manifests were asked for %d times (%v), want 3", c.asked, err)
	}
}

func FuzzSearchTakesAnyText(f *testing.F) {
	f.Add("send SMS", "{}")
	f.Add("天气", `{"properties":{"a":{"$ref":"#/$defs/a"}}}`)
	f.Add("\xff<a", `{"properties":{"`)
	f.Fuzz(func(t *testing.T, text, input string) {
		m := &executor.Manifest{Title: text, Tools: []executor.Tool{{Name: "a", Description: text, Input: []byte(input), Tags: []string{text}}}}
		m.Defs = map[string]json.RawMessage{"a": []byte(input)}
		x := catalog.New(catalog.View{Part: catalog.Build(m), Source: "s", Scope: "user", Connection: "c"})
		if got := found(x.Search("a", catalog.Filter{})); !slices.Equal(got, []string{"s.user.c.a"}) {
			t.Errorf("got %v, want the tool by its name", got)
		}
		x.Search(text, catalog.Filter{})
	})
}
