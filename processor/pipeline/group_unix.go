//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package pipeline

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a program the head of a process group of its own, so that its
// children can be signaled with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalGroup signals a process group. One that has ended is no error.
func signalGroup(pid int, s syscall.Signal) { syscall.Kill(-pid, s) }
