package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// confirmView is the page that asks whether something is really meant.
type confirmView struct {
	Verb    *verb
	Name    string
	At      string // event; "" for the whole run
	Step    string
	State   state
	Touches []string // what it would do now
	Refused string   // why it cannot be done now
	Value   *payloadView
}

// Button names what is done, and to what.
func (v confirmView) Button() string {
	switch {
	case v.Verb.Name == "rerun":
		return v.Verb.Title
	case v.At != "":
		return v.Verb.Title + " the event"
	}
	return v.Verb.Title + " the run"
}

// confirmPage says what an action touches, and has the form that does it.
func (d *Dashboard) confirmPage(r *http.Request) (*view, error) {
	v := verbOf(r.PathValue("verb"))
	if v == nil {
		return nil, errNoPage
	}
	o := &order{name: r.PathValue("name"), at: r.URL.Query().Get("at"), by: whoOf(r.Context())}
	snap, err := d.streams.get(r.Context(), o.name)
	if err != nil {
		return nil, err
	}
	body := confirmView{Verb: v, Name: o.name, At: o.at, State: stateOfRun(snap.info)}
	if o.at != "" {
		e, ok := snap.event(o.at)
		if !ok {
			return nil, fmt.Errorf("%w: %q", processor.ErrNoEvent, o.at)
		}
		body.Step, body.State = stepOf(e.Event), stateOf(e.Event, d.p.Scope().Now())
		if v.Input {
			body.Value = d.payload(r.Context(), inputOf(e.Event))
		}
	}
	body.Touches, err = d.foresee(r.Context(), snap, v, o)
	if err != nil {
		body.Refused = err.Error()
	} else if v.Name == "purge" {
		body.Touches = append(body.Touches, d.purgeable(r.Context(), o.name)...)
	}
	return &view{template: "confirm", Title: v.Title + " " + o.name, Section: "runs", Body: body}, nil
}

// purgeable counts what a purge removes.
func (d *Dashboard) purgeable(ctx context.Context, name string) []string {
	for run, err := range d.p.PurgeAll(ctx, &processor.PurgeOptions{Names: []string{name}, DryRun: true}) {
		if err == nil && run.Err == nil {
			return []string{plural(run.Payloads, "payload") + " in blobs of their own", shownBytes(run.Bytes) + " in all"}
		}
	}
	return nil
}

// errRehearsal undoes an edit that was only tried.
var errRehearsal = errors.New("rehearsal")

// foresee says what an action would change, or why it cannot be taken.
func (d *Dashboard) foresee(ctx context.Context, snap *snapshot, v *verb, o *order) ([]string, error) {
	e, _ := snap.event(o.at)
	switch status, _ := snap.stream.Status(); {
	case o.at == "" && (v.run == nil || !v.run(status, snap)), o.at != "" && (v.event == nil || !v.event(e.Event)):
		return nil, fmt.Errorf("there is nothing to %s here", v.Name)
	case v.try == nil:
		return []string{plural(snap.info.Total, "event")}, nil
	case len(snap.docs) > 1:
		return []string{fmt.Sprintf("a run of %s in %s, of which %s have not ended",
			plural(snap.info.Total, "event"), plural(len(snap.docs), "document"), shownCount(snap.info.Total-snap.info.Done))}, nil
	}
	own, err := d.p.Read(ctx, snap.name) // a copy of our own, to be tried on
	if err != nil {
		return nil, err
	}
	return d.rehearse(own.Stream, v, o)
}

// rehearse does it to a copy of the run, to see what it changes.
func (d *Dashboard) rehearse(s *eventstream.Stream, v *verb, o *order) ([]string, error) {
	before := s.Summary()
	from := s.Progress()
	var touches []string
	_, err := s.Edit(d.p.Scope().Now(), func() error {
		if err := v.try(s, o); err != nil {
			return err
		}
		touches = difference(from, s.Progress(), before.Running, s.Summary().Running)
		return errRehearsal
	})
	if errors.Is(err, errRehearsal) {
		err = nil
	}
	return touches, err
}

// difference says in words what an edit changed.
func difference(from, to eventstream.Progress, ran, runs map[string]int) []string {
	var list []string
	say := func(n int, what string) {
		if n > 0 {
			list = append(list, plural(n, "event")+" "+what)
		}
	}
	for _, step := range countsOf(ran) {
		say(step.Count-runs[step.Name], "of step "+step.Name+" that a worker has now: stopped")
	}
	say(to.Canceled-from.Canceled, "canceled")
	say(to.Aborted-from.Aborted, "aborted")
	say(to.Completed-from.Completed, "completed")
	say(to.Init-from.Init, "to be worked on")
	say(from.Total-to.Total, "replaced")
	return list
}

// steer does what the form of confirmPage asks for.
func (d *Dashboard) steer(r *http.Request) (string, error) {
	v := verbOf(r.PathValue("verb"))
	if v == nil {
		return "", errNoPage
	}
	if err := r.ParseForm(); err != nil {
		return "", fmt.Errorf("%w: %w", errInput, err)
	}
	value, err := jsonField(r.PostForm.Get("value"))
	if err != nil {
		return "", err
	}
	o := &order{
		name: r.PathValue("name"), at: r.PostForm.Get("at"), by: whoOf(r.Context()),
		reason: r.PostForm.Get("reason"), value: value,
	}
	if o.at == "" && v.run == nil {
		return "", fmt.Errorf("%w: %s needs an event", errInput, v.Name)
	}
	if err := v.do(r.Context(), d.p, o); err != nil {
		return "", err
	}
	d.did(r.Context(), v.Name, "stream", o.name, "event", o.at)
	d.list.forget()
	return withQuery(o.back(v), "done", v.Name), nil
}

// back is the page to go on at.
func (o *order) back(v *verb) string {
	switch {
	case v.Name == "purge":
		return "/"
	case o.at != "":
		return link("", "runs", o.name, "events", o.at)
	}
	return link("", "runs", o.name)
}
