package dashboard

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// reason is one answer to why a run, or an event, does not go on.
type reason struct {
	State state
	Text  string
	IDs   []string // events that it is about, some of them
}

// shownReasons is how many events a reason names.
const shownReasons = 5

// reasonsOf says what an open run waits for.
func (d *Dashboard) reasonsOf(ctx context.Context, snap *snapshot, now time.Time) ([]reason, error) {
	s := snap.stream
	if s.IsDone() || s.Root() == nil {
		return nil, nil
	}
	var reasons []reason
	if since := s.Attr("paused"); since != "" {
		reasons = append(reasons, pausedReason(s.Attr("by"), s.Attr("msg"), since))
	}
	all, err := d.p.AllPaused(ctx)
	if err != nil {
		return nil, err
	}
	if all {
		reasons = append(reasons, reason{paused, "All runs of the container are paused.", nil})
	}
	ready, err := d.readyReasons(ctx, snap)
	if err != nil {
		return nil, err
	}
	reasons = append(reasons, ready...)
	return append(reasons, openReasons(snap, now)...), nil
}

func pausedReason(by, why, since string) reason {
	text := "Paused"
	if by != "" {
		text += " by " + by
	}
	text += " since " + since + ": nothing of it is begun until it is resumed."
	if why != "" {
		text += " Reason: " + why
	}
	return reason{paused, text, nil}
}

// readyReasons say why events that can be claimed are not.
func (d *Dashboard) readyReasons(ctx context.Context, snap *snapshot) ([]reason, error) {
	ready := countsOf(snap.info.Ready)
	if len(ready) == 0 {
		return nil, nil
	}
	workers, err := d.liveWorkers(ctx)
	if err != nil {
		return nil, err
	}
	var reasons []reason
	for _, step := range ready {
		reasons = append(reasons, servedReason(workers, snap, step))
	}
	return reasons, nil
}

func (d *Dashboard) liveWorkers(ctx context.Context) ([]processor.WorkerInfo, error) {
	var alive []processor.WorkerInfo
	for w, err := range d.p.Workers(ctx) {
		if err != nil {
			return nil, err
		}
		if w.Alive {
			alive = append(alive, w)
		}
	}
	return alive, nil
}

func servedReason(workers []processor.WorkerInfo, snap *snapshot, step count) reason {
	definition, pipeline := snap.stream.Attr("definition"), snap.stream.Attr("pipeline")
	serving, slots, others := 0, 0, 0
	for _, w := range workers {
		switch {
		case w.Takes(snap.name) && w.Serves(definition, step.Name):
			serving++
			slots += w.Slots
		case servesName(w, pipeline):
			others++
		}
	}
	events := plural(step.Count, "event")
	switch {
	case serving > 0:
		return reason{waiting, fmt.Sprintf("%s of step %s wait for one of %s on %s.",
			events, step.Name, plural(slots, "slot"), plural(serving, "worker")), nil}
	case others > 0:
		return reason{aborted, fmt.Sprintf("%s of step %s wait, and no live worker serves them: %s the pipeline %s in another version. Start leasestream work with the file that this run was started with.",
			events, step.Name, verbFor(others, "worker serves", "workers serve"), pipeline), nil}
	}
	return reason{aborted, fmt.Sprintf("%s of step %s wait, and no live worker serves it. Start one: leasestream work FILE.", events, step.Name), nil}
}

func verbFor(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return shownCount(n) + " " + many
}

func servesName(w processor.WorkerInfo, pipeline string) bool {
	for _, served := range w.Pipelines {
		if served.Name == pipeline {
			return true
		}
	}
	return false
}

// openReasons say what the events that cannot be claimed wait for.
func openReasons(s *snapshot, now time.Time) []reason {
	late, people, held := tally{}, tally{}, tally{}
	var next time.Time
	for e := range s.byStatus(eventstream.Init) {
		if due := e.Time("due"); due.After(now) {
			late.add(e)
			next = earlier(next, due)
		}
		if e.Attr("paused") != "" {
			held.add(e)
		}
	}
	for e := range s.byStatus(eventstream.Inprocess) {
		if e.Waiting() {
			people.add(e)
		}
		if e.Attr("paused") != "" {
			held.add(e)
		}
	}
	return collect(
		late.reason(delayed, "not to be begun yet; the next one is due at "+stamp(next)),
		people.reason(outside, "for someone outside to complete"),
		held.reason(paused, "paused, with all below"),
	)
}

// tally counts events and remembers the first of them.
type tally struct {
	n   int
	ids []string
}

func (t *tally) add(e event) {
	if t.n++; len(t.ids) < shownReasons {
		t.ids = append(t.ids, e.ID())
	}
}

func (t *tally) reason(is state, what string) *reason {
	if t.n == 0 {
		return nil
	}
	return &reason{is, fmt.Sprintf("%s: %s.", plural(t.n, "event"), what), t.ids}
}

func collect(reasons ...*reason) []reason {
	var list []reason
	for _, r := range reasons {
		if r != nil {
			list = append(list, *r)
		}
	}
	return list
}

// reasonsOfEvent say what one event waits for.
func (d *Dashboard) reasonsOfEvent(ctx context.Context, snap *snapshot, e event, now time.Time) ([]reason, error) {
	if e.Status().Final() || e.Superseded() {
		return nil, nil
	}
	var reasons []reason
	for up := e; up.Event != nil; up = up.up() {
		if since := up.Attr("paused"); since != "" {
			r := pausedReason(up.Attr("by"), up.Attr("msg"), since)
			r.IDs = []string{up.ID()}
			reasons = append(reasons, r)
		}
	}
	if s := snap.stream; s.Attr("paused") != "" {
		reasons = append(reasons, pausedReason(s.Attr("by"), s.Attr("msg"), s.Attr("paused")))
	}
	switch is := stateOf(e.Event, now); is {
	case waiting:
		if len(reasons) > 0 {
			break
		}
		workers, err := d.liveWorkers(ctx)
		if err != nil {
			return nil, err
		}
		reasons = append(reasons, servedReason(workers, snap, count{stepOf(e.Event), 1}))
	case delayed:
		reasons = append(reasons, reason{is, "It is not to be begun before " + stamp(e.Time("due")) + ".", nil})
	case outside:
		reasons = append(reasons, outsideReason(e.Event))
	case running:
		reasons = append(reasons, reason{is, fmt.Sprintf("Worker %s has been at it for %s.", e.Key(), shownSpan(now.Sub(e.Time("started")))), nil})
	case following:
		reasons = append(reasons, followingReason(e))
	}
	return reasons, nil
}

func outsideReason(e *eventstream.Event) reason {
	text := "It waits for someone outside to complete it."
	if limit := e.Timeout(); limit > 0 {
		text += " If nobody does within " + limit.String() + ", the attempt has failed."
	}
	return reason{outside, text, nil}
}

func followingReason(e event) reason {
	r := reason{State: following}
	if e.IsBatch() {
		branches, ok, failed := e.Branches()
		r.Text = fmt.Sprintf("It waits for its child stream, which has %s; %s have been told to have ended.", plural(branches, "branch"), shownCount(ok+failed))
		return r
	}
	open := 0
	for next := range e.Next() {
		if next.Status().Final() {
			continue
		}
		if open++; len(r.IDs) < shownReasons {
			r.IDs = append(r.IDs, e.doc.Address(next.ID()))
		}
	}
	parts := []string{"It waits for " + plural(open, "event") + " after it"}
	if branches, ok, failed := e.Tally(); branches > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s have ended", shownCount(ok+failed), plural(branches, "branch")))
	}
	r.Text = strings.Join(parts, "; ") + "."
	return r
}
