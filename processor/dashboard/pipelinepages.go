package dashboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
)

// hashPrefix begins a definition; addresses go without it.
const hashPrefix = "sha256:"

// definition is a version of a pipeline that is known: from Options, from the
// store, or from runs of it.
type definition struct {
	ID       string // sha256:…
	Hash     string // without the prefix, for addresses
	Name     string
	Runs     int
	Open     int
	Newest   processor.RunInfo // run
	pipeline *processor.Pipeline
	stored   bool
}

// Short is the begin of the hash, enough to tell versions apart.
func (f *definition) Short() string { return f.Hash[:min(12, len(f.Hash))] }

// pipelinesView is the page of all pipelines.
type pipelinesView struct{ Definitions []*definition }

func (d *Dashboard) pipelinesPage(r *http.Request) (*view, error) {
	all, version, err := d.definitions(r.Context())
	if err != nil {
		return nil, err
	}
	return &view{
		template: "pipelines", Title: "Pipelines", Section: "pipelines", Live: "runs", Version: version,
		Body: pipelinesView{all},
	}, nil
}

// definitions are all versions of pipelines, by name, the ones used last first.
func (d *Dashboard) definitions(ctx context.Context) (all []*definition, version string, err error) {
	known := map[string]*definition{}
	get := func(id string) *definition {
		if known[id] == nil {
			known[id] = &definition{ID: id, Hash: strings.TrimPrefix(id, hashPrefix)}
		}
		return known[id]
	}
	for _, pl := range d.o.Pipelines {
		f := get(pl.Definition())
		f.Name, f.pipeline = pl.Name(), pl
	}
	for id, err := range d.p.Definitions(ctx) {
		if err != nil {
			return nil, "", err
		}
		get(id).stored = true
	}
	runs, version, err := d.list.get(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, run := range runs {
		if run.Definition != "" {
			get(run.Definition).count(run)
		}
	}
	for _, f := range known {
		if f.Name == "" {
			f.Name = d.nameOf(ctx, f)
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *definition) int {
		if a.Name != b.Name {
			return strings.Compare(a.Name, b.Name)
		}
		if newer := b.Newest.Created.Compare(a.Newest.Created); newer != 0 {
			return newer
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all, version, nil
}

func (f *definition) count(run processor.RunInfo) {
	f.Name = run.Pipeline
	f.Runs++
	if !run.Status.Final() {
		f.Open++
	}
	if run.Created.After(f.Newest.Created) {
		f.Newest = run
	}
}

// nameOf reads the name of a definition that no run tells.
func (d *Dashboard) nameOf(ctx context.Context, f *definition) string {
	if pl, _, err := d.loadDefinition(ctx, f.ID); err == nil && pl != nil {
		return pl.Name()
	}
	return ""
}

// loadDefinition returns the source of a definition and, if it can be read here,
// the pipeline, which can then be started.
func (d *Dashboard) loadDefinition(ctx context.Context, id string) (*processor.Pipeline, []byte, error) {
	for _, pl := range d.o.Pipelines {
		if pl.Definition() == id {
			return pl, pl.Source(), nil
		}
	}
	source, err := d.p.Source(ctx, id)
	if err != nil || d.o.Load == nil {
		return nil, source, err
	}
	pl, err := d.o.Load(source)
	if err != nil || pl.Definition() != id {
		return nil, source, nil // one that was made by a program
	}
	return pl, source, nil
}

// pipelineView is the page of one version of a pipeline.
type pipelineView struct {
	*definition
	Picture   template.HTML
	NoGraph   string // why there is no picture
	Source    string
	Cut       bool
	Startable bool
	Input     string // of the form
	RunName   string
	Rows      []runRow
	Workers   []workerRow
}

// shownRuns is how many runs the page of a pipeline lists.
const shownRuns = 20

func (d *Dashboard) pipelinePage(r *http.Request) (*view, error) {
	ctx := r.Context()
	f, runs, err := d.findDefinition(ctx, hashPrefix+r.PathValue("hash"))
	if err != nil {
		return nil, err
	}
	body := pipelineView{definition: f}
	pl, source, err := d.loadDefinition(ctx, f.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, processor.ErrDefinition) {
		return nil, err
	}
	body.Startable = pl != nil
	body.Source, body.Cut = cut(source, shownPayload)
	g, err := d.graphOf(source, pl)
	if err != nil {
		body.NoGraph = err.Error()
	}
	body.Picture = g.Picture(nil)
	if g != nil && len(g.Steps) > maxDrawn {
		body.NoGraph = "it has " + plural(len(g.Steps), "step")
	}
	if body.Rows, err = d.runsOf(ctx, f.ID); err != nil {
		return nil, err
	}
	var workers string
	if body.Workers, workers, err = d.workersOf(ctx, f.ID); err != nil {
		return nil, err
	}
	if from := r.URL.Query().Get("from"); from != "" {
		body.Input = d.inputOfRun(ctx, from)
	}
	return &view{
		template: "pipeline", Title: f.Name, Section: "pipelines", Live: "workers",
		Version: workersVersion(workers, runs), Body: body,
	}, nil
}

func (d *Dashboard) findDefinition(ctx context.Context, id string) (*definition, string, error) {
	all, version, err := d.definitions(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, f := range all {
		if f.ID == id {
			return f, version, nil
		}
	}
	return nil, "", fmt.Errorf("%w: %q", errNoDefinition, id)
}

// runsOf are the newest runs of a definition.
func (d *Dashboard) runsOf(ctx context.Context, id string) ([]runRow, error) {
	runs, _, err := d.list.get(ctx)
	if err != nil {
		return nil, err
	}
	var rows []runRow
	runs = slices.DeleteFunc(slices.Clone(runs), func(run processor.RunInfo) bool { return run.Definition != id })
	sortRuns(runs, "")
	for _, run := range runs[:min(len(runs), shownRuns)] {
		rows = append(rows, rowOf(run, d.p.Scope().Now()))
	}
	return rows, nil
}

// inputOfRun is the input of a run, to be started with again; "" if it has none
// that can be shown as a whole.
func (d *Dashboard) inputOfRun(ctx context.Context, name string) string {
	snap, err := d.streams.get(ctx, name)
	if err != nil || snap.stream.Root() == nil {
		return ""
	}
	input := d.payload(ctx, snap.stream.Root().Input)
	if input == nil || input.Cut {
		return ""
	}
	return input.Text
}

// start begins a run.
func (d *Dashboard) start(r *http.Request) (string, error) {
	ctx := r.Context()
	pl, _, err := d.loadDefinition(ctx, hashPrefix+r.PathValue("hash"))
	switch {
	case err != nil:
		return "", err
	case pl == nil:
		return "", fmt.Errorf("%w: runs of this pipeline are started by the program that made it", errInput)
	}
	if err := r.ParseForm(); err != nil {
		return "", fmt.Errorf("%w: %w", errInput, err)
	}
	input, err := jsonField(r.PostForm.Get("input"))
	if err != nil {
		return "", err
	}
	tags, err := formTags(r.PostForm.Get("tags"))
	if err != nil {
		return "", err
	}
	run, err := d.p.Start(ctx, pl, bytes.TrimSpace(input), &processor.StartOptions{
		Name: strings.TrimSpace(r.PostForm.Get("name")), Tags: tags,
	})
	if err != nil {
		return "", err
	}
	d.list.forget()
	done := "start"
	if run.Attached {
		done = "attach"
	}
	d.did(ctx, "start", "stream", run.Name, "pipeline", pl.Name())
	return withQuery(link("", "runs", run.Name), "done", done), nil
}
