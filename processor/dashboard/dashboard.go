package dashboard

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/leasestream/leasestream/processor"
)

// Options of a Dashboard; nil means the defaults.
type Options struct {
	// Prefix is the path that the handler is mounted under, such as "/flows",
	// without a slash at its end; "" is the root of the server.
	Prefix string
	// Title says what is looked at, such as the URL of the store without secrets.
	Title string
	// ReadOnly refuses all actions, and offers none.
	ReadOnly bool
	// Pipelines can be started from the pages although no run of them was started
	// before.
	Pipelines []*processor.Pipeline
	// Load reads the source of a definition that lies in the store, so that runs of
	// it can be started; nil: only Pipelines can be. No step of it is run here.
	Load func(source []byte) (*processor.Pipeline, error)
	// Describe reads what is drawn of a definition; nil: its steps alone are.
	Describe func(source []byte) (*Graph, error)
	// Logger gets each action with who asked for it, and what could not be shown;
	// nil: nothing is logged.
	Logger *slog.Logger
}

// Dashboard is an http.Handler that shows the runs of a container and steers them.
// It may be used by any number of requests at once.
type Dashboard struct {
	p       *processor.Processor
	o       Options
	log     *slog.Logger
	render  *renderer
	streams *snapshots
	list    *listing
	feeds   *feeds
	handler http.Handler
}

// New makes a dashboard of what a processor sees. auth decides about every
// request; it must not be nil.
func New(p *processor.Processor, auth Auth, o *Options) *Dashboard {
	if auth == nil {
		panic("dashboard: New needs an Auth")
	}
	if o == nil {
		o = &Options{}
	}
	d := &Dashboard{p: p, o: *o, log: o.Logger, render: newRenderer(o)}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	d.streams = newSnapshots(p)
	d.list = &listing{p: p}
	d.feeds = newFeeds(p.Scope().Store())
	d.handler = guard(auth, d.routes())
	return d
}

// ServeHTTP answers a request below the prefix.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.handler.ServeHTTP(w, r) }

// Close ends all event streams and returns when nothing of the dashboard runs any
// more. A server that is shut down gracefully waits for event streams, so it is
// closed after this.
func (d *Dashboard) Close() error {
	d.feeds.close()
	return nil
}

// page makes the answer to a request that asks for a page: the view to show, or
// the error that is shown in its place.
type page func(r *http.Request) (*view, error)

// action makes the answer to a request that changes something: the path to go on
// at.
type action func(r *http.Request) (string, error)

func (d *Dashboard) routes() http.Handler {
	mux := http.NewServeMux()
	get := func(path string, f page) { mux.HandleFunc("GET "+d.o.Prefix+path, d.show(f)) }
	get("/", func(*http.Request) (*view, error) { return nil, errNoPage })
	get("/{$}", d.runsPage)
	get("/bulk/{verb}", d.writable(d.bulkPage))
	get("/runs/{name}", d.treePage)
	get("/runs/{name}/timeline", d.timelinePage)
	get("/runs/{name}/events", d.eventsPage)
	get("/runs/{name}/events/{id}", d.eventPage)
	get("/runs/{name}/query", d.queryPage)
	get("/runs/{name}/xml", d.xmlPage)
	get("/runs/{name}/json", d.jsonPage)
	get("/runs/{name}/limit", d.writable(d.limitPage))
	get("/runs/{name}/do/{verb}", d.writable(d.confirmPage))
	get("/pipelines", d.pipelinesPage)
	get("/pipelines/{hash}", d.pipelinePage)
	get("/workers", d.workersPage)
	get("/workers/pause", d.writable(d.pausePage))
	get("/workers/slots", d.writable(d.slotsPage))
	get("/leases", d.leasesPage)
	get("/leases/break", d.writable(d.breakPage))
	mux.HandleFunc("GET "+d.o.Prefix+"/runs/{name}/download/{what}", d.download)
	mux.HandleFunc("GET "+d.o.Prefix+"/live/{subject}", d.live)
	mux.HandleFunc("GET "+d.o.Prefix+"/assets/{file}", d.render.asset)

	post := func(path string, f action) { mux.HandleFunc("POST "+d.o.Prefix+path, d.act(f)) }
	post("/runs/{name}/do/{verb}", d.steer)
	post("/pipelines/{hash}/start", d.start)
	post("/leases/break", d.breakLease)
	post("/workers/pause", d.pauseAll)
	post("/workers/resume", d.resumeAll)
	post("/workers/slots", d.setSlots)
	post("/runs/{name}/limit", d.setLimit)
	mux.HandleFunc("POST "+d.o.Prefix+"/bulk/{verb}", d.show(d.writable(d.bulk)))
	return mux
}

// writable is a page that has no place in a dashboard that is only read.
func (d *Dashboard) writable(f page) page {
	if d.o.ReadOnly {
		return func(*http.Request) (*view, error) { return nil, errReadOnly }
	}
	return f
}

// show answers with a page.
func (d *Dashboard) show(f page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := f(r)
		if err != nil {
			v = d.failure(r, err)
		}
		d.render.write(w, r, v)
	}
}

// act does what a form asks for and redirects, so that a reload asks for nothing.
func (d *Dashboard) act(f action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if d.o.ReadOnly {
			d.render.write(w, r, d.failure(r, errReadOnly))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		path, err := f(r)
		if err != nil {
			d.render.write(w, r, d.failure(r, err))
			return
		}
		http.Redirect(w, r, d.o.Prefix+path, http.StatusSeeOther)
	}
}

// maxForm is the size in bytes of the largest form: an input or output with what
// encoding a form adds to it.
const maxForm = 16 << 20

// did logs an action that was taken.
func (d *Dashboard) did(ctx context.Context, what string, args ...any) {
	d.log.InfoContext(ctx, "dashboard "+what, append(args, "by", whoOf(ctx))...)
}
