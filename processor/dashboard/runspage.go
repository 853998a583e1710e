package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leasestream/leasestream/processor"
)

// filter says which runs are meant, as a query does.
type filter struct {
	State    state
	Pipeline string
	Text     string // in the name
	Age      string // since it was created: 1h, 24h, 168h
	Tags     string // KEY=VALUE, or KEY for any value
}

// runStates are the states that runs can be filtered by, in the order of the page.
var runStates = []state{running, paused, completed, withErrors, aborted, canceled, unreadable}

func filterOf(query url.Values) filter {
	return filter{
		State: state(query.Get("state")), Pipeline: query.Get("pipeline"),
		Text: strings.TrimSpace(query.Get("q")), Age: query.Get("age"), Tags: strings.TrimSpace(query.Get("tag")),
	}
}

// Pairs is the filter as a query, key and value by turns.
func (f filter) Pairs() []string {
	return []string{"state", string(f.State), "pipeline", f.Pipeline, "q", f.Text, "age", f.Age, "tag", f.Tags}
}

// Query is the filter as a query that further pairs are added to.
func (f filter) Query(more ...string) string { return withQuery("", append(f.Pairs(), more...)...) }

// takes reports whether a run is meant, whatever its state.
func (f filter) takes(run processor.RunInfo, now time.Time) bool {
	age, err := time.ParseDuration(f.Age)
	return (f.Pipeline == "" || f.Pipeline == run.Pipeline) &&
		(f.Text == "" || strings.Contains(strings.ToLower(run.Name), strings.ToLower(f.Text))) &&
		(err != nil || now.Sub(run.Created) <= age) &&
		haveTags(run.Tags, tagsOf(f.Tags))
}

// runRow is a run in the list.
type runRow struct {
	processor.RunInfo
	State state
	Took  string
	Error string
	Tags  []string
	// Unserved are the steps that wait although no live worker serves them.
	Unserved []string
}

// stateCount is a tab of the list.
type stateCount struct {
	State state // "" for all
	Count int
}

// runsView is the page of all runs.
type runsView struct {
	Filter    filter
	Counts    []stateCount
	Pipelines []string
	Rows      []runRow
	Matching  int
	Sort      string
	paging
}

// Toward is the order that a column's title leads to: the other way round if it is
// the order already.
func (v runsView) Toward(by string) string {
	if v.Sort == by {
		return "-" + by
	}
	return by
}

// runsPerPage is how many runs a page lists.
const runsPerPage = 50

func (d *Dashboard) runsPage(r *http.Request) (*view, error) {
	runs, version, err := d.list.get(r.Context())
	if err != nil {
		return nil, err
	}
	query, now := r.URL.Query(), d.p.Scope().Now()
	v := runsView{Filter: filterOf(query), Pipelines: pipelinesOf(runs), Sort: query.Get("sort")}
	matching, counts := v.Filter.sift(runs, now)
	v.Counts, v.Matching = counts, len(matching)
	sortRuns(matching, v.Sort)
	v.paging = pagingOf(query, len(matching), runsPerPage, v.Filter.Query("sort", v.Sort))
	for _, run := range matching[v.From:v.To] {
		v.Rows = append(v.Rows, rowOf(run, now))
	}
	if err := d.markUnserved(r.Context(), v.Rows); err != nil {
		return nil, err
	}
	return &view{template: "runs", Title: "Runs", Section: "runs", Live: "runs", Version: version, Body: v}, nil
}

// sift picks the runs that are meant, and counts them for each state.
func (f filter) sift(runs []processor.RunInfo, now time.Time) (matching []processor.RunInfo, counts []stateCount) {
	counts = []stateCount{{}}
	for _, s := range runStates {
		counts = append(counts, stateCount{State: s})
	}
	for _, run := range runs {
		if !f.takes(run, now) {
			continue
		}
		is := stateOfRun(run)
		counts[0].Count++
		counts[slices.Index(runStates, is)+1].Count++
		if f.State == "" || f.State == is {
			matching = append(matching, run)
		}
	}
	return matching, counts
}

func pipelinesOf(runs []processor.RunInfo) []string {
	var names []string
	for _, run := range runs {
		if run.Pipeline != "" {
			names = append(names, run.Pipeline)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// runOrders are the orders that runs can be listed in; "-" before one turns it
// round.
var runOrders = map[string]func(a, b processor.RunInfo) int{
	"name":     func(a, b processor.RunInfo) int { return cmp.Compare(a.Name, b.Name) },
	"pipeline": func(a, b processor.RunInfo) int { return cmp.Compare(a.Pipeline, b.Pipeline) },
	"state":    func(a, b processor.RunInfo) int { return cmp.Compare(stateOfRun(a), stateOfRun(b)) },
	"progress": func(a, b processor.RunInfo) int { return cmp.Compare(progressOf(a), progressOf(b)) },
	"created":  func(a, b processor.RunInfo) int { return a.Created.Compare(b.Created) },
	"updated":  func(a, b processor.RunInfo) int { return a.Updated.Compare(b.Updated) },
}

func progressOf(run processor.RunInfo) float64 { return float64(run.Done) / float64(max(run.Total, 1)) }

// sortRuns orders a listing; without an order of that name, the newest is first.
func sortRuns(runs []processor.RunInfo, by string) {
	name, down := strings.CutPrefix(by, "-")
	order := runOrders[name]
	if order == nil {
		order, down = runOrders["created"], true
	}
	slices.SortStableFunc(runs, func(a, b processor.RunInfo) int {
		if down {
			a, b = b, a
		}
		return cmp.Or(order(a, b), cmp.Compare(a.Name, b.Name))
	})
}

func rowOf(run processor.RunInfo, now time.Time) runRow {
	row := runRow{RunInfo: run, State: stateOfRun(run), Tags: shownTags(run.Tags)}
	switch {
	case run.Unreadable != nil:
		row.Error = run.Unreadable.Error()
	case run.Status.Final():
		row.Took = shownSpan(run.Updated.Sub(run.Created))
	default:
		row.Took = shownSpan(now.Sub(run.Created))
	}
	return row
}

// markUnserved finds out what waits for a worker in vain.
func (d *Dashboard) markUnserved(ctx context.Context, rows []runRow) error {
	if !slices.ContainsFunc(rows, func(row runRow) bool { return row.HasReady() }) {
		return nil
	}
	roster, err := d.p.Roster(ctx)
	if err != nil {
		return err
	}
	for i, row := range rows {
		if u := roster.Unserved(row.RunInfo); u != nil {
			rows[i].Unserved = u.Steps
		}
	}
	return nil
}

// paging is the part of a list that is shown.
type paging struct {
	Page, Pages int // from 1
	From, To    int // places in the list
	Total       int
	query       string // of the list, without the page
}

func pagingOf(query url.Values, total, size int, rest string) paging {
	p := paging{Total: total, Pages: max(1, (total+size-1)/size), query: rest}
	page, _ := strconv.Atoi(query.Get("page"))
	p.Page = min(max(page, 1), p.Pages)
	p.From = (p.Page - 1) * size
	p.To = min(p.From+size, total)
	return p
}

// At is the query of another page of the list; "" if there is none.
func (p paging) At(page int) string {
	if page < 1 || page > p.Pages {
		return ""
	}
	separator := "?"
	if p.query != "" {
		separator = p.query + "&"
	}
	return separator + "page=" + strconv.Itoa(page)
}

// Before and After are the queries of the pages around this one.
func (p paging) Before() string { return p.At(p.Page - 1) }

// After is the query of the next page.
func (p paging) After() string { return p.At(p.Page + 1) }

// lookAtRuns is the version of the listing.
func (d *Dashboard) lookAtRuns(ctx context.Context) (update, error) {
	_, version, err := d.list.get(ctx)
	return update{version: version}, err
}
