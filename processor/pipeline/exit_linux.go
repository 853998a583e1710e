package pipeline

import "golang.org/x/sys/unix"

// awaitExit waits until a child has exited, and leaves it to be waited for, so
// that its id stays its own.
func awaitExit(pid int) error {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err
		}
	}
}
