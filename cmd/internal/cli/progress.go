package cli

import (
	"fmt"
	"io"
	"log/slog"
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

// newProgress is a bar on a terminal, plain lines elsewhere, and records of the log
// where that is JSON.
func (a *app) newProgress() progress {
	switch {
	case a.logFormat.value == "json":
		return &lines{Writer: a.stderr, print: printRecord}
	case a.console != nil:
		return newBar(a.console, a.redact)
	}
	return &lines{Writer: a.stderr, print: printLine}
}

// linesEvery is how often a line is written at most.
const linesEvery = time.Second

// lines writes a line when something has changed, but not too often.
type lines struct {
	io.Writer
	print func(w io.Writer, name string, s eventstream.Summary)

	mu      sync.Mutex // guards the fields below
	name    string
	pending eventstream.Summary // the newest state
	shown   string              // what was written last, in words
	last    time.Time           // when that was
	timer   *time.Timer
}

func (l *lines) update(name string, s eventstream.Summary) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.name, l.pending = name, s
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
	text := counts(l.pending)
	if l.name == "" || text == l.shown {
		return
	}
	l.print(l.Writer, l.name, l.pending)
	l.shown, l.last = text, time.Now()
}

func printLine(w io.Writer, name string, s eventstream.Summary) {
	fmt.Fprintf(w, "leasestream: %s: %s\n", name, counts(s))
}

// printRecord writes a record of the log, whatever its level: it was asked for.
func printRecord(w io.Writer, name string, s eventstream.Summary) {
	slog.New(slog.NewJSONHandler(w, nil)).Info("progress",
		"stream", name, "done", s.Done, "total", s.Total, "running", running(s), "failed", s.Failed, "paused", s.Paused)
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
	if n := running(s); n > 0 {
		text += fmt.Sprintf(", %d running", n)
	}
	if s.Failed > 0 {
		text += fmt.Sprintf(", %d failed", s.Failed)
	}
	if s.Paused {
		text += ", paused"
	}
	return text
}

func running(s eventstream.Summary) int {
	n := 0
	for _, ofStep := range s.Running {
		n += ofStep
	}
	return n
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
