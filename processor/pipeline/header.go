package pipeline

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

var (
	headerName   = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// ownHeaders are those that a request sets itself, or that belong to its
// connection.
var ownHeaders = []string{
	"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Host",
	"Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// header is a header of a request. Its value is that of a variable in the worker's
// environment, after a prefix, or else a text.
type header struct {
	name     string
	at       place
	value    *argument
	variable string
	prefix   string
	where    string // the value, if it is a variable's
}

func (v value) headers() []*header {
	var all []*header
	entries, _ := v.entries()
	for _, entry := range entries {
		h := v.r.header(entry.Key.GetToken().Value, placeOf(entry.Key))
		if i := slices.IndexFunc(all, func(other *header) bool { return other.name == h.name }); i >= 0 {
			v.r.add(h.at, "header %q is given twice, the first time in line %d", h.name, all[i].at.line)
		}
		h.read(value{r: v.r, key: "header " + h.name, at: placeOf(entry.Value), node: entry.Value})
		all = append(all, h)
	}
	return all
}

func (r *reader) header(name string, at place) *header {
	switch {
	case !headerName.MatchString(name):
		r.add(at, "header %.80q: want letters, digits and hyphens", name)
	case slices.Contains(ownHeaders, http.CanonicalHeaderKey(name)):
		r.add(at, "header %q is set by the request itself; leave it out", name)
	}
	return &header{name: http.CanonicalHeaderKey(name), at: at}
}

func (h *header) read(v value) {
	switch v.node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		h.readVariable(v)
		return
	}
	h.value = v.argument(v.key)
	if h.value != nil && h.value.template == nil && !fitsHeader(h.value.text) {
		v.wrong("%s", unfitHeader)
	}
}

func (h *header) readVariable(v value) {
	h.where = v.r.where(v.at)
	given := v.mapping(
		field{"env", func(v value) { h.variable = v.variable() }},
		field{"prefix", func(v value) { h.prefix = v.text().text }},
	)
	v.r.require(given, v.at, "env")
	if !fitsHeader(h.prefix) {
		v.wrong("%s", unfitHeader)
	}
}

// variable reads the name of a variable that is none of ours: those may hold the
// key of the store.
func (v value) variable() string {
	w := v.text()
	switch {
	case w.at == place{}:
	case !variableName.MatchString(w.text):
		v.wrong("%.80q is no name of a variable: want letters, digits and underscores", w.text)
	case isOurs(w.text):
		v.wrong("%q is a setting of the worker, which it does not give away", w.text)
	}
	return w.text
}

const unfitHeader = "a header cannot carry a line break or control character"

func fitsHeader(value string) bool {
	return !strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f })
}

// of is the value for a task, and the part of it that must not be told. It fails
// for good, and without a word of what comes from the environment.
func (h *header) of(data *argumentData) (string, secrets, error) {
	if h.variable == "" {
		value, err := h.value.expand(data)
		if err == nil && !fitsHeader(value) {
			err = hopeless{fmt.Errorf("%s: %s: %s", h.value.where, h.value.what, unfitHeader)}
		}
		return value, nil, err
	}
	value := os.Getenv(h.variable)
	switch {
	case value == "":
		return "", nil, hopeless{fmt.Errorf("%s: header %s: variable %s is not set in the environment of the worker", h.where, h.name, h.variable)}
	case !fitsHeader(value):
		return "", nil, hopeless{fmt.Errorf("%s: header %s: variable %s: %s", h.where, h.name, h.variable, unfitHeader)}
	}
	return h.prefix + value, secrets{{h.variable, value}}, nil
}

// secrets are values from the environment that a request carries. Its server may
// repeat them, in an answer that goes into an error.
type secrets []struct{ variable, value string }

// hide puts the names of variables in place of their values.
func (s secrets) hide(text string) string {
	var pairs []string
	for _, secret := range s {
		// A server that was sent "Bearer TOKEN" may repeat TOKEN, and one that
		// writes JSON in the manner of PHP escapes the slashes.
		_, token, _ := strings.Cut(secret.value, " ")
		for _, form := range []string{secret.value, strings.TrimSpace(token)} {
			for _, written := range []string{form, strings.ReplaceAll(form, "/", `\/`)} {
				if written != "" {
					pairs = append(pairs, written, "["+secret.variable+"]")
				}
			}
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
