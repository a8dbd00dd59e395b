//go:build unix && !linux

package e2e_test

import "syscall"

// apart makes a server the head of a process group, so that its children are
// stopped with it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// rssUnit is what the kernel counts memory in, in bytes: getrusage(2). The BSDs
// count as Linux does, macOS does not.
const rssUnit = 1
