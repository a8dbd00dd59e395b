package executor

// A Principal is who acts. It is never ambient: an [Executor] has one.
type Principal struct {
	Kind      PrincipalKind `json:"kind"`
	ID        string        `json:"id"`
	Assurance Assurance     `json:"assurance,omitempty"`
}

// PrincipalKind separates people from everything that acts for them.
type PrincipalKind string

const (
	Human   PrincipalKind = "human"
	Agent   PrincipalKind = "agent"
	Trigger PrincipalKind = "trigger"
	View    PrincipalKind = "view"
)

// Assurance says how sure it is that a person, and not a program in the
// person's name, is there. It counts for [Executor.Answer] only.
type Assurance string

const (
	Shell    Assurance = "shell"    // a process of the user; any program could be that
	Terminal Assurance = "terminal" // typed on the controlling terminal
	Embedded Assurance = "embedded" // the embedding program vouches for it
)

// person tells whether a whole chain of principals is people who are surely
// present. A shell is no witness, also not of somebody it acts for.
func person(chain []Principal) bool {
	for _, p := range chain {
		if p.Kind != Human || p.Assurance != Terminal && p.Assurance != Embedded {
			return false
		}
	}
	return true
}

// people tells whether no agent, trigger or view takes part in the chain.
func people(chain []Principal) bool {
	for _, p := range chain {
		if p.Kind != Human {
			return false
		}
	}
	return true
}
