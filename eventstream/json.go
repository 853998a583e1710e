package eventstream

import (
	"bytes"
	"encoding/json"
	"strings"
)

// AppendJSON appends the event as an object: id, name, status, prev, next, key,
// attempt, failures and msg, which every event has; its other attributes under
// their names; and what it contains as input, output, cursor and attempts. A
// payload that lies in a blob of its own is told by where it is, as inputRef or
// outputRef. An attribute of one of these names has an @ before it.
//
// address makes of an id, that of the event and those around it, what readers know
// it by; nil leaves them as they are.
func (e *Event) AppendJSON(dst []byte, address func(id string) string) []byte {
	w := newJSONWriter(dst)
	if address != nil {
		w.address = address
	}
	w.event(e)
	return w.b.Bytes()
}

// jsonWriter writes JSON objects whose members keep their order.
type jsonWriter struct {
	b       *bytes.Buffer
	encoder *json.Encoder
	members int // of the object that is being written
	address func(id string) string
}

func newJSONWriter(dst []byte) *jsonWriter {
	w := &jsonWriter{b: bytes.NewBuffer(dst), address: func(id string) string { return id }}
	w.encoder = json.NewEncoder(w.b)
	w.encoder.SetEscapeHTML(false)
	return w
}

func (w *jsonWriter) begin() {
	w.b.WriteByte('{')
	w.members = 0
}

func (w *jsonWriter) end() { w.b.WriteByte('}') }

func (w *jsonWriter) key(name string) {
	if w.members++; w.members > 1 {
		w.b.WriteByte(',')
	}
	w.value(name)
	w.b.WriteByte(':')
}

func (w *jsonWriter) add(name string, value any) {
	w.key(name)
	w.value(value)
}

// value writes text, numbers, and JSON that is valid, none of which can fail.
func (w *jsonWriter) value(v any) {
	if err := w.encoder.Encode(v); err != nil {
		panic(err)
	}
	w.b.Truncate(w.b.Len() - 1) // the line end
}

func (w *jsonWriter) event(e *Event) {
	w.begin()
	w.add("id", w.address(e.ID()))
	w.add("name", e.Name())
	w.add("status", e.Status().String())
	w.add("prev", strings.Join(w.addresses(e.Attr("prev")), ""))
	w.add("next", w.addresses(e.Attr("next")))
	w.add("key", e.Key())
	w.add("attempt", e.Attempt())
	w.add("failures", e.Failures())
	w.add("msg", e.Msg())
	for name, value := range e.Attrs() {
		if !jsonHead[name] {
			w.add(jsonName(name), value)
		}
	}
	w.payload("input", e.Input)
	w.payload("output", e.Output)
	if cursor := e.Cursor(); cursor != nil {
		w.add("cursor", jsonOrText(cursor))
	}
	if attempts := e.Attempts(); len(attempts) > 0 {
		w.add("attempts", attemptsJSON(attempts))
	}
	w.end()
}

// addresses are the ids of a list as the document has it, those of a superseded
// event too.
func (w *jsonWriter) addresses(list string) []string {
	addresses := []string{}
	for id := range strings.SplitSeq(list, "|") {
		if id = strings.TrimSpace(id); id != "" {
			addresses = append(addresses, w.address(id))
		}
	}
	return addresses
}

func (w *jsonWriter) payload(name string, get func() (Payload, bool)) {
	p, ok := get()
	switch {
	case !ok:
	case p.Ref == "":
		w.add(name, jsonOrText(p.JSON))
	default:
		w.add(name+"Ref", blobJSON{p.Ref, p.Bytes, p.SHA256})
	}
}

// jsonHead are the attributes that every event has as JSON.
var jsonHead = map[string]bool{
	"id": true, "name": true, "status": true, "prev": true, "next": true,
	"key": true, "attempt": true, "failures": true, "msg": true,
}

// jsonName keeps attributes apart from the content of the same name.
func jsonName(attribute string) string {
	switch attribute {
	case "input", "output", "inputRef", "outputRef", "attempts", "cursor":
		return "@" + attribute
	}
	return attribute
}

// jsonOrText takes what a foreign hand wrote, and is no JSON, as a text.
func jsonOrText(data []byte) any {
	if json.Valid(data) {
		return json.RawMessage(data)
	}
	return string(data)
}

type attemptJSON struct {
	N      int       `json:"n"`
	Error  string    `json:"error"`
	Detail string    `json:"detail,omitempty"`
	LogRef *blobJSON `json:"logRef,omitempty"`
}

// blobJSON is where a payload lies that has a blob of its own.
type blobJSON struct {
	Ref    string `json:"ref"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func attemptsJSON(attempts []Attempt) []attemptJSON {
	list := make([]attemptJSON, len(attempts))
	for i, a := range attempts {
		list[i] = attemptJSON{N: a.N, Error: a.Error, Detail: a.Detail}
		if log, ok := a.Log(); ok {
			list[i].LogRef = &blobJSON{log.Ref, log.Bytes, log.SHA256}
		}
	}
	return list
}
