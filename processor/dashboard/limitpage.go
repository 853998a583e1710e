package dashboard

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
)

// limitView is the page that asks how many events of a step a run may handle at a
// time.
type limitView struct {
	Name   string
	Steps  []string
	Limits map[string]int // that were changed; 0: none
	Step   string         // that is chosen
}

func (d *Dashboard) limitPage(r *http.Request) (*view, error) {
	snap, err := d.streams.get(r.Context(), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	body := limitView{Name: snap.name, Limits: snap.stream.Limits(), Step: r.URL.Query().Get("step")}
	body.Steps = append(snap.stats().Names(), slices.Collect(maps.Keys(body.Limits))...)
	if pl, _, err := d.loadDefinition(r.Context(), snap.stream.Attr("definition")); err == nil && pl != nil {
		for _, s := range pl.Steps() {
			body.Steps = append(body.Steps, s.Name)
		}
	}
	slices.Sort(body.Steps)
	body.Steps = slices.Compact(body.Steps)
	return &view{template: "limit", Title: "Limit a step of " + snap.name, Section: "runs", Body: body}, nil
}

// setLimit changes how many events of a step a run may handle at a time.
func (d *Dashboard) setLimit(r *http.Request) (string, error) {
	if err := r.ParseForm(); err != nil {
		return "", fmt.Errorf("%w: %w", errInput, err)
	}
	name, step, n := r.PathValue("name"), r.PostForm.Get("step"), 0
	if text := r.PostForm.Get("limit"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 {
			return "", fmt.Errorf("%w: a limit is a number from 1 on, or empty for none", errInput)
		}
	}
	if err := d.p.SetLimit(r.Context(), name, step, n, whoOf(r.Context())); err != nil {
		return "", err
	}
	d.did(r.Context(), "limit", "stream", name, "step", step, "limit", n)
	return withQuery(link("", "runs", name), "done", "limit"), nil
}
