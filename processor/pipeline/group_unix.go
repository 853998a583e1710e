//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package pipeline

import "syscall"

// signalGroup signals a process group. One that has ended is no error.
func signalGroup(pid int, s syscall.Signal) { syscall.Kill(-pid, s) }
