//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package pipeline

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup does nothing: these systems have no process groups.
func ownGroup(*exec.Cmd) {}

// signalGroup kills the program alone, whatever the signal.
func signalGroup(pid int, _ syscall.Signal) {
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
		p.Release()
	}
}

// awaitExit waits until a program has exited.
func awaitExit(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	_, err = p.Wait()
	return err
}
