package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// lineView writes what changes, line by line.
type lineView struct {
	w    io.Writer
	last string
	told map[string]bool // aborted events, and batch events whose child streams were looked through
}

func (v *lineView) show(ctx context.Context, name string, d *processor.Document) error {
	sum, err := d.Summary(ctx)
	if err != nil {
		return err
	}
	status := line{}
	status.status, status.withError = d.Stream.Status()
	text := fmt.Sprintf("%s: %s, %s\n", name, status.shown(0, false), counts(sum))
	if text == v.last {
		return nil
	}
	v.last = text
	if err := v.aborted(ctx, name, d); err != nil {
		return err
	}
	_, err = io.WriteString(v.w, text)
	return err
}

// aborted writes of each event that was aborted once, those in child streams when
// their batch events have ended.
func (v *lineView) aborted(ctx context.Context, name string, d *processor.Document) error {
	for e := range d.Stream.ByStatus(eventstream.Aborted) {
		if err := v.event(name, d, e); err != nil {
			return err
		}
	}
	for e := range d.Stream.ByStatus(eventstream.Completed) {
		if !e.IsBatch() || !e.WithError() || !v.first(d, e) {
			continue
		}
		child, err := d.Child(ctx, e)
		if err == nil && child != nil {
			err = v.aborted(ctx, name, child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *lineView) event(name string, d *processor.Document, e *eventstream.Event) error {
	if !v.first(d, e) {
		return nil
	}
	text := eventLine(d.Address(e.ID()), e, 0).shown(0, false)
	_, err := fmt.Fprintf(v.w, "%s: %s\n", name, text)
	return err
}

// first reports whether nothing has been told yet of this attempt of an event.
func (v *lineView) first(d *processor.Document, e *eventstream.Event) bool {
	key := fmt.Sprint(d.Address(e.ID()), " ", e.Attempt())
	if v.told[key] {
		return false
	}
	if v.told == nil {
		v.told = map[string]bool{}
	}
	v.told[key] = true
	return true
}

func (*lineView) close() error { return nil }
