package all_test

import (
	"testing"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/secret/all"
)

func TestEachSchemeHasOneProviderAndOneKeeps(t *testing.T) {
	providers, store := all.Providers(t.TempDir(), false)
	schemes, keepers := map[string]int{}, 0
	for _, p := range providers {
		schemes[p.Scheme()]++
		if k, ok := p.(executor.Keeper); ok {
			keepers++
			if k != executor.Keeper(store) {
				t.Errorf("the keeper is of scheme %q and not the store that is given", p.Scheme())
			}
		}
	}
	if len(schemes) != len(providers) || schemes["env"] != 1 || schemes["file"] != 1 || keepers != 1 {
		t.Errorf("schemes %v with %d keepers, want env and file once each, one of them a keeper", schemes, keepers)
	}
	if _, err := executor.New(executor.Config{Providers: providers, Sealer: store}); err != nil {
		t.Errorf("New: %v", err)
	}
}
