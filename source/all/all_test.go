package all_test

import (
	"slices"
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/source/all"
)

func TestTheListIsSortedAndMakesAnExecutor(t *testing.T) {
	var names []string
	for _, k := range all.Kinds() {
		names = append(names, k.Name())
	}
	if want := slices.Compact(slices.Sorted(slices.Values(names))); !slices.Equal(names, want) {
		t.Errorf("kinds = %q, want %q", names, want)
	}
	if _, err := executor.New(executor.Config{Kinds: all.Kinds()}); err != nil {
		t.Errorf("New: %v", err)
	}
}
