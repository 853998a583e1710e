package model

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/antchfx/xmlquery"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/measure"
	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/xpath"
)

// Round has the figures of one document.
type Round struct {
	Bytes float64 `json:"bytes"`

	// Parse reads the document. Kept is what the stream keeps in memory, in bytes for
	// each of the document. ParseRatio is how many times as long xmlquery takes.
	ParseMS             float64 `json:"parse_ms"`
	ParseMBPerS         float64 `json:"parse_mb_per_s"`
	ParseAllocsPerEvent float64 `json:"parse_allocs_per_event"`
	KeptPerByte         float64 `json:"kept_bytes_per_byte"`
	XMLQueryMS          float64 `json:"xmlquery_ms"`
	ParseRatio          float64 `json:"parse_ratio"`

	WriteMS     float64 `json:"write_ms"`
	WriteMBPerS float64 `json:"write_mb_per_s"`

	// Update completes an event four splits deep, which completes those above it up to
	// the root, and undoes that. Rollback changes one attribute and undoes that.
	UpdateUS   float64 `json:"update_us"`
	RollbackUS float64 `json:"rollback_us"`

	// The selects look for the event of an id, and for all of a status, by the index
	// and by evaluating the path.
	SelectIDUS         float64 `json:"select_id_us"`
	EvaluateIDUS       float64 `json:"evaluate_id_us"`
	SelectIDRatio      float64 `json:"select_id_ratio"`
	SelectStatusUS     float64 `json:"select_status_us"`
	EvaluateStatusUS   float64 `json:"evaluate_status_us"`
	SelectStatusRatio  float64 `json:"select_status_ratio"`
	SelectStatusEvents float64 `json:"select_status_events"`
}

// Measure measures everything on a document of so many events, MinEvents or more,
// each thing for at least so long.
func Measure(ctx context.Context, events int, least time.Duration) (Round, error) {
	doc := canonical(events)
	s, err := eventstream.Parse(doc)
	if err != nil {
		return Round{}, err
	}
	if s.Len() != events {
		return Round{}, fmt.Errorf("a document of %d events has %d", events, s.Len())
	}
	b := &bench{least: least, doc: doc, s: s}
	r := Round{Bytes: float64(len(doc))}
	b.parse(&r)
	b.write(&r)
	b.edit(&r)
	b.query(ctx, &r)
	return r, b.err
}

// bench measures one document. What goes wrong on the way is kept in err.
type bench struct {
	least time.Duration
	doc   []byte
	s     *eventstream.Stream
	err   error
}

// cost is what f costs; an error is kept.
func (b *bench) cost(f func() error) measure.Cost {
	return measure.CostOf(b.least, func() { b.check(f()) })
}

func (b *bench) check(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *bench) parse(r *Round) {
	own, other := measure.CostsOf(b.least, func() {
		_, err := eventstream.Parse(b.doc)
		b.check(err)
	}, func() {
		_, err := xmlquery.Parse(bytes.NewReader(b.doc))
		b.check(err)
	})
	kept := measure.Kept(func() any {
		s, err := eventstream.Parse(b.doc)
		b.check(err)
		return s
	})
	r.ParseMS, r.ParseMBPerS = measure.Milliseconds(own.Time), b.rate(own)
	r.ParseAllocsPerEvent = measure.Short(own.Allocs / float64(b.s.Len()))
	r.KeptPerByte = measure.Ratio(float64(kept), float64(len(b.doc)))
	r.XMLQueryMS = measure.Milliseconds(other.Time)
	r.ParseRatio = ratio(other, own)
}

func (b *bench) write(r *Round) {
	buf := make([]byte, 0, b.s.Size())
	c := b.cost(func() error {
		buf = b.s.AppendTo(buf[:0])
		return nil
	})
	if !bytes.Equal(buf, b.doc) {
		b.check(errors.New("the document was not written as it was read"))
	}
	r.WriteMS, r.WriteMBPerS = measure.Milliseconds(c.Time), b.rate(c)
}

// rate is 10⁶ bytes of the document per second.
func (b *bench) rate(c measure.Cost) float64 {
	return measure.Ratio(float64(len(b.doc))/1e6, c.Time.Seconds())
}

// errUndo undoes an edit.
var errUndo = errors.New("undo")

func (b *bench) edit(r *Round) {
	now := time.Now()
	undone := func(f func() error) measure.Cost {
		return b.cost(func() error {
			_, err := b.s.Edit(now, func() error { return cmp.Or(f(), errUndo) })
			if errors.Is(err, errUndo) {
				return nil
			}
			return err
		})
	}
	leaf, top := b.s.Event(deepest), b.s.Event("01.00")
	r.UpdateUS = microseconds(undone(func() error {
		err := b.s.Update(leaf, "status", "completed")
		if top.Status() != eventstream.Completed {
			return errors.New("the status did not go up")
		}
		return err
	}))
	r.RollbackUS = microseconds(undone(func() error { return b.s.Update(leaf, "tag", "y") }))
}

func (b *bench) query(ctx context.Context, r *Round) {
	id := b.s.At(b.s.Len() - 1).ID()
	byID, _ := b.selects(ctx, "./Event[@id=$v]", id)
	evaluated, found := b.selects(ctx, "./Event[concat(@id,'')=$v]", id) // a form that the index does not know
	if found != 1 {
		b.check(fmt.Errorf("%d events have the id %s", found, id))
	}
	r.SelectIDUS, r.EvaluateIDUS, r.SelectIDRatio = microseconds(byID), microseconds(evaluated), ratio(evaluated, byID)

	byStatus, found := b.selects(ctx, "./Event[@status=$v]", "init")
	evaluated, again := b.selects(ctx, "./Event[concat(@status,'')=$v]", "init")
	if found != again {
		b.check(fmt.Errorf("the index has %d events of a status, the document %d", found, again))
	}
	r.SelectStatusUS, r.EvaluateStatusUS = microseconds(byStatus), microseconds(evaluated)
	r.SelectStatusRatio, r.SelectStatusEvents = ratio(evaluated, byStatus), float64(found)
}

// selects is the cost of a query, and how many events it finds.
func (b *bench) selects(ctx context.Context, expr, value string) (c measure.Cost, found int) {
	x, err := xpath.Compile(expr)
	if err != nil {
		b.check(err)
		return c, 0
	}
	c = b.cost(func() error {
		found = 0
		for _, err := range x.Select(ctx, b.s, xpath.Vars{"v": value}, nil) {
			if err != nil {
				return err
			}
			found++
		}
		return nil
	})
	return c, found
}

func microseconds(c measure.Cost) float64 {
	return measure.Short(float64(c.Time) / float64(time.Microsecond))
}

// ratio is how many times as long a takes as b.
func ratio(a, b measure.Cost) float64 { return measure.Ratio(float64(a.Time), float64(b.Time)) }
