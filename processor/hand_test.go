package processor_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
)

// hand edits the documents of run r as a user with an editor does: it knows no
// lease and no library, and leaves no metadata.
type hand struct{ w *world }

// change puts what f makes of a document in its place, as soon as nobody has its
// lease.
func (h hand) change(doc string, f func(text string) string) {
	h.w.t.Helper()
	for {
		object := h.w.get(processor.BlobOf(doc))
		text := string(object.Body)
		changed := f(text)
		if changed == text {
			h.w.t.Fatalf("the hand changed nothing in %s:\n%s", doc, text)
		}
		_, err := h.w.st.Put(context.Background(), processor.BlobOf(doc), []byte(changed), &store.PutOptions{
			Conditions: store.Conditions{IfMatch: object.ETag},
		})
		if err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// changeEvent changes the line of an event, given by its address.
func (h hand) changeEvent(at string, f func(line string) string) {
	h.w.t.Helper()
	doc, id := "r", at
	if i := strings.LastIndexByte(at, '/'); i >= 0 {
		doc, id = "r/"+at[:i], at[i+1:]
	}
	h.change(doc, event(id, f))
}

// event changes the line of an event of a document.
func event(id string, f func(line string) string) func(text string) string {
	line := regexp.MustCompile(`(?m)^<Event id="` + regexp.QuoteMeta(id) + `".*\n`)
	return func(text string) string { return line.ReplaceAllStringFunc(text, f) }
}

// changeTag changes the start tag of the run's root element.
func (h hand) changeTag(f func(tag string) string) {
	h.w.t.Helper()
	tag := regexp.MustCompile(`<EventStream [^>]*>`)
	h.change("r", func(text string) string { return tag.ReplaceAllStringFunc(text, f) })
}

// set writes an attribute of the element that a text begins with.
func set(name, value string) func(string) string {
	return func(element string) string {
		element = unset(name)(element)
		end := strings.IndexAny(element, "/>") // none of the values here has one
		return element[:end] + fmt.Sprintf(" %s=%q", name, value) + element[end:]
	}
}

// unset takes an attribute away.
func unset(name string) func(string) string {
	attr := regexp.MustCompile(`^(<[^>]*?) ` + name + `="[^"]*"`)
	return func(element string) string { return attr.ReplaceAllString(element, "$1") }
}

// status sets a status, and leaves all else as a hand would.
func status(value string) func(string) string {
	return func(line string) string {
		return regexp.MustCompile(` status="[a-z]*"`).ReplaceAllString(line, ` status="`+value+`"`)
	}
}

// inTurn is one change after the other.
func inTurn(changes ...func(string) string) func(string) string {
	return func(text string) string {
		for _, change := range changes {
			text = change(text)
		}
		return text
	}
}

// withOutput gives an event an output.
func withOutput(data string) func(string) string {
	return func(line string) string {
		return strings.Replace(line, "</Event>", "<Output>"+data+"</Output></Event>", 1)
	}
}
