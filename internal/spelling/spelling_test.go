package spelling_test

import (
	"testing"

	"github.com/open-executor/executor/internal/spelling"
)

func TestDistanceCountsEditsUpToALimit(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		limit int
		want  int
	}{
		{"", "", 3, 0}, {"list", "list", 3, 0}, {"list", "lists", 3, 1}, {"lsit", "list", 3, 2}, {"get", "list", 9, 3},
		{"", "abc", 9, 3}, {"", "abc", 2, 2}, {"kitten", "sitting", 9, 3}, {"kitten", "sitting", 3, 3}, {"a", "zzzzzzzz", 4, 4},
	} {
		if got := spelling.Distance(c.a, c.b, c.limit); got != c.want {
			t.Errorf("Distance(%q, %q, %d) = %d, want %d", c.a, c.b, c.limit, got, c.want)
		}
		if got := spelling.Distance(c.b, c.a, c.limit); got != c.want {
			t.Errorf("Distance(%q, %q, %d) = %d, want %d", c.b, c.a, c.limit, got, c.want)
		}
	}
}
