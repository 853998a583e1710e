package dashboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
)

// workerRow is a worker in a list.
type workerRow struct {
	processor.WorkerInfo
	State state
	Left  string // of its lease
	Host  string
	Tasks []line // what it runs
	Log   string // the end of it; "" if it keeps none
}

// shownTasks is how many tasks of a worker are listed.
const shownTasks = 20

// Shown are the first of its tasks.
func (w workerRow) Shown() []line { return w.Tasks[:min(len(w.Tasks), shownTasks)] }

// workersView is the page of all workers.
type workersView struct {
	Workers   []workerRow
	Live      int
	Slots     int
	Busy      int
	AllPaused bool
}

func (d *Dashboard) workersPage(r *http.Request) (*view, error) {
	ctx := r.Context()
	workers, version, err := d.workers(ctx)
	if err != nil {
		return nil, err
	}
	body := workersView{Workers: workers}
	if body.AllPaused, err = d.p.AllPaused(ctx); err != nil {
		return nil, err
	}
	if err := d.addTasks(ctx, workers); err != nil {
		return nil, err
	}
	for _, w := range workers {
		body.Busy += len(w.Tasks)
		if w.Alive {
			body.Live++
			body.Slots += w.Slots
		}
	}
	_, runs, err := d.list.get(ctx)
	return &view{
		template: "workers", Title: "Workers", Section: "workers", Live: "workers",
		Version: workersVersion(version, runs), Body: body,
	}, err
}

// workers are all workers, live ones first, with a version of what is shown of
// them.
func (d *Dashboard) workers(ctx context.Context) ([]workerRow, string, error) {
	now := d.p.Scope().Now()
	sum := fnv.New64a()
	var rows []workerRow
	for w, err := range d.p.Workers(ctx) {
		if err != nil {
			return nil, "", err
		}
		row := workerRow{WorkerInfo: w, State: expired, Left: leaseLeft(w.Lease, now)}
		if w.Alive {
			row.State = live
		}
		if w.Lease.Holder != nil {
			row.Host = w.Lease.Holder.Host
		}
		if row.Log, err = d.workerLog(ctx, w.ID); err != nil {
			return nil, "", err
		}
		fmt.Fprintf(sum, "%s %v %d %q\n", w.ID, w.Alive, w.Slots, row.Log)
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b workerRow) int {
		switch {
		case a.Alive == b.Alive:
			return 0
		case a.Alive:
			return -1
		}
		return 1
	})
	return rows, fmt.Sprintf("%x", sum.Sum64()), nil
}

// shownLog is how many bytes of a worker's log a page shows: its end.
const shownLog = 16 << 10

// workerLog is the end of a worker's log; "" if it keeps none.
func (d *Dashboard) workerLog(ctx context.Context, id string) (string, error) {
	log, err := d.p.WorkerLog(ctx, id)
	if errors.Is(err, processor.ErrNoLog) || err != nil && errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if more := len(log) - shownLog; more > 0 {
		_, log, _ = bytes.Cut(log[more:], []byte("\n")) // from a whole line on
	}
	return strings.ToValidUTF8(string(log), "\uFFFD"), nil
}

// leaseLeft is how long a lease lasts unless it is renewed, for people.
func leaseLeft(l store.LeaseInfo, now time.Time) string {
	switch {
	case !l.State.Locked():
		return ""
	case l.Infinite && l.State == store.LeaseLeased:
		return "no end"
	case l.Expires.IsZero():
		return "up to " + shownSpan(store.MaxLease)
	}
	return shownSpan(l.Expires.Sub(now))
}

// addTasks finds out what each worker runs, from the runs in which something is
// running.
func (d *Dashboard) addTasks(ctx context.Context, workers []workerRow) error {
	runs, _, err := d.list.get(ctx)
	if err != nil {
		return err
	}
	byID := map[string]*workerRow{}
	for i := range workers {
		byID[workers[i].ID] = &workers[i]
	}
	for _, run := range runs {
		if run.Status.Final() || len(run.Running) == 0 {
			continue
		}
		snap, err := d.streams.get(ctx, run.Name)
		if err != nil {
			continue // it went away, or cannot be read, as its own page says
		}
		for e := range snap.byStatus(eventstream.Inprocess) {
			if w := byID[e.Key()]; w != nil && e.Running() {
				w.Tasks = append(w.Tasks, lineOf(run.Name, e, d.p.Scope().Now()))
			}
		}
	}
	return nil
}

// workersOf are the workers that serve a definition, with a version of all workers.
func (d *Dashboard) workersOf(ctx context.Context, id string) (those []workerRow, version string, err error) {
	all, version, err := d.workers(ctx)
	return slices.DeleteFunc(all, func(w workerRow) bool {
		return !slices.ContainsFunc(w.Pipelines, func(s processor.Served) bool { return s.Definition == id })
	}), version, err
}

func (d *Dashboard) lookAtWorkers(ctx context.Context) (update, error) {
	_, workers, err := d.workers(ctx)
	if err != nil {
		return update{}, err
	}
	// What they run shows in the runs.
	_, runs, err := d.list.get(ctx)
	return update{version: workersVersion(workers, runs)}, err
}

func workersVersion(workers, runs string) string { return workers + "-" + runs }

// pausePage asks whether all runs are really to be paused.
func (d *Dashboard) pausePage(*http.Request) (*view, error) {
	return &view{template: "pause-all", Title: "Pause all runs", Section: "workers"}, nil
}

func (d *Dashboard) pauseAll(r *http.Request) (string, error) {
	if err := d.p.PauseAll(r.Context(), whoOf(r.Context()), r.FormValue("reason")); err != nil {
		return "", err
	}
	d.did(r.Context(), "pause all")
	return "/workers?done=pause-all", nil
}

func (d *Dashboard) resumeAll(r *http.Request) (string, error) {
	if err := d.p.ResumeAll(r.Context()); err != nil {
		return "", err
	}
	d.did(r.Context(), "resume all")
	return "/workers?done=resume-all", nil
}
