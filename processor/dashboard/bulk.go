package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// bulkVerb is something that can be done to all runs of a filter.
type bulkVerb struct {
	*verb
	takes func(state) bool
	// when is the time that says whether a run was there, as it is, when the page
	// was shown.
	when func(processor.RunInfo) time.Time
}

var bulkVerbs = map[string]bulkVerb{
	"cancel": {
		verbOf("cancel"),
		func(s state) bool { return s == running || s == paused },
		func(run processor.RunInfo) time.Time { return run.Created },
	},
	"retry": {
		verbOf("retry"),
		func(s state) bool { return s == aborted || s == canceled || s == withErrors },
		func(run processor.RunInfo) time.Time { return run.Updated },
	},
	"purge": {
		verbOf("purge"),
		func(s state) bool { return s == completed || s == withErrors || s == aborted || s == canceled },
		func(run processor.RunInfo) time.Time { return run.Updated },
	},
}

// bulkView is the page that asks whether it is really meant for all of them, and
// the one that says what became of it.
type bulkView struct {
	Verb   bulkVerb
	Filter filter
	AsOf   string // what has come since is not meant
	Count  int
	Names  []string // some of them
	Done   int
	Failed []bulkFailure
	Over   bool // it was done
}

// Rest is how many runs Names does not have.
func (b *bulkView) Rest() int { return b.Count - len(b.Names) }

// bulkFailure is a run that it could not be done to.
type bulkFailure struct{ Name, Error string }

const (
	// shownNames is how many runs a bulk page names.
	shownNames = 20
	// bulkWidth is how many runs are dealt with at a time.
	bulkWidth = 8
)

func (d *Dashboard) bulkPage(r *http.Request) (*view, error) {
	now := d.p.Scope().Now()
	b, names, err := d.bulkOf(r, r.URL.Query(), now)
	if err != nil {
		return nil, err
	}
	b.AsOf = eventstream.FormatTime(now)
	b.Names = names[:min(len(names), shownNames)]
	return b.view(), nil
}

func (b *bulkView) view() *view {
	return &view{template: "bulk", Title: b.Verb.Title + " runs", Section: "runs", Body: b}
}

// bulkOf finds the runs that are meant: those that were there at a time.
func (d *Dashboard) bulkOf(r *http.Request, query url.Values, asOf time.Time) (*bulkView, []string, error) {
	v, ok := bulkVerbs[r.PathValue("verb")]
	if !ok {
		return nil, nil, errNoPage
	}
	d.list.forget()
	runs, _, err := d.list.get(r.Context())
	if err != nil {
		return nil, nil, err
	}
	b := &bulkView{Verb: v, Filter: filterOf(query)}
	matching, _ := b.Filter.sift(runs, asOf)
	var names []string
	for _, run := range matching {
		if v.takes(stateOfRun(run)) && !v.when(run).After(asOf) {
			names = append(names, run.Name)
		}
	}
	b.Count = len(names)
	return b, names, nil
}

// bulk does it, to those that the page was about and that still are as they were.
func (d *Dashboard) bulk(r *http.Request) (*view, error) {
	if err := r.ParseForm(); err != nil {
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	asOf, err := eventstream.ParseTime(r.PostForm.Get("asof"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	b, names, err := d.bulkOf(r, r.PostForm, asOf)
	if err != nil {
		return nil, err
	}
	o := order{by: whoOf(r.Context()), reason: r.PostForm.Get("reason")}
	b.Over, b.Failed = true, d.doAll(r.Context(), b.Verb.verb, o, names)
	b.Done = len(names) - len(b.Failed)
	d.did(r.Context(), "bulk "+b.Verb.Name, "runs", b.Done, "failed", len(b.Failed))
	d.list.forget()
	return b.view(), nil
}

// doAll goes on after a run that it cannot be done to.
func (d *Dashboard) doAll(ctx context.Context, v *verb, o order, names []string) []bulkFailure {
	var (
		group  sync.WaitGroup
		mu     sync.Mutex // guards failed
		failed []bulkFailure
	)
	for part := range slices.Chunk(names, max(1, (len(names)+bulkWidth-1)/bulkWidth)) {
		group.Go(func() { // until its part is done
			for _, name := range part {
				o := o
				o.name = name
				if err := v.do(ctx, d.p, &o); err != nil {
					mu.Lock()
					failed = append(failed, bulkFailure{name, err.Error()})
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	slices.SortFunc(failed, func(a, b bulkFailure) int { return strings.Compare(a.Name, b.Name) })
	return failed
}
