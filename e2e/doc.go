// Package e2e tells stories to the built program: each file in testdata is one,
// and every command in it is typed as a person or an agent would type it. It
// imports nothing of this module; what it knows is what the program shows.
//
// EXECUTOR_E2E=full makes a missing real server a failure; without it the story
// is skipped. EXECUTOR_E2E_DIR names the directory in which homes, outputs and
// logs are kept after the run. EXECUTOR_PROGRAM names a program to tell the
// stories to; without it one is built.
package e2e
