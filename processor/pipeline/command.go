package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// command is a program that does the work of a step.
type command struct {
	arguments []*argument
	read      func(stdout []byte) (json.RawMessage, error)
	settings  *Options
}

// run starts the program for a message and reads its output.
func (c *command) run(ctx context.Context, m *message) (json.RawMessage, error) {
	cmd, err := c.prepare(ctx, m)
	if err != nil {
		return nil, err
	}
	log := newStderr(ctx, c.settings, m.task)
	stdout, err := c.execute(ctx, cmd, log, m)
	log.flush()
	if err != nil {
		return nil, log.explain(err)
	}
	output, err := c.read(stdout)
	if err != nil {
		return nil, log.explain(err)
	}
	return output, nil
}

func (c *command) prepare(ctx context.Context, m *message) (*exec.Cmd, error) {
	data := newArgumentData(m)
	words := make([]string, len(c.arguments))
	for i, a := range c.arguments {
		word, err := a.expand(data)
		if err != nil {
			return nil, err
		}
		if strings.ContainsRune(word, 0) {
			return nil, hopeless{fmt.Errorf("%s: argument %.80q has a NUL character, which no program can be given", a.where, word)}
		}
		words[i] = word
	}
	path, err := c.find(words[0])
	if err != nil {
		return nil, hopeless{fmt.Errorf("%s: program %q cannot be run: %w", c.arguments[0].where, words[0], err)}
	}
	return &exec.Cmd{
		Path:      path,
		Args:      words,
		Dir:       c.settings.Dir,
		Env:       append(inherited(), environment(ctx, m.task)...),
		WaitDelay: c.settings.Grace,
	}, nil
}

// find is the path of a program.
func (c *command) find(name string) (string, error) {
	if strings.ContainsRune(name, '/') && !filepath.IsAbs(name) {
		name = filepath.Join(c.settings.Dir, name)
	}
	path, err := exec.LookPath(name)
	if e, ok := errors.AsType[*exec.Error](err); ok {
		return "", e.Err
	}
	return path, err
}

// execute runs the program to its end and returns what it wrote to stdout.
func (c *command) execute(ctx context.Context, cmd *exec.Cmd, log *stderr, m *message) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stdout := &bounded{limit: c.settings.MaxOutput, exceeded: cancel}
	cmd.Stdout, cmd.Stderr = stdout, log
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p := &process{cmd: cmd, grace: c.settings.Grace, send: m.send, sendFailed: cancel}
	if err := p.start(); err != nil {
		return nil, c.notStarted(err)
	}
	err := p.wait(ctx)
	return stdout.data, err
}

// notStarted tells what stays as it is until someone changes the program or its
// arguments from what may be better in a moment, such as too many open files.
func (c *command) notStarted(err error) error {
	err = fmt.Errorf("%s: program cannot be run: %w", c.arguments[0].where, err)
	switch {
	case errors.Is(err, syscall.E2BIG):
		return hopeless{fmt.Errorf("%w: a message of this size has to be read from stdin", err)}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC):
		return hopeless{err}
	}
	return err
}

// bounded keeps what is written to it, up to a limit in bytes.
type bounded struct {
	limit    int
	exceeded context.CancelCauseFunc
	data     []byte
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(p) > b.limit-len(b.data) {
		err := hopeless{fmt.Errorf("output is larger than %d bytes; let it go to a file or a blob, and put out the name of that", b.limit)}
		b.exceeded(err)
		return 0, err
	}
	b.data = append(b.data, p...)
	return len(p), nil
}
