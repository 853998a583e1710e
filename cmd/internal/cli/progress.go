package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/leasestream/leasestream/eventstream"
)

// progress shows on standard error how a run gets on. The log is written through
// it meanwhile, from any goroutine; update and close belong to one, and close
// comes last.
type progress interface {
	io.Writer
	update(name string, s eventstream.Summary)
	// close shows the last state and gives standard error back.
	close()
}

// newProgress is a bar on a terminal, plain lines elsewhere.
func (a *app) newProgress() progress {
	if a.console != nil {
		return newBar(a.console, a.redact)
	}
	return &lines{Writer: a.stderr}
}

// linesEvery is how often a line is written at most.
const linesEvery = time.Second

// lines writes a line when something has changed, but not too often.
type lines struct {
	io.Writer

	mu      sync.Mutex // guards the fields below
	pending string     // the newest state
	shown   string     // the one that was written last
	last    time.Time  // when that was
	timer   *time.Timer
}

func (l *lines) update(name string, s eventstream.Summary) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = fmt.Sprintf("leasestream: %s: %s", name, counts(s))
	wait := linesEvery - time.Since(l.last)
	switch {
	case wait <= 0:
		l.show()
	case l.timer == nil:
		l.timer = time.AfterFunc(wait, l.flush)
	}
}

func (l *lines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = nil
	l.show()
}

func (l *lines) show() {
	if l.pending == l.shown {
		return
	}
	fmt.Fprintln(l.Writer, l.pending)
	l.shown, l.last = l.pending, time.Now()
}

func (l *lines) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
	l.show()
}

// counts sums up the events of a run.
func counts(s eventstream.Summary) string {
	text := fmt.Sprintf("%d of %d events done", s.Done, s.Total)
	running := 0
	for _, n := range s.Running {
		running += n
	}
	if running > 0 {
		text += fmt.Sprintf(", %d running", running)
	}
	if s.Failed > 0 {
		text += fmt.Sprintf(", %d failed", s.Failed)
	}
	if s.Paused {
		text += ", paused"
	}
	return text
}

// bar is a progress bar with the counts behind it.
type bar struct {
	container *mpb.Progress
	redact    func(string) string
	bar       *mpb.Bar // nil before the first update
	full      bool     // nothing is left to do
	text      chan string
}

func newBar(w io.Writer, redact func(string) string, o ...mpb.ContainerOption) *bar {
	options := append([]mpb.ContainerOption{mpb.WithOutput(w), mpb.WithWidth(64)}, o...)
	return &bar{container: mpb.New(options...), redact: redact, text: make(chan string, 1)}
}

// Write puts the log above the bar.
func (b *bar) Write(p []byte) (int, error) {
	if _, err := b.container.Write([]byte(b.redact(string(p)))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (b *bar) update(name string, s eventstream.Summary) {
	select {
	case <-b.text: // not shown in time
	default:
	}
	b.text <- counts(s)
	if b.bar == nil {
		b.bar = b.container.AddBar(0,
			mpb.PrependDecorators(decor.Name(name+" ")),
			mpb.AppendDecorators(b.countsDecorator(counts(s))))
	}
	b.bar.SetTotal(int64(s.Total), false)
	b.bar.SetCurrent(int64(s.Done))
	b.full = s.Done == s.Total
}

// countsDecorator shows the newest counts. It runs in the goroutine that draws.
func (b *bar) countsDecorator(shown string) decor.Decorator {
	return decor.Any(func(decor.Statistics) string {
		select {
		case shown = <-b.text:
		default:
		}
		return " " + shown
	})
}

func (b *bar) close() {
	switch {
	case b.bar == nil:
	case b.full:
		b.bar.SetTotal(-1, true)
	default:
		b.bar.Abort(false) // stop where it is
	}
	b.container.Wait()
}
