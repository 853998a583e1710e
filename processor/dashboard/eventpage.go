package dashboard

import (
	"context"
	"fmt"
	"net/http"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// eventView is the page of one event.
type eventView struct {
	Head       runHead
	Line       line
	Key        string // for effects elsewhere that must not happen twice
	Prev       string
	Child      bool // its branches are in a child stream
	Next       []string
	More       int // successors that Next does not name
	Input      *payloadView
	Output     *payloadView
	Cursor     *payloadView
	Attempts   []attemptView
	Attributes [][2]string
	XML        string
	Cut        bool
	Reasons    []reason
	Verbs      []*verb
	Picture    bar
}

// attemptView is a failed attempt, with its log if that was kept.
type attemptView struct {
	eventstream.Attempt
	Log *payloadView
}

// shownAttempts is how many attempts the page of an event shows: the last ones.
const shownAttempts = 20

func (d *Dashboard) attempts(ctx context.Context, e *eventstream.Event) []attemptView {
	attempts := e.Attempts()
	var views []attemptView
	for _, a := range attempts[max(0, len(attempts)-shownAttempts):] {
		v := attemptView{Attempt: a}
		if _, ok := a.Log(); ok {
			v.Log = d.payload(ctx, a.Log)
		}
		views = append(views, v)
	}
	return views
}

// shownNext is how many successors the page of an event names.
const shownNext = 50

func (d *Dashboard) eventPage(r *http.Request) (*view, error) {
	v, err := d.openRun(r, "")
	if err != nil {
		return nil, err
	}
	e, ok := v.event(r.PathValue("id"))
	if !ok {
		return nil, fmt.Errorf("%w: %q", processor.ErrNoEvent, r.PathValue("id"))
	}
	body := eventView{
		Head: v.head, Line: lineOf(v.name, e, v.now), Key: v.stream.Run() + "/" + e.ID(),
		Input: d.payload(r.Context(), inputOf(e.Event)), Output: d.payload(r.Context(), e.Output),
		Attempts: d.attempts(r.Context(), e.Event), Verbs: verbsOfEvent(e.Event), Child: e.doc.below[e.Event] != nil,
	}
	if cursor := e.Cursor(); cursor != nil {
		body.Cursor = viewOf(cursor)
	}
	if prev := e.up(); prev.Event != nil {
		body.Prev = prev.ID()
	}
	body.XML, body.Cut = cut([]byte(e.XML()), shownPayload)
	for name, value := range e.Attrs() {
		body.Attributes = append(body.Attributes, [2]string{name, shortened(500, value)})
	}
	for next := range e.Next() {
		if len(body.Next) == shownNext {
			body.More++
			continue
		}
		body.Next = append(body.Next, e.doc.Address(next.ID()))
	}
	body.Picture = bar{body.Line, v.axis().bar(body.Line)}
	body.Reasons, err = d.reasonsOfEvent(r.Context(), v.snapshot, e, v.now)
	return v.view("event", v.name+" · "+e.ID(), body), err
}

// inputOf is the message of an event; that of an aggregator is its split's.
func inputOf(e *eventstream.Event) func() (eventstream.Payload, bool) {
	if e.IsJoin() {
		return e.Prev().Input
	}
	return e.Input
}
