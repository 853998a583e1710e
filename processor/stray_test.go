package processor_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// outage is a store that loses the answer, or the whole, of one write to run r when
// it is told to, and then everything that is asked of the document until it is over.
type outage struct {
	applied bool // the write is carried out
	coming  atomic.Bool
	on      atomic.Bool
}

func (o *outage) over(st store.Store) store.Store { return storetest.NewFaults(st, o.hook) }

func (o *outage) hook(c storetest.Call) (bool, error) {
	switch {
	case c.Name != processor.BlobOf("r"):
	case o.on.Load():
		return false, errCut
	case c.Op == "put" && o.coming.CompareAndSwap(true, false):
		o.on.Store(true)
		return o.applied, errCut
	}
	return true, nil
}

// Nobody can tell what became of a claim: it was written, as it turns out. The worker,
// which does not work on the event, gives it back when the document can be reached
// again, however often it could not until then.
func TestStray_ClaimUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		pl := pipeline(t, processor.Step{Name: "Square", Handler: square})
		other := w.process(nil)
		other.start(pl, "r", 5)
		o := &outage{applied: true}
		o.coming.Store(true)
		w.processOn(o.over(w.st), nil).work(nil, pl)
		time.Sleep(5 * time.Minute)
		if e := other.stream("r").Root(); !e.Running() || e.Attempt() != 1 {
			t.Fatalf("event 00 is %v in attempt %d, want one claim that was written", e.Status(), e.Attempt())
		}
		o.on.Store(false)
		begin := time.Now()
		wantEnd(t, w.awaitWithin(other, time.Hour), eventstream.Completed, false, "25")
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("the event ran %v after the store was back", took)
		}
	})
}

// Nobody can tell what became of the last outcome of a run: it was not written, as it
// turns out. The worker runs the event again.
func TestStray_OutcomeUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		g := newGate("00", 25)
		pl := pipeline(t, processor.Step{Name: "Square", Handler: g.handle})
		other := w.process(nil)
		other.start(pl, "r", 5)
		o := &outage{}
		w.processOn(o.over(w.st), nil).work(nil, pl)
		<-g.began
		time.Sleep(time.Second) // nobody looks for more in the stream by then
		o.coming.Store(true)
		close(g.open)
		time.Sleep(5 * time.Minute) // the outcome is given up
		o.on.Store(false)
		begin := time.Now()
		wantEnd(t, w.awaitWithin(other, time.Hour), eventstream.Completed, false, "25")
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("the event ran again %v after the store was back", took)
		}
	})
}
