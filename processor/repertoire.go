package processor

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// repertoire is what a worker serves. It only grows.
type repertoire struct {
	find    func(ctx context.Context, definition string) (*Pipeline, error) // nil: nothing more is found
	every   time.Duration                                                   // between two questions for one definition
	publish func(context.Context) error                                     // tells others of what was found

	asked map[string]asked // :: definition → the last question; of dispatch alone

	mu        sync.Mutex           // guards the fields below
	pipelines map[string]*Pipeline // :: definition → pipeline
	grown     func()               // called when there is one more; nil: nobody cares
}

// asked is when a definition was asked for, and what was wrong then.
type asked struct {
	at  time.Time
	err string
}

func newRepertoire(find func(context.Context, string) (*Pipeline, error), every time.Duration, pipelines []*Pipeline) *repertoire {
	r := &repertoire{find: find, every: every, asked: map[string]asked{}, pipelines: map[string]*Pipeline{}}
	for _, pl := range pipelines {
		r.pipelines[pl.Definition()] = pl
	}
	return r
}

// of is the pipeline of a definition; nil if it is not served.
func (r *repertoire) of(definition string) *Pipeline {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pipelines[definition]
}

func (r *repertoire) add(pl *Pipeline) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pipelines[pl.Definition()] = pl
	if r.grown != nil {
		r.grown()
	}
}

// steps are the names of all steps. grown is called when there may be more.
func (r *repertoire) steps(grown func()) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.grown = grown
	var steps []string
	for _, pl := range r.pipelines {
		for _, step := range pl.steps {
			steps = append(steps, step.Name)
		}
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// list is what the worker's blob says of it.
func (r *repertoire) list() []Served {
	r.mu.Lock()
	defer r.mu.Unlock()
	served := make([]Served, 0, len(r.pipelines))
	for _, pl := range r.pipelines {
		s := Served{Name: pl.Name(), Definition: pl.Definition()}
		for _, step := range pl.steps {
			s.Steps = append(s.Steps, step.Name)
		}
		served = append(served, s)
	}
	slices.SortFunc(served, func(a, b Served) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Definition, b.Definition))
	})
	return served
}

// learn looks for the pipeline of a definition that is not served, if it is time
// to, and reports whether it is served from now on.
func (w *worker) learn(ctx context.Context, definition string) bool {
	r := w.served
	last, again := r.asked[definition]
	if r.find == nil || definition == "" || r.of(definition) != nil || again && time.Since(last.at) < r.every {
		return false
	}
	pl, err := r.find(ctx, definition)
	now := asked{at: time.Now()}
	switch {
	case err != nil:
		if now.err = err.Error(); now.err != last.err && ctx.Err() == nil {
			w.log.WarnContext(ctx, "a definition is not served", "definition", definition, "err", err)
		}
	case pl != nil && pl.Definition() != definition:
		w.log.ErrorContext(ctx, "another definition was found than the one asked for", "definition", definition, "found", pl.Definition())
	case pl != nil:
		r.add(pl)
		w.log.InfoContext(ctx, "pipeline found", "pipeline", pl.Name(), "definition", definition)
		if err := r.publish(ctx); err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "the worker's blob does not tell of all that it serves", "err", err)
		}
		delete(r.asked, definition)
		return true
	}
	r.asked[definition] = now
	return false
}
