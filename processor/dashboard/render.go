package dashboard

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
)

//go:embed assets templates
var files embed.FS

// view is a page to be shown.
type view struct {
	status   int    // of the answer; 0 is 200
	template string // that shows Body
	Title    string
	Section  string // of the navigation: runs, pipelines, workers, leases
	Live     string // path of the event stream that tells of changes; "" for none
	Version  string // of what is shown, as that stream has it
	Notice   string // what an action did
	Body     any

	// Filled in when the view is written.
	Store    string
	ReadOnly bool
}

// renderer makes pages and assets of the embedded files.
type renderer struct {
	pages    *template.Template
	assets   map[string]*asset
	store    string
	readOnly bool
}

// asset is a file under a URL that changes with its content.
type asset struct {
	body []byte
	kind string
	hash string
}

func newRenderer(o *Options) *renderer {
	r := &renderer{assets: map[string]*asset{}, store: o.Title, readOnly: o.ReadOnly}
	names, err := fs.Glob(files, "assets/*")
	if err != nil {
		panic(err) // the pattern is constant
	}
	for _, name := range names {
		body, err := files.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		sum := sha256.Sum256(body)
		r.assets[path.Base(name)] = &asset{body, mime.TypeByExtension(path.Ext(name)), hex.EncodeToString(sum[:6])}
	}
	r.pages = template.Must(template.New("").Funcs(r.funcs(o.Prefix)).ParseFS(files, "templates/*.html"))
	return r
}

// write answers with a page. It is made as a whole first, so that a mistake in it
// never shows as half a page.
func (d *renderer) write(w http.ResponseWriter, r *http.Request, v *view) {
	v.Store, v.ReadOnly = d.store, d.readOnly
	if v.Notice == "" {
		v.Notice = notices[r.URL.Query().Get("done")]
	}
	var page bytes.Buffer
	if err := d.pages.ExecuteTemplate(&page, "layout", shown{v, d}); err != nil {
		http.Error(w, "this page cannot be shown: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(page.Len()))
	w.WriteHeader(max(v.status, http.StatusOK))
	w.Write(page.Bytes()) // who does not read it does not want it
}

// shown is a view together with the means to show its body.
type shown struct {
	*view
	r *renderer
}

// Content is the body, by the view's own template.
func (s shown) Content() (template.HTML, error) { return s.r.part(s.template, s) }

// part is what a template makes of data.
func (d *renderer) part(name string, data any) (template.HTML, error) {
	var part bytes.Buffer
	err := d.pages.ExecuteTemplate(&part, name, data)
	return template.HTML(part.String()), err
}

// asset answers with an embedded file.
func (d *renderer) asset(w http.ResponseWriter, r *http.Request) {
	a := d.assets[r.PathValue("file")]
	if a == nil {
		http.NotFound(w, r)
		return
	}
	if r.URL.Query().Get("v") == a.hash {
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	w.Header().Set("Content-Type", a.kind)
	w.Write(a.body)
}
