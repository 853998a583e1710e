package dashboard

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

// eventFilter says which events of a run are meant, as a query does.
type eventFilter struct {
	State state // or failed, or open
	Step  string
	Text  string // in the id, the worker or the message
	Under string // id of an event
}

// What else events can be filtered by.
const (
	failedEvents state = "failed" // aborted, and completed with errors
	openEvents   state = "open"   // not ended
)

// eventStates are the states that events can be filtered by.
var eventStates = []state{waiting, delayed, running, outside, following, completed, withErrors, aborted, canceled, superseded}

func eventFilterOf(query url.Values) eventFilter {
	return eventFilter{
		State: state(query.Get("state")), Step: query.Get("step"),
		Text: strings.TrimSpace(query.Get("q")), Under: query.Get("under"),
	}
}

// Query is the filter as a query.
func (f eventFilter) Query(more ...string) string {
	return withQuery("", append([]string{"state", string(f.State), "step", f.Step, "q", f.Text, "under", f.Under}, more...)...)
}

// States are those to choose from.
func (f eventFilter) States() []state { return eventStates }

func (f eventFilter) takes(e event, now time.Time) bool {
	return (f.Step == "" || f.Step == stepOf(e.Event)) && f.takesState(e, now) && f.takesPlace(e) && f.takesText(e)
}

func (f eventFilter) takesState(e event, now time.Time) bool {
	if f.State == "" {
		return true
	}
	is := stateOf(e.Event, now)
	switch f.State {
	case failedEvents:
		return is.Failed()
	case openEvents:
		return !e.Superseded() && !e.Status().Final()
	}
	return is == f.State
}

// takesPlace is true for the branches of an event, those in child streams too.
func (f eventFilter) takesPlace(e event) bool {
	if f.Under == "" {
		return true
	}
	path, id := splitAddress(f.Under)
	thread, _ := eventstream.SplitID(id)
	for first := true; ; first = false {
		if e.doc.path() == path {
			return !first && e.Event.ID() == id ||
				thread == "" && e.Thread() != "" || strings.HasPrefix(e.Thread(), thread+".")
		}
		if e.doc.above == nil {
			return false
		}
		e = event{e.doc.above, e.doc.stands}
	}
}

func (f eventFilter) takesText(e event) bool {
	if f.Text == "" {
		return true
	}
	return slices.ContainsFunc([]string{e.ID(), e.Key(), e.Msg(), e.Attr("tag")}, func(text string) bool {
		return strings.Contains(strings.ToLower(text), strings.ToLower(f.Text))
	})
}

func (f eventFilter) sift(s *snapshot, now time.Time) []event {
	var matching []event
	for e := range s.events() {
		if f.takes(e, now) {
			matching = append(matching, e)
		}
	}
	return matching
}
