package executor

import "slices"

// Scopes are the placements a caller holds, outer (authority) to inner (actor).
type Scopes []ScopeID

// Holds tells whether id is among them.
func (s Scopes) Holds(id ScopeID) bool { return slices.Contains(s, id) }

// Inner gives the scope nearest to the actor; "" when there is none.
func (s Scopes) Inner() ScopeID {
	if len(s) == 0 {
		return ""
	}
	return s[len(s)-1]
}
