package e2e_test

import "syscall"

// apart makes a server the head of a process group, so that its children are
// stopped with it, and lets it end with this process, should that be killed.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// rssUnit is what the kernel counts memory in, in bytes: getrusage(2).
const rssUnit = 1 << 10
