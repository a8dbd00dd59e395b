package storagetest

import (
	"context"
	"testing"

	"github.com/open-executor/executor"
)

// Of the runs 1 to 6 the even ones are of another source, 3 and 6 are children
// of 1, an agent asked for 4 to 6, and all but 2 and 5 are done.
func sixRuns(t *testing.T, runs executor.Runs) {
	t.Helper()
	for n := 1; n <= 6; n++ {
		run := newRun(n)
		if n%2 == 0 {
			run.Address.Source = "mail"
		}
		if n%3 == 0 {
			run.Parent, run.Root = newRun(1).ID, newRun(1).ID
		}
		if n >= 4 {
			run.Principal = append(run.Principal, executor.Principal{Kind: executor.Agent, ID: "helper"})
		}
		add(t, runs, run)
	}
	for _, n := range []int{6, 1, 3, 4} {
		run := must[executor.Run](t)(runs.Get(context.Background(), newRun(n).ID))
		add(t, runs, next(run, executor.Done))
	}
}

var listClaims = []claim{
	{"list gives newest states, latest started first", func(t *testing.T, s executor.Storage) {
		if none := must[[]executor.Run](t)(s.Runs().List(context.Background(), executor.RunFilter{})); len(none) != 0 {
			t.Errorf("List of an empty storage = %v, want none", none)
		}
		sixRuns(t, s.Runs())
		list := must[[]executor.Run](t)(s.Runs().List(context.Background(), executor.RunFilter{}))
		wantIDs(t, "List", list, 6, 5, 4, 3, 2, 1)
		for _, run := range list {
			wantRun(t, "List", run, must[executor.Run](t)(s.Runs().Get(context.Background(), run.ID)))
		}
	}},
	{"a filter selects, and its fields select together", func(t *testing.T, s executor.Storage) {
		sixRuns(t, s.Runs())
		for _, c := range []struct {
			filter executor.RunFilter
			want   []int
		}{
			{executor.RunFilter{Status: executor.Done}, []int{6, 4, 3, 1}},
			{executor.RunFilter{Status: executor.Running}, []int{5, 2}},
			{executor.RunFilter{Status: executor.Ambiguous}, nil},
			{executor.RunFilter{Source: "mail"}, []int{6, 4, 2}},
			{executor.RunFilter{Asker: "helper"}, []int{6, 5, 4}},
			{executor.RunFilter{Asker: "ada"}, []int{6, 5, 4, 3, 2, 1}},
			{executor.RunFilter{Asker: "help"}, nil},
			{executor.RunFilter{Parent: newRun(1).ID}, []int{6, 3}},
			{executor.RunFilter{Before: newRun(4).ID}, []int{3, 2, 1}},
			{executor.RunFilter{Before: newRun(1).ID}, nil},
			{executor.RunFilter{Limit: 2}, []int{6, 5}},
			{executor.RunFilter{Source: "mail", Before: newRun(6).ID, Limit: 1}, []int{4}},
			{executor.RunFilter{Status: executor.Done, Source: "phone", Asker: "ada", Parent: newRun(1).ID, Before: newRun(5).ID}, []int{3}},
		} {
			list := must[[]executor.Run](t)(s.Runs().List(context.Background(), c.filter))
			wantIDs(t, "List", list, c.want...)
		}
	}},
	{"the zero filter gives the latest 100, and before leads through all", func(t *testing.T, s executor.Storage) {
		var want []int
		for n := range 250 {
			add(t, s.Runs(), newRun(n))
			want = append([]int{n}, want...)
		}
		var all []executor.Run
		filter := executor.RunFilter{}
		for _, size := range []int{100, 100, 50, 0} {
			page := must[[]executor.Run](t)(s.Runs().List(context.Background(), filter))
			wantEqual(t, "runs on a page", len(page), size)
			if len(page) > 0 {
				filter.Before = page[len(page)-1].ID
			}
			all = append(all, page...)
		}
		wantIDs(t, "all pages", all, want...)
	}},
}
