package fanout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// Program is the command that runs [Serve] in a process of its own.
type Program func(ctx context.Context) *exec.Cmd

// story is how a fan-out went, as told by all who worked on it.
type story struct {
	started, ended int64 // ns since 1970
	sum            int64
	reports        []Report
}

// crew are the processes of a fan-out.
type crew struct {
	members []*member
	heard   chan heard
}

type member struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	news  *json.Decoder
}

// heard is what a member told, or why it tells nothing more: io.EOF as a rule.
type heard struct {
	news news
	err  error
}

// work runs one fan-out with so many processes.
func work(ctx context.Context, c Config, processes int, program Program) (*story, error) {
	cr := &crew{heard: make(chan heard)}
	for range processes {
		m, err := launch(program(ctx), c)
		if err != nil {
			return nil, errors.Join(err, cr.wait())
		}
		cr.members = append(cr.members, m)
	}
	s, err := cr.run()
	return s, errors.Join(err, cr.wait())
}

func launch(cmd *exec.Cmd, c Config) (*member, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	m := &member{cmd, stdin, json.NewDecoder(stdout)}
	// A member that cannot be told will not get ready.
	_ = m.tell(order{Config: &c})
	return m, nil
}

func (m *member) tell(o order) error { return json.NewEncoder(m.stdin).Encode(o) }

func (cr *crew) run() (*story, error) {
	for i, m := range cr.members {
		var n news
		if err := m.news.Decode(&n); err != nil || !n.Ready {
			return nil, fmt.Errorf("process %d did not get ready: %w", i, err)
		}
	}
	if err := cr.members[0].tell(order{Start: true}); err != nil {
		return nil, err
	}
	for _, m := range cr.members {
		// Ends with the member's output; follow hears it out.
		go cr.listen(m)
	}
	return cr.follow()
}

func (cr *crew) listen(m *member) {
	for {
		var n news
		err := m.news.Decode(&n)
		cr.heard <- heard{n, err}
		if err != nil {
			return
		}
	}
}

// follow hears the members out, and lets them stop once the run has ended.
func (cr *crew) follow() (*story, error) {
	s, open := &story{}, len(cr.members)
	for open > 0 {
		h := <-cr.heard
		switch {
		case h.err != nil:
			open--
			cr.stop() // nobody goes on without the others
		case h.news.Started != 0:
			s.started = h.news.Started
		case h.news.Ended != 0:
			s.ended, s.sum = h.news.Ended, h.news.Sum
			cr.stop()
		case h.news.Report != nil:
			s.reports = append(s.reports, *h.news.Report)
		}
	}
	if s.started == 0 || s.ended == 0 || len(s.reports) < len(cr.members) {
		return nil, errors.New("a process ended early")
	}
	return s, nil
}

// stop ends the input of all members, at which they stop.
func (cr *crew) stop() {
	for _, m := range cr.members {
		m.stdin.Close()
	}
}

// wait waits for the end of all members.
func (cr *crew) wait() error {
	cr.stop()
	var errs []error
	for i, m := range cr.members {
		if err := m.cmd.Wait(); err != nil {
			errs = append(errs, fmt.Errorf("process %d: %w", i, err))
		}
	}
	return errors.Join(errs...)
}
