package processor

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store"
)

// StartOptions of a run; nil means the defaults.
type StartOptions struct {
	// Name of the run; "" makes one of the pipeline's name and a random part.
	Name string
	// Resume takes, where Name is "", the newest run of the same definition and
	// input that has not ended, if there is one.
	Resume bool
	// Deadline is how long the whole run may take, from its start; 0: no limit.
	Deadline time.Duration
	// TrackingID correlates all events of the run; "" makes one.
	TrackingID string
	// Tags are for finding the run again, by [ListOptions] and [PurgeOptions];
	// eventstream.CheckTags says what they may be. A run that is there already keeps
	// those it has.
	Tags map[string]string
}

// Run is a run that was started or found.
type Run struct {
	Name     string
	ID       string
	Attached bool // it was there already
}

// Start begins a run of a pipeline, or finds it: the same name, definition and
// input are the same run, however often it is started. ErrConflict if the name is
// taken by a run of another definition or input, eventstream.ErrTag for a tag that
// no run can have, store.ErrTooLarge for an input over [MaxPayload]: then nothing
// was written.
func (p *Processor) Start(ctx context.Context, pl *Pipeline, input json.RawMessage, o *StartOptions) (*Run, error) {
	if o == nil {
		o = &StartOptions{}
	}
	input, hash, err := hashInput(input)
	if err != nil {
		return nil, err
	}
	if err := p.limits.check(func() string { return "input" }, input); err != nil {
		return nil, err
	}
	if err := eventstream.CheckTags(o.Tags); err != nil {
		return nil, err
	}
	name := o.Name
	switch {
	case name != "":
		if err := CheckName(name); err != nil {
			return nil, err
		}
	case o.Resume:
		run, err := p.newestOpen(ctx, pl.Definition(), hash)
		if run != nil || err != nil {
			return run, err
		}
	}
	if err := p.keepDefinition(ctx, pl); err != nil {
		return nil, err
	}
	for {
		candidate := name
		if candidate == "" {
			candidate = pl.Name() + "-" + randomText(8)
		} else if run, err := p.attach(ctx, name, pl, hash); !errors.Is(err, ErrNoRun) {
			return run, err
		} else if errors.Is(err, errPurging) {
			if err := p.finishPurge(ctx, name); err != nil {
				return nil, err
			}
		}
		run, err := p.create(ctx, candidate, pl, input, hash, o)
		if !errors.Is(err, store.ErrExists) {
			return run, err
		}
		// Somebody was faster: look again.
	}
}

// hashInput gives the input as compact JSON, and its hash.
func hashInput(input json.RawMessage) (json.RawMessage, string, error) {
	if len(input) == 0 {
		input = json.RawMessage("null")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, input); err != nil {
		return nil, "", fmt.Errorf("input is no JSON: %w", err)
	}
	return compact.Bytes(), fmt.Sprintf("sha256:%x", sha256.Sum256(compact.Bytes())), nil
}

func randomText(n int) string { return strings.ToLower(rand.Text()[:n]) }

// newestOpen finds the run to resume.
func (p *Processor) newestOpen(ctx context.Context, definition, input string) (*Run, error) {
	var newest *RunInfo
	for info, err := range p.List(ctx, &ListOptions{Open: true}) {
		if err != nil {
			return nil, err
		}
		if info.Unreadable != nil || info.Definition != definition || info.Input != input {
			continue
		}
		if newest == nil || info.Created.After(newest.Created) {
			newest = &info
		}
	}
	if newest == nil {
		return nil, nil
	}
	return &Run{Name: newest.Name, ID: newest.Run, Attached: true}, nil
}

// keepDefinition leaves the pipeline's source beside its runs, for whoever looks
// at them later.
func (p *Processor) keepDefinition(ctx context.Context, pl *Pipeline) error {
	_, err := p.scope.Store().Put(ctx, definitionBlob(pl.Definition()), pl.source, &store.PutOptions{
		Conditions:  store.Conditions{IfNoneMatch: store.AnyETag},
		ContentType: "application/yaml",
	})
	if err != nil && !errors.Is(err, store.ErrExists) && !errors.Is(err, store.ErrLeaseMissing) {
		return fmt.Errorf("write the definition of pipeline %q: %w", pl.Name(), err)
	}
	return nil
}

func (p *Processor) create(ctx context.Context, name string, pl *Pipeline, input json.RawMessage, hash string, o *StartOptions) (_ *Run, err error) {
	run := randomText(12)
	ctx, traced := p.traceStart(ctx, name, run, pl)
	defer func() { traced(err) }()
	payload, err := (&payloads{p: p, run: run, event: eventstream.RootID}).put(ctx, inputKind, input)
	if err != nil {
		return nil, err
	}
	now := p.scope.Now()
	first := pl.steps[0]
	root := eventstream.NewEvent{Name: first.Name, Input: payload, TrackingID: o.TrackingID, Attrs: traceAttrs(ctx)}
	if root.TrackingID == "" {
		root.TrackingID = uuid.NewString()
	}
	if first.Delay > 0 {
		root.Due = now.Add(first.Delay)
	}
	start := eventstream.Start{
		Name: name, Run: run, Pipeline: pl.Name(), Definition: pl.Definition(), InputHash: hash, Tags: o.Tags, Root: root,
	}
	if o.Deadline > 0 {
		start.Deadline = now.Add(o.Deadline)
	}
	stream, err := eventstream.New(now, start)
	if err != nil {
		return nil, fmt.Errorf("start run %q: %w", name, err)
	}
	res, err := p.scope.Create(ctx, BlobOf(name), stream)
	if err != nil {
		return nil, err
	}
	p.tell(ctx, name, res)
	return &Run{Name: name, ID: run}, nil
}

// attach finds the run that has the name, if it is the one that was asked for.
func (p *Processor) attach(ctx context.Context, name string, pl *Pipeline, hash string) (*Run, error) {
	snapshot, err := p.Read(ctx, name)
	if err != nil {
		return nil, err
	}
	s := snapshot.Stream
	switch {
	case s.Attr("definition") != pl.Definition():
		return nil, fmt.Errorf("%w: %q runs pipeline %q in another definition (%s); choose another name, or run it with the file it was started with",
			ErrConflict, name, s.Attr("pipeline"), s.Attr("definition"))
	case s.Attr("input") != hash:
		return nil, fmt.Errorf("%w: %q was started with another input; choose another name", ErrConflict, name)
	}
	return &Run{Name: name, ID: s.Run(), Attached: true}, nil
}
