package processor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"go.opentelemetry.io/otel/trace"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store"
)

// claim is an event that this worker handles.
type claim struct {
	taskKey
	step     *Step
	pipeline *Pipeline
	task     *Task
	payload  *eventstream.Payload // of the input; nil if there is none
	branches []branchResult       // of an aggregator
	batch    *batch               // if it is of a batch event
	failures int
	trace    string     // the span that it belongs below, as the document has it; "" for none
	span     trace.Span // of the attempt, once it has begun; nil: nobody traces
	ended    ending
	document int  // bytes of the stream's document
	stray    bool // its outcome was not written, or may not have been
	cancel   context.CancelCauseFunc
}

// branchResult is a branch as the claim saw it; its output is read when the
// aggregator asks for it.
type branchResult struct {
	result Result
	output *eventstream.Payload
	batch  *batchResult // many branches, in a child stream
}

// claiming is the part of an edit that claims events. The edit may run again on
// fresher content, so it begins by giving back what the run before took.
type claiming struct {
	w      *worker
	stream string
	own    int  // slots of the caller's that the claims go to first
	free   int  // slots that were taken for them, while the edit ran
	strays bool // look for claims of ours that nobody here works on
	late   bool // the free slots went to other streams before the edit ran
	got    []*claim
	filled bool           // there was an event for every slot, and so perhaps more
	full   bool           // a step was at the limit of its concurrency in this worker
	limits map[string]int // of the run
	// foreign is the definition of the run, if the worker does not serve it.
	foreign string
}

func (c *claiming) gave() yield {
	switch {
	case len(c.got) > 0:
		return some
	case c.full:
		return limited
	}
	return nothing
}

// run claims events of the stream for all free slots, and gives back those that
// carry our key although nobody here works on them. The slots are taken here and
// not before, since the edit may have to wait for a lease.
func (c *claiming) run(s *eventstream.Stream) error {
	c.reset()
	if s.IsDone() {
		return nil
	}
	pl := c.w.served.of(s.Attr("definition"))
	if pl == nil {
		c.foreign = s.Attr("definition")
		return nil
	}
	if err := c.giveBackStrays(s); err != nil {
		return err
	}
	c.limits = c.w.limitsOf(c.stream, s.Limits())
	c.free = c.w.takeSlots()
	c.late = c.own+c.free == 0
	err := c.claim(s, pl)
	c.filled = len(c.got) == c.own+c.free
	c.keepSlots()
	return err
}

// keepSlots gives back the slots that are left over, for the edits that share the
// upload.
func (c *claiming) keepSlots() {
	needed := max(0, len(c.got)-c.own)
	c.w.freeSlots(c.free - needed)
	c.free = needed
}

func (c *claiming) claim(s *eventstream.Stream, pl *Pipeline) error {
	now := c.w.p.scope.Now()
	for e := range s.Claimable(now, c.w.place(s.Len())) {
		if len(c.got) >= c.own+c.free {
			return nil
		}
		step := pl.stepFor(e)
		if step == nil {
			continue
		}
		failures := e.Failures()
		if failures > 0 && c.w.isMourned(e) {
			c.w.die(errObituary)
			return nil
		}
		if err := c.take(s, pl, step, e, failures); err != nil {
			return err
		}
	}
	return nil
}

func (c *claiming) take(s *eventstream.Stream, pl *Pipeline, step *Step, e *eventstream.Event, failures int) error {
	if step.Delay > 0 && e.Attempt() == 0 {
		if due := e.Time("created").Add(step.Delay); due.After(c.w.p.scope.Now()) {
			return s.Update(e, "due", eventstream.FormatTime(due))
		}
	}
	failures, err := forgive(s, e, failures)
	if err != nil {
		return err
	}
	spent := failures >= step.Retry.attempts()
	if spent && step.OnFailure == "" {
		return s.Abort(e, "", lastError(e))
	}
	if !c.hasRoom(s, step) {
		return nil
	}
	if !c.w.reserve(pl, step) {
		c.full = true
		return nil
	}
	var attrs []string
	if step.Timeout > 0 {
		attrs = []string{"timeout", step.Timeout.String()}
	}
	if err := s.Claim(e, c.w.id, attrs...); err != nil {
		c.w.unreserve(pl, step)
		if errors.Is(err, eventstream.ErrNotClaimable) {
			return nil // it fell due after this edit had begun, and is the next one's
		}
		return err
	}
	cl := c.w.newClaim(s, pl, step, e, c.stream)
	cl.failures = failures
	c.got = append(c.got, cl)
	c.w.enlist(cl)
	return nil
}

// forgive gives an event that ended, and that a hand has put back to init in the
// document, its retries back, as a retry by call does, and returns the failures that
// count. What we put back ourselves carries neither marks of an attempt nor the error
// that it ended with.
func forgive(s *eventstream.Stream, e *eventstream.Event, failures int) (int, error) {
	isByHand := func() bool { return e.Key() != "" || e.Attr("started") != "" || e.Msg() == lastError(e) }
	if failures == 0 || !isByHand() {
		return failures, nil
	}
	return 0, s.Remove(e, "failures", "msg", "by")
}

// errObituary: the stream says that this worker has died.
var errObituary = errors.New("its events were taken over")

// isMourned reports whether this worker has lost the event by its death. Its lease
// is gone then, even if it has not noticed yet: each further claim would be one
// more death that counts against the event.
func (w *worker) isMourned(e *eventstream.Event) bool {
	return slices.ContainsFunc(e.Attempts(), func(a eventstream.Attempt) bool {
		return a.Error == obituary(w.id)
	})
}

// heartbeat keeps the cursor of a claim in the stream.
func (w *worker) heartbeat(ctx context.Context, cl *claim, cursor any) error {
	data, err := encode(cursor)
	if err != nil {
		return err
	}
	if len(data) > inlineLimit {
		return fmt.Errorf("cursor of event %s: %w: it has %d bytes, the limit is %d", cl.event, store.ErrTooLarge, len(data), inlineLimit)
	}
	_, err = w.p.edit(ctx, cl.stream, func(s *eventstream.Stream) error {
		if err := w.owns(s, cl.taskKey); err != nil {
			return err
		}
		return s.SetCursor(s.Event(cl.event), eventstream.JSON(data))
	})
	return err
}

// lastError is why the last attempt failed.
func lastError(e *eventstream.Event) string {
	if attempts := e.Attempts(); len(attempts) > 0 {
		return attempts[len(attempts)-1].Error
	}
	return "its retries are spent"
}

// giveBackStrays puts claims of ours that nobody here works on back to init: an
// edit whose outcome stayed unknown may have left them, or somebody put an older
// copy of the document in place.
func (c *claiming) giveBackStrays(s *eventstream.Stream) error {
	if !c.strays {
		return nil
	}
	for _, e := range c.w.strays(c.stream, s) {
		if err := s.GiveBack(e, c.w.p.scope.Now()); err != nil {
			return err
		}
	}
	return nil
}

// keyOf is that of the attempt at work on an event.
func keyOf(stream string, s *eventstream.Stream, e *eventstream.Event) taskKey {
	return taskKey{stream, s.Run(), e.ID(), e.Attempt(), e.Attr("started")}
}

// strays are the events of a stream that carry this worker's key, although it does
// not work on them.
func (w *worker) strays(stream string, s *eventstream.Stream) []*eventstream.Event {
	var strays []*eventstream.Event
	for e := range s.ByStatus(eventstream.Inprocess) {
		if e.Running() && e.Key() == w.id && !w.works(keyOf(stream, s, e)) {
			strays = append(strays, e)
		}
	}
	return strays
}

// reset gives back what was claimed, when the edit runs again or failed.
func (c *claiming) reset() {
	for _, cl := range c.got {
		c.w.delist(cl)
		c.w.unreserve(cl.pipeline, cl.step)
	}
	c.w.freeSlots(c.free)
	c.got, c.free, c.late, c.filled, c.full, c.foreign = nil, 0, false, false, false, ""
}

// occupy puts what was claimed into its slots, when the edit is durable. It returns
// the claim for the caller's own slot, or nil.
func (c *claiming) occupy(ctx context.Context) (own *claim) {
	claims := c.got
	if c.own > 0 && len(claims) > 0 {
		own, claims = claims[0], claims[1:]
	}
	for _, cl := range claims {
		c.w.handlers.Go(func() { c.w.occupy(ctx, cl) })
	}
	return own
}

func (w *worker) newClaim(s *eventstream.Stream, pl *Pipeline, step *Step, e *eventstream.Event, stream string) *claim {
	key := keyOf(stream, s, e)
	cl := &claim{
		taskKey:  key,
		step:     step,
		pipeline: pl,
		trace:    w.parentOf(e),
		document: s.Size(),
		task: &Task{
			Stream: runNameOf(stream), Run: key.run, Event: addressOf(stream, e.ID()), Step: step.Name,
			Attempt: key.attempt, Worker: w.id, Join: e.IsJoin(),
		},
	}
	if isBatch(e) {
		cl.setBatch(w.p, s, e)
	}
	cl.task.Cursor = e.Cursor()
	cl.task.heartbeat = func(ctx context.Context, cursor any) error { return w.heartbeat(ctx, cl, cursor) }
	source := e
	if cl.task.Join {
		source = e.Prev()
		for r := range s.Results(e.Prev()) {
			cl.branches = append(cl.branches, newBranchResult(stream, r))
		}
	}
	if input, ok := source.Input(); ok {
		cl.payload = &input
	}
	return cl
}

func newBranchResult(doc string, r eventstream.Result) branchResult {
	b := branchResult{result: Result{ID: addressOf(doc, r.Last.ID()), Status: r.Last.Status().String()}}
	if isBatch(r.First) {
		b.batch = newBatchResult(doc, r.First)
	}
	if r.Failed {
		b.result.Error = failureText(r.Last)
		return b
	}
	if output, ok := r.Last.Output(); ok {
		b.output = &output
	}
	return b
}

// failureText says why a branch failed; never "".
func failureText(last *eventstream.Event) string {
	if msg := last.Msg(); msg != "" && last.Status() != eventstream.Completed {
		return msg
	}
	if branches, _, failed := last.Tally(); failed > 0 {
		return fmt.Sprintf("%d of %d branches failed", failed, branches)
	}
	return last.Status().String()
}

// load reads what the handler needs and lies in blobs of its own.
func (w *worker) load(ctx context.Context, cl *claim) error {
	if cl.payload != nil {
		input, err := w.p.Payload(ctx, *cl.payload)
		if err != nil {
			return err
		}
		cl.task.Input = input
	}
	if cl.task.Join {
		cl.task.results = w.results(ctx, cl)
	}
	return nil
}

func (w *worker) results(ctx context.Context, cl *claim) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		w.p.yieldResults(ctx, cl.run, cl.branches, yield)
	}
}

// yieldResult yields what became of a branch; false to stop.
func (p *Processor) yieldResult(ctx context.Context, b branchResult, yield func(Result, error) bool) bool {
	r := b.result
	if b.output != nil {
		output, err := p.Payload(ctx, *b.output)
		if err != nil {
			yield(r, fmt.Errorf("result of event %s: %w", r.ID, err))
			return false
		}
		r.Output = output
	}
	return yield(r, nil)
}

// enlist puts a claim on the worker's list, before the edit that makes it is
// submitted; delist takes it off when its outcome is written or given up.
func (w *worker) enlist(cl *claim) {
	w.claimed.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running.add(cl)
}

func (w *worker) delist(cl *claim) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running.remove(cl)
}

// letGo ends a claim. If it may still be ours in the stream, it is to be given back
// as one that nobody works on, which only holds once it is off the list.
func (w *worker) letGo(cl *claim) {
	w.delist(cl)
	if cl.stray {
		w.suspectStream(cl.stream)
	}
}

func (w *worker) works(key taskKey) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running[key.stream].claims[key] != nil
}

// reserve takes a place of a step with limited concurrency.
func (w *worker) reserve(pl *Pipeline, step *Step) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := stepKey{pl.definition, step.Name}
	if step.Concurrency > 0 && w.perStep[key] >= step.Concurrency {
		return false
	}
	w.perStep[key]++
	return true
}

func (w *worker) unreserve(pl *Pipeline, step *Step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.perStep[stepKey{pl.definition, step.Name}]--
}

func (w *worker) isSuspect(stream string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, ok := w.suspect[stream]
	return ok
}

// suspectStream notes that a claim of ours may be left in a stream that nobody
// works on. The claim must be off the list by then, or whoever looks takes it for
// worked on.
func (w *worker) suspectStream(stream string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.suspect[stream] = struct{}{}
}

// acquit takes the note back and reports whether there was one.
func (w *worker) acquit(stream string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, ok := w.suspect[stream]
	delete(w.suspect, stream)
	return ok
}
