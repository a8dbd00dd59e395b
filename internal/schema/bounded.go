package schema

import (
	"encoding/json"
	"errors"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A validation may hold a schema against a value so many times, and so many more for each
// byte of the value's text; that is about a second. A union of schemas that refer back to
// it doubles the steps with each level of the value.
const (
	steps        = 300_000
	stepsForByte = 8
)

// A Bounded schema gives up on what cannot be checked in a reasonable time. Safe for
// concurrent use.
type Bounded struct {
	schema *jsonschema.Schema

	mu   sync.Mutex
	left int // steps of the validation at work
}

var errEndless = errors.New("they fit the schema in too many ways to be checked; nest them less deeply")

// CompileBounded is Compile for what others will be checked against.
func CompileBounded(whole json.RawMessage) (*Bounded, error) {
	b := &Bounded{}
	var err error
	b.schema, err = compile(whole, &jsonschema.Vocabulary{
		URL: "executor:///steps", Schema: &jsonschema.Schema{},
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
			return (*step)(b), nil
		},
	})
	return b, err
}

// Validate tells what does not fit of a value whose text has size bytes.
func (b *Bounded) Validate(value any, size int) (err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = steps + stepsForByte*size
	defer func() {
		if b.left >= 0 {
			return // a panic of another's goes on
		}
		if recover() != nil {
			err = errEndless
		}
	}()
	return b.schema.Validate(value)
}

// A step counts.
type step Bounded

func (s *step) Validate(*jsonschema.ValidatorContext, any) {
	if s.left--; s.left < 0 {
		panic(errEndless) // the validator has no other way out
	}
}
