// Package all is the list of secret providers that come with Executor, as a
// value. It imports executor and the providers.
package all

import (
	"github.com/open-executor/executor"
	"github.com/open-executor/executor/secret/env"
	"github.com/open-executor/executor/secret/file"
)

// Providers gives every provider, and the one among them that keeps secrets in
// dir, which is also the Sealer. keychain: its key may be in the system's. Nothing
// is read, made or asked yet.
func Providers(dir string, keychain bool) ([]executor.Provider, *file.Store) {
	store := file.Open(dir, file.Options{NoKeychain: !keychain})
	return []executor.Provider{env.Provider{}, store}, store
}
