//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package pipeline

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup makes a program the head of a process group of its own, so that its
// children can be signaled with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// awaitExit waits until a child has exited, and leaves it to be waited for, so
// that its id stays its own. It uses kqueue because waitid of macOS also returns
// for a child that was stopped.
func awaitExit(pid int) error {
	queue, err := unix.Kqueue()
	if err != nil {
		return err
	}
	defer unix.Close(queue)
	var exit unix.Kevent_t
	unix.SetKevent(&exit, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	exit.Fflags = unix.NOTE_EXIT
	for {
		_, err := unix.Kevent(queue, []unix.Kevent_t{exit}, make([]unix.Kevent_t, 1), nil)
		switch err {
		case unix.EINTR:
		case unix.ESRCH: // it has exited already
			return nil
		default:
			return err
		}
	}
}
