package cli

import (
	"encoding/json"
	"strings"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// eventJSON is an event as show and query give it: first what every event has,
// then its other attributes under their names, then what it contains. Its id, and
// those around it, are addresses in the run.
func eventJSON(d *processor.Document, e *eventstream.Event) object {
	o := object{
		{"id", d.Address(e.ID())},
		{"name", e.Name()},
		{"status", e.Status().String()},
		{"prev", prevAddress(d, e)},
		{"next", nextAddresses(d, e)},
		{"key", e.Key()},
		{"attempt", e.Attempt()},
		{"failures", e.Failures()},
		{"msg", e.Msg()},
	}
	for name, value := range e.Attrs() {
		if !o.has(name) {
			o = append(o, member{attributeName(name), value})
		}
	}
	return append(o, contentJSON(e)...)
}

// attributeName keeps attributes apart from the content of the same name.
func attributeName(name string) string {
	switch name {
	case "input", "output", "inputRef", "outputRef", "attempts", "cursor":
		return "@" + name
	}
	return name
}

func prevAddress(d *processor.Document, e *eventstream.Event) string {
	if prev := e.Attr("prev"); prev != "" {
		return d.Address(prev)
	}
	return ""
}

// nextAddresses are the successors as the document has them, those of a superseded
// event too.
func nextAddresses(d *processor.Document, e *eventstream.Event) []string {
	ids := []string{}
	for id := range strings.SplitSeq(e.Attr("next"), "|") {
		if id = strings.TrimSpace(id); id != "" {
			ids = append(ids, d.Address(id))
		}
	}
	return ids
}

// contentJSON is what an event contains. A payload that lies in a blob of its own
// is told by where it is: inputRef in place of input.
func contentJSON(e *eventstream.Event) object {
	var o object
	if p, ok := e.Input(); ok {
		o = append(o, payloadJSON("input", p))
	}
	if p, ok := e.Output(); ok {
		o = append(o, payloadJSON("output", p))
	}
	if cursor := e.Cursor(); cursor != nil {
		o = append(o, member{"cursor", jsonOrText(cursor)})
	}
	if attempts := e.Attempts(); len(attempts) > 0 {
		o = append(o, member{"attempts", attemptsJSON(attempts)})
	}
	return o
}

func payloadJSON(name string, p eventstream.Payload) member {
	if p.Ref == "" {
		return member{name, jsonOrText(p.JSON)}
	}
	return member{name + "Ref", object{{"ref", p.Ref}, {"bytes", p.Bytes}, {"sha256", p.SHA256}}}
}

// jsonOrText takes what a foreign hand wrote, and is no JSON, as a text.
func jsonOrText(data []byte) any {
	if json.Valid(data) {
		return json.RawMessage(data)
	}
	return string(data)
}

func attemptsJSON(attempts []eventstream.Attempt) []object {
	list := make([]object, len(attempts))
	for i, a := range attempts {
		list[i] = object{{"n", a.N}, {"error", a.Error}}
		if a.Detail != "" {
			list[i] = append(list[i], member{"detail", a.Detail})
		}
		if log, ok := a.Log(); ok {
			list[i] = append(list[i], payloadJSON("log", log))
		}
	}
	return list
}

func progressJSON(p eventstream.Progress) object {
	return object{
		{"total", p.Total},
		{"init", p.Init},
		{"inprocess", p.Inprocess},
		{"completed", p.Completed},
		{"aborted", p.Aborted},
		{"canceled", p.Canceled},
	}
}
