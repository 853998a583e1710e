package dashboard

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/xpath"
)

// documentView is the page of a run's document as it is written.
type documentView struct {
	Head runHead
	Form string // xml or json
	In   string // address of the event that stands for the document; "" for the run's own
	// Children are further documents of the run, some of them.
	Children []string
	Text     string
	Bytes    int64 // of all of it; 0: not known
	Cut      bool
}

func (d *Dashboard) xmlPage(r *http.Request) (*view, error) {
	in := r.URL.Query().Get("in")
	return d.documentPage(r, "xml", func(s *snapshot) ([]byte, error) {
		doc := s.document(in)
		if doc == nil {
			return nil, fmt.Errorf("%w: %q", processor.ErrNoEvent, in)
		}
		return doc.Stream.Bytes(), nil
	})
}

func (d *Dashboard) jsonPage(r *http.Request) (*view, error) {
	return d.documentPage(r, "json", func(s *snapshot) ([]byte, error) {
		b := &beginning{limit: shownPayload}
		if err := writeJSON(b, s); err != nil && !errors.Is(err, errEnough) {
			return nil, err
		}
		return b.text, nil
	})
}

// documentPage shows a text, of which write may leave out what is over shownPayload.
func (d *Dashboard) documentPage(r *http.Request, form string, write func(*snapshot) ([]byte, error)) (*view, error) {
	v, err := d.openRun(r, form)
	if err != nil {
		return nil, err
	}
	text, err := write(v.snapshot)
	if err != nil {
		return nil, err
	}
	body := documentView{Head: v.head, Form: form, In: r.URL.Query().Get("in")}
	body.Text, body.Cut = cut(text, shownPayload)
	if form == "xml" || !body.Cut {
		body.Bytes = int64(len(text))
	}
	if form == "xml" {
		for _, doc := range v.docs[1:] {
			body.Children = append(body.Children, doc.path())
		}
	}
	body.Children = body.Children[:min(len(body.Children), shownNames)]
	return v.view("document", v.name+" · "+form, body), nil
}

// beginning keeps what is written to it up to a limit in bytes, and a little more.
type beginning struct {
	text  []byte
	limit int
}

// errEnough tells that nothing more is needed.
var errEnough = errors.New("over the limit")

func (b *beginning) Write(p []byte) (int, error) {
	b.text = append(b.text, p...)
	if len(b.text) > b.limit {
		return len(p), errEnough
	}
	return len(p), nil
}

// writeJSON writes the whole run as one object, with one event a line. Of a large run
// that is much, so nothing keeps all of it.
func writeJSON(w io.Writer, s *snapshot) error {
	text, err := json.Marshal(struct {
		Name      string            `json:"name"`
		Run       string            `json:"run"`
		Pipeline  string            `json:"pipeline"`
		Status    string            `json:"status"`
		WithError bool              `json:"withError"`
		Tags      map[string]string `json:"tags,omitempty"`
		Total     int               `json:"total"`
		Done      int               `json:"done"`
	}{s.name, s.stream.Run(), s.stream.Attr("pipeline"), s.info.Status.String(), s.info.WithError, s.info.Tags, s.info.Total, s.info.Done})
	if err != nil {
		return err
	}
	text = append(text[:len(text)-1], `,"events":[`...)
	separator := "\n"
	for _, doc := range s.docs {
		for e := range doc.Stream.Events() {
			if doc.above != nil && e == doc.Stream.Root() {
				continue // the event above stands for it
			}
			text = e.AppendJSON(append(text, separator...), doc.Address)
			if _, err := w.Write(text); err != nil {
				return err
			}
			text, separator = text[:0], ",\n"
		}
	}
	_, err = w.Write(append(text, "\n]}\n"...))
	return err
}

// download answers with a whole document or payload, as a file: a browser does not
// show what it says.
func (d *Dashboard) download(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("what") == "json" {
		d.downloadJSON(w, r)
		return
	}
	name, id := r.PathValue("name"), r.URL.Query().Get("event")
	data, form, err := d.file(r.Context(), name, r.PathValue("what"), id, r.URL.Query().Get("in"))
	if err != nil {
		d.render.write(w, r, d.failure(r, err))
		return
	}
	file := name
	if id != "" {
		file += "-" + id + "-" + r.PathValue("what")
	}
	extension := form
	if form == "octet-stream" {
		extension = "log"
	}
	attach(w, form, file+"."+extension)
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.Write(data)
}

func attach(w http.ResponseWriter, form, file string) {
	w.Header().Set("Content-Type", "application/"+form)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": file}))
}

func (d *Dashboard) downloadJSON(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	snap, err := d.streams.get(r.Context(), name)
	if err != nil {
		d.render.write(w, r, d.failure(r, err))
		return
	}
	attach(w, "json", name+".json")
	b := bufio.NewWriter(w)
	if writeJSON(b, snap) == nil { // else nobody is there any more
		b.Flush()
	}
}

func (d *Dashboard) file(ctx context.Context, name, what, id, in string) (data []byte, form string, err error) {
	if what == "xml" && in == "" {
		// As it lies there: what cannot be read has to be looked at, too.
		data, err = d.document(ctx, name)
		return data, "xml", err
	}
	snap, err := d.streams.get(ctx, name)
	if err != nil {
		return nil, "", err
	}
	if what == "xml" {
		if doc := snap.document(in); doc != nil {
			return doc.Stream.Bytes(), "xml", nil
		}
		return nil, "", fmt.Errorf("%w: %q", processor.ErrNoEvent, in)
	}
	e, ok := snap.event(id)
	if !ok {
		return nil, "", fmt.Errorf("%w: %q", processor.ErrNoEvent, id)
	}
	get := map[string]func() (eventstream.Payload, bool){"input": inputOf(e.Event), "output": e.Output}[what]
	if n, ok := strings.CutPrefix(what, "log-"); ok {
		get, form = logOf(e.Event, n), "octet-stream"
	}
	if get == nil {
		return nil, "", errNoPage
	}
	p, there := get()
	if !there {
		return nil, "", fmt.Errorf("%w: event %s has no %s", errNoPage, id, what)
	}
	data, err = d.p.Payload(ctx, p)
	return data, cmp.Or(form, "json"), err
}

// logOf is the log of an attempt, by its number.
func logOf(e *eventstream.Event, n string) func() (eventstream.Payload, bool) {
	for _, a := range e.Attempts() {
		if strconv.Itoa(a.N) == n {
			return a.Log
		}
	}
	return nil
}

// document is the text of a run's document, whether it can be read or not.
func (d *Dashboard) document(ctx context.Context, name string) ([]byte, error) {
	snapshot, err := d.p.Read(ctx, name)
	if err == nil {
		return snapshot.Stream.Bytes(), nil
	}
	if !errors.Is(err, eventstream.ErrMalformed) {
		return nil, err
	}
	object, err := d.p.Scope().Store().Get(ctx, processor.BlobOf(name), nil)
	if err != nil {
		return nil, err
	}
	return object.Body, nil
}

// queryView is the page of a run with an XPath expression.
type queryView struct {
	Head  runHead
	XPath string
	Error string
	// Values are those of an expression that does not select nodes, one for each
	// document of the run.
	Values []string
	Lines  []line
	Texts  []string // nodes that are not events
	Total  int
}

// Samples are expressions to begin with.
func (q queryView) Samples() []string {
	return []string{
		"./Event[@status='aborted']",
		"./Event[@status='inprocess' and not(@next)]",
		"./Event[@attempt > 1]",
		"count(./Event[@status='completed'])",
	}
}

const (
	// shownMatches is how many nodes the page of a query shows.
	shownMatches = 100
	// queryTime is how long a query may take.
	queryTime = 5 * time.Second
)

func (d *Dashboard) queryPage(r *http.Request) (*view, error) {
	v, err := d.openRun(r, "query")
	if err != nil {
		return nil, err
	}
	body := queryView{Head: v.head, XPath: strings.TrimSpace(r.URL.Query().Get("xpath"))}
	if body.XPath != "" {
		ctx, cancel := context.WithTimeout(r.Context(), queryTime)
		defer cancel()
		if err := body.run(ctx, v); err != nil {
			body.Error = err.Error()
		}
	}
	return v.view("query", v.name+" · query", body), nil
}

func (q *queryView) run(ctx context.Context, v *run) error {
	expr, err := xpath.Compile(q.XPath)
	if err != nil {
		return err
	}
	for _, doc := range v.docs {
		value, err := expr.Evaluate(ctx, doc.Stream, nil, nil)
		if err != nil {
			return err
		}
		q.add(v, doc, value)
	}
	return nil
}

// add adds what the expression selects in a document.
func (q *queryView) add(v *run, doc *document, value xpath.Value) {
	if value.Kind != xpath.NodeSet {
		text := value.String()
		if len(v.docs) > 1 {
			text = cmp.Or(doc.path(), v.name) + ": " + text
		}
		q.Values = append(q.Values, text)
		return
	}
	for _, n := range value.Nodes {
		if q.Total++; q.Total > shownMatches {
			continue
		}
		if e := n.Event(); e != nil {
			q.Lines = append(q.Lines, lineOf(v.name, event{doc, e}, v.now))
		} else {
			q.Texts = append(q.Texts, shortened(1000, n.Value()))
		}
	}
}
