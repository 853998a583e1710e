package processor_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/membus"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

func TestProcessor_Peers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		own, all, restricted, silent := w.process(nil), w.process(nil), w.process(nil), w.process(nil)
		own.work(&processor.WorkOptions{URL: "http://own/"}, squares(t, square))
		all.work(&processor.WorkOptions{URL: "http://all/"}, squares(t, square))
		restricted.work(&processor.WorkOptions{URL: "http://restricted/", Only: []string{"r"}}, squares(t, square))
		silent.work(nil, squares(t, square))
		synctest.Wait()
		if _, err := w.st.Put(t.Context(), "workers/broken", []byte("no JSON"), nil); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			bell bus.Doorbell
			want []string
		}{
			{bus.Doorbell{Stream: "r", Step: "Square"}, []string{"http://all/", "http://restricted/"}},
			{bus.Doorbell{Stream: "s", Step: "Square"}, []string{"http://all/"}},
			{bus.Doorbell{Stream: "r"}, []string{"http://all/", "http://restricted/"}},
			{bus.Doorbell{Stream: "r", Step: "Other"}, nil},
		} {
			got, err := own.Peers(t.Context(), c.bell)
			slices.Sort(got)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("Peers(%+v) = %q, %v, want %q", c.bell, got, err, c.want)
			}
		}
		all.end()
		time.Sleep(2 * time.Second)
		if got, err := own.Peers(t.Context(), bus.Doorbell{Stream: "s", Step: "Square"}); got != nil || err != nil {
			t.Errorf("Peers() = %q, %v after the worker ended, want none", got, err)
		}
	})
}

// What is known of the workers is read once, however often is asked.
func TestPeers_AnswersFromMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.process(nil).work(&processor.WorkOptions{URL: "http://worker/"}, squares(t, square))
		synctest.Wait()
		spy := storetest.NewFaults(w.st, nil)
		p := w.processOn(farFaults{spy}, nil)
		for range 600 { // a minute
			if urls, err := p.Peers(t.Context(), bus.Doorbell{Stream: "r", Step: "Square"}); len(urls) != 1 || err != nil {
				t.Fatalf("Peers() = %q, %v, want the worker", urls, err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := spy.Total(); n > 8 {
			t.Errorf("a minute of asking took %d requests, want one listing every ten seconds and one read: %v", n, spy.Counts())
		}
	})
}

// Edits that share an upload are one write.
func TestWrote_SharedUploads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(&processor.Options{Wide: -1})
		pl := squares(t, square)
		p.start(pl, "r", 1500)
		first := p.etag("r")
		p.work(&processor.WorkOptions{Slots: 500}, pl)
		p.await("r")
		if n := p.scope.Stats().Commits; n > 1000 {
			t.Fatalf("the run took %d writes, too many to show it", n)
		}
		if !p.Wrote(first) {
			t.Error("the first write is forgotten after 1500 edits in few uploads")
		}
	})
}

func TestWrote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p, other := w.process(nil), w.process(nil)
		p.start(squares(t, square), "r", 1)
		first := p.etag("r")
		if !p.Wrote(first) || other.Wrote(first) || p.Wrote("") {
			t.Errorf("Wrote() = %t, %t by another, %t of no ETag, want true, false, false", p.Wrote(first), other.Wrote(first), p.Wrote(""))
		}
		for range 600 { // each is two edits
			if err := p.Pause(t.Context(), "r", "", "me", ""); err != nil {
				t.Fatal(err)
			}
			if err := p.Resume(t.Context(), "r", ""); err != nil {
				t.Fatal(err)
			}
		}
		if last := p.etag("r"); p.Wrote(first) || !p.Wrote(last) {
			t.Errorf("after 1200 edits Wrote() = %t of the first, %t of the last, want false, true", p.Wrote(first), p.Wrote(last))
		}
	})
}

// A doorbell without a step makes a worker look, and ask for no lease where there
// is nothing for it.
func TestBus_DoorbellWithoutStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		network := membus.New()
		t.Cleanup(func() { network.Close() })
		spy := storetest.NewFaults(w.st, func(c storetest.Call) (bool, error) {
			if c.Op == "acquire" && c.Name == processor.BlobOf("foreign") {
				t.Error("the lease of a foreign run was asked for")
			}
			return true, nil
		})
		worker := w.processOn(farFaults{spy}, &processor.Options{Bus: network})
		worker.work(nil, squares(t, square))
		starter := w.process(nil)
		time.Sleep(time.Hour + time.Second)
		starter.start(pipeline(t, processor.Step{Name: "Square", Handler: square}), "foreign", 2)
		starter.start(squares(t, square), "r", 2)
		before, begin := spy.Counts(), time.Now()
		for _, name := range []string{"foreign", "r", "missing", "../evil"} {
			if err := network.Ring(t.Context(), bus.Doorbell{Stream: name}); err != nil {
				t.Fatal(err)
			}
		}
		wantEnd(t, starter.await("r"), eventstream.Completed, false, "5")
		if took := time.Since(begin); took > time.Second {
			t.Errorf("the run took %v", took)
		}
		if after := spy.Counts(); after["stat"]-before["stat"] < 3 {
			t.Errorf("requests before %v, after %v, want a look at each stream", before, after)
		}
	})
}

// etag is the ETag of a run's blob.
func (p *process) etag(name string) string {
	p.w.t.Helper()
	info, err := p.w.st.Stat(p.w.t.Context(), processor.BlobOf(name), nil)
	if err != nil {
		p.w.t.Fatal(err)
	}
	return info.ETag
}
