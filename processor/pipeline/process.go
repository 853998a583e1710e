package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// process runs a program and whatever it starts, and leaves nothing of it behind.
type process struct {
	cmd   *exec.Cmd // with its WaitDelay set
	grace time.Duration
	// send writes stdin. If it fails, sendFailed is told before stdin ends, so
	// that a program is not left to take half a message for a whole one.
	send       func(io.Writer) error
	sendFailed context.CancelCauseFunc

	stdin  io.WriteCloser
	owned  sync.WaitGroup
	exited chan struct{} // closed when the program has exited or lost is set
	lost   error         // why its exit could not be waited for
}

// start starts the program. An error means that it does not run.
func (p *process) start() error {
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return err
	}
	p.stdin = stdin
	ownGroup(p.cmd)
	started := make(chan error, 1)
	p.exited = make(chan struct{})
	// Ends with the program.
	p.owned.Go(func() {
		defer close(p.exited)
		// On Linux the program ends with the thread that starts it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.lost = awaitExit(p.cmd.Process.Pid)
		}
	})
	if err := <-started; err != nil {
		p.owned.Wait()
		return err
	}
	return nil
}

// wait waits for the end of the program. If ctx ends first, so does the program,
// and the error is the cause.
func (p *process) wait(ctx context.Context) error {
	// Ends with the program: Wait closes stdin, which fails its writes.
	p.owned.Go(p.feed)
	p.end(ctx)
	err := p.cmd.Wait()
	p.owned.Wait()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case p.lost != nil:
		return fmt.Errorf("program was killed because it could not be watched: %w", p.lost)
	case errors.Is(err, exec.ErrWaitDelay):
		// The program ended well; what still holds its pipes has left its group
		// and is none of ours.
		return nil
	}
	return err
}

func (p *process) feed() {
	if err := p.send(p.stdin); err != nil {
		p.sendFailed(err)
		return
	}
	p.stdin.Close()
}

// end waits for the program's exit, hastens it when ctx ends, and kills what is
// left of its group. Until Wait is called the id of the group is not given to
// another one, so the kill cannot hit a stranger.
func (p *process) end(ctx context.Context) {
	pid := p.cmd.Process.Pid
	select {
	case <-p.exited:
	case <-ctx.Done():
		signalGroup(pid, syscall.SIGTERM)
		select {
		case <-p.exited:
		case <-time.After(p.grace):
		}
	}
	signalGroup(pid, syscall.SIGKILL)
}
