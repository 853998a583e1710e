package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	rowsPerTree     = 250
	eventsPerPage   = 100
	barsPerTimeline = 80
)

// treeView is the page of a run as a tree.
type treeView struct {
	Head runHead
	Rows []treeLine
	Open []string
	paging
}

// treeLine is a row of the tree as it is shown.
type treeLine struct {
	treeRow
	line
	// Indent is a class for the depth; beyond it only the number tells.
	Indent string
	// Toggle is the query that shows, or hides, all branches; "" if there is nothing
	// to.
	Toggle string
	Opened bool
}

func (d *Dashboard) treePage(r *http.Request) (*view, error) {
	v, err := d.openRun(r, "tree")
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	open := query["open"]
	all := v.shape().rows(setOf(open), v.now)
	body := treeView{Head: v.head, Open: open, paging: pagingOf(query, len(all), rowsPerTree, openQuery(open))}
	for _, row := range all[body.From:body.To] {
		body.Rows = append(body.Rows, v.treeLine(row, open))
	}
	return v.view("tree", v.name, body), nil
}

func (v *run) treeLine(row treeRow, open []string) treeLine {
	l := treeLine{treeRow: row, Indent: "d" + strconv.Itoa(min(row.Depth, 12))}
	if row.Group != nil {
		return l
	}
	l.line = lineOf(v.name, row.event, v.now)
	switch l.Opened = slices.Contains(open, l.ID); {
	case l.Opened:
		l.Toggle = "?" + strings.TrimPrefix(openQuery(slices.DeleteFunc(slices.Clone(open), func(id string) bool { return id == l.ID })), "?")
	case row.Hidden:
		l.Toggle = openQuery(append(slices.Clone(open), l.ID))
	}
	return l
}

func openQuery(open []string) string {
	if len(open) == 0 {
		return ""
	}
	return "?" + url.Values{"open": open}.Encode()
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, item := range list {
		set[item] = true
	}
	return set
}

// eventsView is the page of a run as a table.
type eventsView struct {
	Head   runHead
	Filter eventFilter
	Names  []string // of the steps
	Lines  []line
	paging
}

func (d *Dashboard) eventsPage(r *http.Request) (*view, error) {
	v, err := d.openRun(r, "events")
	if err != nil {
		return nil, err
	}
	f := eventFilterOf(r.URL.Query())
	matching := f.sift(v.snapshot, v.now)
	body := eventsView{
		Head: v.head, Filter: f, Names: v.stats().Names(),
		paging: pagingOf(r.URL.Query(), len(matching), eventsPerPage, f.Query()),
	}
	for _, e := range matching[body.From:body.To] {
		body.Lines = append(body.Lines, lineOf(v.name, e, v.now))
	}
	return v.view("events", v.name+" · events", body), nil
}
