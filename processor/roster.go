package processor

import (
	"context"
	"slices"
)

// Roster is who works in a container at one moment.
type Roster struct {
	alive []WorkerInfo
}

// Unserved is what waits in a run although no live worker would take it.
type Unserved struct {
	Pipeline   string
	Definition string
	Steps      []string // that have events ready, sorted
	// Others are other definitions of a pipeline of that name that live workers
	// serve: as a rule its file was changed after the run began, and a run goes on
	// in the one that it began with.
	Others []string
}

// Roster reads who works, for as many runs as the caller looks at. It costs a
// listing and a read for each worker. What cannot be read is left out.
func (p *Processor) Roster(ctx context.Context) (*Roster, error) {
	r := &Roster{}
	for info, err := range p.Workers(ctx) {
		if err != nil {
			return nil, err
		}
		if info.Alive {
			r.alive = append(r.alive, info)
		}
	}
	return r, nil
}

// Unserved says which steps of a run have events ready and no live worker that
// serves them; nil if there are none, or if nothing is to be taken: the run has
// ended, is paused or unreadable, or was not started from a pipeline.
func (r *Roster) Unserved(run RunInfo) *Unserved {
	if !run.HasReady() {
		return nil
	}
	u := &Unserved{Pipeline: run.Pipeline, Definition: run.Definition}
	for step := range run.Ready {
		if !r.serves(run, step) {
			u.Steps = append(u.Steps, step)
		}
	}
	if len(u.Steps) == 0 {
		return nil
	}
	slices.Sort(u.Steps)
	u.Others = r.others(run)
	return u
}

// HasReady reports whether events of the run are ready for a worker: only then
// there is something to ask a [Roster].
func (i RunInfo) HasReady() bool {
	return i.Unreadable == nil && !i.Status.Final() && !i.Paused && i.Definition != "" && len(i.Ready) > 0
}

func (r *Roster) serves(run RunInfo, step string) bool {
	return slices.ContainsFunc(r.alive, func(w WorkerInfo) bool {
		return w.Takes(run.Name) && w.Serves(run.Definition, step)
	})
}

// others are the other definitions in which the run's pipeline is served.
func (r *Roster) others(run RunInfo) []string {
	var others []string
	for _, w := range r.alive {
		for _, served := range w.Pipelines {
			if served.Name == run.Pipeline && served.Definition != run.Definition {
				others = append(others, served.Definition)
			}
		}
	}
	slices.Sort(others)
	return slices.Compact(others)
}
