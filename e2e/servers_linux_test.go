package e2e_test

import "syscall"

// apart makes a server the head of a process group, so that its children are
// stopped with it, and lets it end with this process, should that be killed.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
