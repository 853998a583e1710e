package eventstream_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

var update = flag.Bool("update", false, "write the golden documents anew")

// TestSearchOrder replays the order search with nested searches that are chosen
// at run time, and compares the exact document after every step.
func TestSearchOrder(t *testing.T) {
	o := &searchOrder{run: &run{T: t, now: epoch}}
	steps := []struct {
		name string
		f    func()
	}{
		{"order-start", o.orderStart},
		{"search-start", o.searchStart},
		{"one-aborted", o.oneAborted},
		{"second-done", o.secondDone},
		{"nested-searches", o.nestedSearches},
		{"nested-aborted", o.nestedAborted},
		{"second-thread-ends", o.secondThreadEnds},
		{"first-thread-ends", o.firstThreadEnds},
		{"order-done", o.orderDone},
	}
	for i, step := range steps {
		step.f()
		compareGolden(t, fmt.Sprintf("%02d-%s.xml", i+1, step.name), o.Bytes())
	}
	written, err := filepath.Glob("testdata/searchorder/*.xml")
	if err != nil || len(written) != len(steps) {
		t.Errorf("testdata/searchorder has %d documents, want %d (%v)", len(written), len(steps), err)
	}
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", "searchorder", name)
	if *update {
		if err := os.WriteFile(name, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s: the document is\n%s\nwant\n%s", name, got, want)
	}
}

type searchOrder struct{ *run }

func (o *searchOrder) claim(ids ...string) {
	o.Helper()
	for _, id := range ids {
		o.edit(func() error { return o.Claim(o.Event(id), "worker-"+id) })
	}
}

func json(format string, args ...any) *eventstream.Payload {
	return eventstream.JSON(fmt.Appendf(nil, format, args...))
}

// orderStart makes the stream; its root splits into three searches.
func (o *searchOrder) orderStart() {
	s, err := eventstream.New(epoch, eventstream.Start{
		Name: "order-42", Run: "k3v9x2", Pipeline: "search-order",
		Root: eventstream.NewEvent{Name: "OrderStart", TrackingID: "9b2e", Input: json(`{"order": 42}`)},
	})
	if err != nil {
		o.Fatal(err)
	}
	o.Stream = s
	o.claim("00")
	o.edit(func() error {
		var searches []eventstream.NewEvent
		for _, city := range []string{"Brno", "Praha", "Plzeň"} {
			searches = append(searches, eventstream.NewEvent{Name: "SearchStart", Input: json(`{"city": %q}`, city)})
		}
		_, err := o.Split(o.Root(), searches, &eventstream.SplitOptions{Join: "OrderDone"})
		return err
	})
	o.statuses("00", "inprocess", "01.00", "init", "02.00", "init", "03.00", "init")
	if o.IsDone() {
		o.Error("IsDone() at the start")
	}
}

func (o *searchOrder) searchStart() {
	o.claim("01.00", "02.00", "03.00")
	o.statuses("00", "inprocess", "01.00", "inprocess", "02.00", "inprocess", "03.00", "inprocess")
}

// oneAborted: the third search fails first of all, and nothing else is decided.
func (o *searchOrder) oneAborted() {
	o.edit(func() error {
		return o.Abort(o.Event("03.00"), "", "the supplier does not answer")
	})
	o.statuses("00", "inprocess", "03.00", "aborted")
}

// secondDone: the second search has three results.
func (o *searchOrder) secondDone() {
	o.edit(func() error {
		_, err := o.Next(o.Event("02.00"), eventstream.NewEvent{Name: "SearchDone", Input: json(`{"results": ["a", "b", "c"]}`)})
		return err
	})
	o.statuses("02.00", "inprocess", "02.01", "init")
}

// nestedSearches: the second search looks deeper into its third result, the first
// into its second and fourth.
func (o *searchOrder) nestedSearches() {
	o.edit(func() error {
		_, err := o.Next(o.Event("01.00"), eventstream.NewEvent{Name: "SearchDone", Input: json(`{"results": ["a", "b", "c", "d"]}`)})
		return err
	})
	o.claim("02.01", "01.01")
	nested := func(id string, results ...int) {
		o.edit(func() error {
			var searches []eventstream.NewEvent
			for _, n := range results {
				searches = append(searches, eventstream.NewEvent{Name: "SearchStart", Branch: n, Input: json(`{"result": %d}`, n)})
			}
			_, err := o.Split(o.Event(id), searches, nil)
			return err
		})
	}
	nested("02.01", 3)
	nested("01.01", 2, 4)
	o.next("01.01", "01.02.00", "01.04.00")
	o.next("02.01", "02.03.00")
	o.statuses("01.02.00", "init", "01.04.00", "init", "02.03.00", "init", "01.00", "inprocess", "02.00", "inprocess")
	done, err := o.AreDone("01.02.00", "01.04.00", "02.03.00")
	if done || err != nil {
		o.Errorf("AreDone = %v, %v", done, err)
	}
}

// nestedAborted: the first of two nested searches fails while the other goes on.
func (o *searchOrder) nestedAborted() {
	o.claim("01.02.00", "01.04.00", "02.03.00")
	o.edit(func() error { return o.Abort(o.Event("01.02.00"), "", "the result has expired") })
	o.statuses("01.01", "inprocess", "00", "inprocess")
}

// secondThreadEnds goes up as far as the root, which waits for the first thread.
func (o *searchOrder) secondThreadEnds() {
	o.edit(func() error { return o.Complete(o.Event("02.03.00"), json(`{"price": 7}`)) })
	o.statuses("02.01", "completed", "02.00", "completed", "00", "inprocess")
}

// firstThreadEnds is our difference: the search that ends last succeeds, and the
// failure of the one before it is noticed all the same. The edit that ends the
// last branch makes the aggregator's event.
func (o *searchOrder) firstThreadEnds() {
	changes := o.edit(func() error { return o.Complete(o.Event("01.04.00"), json(`{"price": 9}`)) })
	o.statuses("01.04.00", "completed", "01.01", "completed with error", "01.00", "completed with error", "00", "inprocess", "01", "init")
	if len(changes.Created) != 1 || changes.Created[0].ID() != "01" || changes.Ended {
		o.Errorf("Changes = %+v, want the join created", changes)
	}
	var results []string
	for r := range o.Results(o.Root()) {
		results = append(results, fmt.Sprintf("%s %v %v", r.Last.ID(), r.Last.Status(), r.Failed))
	}
	want := []string{"01.01 completed true", "02.01 completed false", "03.00 aborted true"}
	if !slices.Equal(results, want) {
		o.Errorf("Results = %v, want %v", results, want)
	}
}

func (o *searchOrder) orderDone() {
	o.claim("01")
	changes := o.edit(func() error { return o.Complete(o.Event("01"), json(`{"found": 1, "failed": 2}`)) })
	o.statuses("01", "completed", "00", "completed with error")
	status, withError := o.Status()
	if !o.IsDone() || !changes.Ended || status != eventstream.Completed || !withError {
		o.Errorf("IsDone() = %v, Ended = %v, Status() = %v, %v", o.IsDone(), changes.Ended, status, withError)
	}
	if output, _ := o.Last().Output(); string(output.JSON) != `{"found":1,"failed":2}` {
		o.Errorf("the output of the run is %s", output.JSON)
	}
	if got := o.Progress(); got.Done() != 10 || got.Total != 10 || got.Completed != 8 || got.Aborted != 2 {
		o.Errorf("Progress() = %+v", got)
	}
	if lines := strings.Count(string(o.Bytes()), "\n"); lines != 2+10+1 {
		o.Errorf("%d lines, want one for each event", lines)
	}
	if elapsed := o.Root().Time("timestamp").Sub(epoch); elapsed < time.Second {
		o.Errorf("the root ended %v after the start", elapsed)
	}
}
