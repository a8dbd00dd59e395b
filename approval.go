package executor

import (
	"encoding/json"
	"time"
)

// A Request is what the inbox holds: something wanted from a person.
type Request struct {
	ID       RunID           `json:"id"`   // of the waiting run; a run waits for one thing at a time
	Kind     RequestKind     `json:"kind"` // approval is the only one a call makes
	Address  Address         `json:"address"`
	Effect   Effect          `json:"effect"`
	Asks     []Principal     `json:"asks"`             // who wants it: the run's chain
	Summary  string          `json:"summary"`          // one sentence for people
	Args     json.RawMessage `json:"args"`             // as in the run: sensitive values masked
	Sealed   []byte          `json:"sealed,omitempty"` // the arguments, encrypted, where Args is masked; nil otherwise
	Decision Decision        `json:"decision"`         // which rule asked
	Binding  Binding         `json:"binding"`
	Created  time.Time       `json:"created"`
	Answer   *Answer         `json:"answer,omitempty"` // nil while it waits
	Version  uint64          `json:"-"`                // of the stored record
}

// RequestKind is what a person is wanted for.
type RequestKind string

// ForApproval asks whether one call may run.
const ForApproval RequestKind = "approval"

// A Binding is what an approval is good for. If anything in it has changed when
// the call would run, the approval is void.
type Binding struct {
	Args       string    `json:"args"`       // digest of the arguments
	Connection string    `json:"connection"` // digest of the connection: how it signs, with which references
	Tool       string    `json:"tool"`       // digest of the tool as described
	Policy     string    `json:"policy"`     // version of the rules
	Expires    time.Time `json:"expires"`    // UTC
}

// An Answer is a person's decision of a request.
type Answer struct {
	Approve bool      `json:"approve"`
	Reason  string    `json:"reason,omitempty"` // the asker sees it
	By      Principal `json:"by"`               // set by Executor.Answer
	At      time.Time `json:"at"`               // likewise; UTC
}

// An Approval is an answer as the run keeps it: single use, because the run it
// belongs to is claimed once.
type Approval struct {
	Request RunID   `json:"request"`
	Answer  Answer  `json:"answer"`
	Binding Binding `json:"binding"`
}

// A Sealer encrypts what must wait on disk. Safe for concurrent use.
type Sealer interface {
	Seal(plain []byte) ([]byte, error)
	Unseal(sealed []byte) ([]byte, error)
}
