package cli

import (
	"encoding/json"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// eventJSON is an event as show and query give it. Its id, and those around it, are
// addresses in the run.
func eventJSON(d *processor.Document, e *eventstream.Event) json.RawMessage {
	return e.AppendJSON(nil, d.Address)
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
