package processor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

var (
	// ErrNoRun: there is no run of that name.
	ErrNoRun = errors.New("no such run")
	// ErrConflict: the name is taken by a run of another definition or input.
	ErrConflict = errors.New("another run has that name")
)

// Processor starts, runs, watches and steers runs in one container. It is safe
// for concurrent use.
type Processor struct {
	scope  *scope.Scope
	log    *slog.Logger
	bus    bus.Bus
	timing timing
	limits limits
	wide   wideLimits
	hub    hub
	ringer *ringer
	tracer trace.Tracer // nil: nobody traces
	meters *meters      // nil: nobody measures

	directory *directory
	wrote     etags
}

// Options of a Processor; nil means the defaults.
type Options struct {
	// Logger gets what happens to runs and workers; nil: nothing is logged.
	Logger *slog.Logger
	// Bus carries doorbells to workers of other processes; nil: they poll.
	Bus bus.Bus
	// Wide is how many branches of a split one document takes; a split into more is
	// spread over child streams. 0 means 1,000; a negative one never spreads. On a
	// store that keeps whole bodies, as Azure does, every commit writes all branches of
	// a document; SQLite files keep pieces, and take ten times as many well.
	Wide int
	// TracerProvider takes a trace for each run, with a span for each attempt; nil:
	// none, at no cost. The trace goes on over processes, and into what handlers
	// call, by the context of the handler.
	TracerProvider trace.TracerProvider
	// MeterProvider takes the metrics of workers; nil: there are none, at no cost.
	MeterProvider metric.MeterProvider
}

// New makes a processor over the container of a scope. The scope stays the
// caller's, who closes it after all else.
func New(sc *scope.Scope, o *Options) *Processor {
	p := &Processor{
		scope: sc, log: slog.New(slog.DiscardHandler), timing: timingOf(sc.Store()),
		limits: limits{MaxPayload, MaxOutcome}, wide: defaultWideLimits,
	}
	if o != nil && o.Logger != nil {
		p.log = o.Logger
	}
	if o != nil {
		p.bus = o.Bus
		p.wide = wideAt(o.Wide)
		p.tracer, p.meters = newTracer(o.TracerProvider), newMeters(o.MeterProvider, p.log)
	}
	p.ringer = newRinger(p.bus, p.log)
	p.directory = newDirectory(p)
	return p
}

// timing is how often things are looked at, by kind of store.
type timing struct {
	look      time.Duration // between looks at the version of a local store; 0: it has none
	poll      time.Duration // between polls while there is something to do
	longPoll  time.Duration // between polls after a long time of nothing but handlers that run
	idlePoll  time.Duration // between polls after a long time of nothing
	sweep     time.Duration // between sweeps
	lease     time.Duration // of workers and of the sweep
	claim     time.Duration // how long a claim waits for the lease of a stream
	outcome   time.Duration // how long an outcome is tried to be written
	payloadIO time.Duration // how long a payload may take
	peers     time.Duration // how long what was seen of the workers is good for doorbells
}

func timingOf(st store.Store) timing {
	if store.IsLocal(st) {
		return timing{
			look: 10 * time.Millisecond, poll: 200 * time.Millisecond, longPoll: 200 * time.Millisecond, idlePoll: 200 * time.Millisecond,
			sweep: 2 * time.Second, lease: 15 * time.Second, claim: 2 * time.Second, outcome: time.Minute, payloadIO: time.Minute,
			peers: time.Second,
		}
	}
	return timing{
		poll: 2 * time.Second, longPoll: 15 * time.Second, idlePoll: 30 * time.Second,
		sweep: 30 * time.Second, lease: 60 * time.Second, claim: 15 * time.Second, outcome: 2 * time.Minute, payloadIO: 5 * time.Minute,
		peers: 10 * time.Second,
	}
}

// edit is scope.Edit on a document, with everybody told of what it did: workers,
// the child streams that depend on it, and its parent if it ended.
func (p *Processor) edit(ctx context.Context, doc string, f func(*eventstream.Stream) error) (*scope.Result, error) {
	var fl follower
	res, err := p.changeWatched(ctx, doc, &fl, f)
	if err == nil && res.Ended {
		p.reportEnd(ctx, doc, fl.end)
	}
	return res, err
}

// change is edit for who tells the parent himself, if that has to be told.
func (p *Processor) change(ctx context.Context, doc string, f func(*eventstream.Stream) error) (*scope.Result, error) {
	return p.changeWatched(ctx, doc, new(follower), f)
}

func (p *Processor) changeWatched(ctx context.Context, doc string, fl *follower, f func(*eventstream.Stream) error) (*scope.Result, error) {
	res, err := p.scope.Edit(ctx, BlobOf(doc), fl.watch(func(s *eventstream.Stream) error {
		if s.Attr(attrPurging) != "" {
			return beingPurged(doc)
		}
		return f(s)
	}))
	if errors.Is(err, store.ErrNotFound) {
		return nil, p.missing(ctx, doc)
	}
	if err != nil {
		return nil, err
	}
	p.tell(ctx, doc, res)
	p.follow(ctx, doc, fl.changed)
	return res, nil
}

// missing is why there is nothing to edit.
func (p *Processor) missing(ctx context.Context, doc string) error {
	name := runNameOf(doc)
	info, err := p.find(ctx, name)
	if err == nil && doc != name {
		if info, err = p.locate(ctx, doc, info.Metadata["run"]); errors.Is(err, ErrNoRun) {
			err = noChild(name, doc, err)
		}
	}
	switch {
	case err != nil:
		return err
	case info.Name != BlobOf(doc):
		return fmt.Errorf("run %q: %w: %w", name, eventstream.ErrFinal, errArchived)
	}
	return fmt.Errorf("run %q: %w", name, errMoved)
}

// noChild is for who looks into a child stream that is not there.
func noChild(name, doc string, err error) error {
	return fmt.Errorf("run %q: %w below %s: %w", name, ErrNoEvent, doc[len(name)+1:], err)
}

// errArchived: the run ended some time ago.
var errArchived = errors.New("the run lies in the archive")

// errMoved: the document was moved between two looks.
var errMoved = errors.New("it is on its way from or to the archive; try again")

// tell rings for the events an edit created and wakes who waits in this process.
func (p *Processor) tell(ctx context.Context, name string, res *scope.Result) {
	if !res.Changed {
		return
	}
	p.wrote.add(res.ETag)
	if res.Ended {
		p.hub.ring(name, runsEnd)
	}
	bells := make([]bus.Doorbell, len(res.Created))
	for i, e := range res.Created {
		bells[i] = bus.Doorbell{Stream: name, Event: e.ID, Step: e.Topic}
	}
	p.wake(ctx, name, bells)
}

// wake rings for events that can be claimed: new ones, and those that an edit put
// back to init.
func (p *Processor) wake(ctx context.Context, name string, bells []bus.Doorbell) {
	if len(bells) > 0 {
		p.hub.ring(name, newEvents)
		p.ringer.ring(ctx, bells)
	}
}

func bellOf(name string, e *eventstream.Event) bus.Doorbell {
	return bus.Doorbell{Stream: name, Event: e.ID(), Step: e.Topic()}
}

// End is how a run ended.
type End struct {
	Name, Run string
	Status    eventstream.Status // completed, aborted or canceled
	WithError bool               // it completed, but something in it did not
	Msg       string             // why it was aborted or canceled
	Output    json.RawMessage    // of the last step; nil if there is none
}

// Await waits until a run has ended. progress, if not nil, is called with each
// new state that is seen.
func (p *Processor) Await(ctx context.Context, name string, progress func(eventstream.Summary)) (*End, error) {
	sub := p.hub.subscribe(runsEnd)
	defer p.hub.leave(sub)
	ticker := time.NewTicker(p.timing.poll)
	defer ticker.Stop()
	lastETag, isWide, isTick := "", false, false
	for {
		info, err := p.find(ctx, name)
		if err != nil {
			return nil, err
		}
		// What happens in child streams does not show in the run's own document.
		if info.ETag != lastETag || isTick && isWide && progress != nil {
			lastETag, isWide = info.ETag, hasChildren(info)
			end, err := p.lookForEnd(ctx, name, info, progress)
			if end != nil || err != nil {
				return end, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-sub.c:
			sub.take()
			isTick = false
		case <-ticker.C:
			isTick = true
		}
	}
}

// lookForEnd reads the stream only when its metadata say that the run has ended,
// or nothing.
func (p *Processor) lookForEnd(ctx context.Context, name string, info *store.Info, progress func(eventstream.Summary)) (*End, error) {
	summary, ok := eventstream.ParseSummary(info.Metadata)
	if ok && !summary.Status.Final() {
		if progress == nil {
			return nil, nil
		}
		summary, err := p.withChildren(ctx, name, summary)
		if err != nil {
			return nil, err
		}
		progress(summary)
		return nil, nil
	}
	snapshot, err := p.scope.Read(ctx, info.Name)
	if errors.Is(err, store.ErrNotFound) {
		snapshot, err = p.Read(ctx, name) // it was moved meanwhile
	}
	if err != nil {
		return nil, err
	}
	if progress != nil {
		summary, err := p.withChildren(ctx, name, snapshot.Stream.Summary())
		if err != nil {
			return nil, err
		}
		progress(summary)
	}
	if !snapshot.Stream.IsDone() {
		return nil, nil
	}
	return p.end(ctx, name, snapshot.Stream)
}

func (p *Processor) end(ctx context.Context, name string, s *eventstream.Stream) (*End, error) {
	last := s.Last()
	end := &End{Name: name, Run: s.Run(), Msg: s.Decider().Msg()}
	end.Status, end.WithError = s.Status()
	if output, ok := last.Output(); ok {
		data, err := p.Payload(ctx, output)
		if err != nil {
			return nil, err
		}
		end.Output = data
	}
	return end, nil
}
