// Package all is the list of source kinds, as a value. It imports the kinds and
// leaves their wiring to whoever builds an executor.
package all

import (
	"github.com/open-executor/executor"
	"github.com/open-executor/executor/source/openapi"
)

// Kinds gives every kind there is, by name.
func Kinds() []executor.Kind {
	return []executor.Kind{
		openapi.Kind{},
	}
}
