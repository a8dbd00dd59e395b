//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package cli

// dropTyped cannot be done here.
func dropTyped(int) error { return nil }
