package dashboard

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// runHead is what stands on top of every page of a run.
type runHead struct {
	Name       string
	Run        string
	Pipeline   string
	Definition string
	State      state
	Created    time.Time
	Updated    time.Time
	Deadline   time.Time
	Took       string
	Msg        string
	Tags       []string
	Limits     []count
	Whole      bool    // nothing of it was left out
	Workers    []count // that have events of it now
	Input      *payloadView
	Output     *payloadView
	OutputID   string
	Failures   []line // the first ones
	Failed     int
	Reasons    []reason // why it does not go on
	Verbs      []*verb
	Tab        string
	Live       runLive
}

// Hash is the definition without its prefix, for addresses.
func (h runHead) Hash() string { return strings.TrimPrefix(h.Definition, hashPrefix) }

// Ended reports whether the run has.
func (h runHead) Ended() bool { return h.State != running && h.State != paused }

// runLive is the part of the head that is made of the metadata alone, and so can
// be told at once.
type runLive struct {
	Name  string
	State state
	Done  int
	Total int
	Ready []count // events to be claimed, by step
	Busy  []count // events that are worked on, by step
}

// count is how many there are of something.
type count struct {
	Name  string
	Count int
}

func countsOf(m map[string]int) []count {
	var list []count
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, count{name, m[name]})
	}
	return list
}

func liveOf(info processor.RunInfo) runLive {
	return runLive{
		Name: info.Name, State: stateOfRun(info), Done: info.Done, Total: info.Total,
		Ready: countsOf(info.Ready), Busy: countsOf(info.Running),
	}
}

// lookAtRun tells the metadata of a run, without reading its document.
func (d *Dashboard) lookAtRun(ctx context.Context, name string) (update, error) {
	info, err := d.p.Look(ctx, name)
	if err != nil {
		return update{}, err
	}
	html, err := d.render.part("run-live", liveOf(info))
	return update{version: versionOf(info), html: string(html)}, err
}

// run is a run with what its pages show of it.
type run struct {
	*snapshot
	now  time.Time
	head runHead
}

// openRun reads the run that a request is about.
func (d *Dashboard) openRun(r *http.Request, tab string) (*run, error) {
	snap, err := d.streams.get(r.Context(), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	v := &run{snapshot: snap, now: d.p.Scope().Now()}
	v.head, err = d.headOf(r.Context(), snap, v.now)
	v.head.Tab = tab
	return v, err
}

// view is a page about the run.
func (v *run) view(template, title string, body any) *view {
	return &view{
		template: template, Title: title, Section: "runs",
		Live: "run?of=" + v.name, Version: v.version, Body: body,
	}
}

// shownFailures is how many failed events stand in the head of a run.
const shownFailures = 5

func (d *Dashboard) headOf(ctx context.Context, snap *snapshot, now time.Time) (runHead, error) {
	s := snap.stream
	info := snap.info
	h := runHead{
		Name: snap.name, Run: s.Run(), Pipeline: s.Attr("pipeline"), Definition: s.Attr("definition"),
		State: stateOfRun(info), Created: info.Created, Updated: snap.stats().Last, Deadline: info.Deadline,
		Live: liveOf(info), Workers: workersIn(snap), Verbs: verbsOfRun(snap), Whole: snap.whole, Tags: shownTags(s.Tags()), Limits: countsOf(s.Limits()),
	}
	h.Took = shownSpan(now.Sub(h.Created))
	if info.Status.Final() {
		h.Took = shownSpan(h.Updated.Sub(h.Created))
	}
	if root := s.Root(); root != nil {
		h.Input = d.payload(ctx, root.Input)
		h.Msg = root.Msg()
	}
	if last := s.Last(); last != nil && info.Status.Final() {
		h.Output, h.OutputID = d.payload(ctx, last.Output), last.ID()
	}
	if h.State == withErrors {
		h.Msg = ""
	}
	h.Failed = snap.stats().Failed
	for e := range snap.byStatus(eventstream.Aborted) {
		if len(h.Failures) == shownFailures {
			break
		}
		h.Failures = append(h.Failures, lineOf(snap.name, e, now))
	}
	var err error
	h.Reasons, err = d.reasonsOf(ctx, snap, now)
	return h, err
}

// workersIn are the workers that have events of the run now.
func workersIn(s *snapshot) []count {
	workers := map[string]int{}
	for e := range s.byStatus(eventstream.Inprocess) {
		if e.Running() {
			workers[e.Key()]++
		}
	}
	return countsOf(workers)
}
