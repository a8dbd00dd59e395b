//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package cli

// Elsewhere a terminal can only be read.

func dropTyped(int) error { return nil }
func hideTyped(int) error { return nil }
