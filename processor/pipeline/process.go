package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// process runs a program and whatever it starts, and leaves nothing of it behind.
type process struct {
	cmd   *exec.Cmd // with its WaitDelay set
	stdin io.WriteCloser
	grace time.Duration
	// send writes stdin. If it fails, sendFailed is told before stdin ends, so
	// that a program is not left to take half a message for a whole one.
	send       func(io.Writer) error
	sendFailed context.CancelCauseFunc
}

// start starts the program. An error means that it does not run.
func (p *process) start() error {
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return err
	}
	p.stdin = stdin
	ownGroup(p.cmd)
	return p.cmd.Start()
}

// wait waits for the end of the program. If ctx ends first, so does the program,
// and the error is the cause.
func (p *process) wait(ctx context.Context) error {
	var owned sync.WaitGroup
	// Ends with the program: Wait closes stdin, which fails its writes.
	owned.Go(p.feed)
	// Ends with the program, or at once with an error.
	var lost error
	exited := make(chan struct{})
	owned.Go(func() {
		defer close(exited)
		lost = awaitExit(p.cmd.Process.Pid)
	})
	p.end(ctx, exited)
	err := p.cmd.Wait()
	owned.Wait()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case lost != nil:
		return fmt.Errorf("program was killed because it could not be watched: %w", lost)
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
func (p *process) end(ctx context.Context, exited <-chan struct{}) {
	pid := p.cmd.Process.Pid
	select {
	case <-exited:
	case <-ctx.Done():
		signalGroup(pid, syscall.SIGTERM)
		select {
		case <-exited:
		case <-time.After(p.grace):
		}
	}
	signalGroup(pid, syscall.SIGKILL)
}
