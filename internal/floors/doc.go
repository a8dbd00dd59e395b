// Package floors holds the plan of the house: which room may import which, and
// why. It has no code of its own, only the tests that compare the plan with the
// source. It imports the standard library and reads the other packages as text,
// so that a file for another operating system is held to the plan as well.
package floors
