package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// verb is something that can be done to a run, or to an event of it.
type verb struct {
	Name  string
	Title string
	Does  string // what it does, as the page that asks for confirmation says
	// Grave marks what cannot be undone.
	Grave bool
	// What the form asks for.
	Reason, Input, Output bool

	run   func(status eventstream.Status, s *snapshot) bool // can it be done to a run?
	event func(*eventstream.Event) bool                     // and to an event?
	try   func(*eventstream.Stream, *order) error           // in an edit that is not kept; nil: it is no edit
	do    func(context.Context, *processor.Processor, *order) error
}

// order is what a form asks to be done.
type order struct {
	name   string // of the run
	at     string // event; "" for the whole run
	by     string
	reason string
	value  json.RawMessage // input or output; nil if none was given
}

// verbs are all that can be done, in the order of the buttons.
var verbs = []*verb{
	{
		Name: "pause", Title: "Pause", Reason: true,
		Does:  "Nothing of it is begun until it is resumed. Steps that run are left to finish, and nothing that waits in it times out.",
		run:   func(is eventstream.Status, s *snapshot) bool { return !is.Final() && s.stream.Attr("paused") == "" },
		event: func(e *eventstream.Event) bool { return isOpen(e) && e.Attr("paused") == "" },
		try: func(s *eventstream.Stream, o *order) error {
			return s.Pause(o.eventOrRun(s), o.by, o.reason)
		},
		do: func(ctx context.Context, p *processor.Processor, o *order) error {
			return p.Pause(ctx, o.name, o.at, o.by, o.reason)
		},
	},
	{
		Name: "resume", Title: "Resume",
		Does:  "It goes on. What could have run out meanwhile gets the time of the pause back.",
		run:   func(is eventstream.Status, s *snapshot) bool { return !is.Final() && s.stream.Attr("paused") != "" },
		event: func(e *eventstream.Event) bool { return isOpen(e) && e.Attr("paused") != "" },
		try:   func(s *eventstream.Stream, o *order) error { return s.Resume(o.eventOrRun(s)) },
		do:    func(ctx context.Context, p *processor.Processor, o *order) error { return p.Resume(ctx, o.name, o.at) },
	},
	{
		Name: "retry", Title: "Retry", Input: true,
		Does: "What failed or was canceled runs again. Finished branches keep their results, and the aggregators above are made anew.",
		run: func(_ eventstream.Status, s *snapshot) bool {
			p := s.stream.Progress()
			return p.Aborted+p.Canceled+s.stats().Failed+s.stats().Canceled > 0
		},
		event: func(e *eventstream.Event) bool {
			return e.Status() == eventstream.Aborted || e.Status() == eventstream.Canceled || e.WithError()
		},
		try: func(s *eventstream.Stream, o *order) error {
			_, err := s.Reopen(&eventstream.ReopenOptions{Below: o.eventOrRun(s), Input: o.payload(), By: o.by})
			return err
		},
		do: func(ctx context.Context, p *processor.Processor, o *order) error {
			_, err := p.Retry(ctx, o.name, &processor.RetryOptions{Below: o.at, Input: o.value, By: o.by})
			return err
		},
	},
	{
		Name: "rerun", Title: "Retry from here", Input: true,
		Does:  "The event runs again, whatever became of it. What came after it is replaced, and the aggregators above are made anew.",
		event: func(e *eventstream.Event) bool { return !e.Superseded() && e.Status().Final() },
		try: func(s *eventstream.Stream, o *order) error {
			_, err := s.Reopen(&eventstream.ReopenOptions{From: s.Event(o.at), Input: o.payload(), By: o.by})
			return err
		},
		do: func(ctx context.Context, p *processor.Processor, o *order) error {
			_, err := p.Retry(ctx, o.name, &processor.RetryOptions{From: o.at, Input: o.value, By: o.by})
			return err
		},
	},
	{
		Name: "complete", Title: "Complete", Output: true,
		Does:  "The event ends with the output that you give, and the run goes on with it.",
		event: func(e *eventstream.Event) bool { return isOpen(e) && (e.Waiting() || e.Status() == eventstream.Init) },
		try:   func(s *eventstream.Stream, o *order) error { return s.Complete(s.Event(o.at), o.payload()) },
		do: func(ctx context.Context, p *processor.Processor, o *order) error {
			return p.Complete(ctx, o.name, o.at, o.value, o.by)
		},
	},
	{
		Name: "skip", Title: "Skip", Reason: true,
		Does:  "The event ends as completed, without an output, as if its work was not needed. What a worker still makes of it is refused.",
		event: isOpen,
		try:   func(s *eventstream.Stream, o *order) error { return s.Complete(s.Event(o.at), nil) },
		do: func(ctx context.Context, p *processor.Processor, o *order) error {
			return p.Skip(ctx, o.name, o.at, o.by, o.reason)
		},
	},
	stopper("cancel", "Cancel", "It ends as canceled, with everything open below it. Steps that run are stopped.",
		(*eventstream.Stream).Cancel, (*processor.Processor).Cancel),
	stopper("abort", "Abort", "It ends as failed, with everything open below it. Steps that run are stopped.",
		(*eventstream.Stream).Abort, (*processor.Processor).Abort),
	{
		Name: "purge", Title: "Purge", Grave: true,
		Does: "The run is removed for good, with its document and all its payloads.",
		run:  func(is eventstream.Status, _ *snapshot) bool { return is.Final() },
		do: func(ctx context.Context, p *processor.Processor, o *order) error {
			_, err := p.Purge(ctx, o.name)
			return err
		},
	},
}

// stopper is a verb that ends a run, or an event, with all that is open below it.
func stopper(name, title, does string,
	try func(s *eventstream.Stream, e *eventstream.Event, by, reason string) error,
	do func(p *processor.Processor, ctx context.Context, name, at, by, reason string) error,
) *verb {
	return &verb{
		Name: name, Title: title, Does: does, Reason: true,
		run:   func(is eventstream.Status, _ *snapshot) bool { return !is.Final() },
		event: isOpen,
		try:   func(s *eventstream.Stream, o *order) error { return try(s, o.eventOrRoot(s), o.by, o.reason) },
		do: func(ctx context.Context, p *processor.Processor, o *order) error {
			return do(p, ctx, o.name, o.at, o.by, o.reason)
		},
	}
}

// notices say what was done, by the name that the address of the page has for it.
var notices = map[string]string{
	"pause": "Paused.", "resume": "Resumed.", "retry": "It runs again.", "rerun": "It runs again.",
	"complete": "Completed.", "skip": "Skipped.", "cancel": "Canceled.", "abort": "Aborted.", "purge": "Purged.",
	"start": "Started.", "attach": "A run of that name, with that input, was there already: this is it.",
	"break": "The lease was broken.", "slots": "The worker follows within a third of its lease.", "limit": "It holds from the next event on.", "pause-all": "All runs are paused.", "resume-all": "Runs go on.",
}

func isOpen(e *eventstream.Event) bool { return !e.Superseded() && !e.Status().Final() }

func verbOf(name string) *verb {
	i := slices.IndexFunc(verbs, func(v *verb) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	return verbs[i]
}

func verbsOfRun(s *snapshot) []*verb {
	status, _ := s.stream.Status()
	return slices.DeleteFunc(slices.Clone(verbs), func(v *verb) bool { return v.run == nil || !v.run(status, s) })
}

func verbsOfEvent(e *eventstream.Event) []*verb {
	return slices.DeleteFunc(slices.Clone(verbs), func(v *verb) bool { return v.event == nil || !v.event(e) })
}

// eventOrRun is the event, or nil for the whole run.
func (o *order) eventOrRun(s *eventstream.Stream) *eventstream.Event {
	if o.at == "" {
		return nil
	}
	return s.Event(o.at)
}

// eventOrRoot is the event, or the one that stands for the whole run.
func (o *order) eventOrRoot(s *eventstream.Stream) *eventstream.Event {
	if o.at == "" {
		return s.Root()
	}
	return s.Event(o.at)
}

func (o *order) payload() *eventstream.Payload {
	if o.value == nil {
		return nil
	}
	return eventstream.JSON(o.value)
}

// jsonField reads a field of a form that may be left empty.
func jsonField(text string) (json.RawMessage, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	var value json.RawMessage
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("%w: it is no JSON: %w", errInput, err)
	}
	return value, nil
}
