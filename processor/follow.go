package processor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/scope/store"
)

// wish is what a batch event wants of its child stream.
type wish struct {
	id      string // of the batch event
	attempt int
	cancel  bool // the batch event has ended before its child
	paused  bool // it, or something above it, is paused
	by, msg string
}

func wishOf(s *eventstream.Stream, e *eventstream.Event) wish {
	w := wish{id: e.ID(), attempt: e.Attempt(), by: e.Attr("by"), msg: e.Msg()}
	w.cancel = e.Status().Final() || e.Superseded()
	w.paused = !w.cancel && s.IsPaused(e)
	return w
}

// follower sees what an edit of a document means for its child streams. The edit
// may run again on fresher content.
type follower struct {
	before  []wish // of the open batch events
	changed []wish
	end     *report // if the document has ended
}

// watch is f between two looks at the batch events.
func (fl *follower) watch(f func(*eventstream.Stream) error) func(*eventstream.Stream) error {
	return func(s *eventstream.Stream) error {
		fl.before, fl.changed, fl.end = nil, nil, nil
		for e := range s.Batches() {
			if !e.Status().Final() {
				fl.before = append(fl.before, wishOf(s, e))
			}
		}
		if err := f(s); err != nil {
			return err
		}
		for _, was := range fl.before {
			if now := wishOf(s, s.Event(was.id)); now.cancel || now.paused != was.paused {
				fl.changed = append(fl.changed, now)
			}
		}
		if s.IsDone() {
			fl.end = reportOf(s)
		}
		return nil
	}
}

// followers is how many child streams are brought up to date at a time.
const followers = 8

// followTimeout bounds how long whoever has changed a document brings its child
// streams up to date; what is left the sweep does.
const followTimeout = time.Minute

// follow does to child streams what the edit of their parent means for them.
func (p *Processor) follow(ctx context.Context, doc string, wishes []wish) {
	if len(wishes) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), followTimeout)
	defer cancel()
	todo := make(chan wish)
	var side sync.WaitGroup
	for range min(followers, len(wishes)) {
		side.Go(func() { // until todo is closed
			for w := range todo {
				if err := p.align(ctx, childOf(doc, w.id), w); err != nil {
					p.log.WarnContext(ctx, "a child stream was not brought up to date; the sweep does it",
						"stream", childOf(doc, w.id), "err", err)
				}
			}
		})
	}
	for _, w := range wishes {
		todo <- w
	}
	close(todo)
	side.Wait()
}

// align gives a batch event its wish, if there is a child stream that needs it.
// The parent knows that its child ends, so nobody reports that.
func (p *Processor) align(ctx context.Context, doc string, w wish) error {
	info, err := p.inStreams(ctx, doc)
	if err != nil || info == nil {
		return err
	}
	if summary, ok := eventstream.ParseSummary(info.Metadata); ok && w.isGranted(summary) {
		return nil
	}
	var bells []bus.Doorbell
	_, err = p.change(ctx, doc, func(s *eventstream.Stream) error {
		bells = nil
		wasPaused := s.Attr("paused") != ""
		if err := w.grant(s); err != nil {
			return err
		}
		if wasPaused {
			bells = bellsOf(doc, s, p.scope.Now())
		}
		return nil
	})
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, ErrNoRun) {
		return nil
	}
	if err == nil {
		p.wake(ctx, doc, bells)
	}
	return err
}

// isGranted reports whether a child stream is as the wish wants it.
func (w wish) isGranted(s eventstream.Summary) bool {
	return s.Status.Final() || !w.cancel && s.Paused == w.paused
}

// grant edits the child. A wish that is older than the attempt for which the child
// is open comes too late: a retry has opened it again.
func (w wish) grant(s *eventstream.Stream) error {
	switch {
	case s.IsDone() || s.Root() == nil || rootNumber(s, attrAttempt) > w.attempt:
		return nil
	case w.cancel:
		return s.Cancel(s.Root(), w.by, w.reason())
	case w.paused:
		return s.Pause(nil, w.by, w.msg)
	}
	return s.Resume(nil)
}

func (w wish) reason() string {
	if w.msg != "" {
		return w.msg
	}
	return fmt.Sprintf("batch event %s has ended", w.id)
}
