package processor_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// A document that the store does not hand out, be it listed before the others or
// after them, keeps no other one from being cared for.
func TestSweep_GoesOnAfterOneThatCannotBeRead(t *testing.T) {
	for _, bad := range []string{"a", "z"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			p := w.process(nil)
			hang := squares(t, hangs)
			for _, name := range []string{bad, "r"} {
				p.start(hang, name, 3)
			}
			cut := cutOff(w, hang)
			time.Sleep(time.Second)
			cut()
			refusing := storetest.NewFaults(w.st, func(c storetest.Call) (bool, error) {
				if c.Op == "get" && c.Name == processor.BlobOf(bad) {
					return false, errors.New("the disk has a scratch")
				}
				return true, nil
			})
			w.processOn(refusing, nil).work(nil, squares(t, square))
			wantEnd(t, w.awaitWithin(p, time.Minute), eventstream.Completed, false, "14")
		})
	}
}

// As long as nothing of a wide run is written, a sweep lists, and reads neither the
// parent nor its children.
func TestWide_SweepReadsOnlyWhatChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		spy := storetest.NewFaults(w.st, nil)
		p := w.processOn(farFaults{spy}, nil)
		hanging(t, p)
		time.Sleep(10 * time.Minute)
		before := spy.Counts()["get"]
		time.Sleep(time.Hour)
		if n := spy.Counts()["get"] - before; n > 0 {
			t.Errorf("in an hour in which nothing happened %d documents were read", n)
		}
	})
}

// A blob that the store does not let go keeps no other garbage from being
// collected.
func TestGarbage_GoesOnAfterWhatCannotBeRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		stuck := storetest.NewFaults(w.st, func(c storetest.Call) (bool, error) {
			if c.Op == "delete" && strings.Contains(c.Name, "stuck") {
				return false, errors.New("the disk has a scratch")
			}
			return true, nil
		})
		for _, name := range []string{
			"payload/r/a.stuck.out", "payload/r/b.out", "payload/r/z.stuck.out",
			"workers/a-stuck", "workers/b", "workers/b.log", "workers/z-stuck", "workers/z-stuck.log",
		} {
			if _, err := w.st.Put(t.Context(), name, []byte("{}"), nil); err != nil {
				t.Fatal(err)
			}
		}
		p := w.processOn(farFaults{stuck}, nil)
		p.work(&processor.WorkOptions{ID: "live"}, pipeline(t, processor.Step{Name: "A", Handler: square}))
		time.Sleep(26 * time.Hour)
		got := append(w.blobs("payload/"), w.blobs("workers/")...)
		want := "[payload/r/a.stuck.out payload/r/z.stuck.out workers/a-stuck workers/live workers/z-stuck workers/z-stuck.log]"
		if fmt.Sprint(got) != want {
			t.Errorf("after a day there are %v, want %s", got, want)
		}
	})
}
