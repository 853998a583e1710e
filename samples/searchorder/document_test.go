package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

// desk is where suppliers answer when the test says so.
type desk map[search]chan error

func (d desk) ask(ctx context.Context, s search) ([]offer, error) {
	select {
	case err := <-d[s]:
		return catalogue[s], err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// play is an order whose searches are answered one at a time.
type play struct {
	t    *testing.T
	p    *processor.Processor
	pl   *processor.Pipeline
	desk desk
}

func newPlay(t *testing.T) *play {
	t.Helper()
	st := memstore.New(nil)
	if err := st.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	sc := scope.New(st, nil)
	t.Cleanup(func() {
		if err := sc.Close(); err != nil {
			t.Error(err)
		}
	})
	d := desk{}
	for s := range catalogue {
		d[s] = make(chan error)
	}
	for _, supplier := range []string{"west", "east"} {
		d[search{supplier, "bicycle"}] = make(chan error)
	}
	pl, err := newPipeline(d.ask, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return &play{t, processor.New(sc, nil), pl, d}
}

// work starts a worker and returns what ends it.
func (y *play) work(slots int) (end func()) {
	ctx, stop := context.WithCancel(context.Background())
	worked := make(chan error, 1)
	go func() {
		worked <- y.p.Work(ctx, &processor.WorkOptions{Slots: slots, Grace: -1}, y.pl)
	}()
	return func() {
		y.t.Helper()
		stop()
		if err := <-worked; err != nil {
			y.t.Errorf("Work() = %v", err)
		}
	}
}

// answer lets a supplier answer and waits until what follows from it has happened.
func (y *play) answer(supplier, item string, err error) {
	y.desk[search{supplier, item}] <- err
	time.Sleep(time.Second)
}

// wants compares the document with what it is to be: id and status of each event by
// turns, with + where something below it failed.
func (y *play) wants(stage string, want ...string) {
	y.t.Helper()
	snapshot, err := y.p.Read(y.t.Context(), "order-42")
	if err != nil {
		y.t.Fatal(err)
	}
	var got []string
	for e := range snapshot.Stream.Events() {
		got = append(got, e.ID()+" "+status(e))
	}
	if len(got) != len(want)/2 {
		y.t.Errorf("%s: the events are %q", stage, got)
	}
	for i := 0; i < len(want); i += 2 {
		if line := want[i] + " " + want[i+1]; !strings.Contains("\n"+strings.Join(got, "\n")+"\n", "\n"+line+"\n") {
			y.t.Errorf("%s: the events are %q, want %q", stage, got, line)
		}
	}
	if problems := snapshot.Stream.Validate(); len(problems) > 0 {
		y.t.Errorf("%s: %v", stage, problems)
	}
}

func status(e *eventstream.Event) string {
	if e.WithError() {
		return e.Status().String() + "+"
	}
	return e.Status().String()
}

// TestDocument follows the order search from document to document: at each step of
// the story the events are in the states that it tells of.
func TestDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newPlay(t)
		_, err := y.p.Start(t.Context(), y.pl, json.RawMessage(`{"item":"bicycle"}`), &processor.StartOptions{Name: "order-42"})
		if err != nil {
			t.Fatal(err)
		}
		y.wants("ordered", "00", "init")

		end := y.work(1)
		time.Sleep(time.Second)
		end()
		y.wants("split", "00", "inprocess", "01.00", "init", "02.00", "init", "03.00", "init", "04.00", "init")

		end = y.work(10)
		defer func() { end() }()
		time.Sleep(time.Second)
		y.wants("asked", "00", "inprocess", "01.00", "inprocess", "02.00", "inprocess", "03.00", "inprocess", "04.00", "inprocess")

		for range 2 { // it is asked twice
			y.answer("west", "bicycle", errors.New("closed"))
		}
		y.wants("one aborted", "00", "inprocess", "01.00", "inprocess", "02.00", "inprocess", "03.00", "aborted", "04.00", "inprocess")

		y.answer("south", "bicycle", nil)
		y.answer("north", "bicycle", nil)
		y.wants("nested", "00", "inprocess", "03.00", "aborted", "04.00", "inprocess",
			"01.00", "inprocess", "01.01", "inprocess", "01.02.00", "inprocess", "01.04.00", "inprocess",
			"02.00", "inprocess", "02.01", "inprocess", "02.03.00", "inprocess")

		for range 2 {
			y.answer("north", "frame", errors.New("sold out"))
		}
		y.answer("south", "saddle", nil)
		y.wants("second thread ended", "00", "inprocess", "03.00", "aborted", "04.00", "inprocess",
			"01.00", "inprocess", "01.01", "inprocess", "01.02.00", "aborted", "01.04.00", "inprocess",
			"02.00", "completed", "02.01", "completed", "02.02", "completed", "02.03.00", "completed", "02.03.01", "completed")

		y.answer("north", "wheels", nil)
		y.wants("first thread ended", "00", "inprocess", "03.00", "aborted", "04.00", "inprocess",
			"01.00", "completed+", "01.01", "completed+", "01.02", "completed", "01.02.00", "aborted", "01.04.00", "completed", "01.04.01", "completed",
			"02.00", "completed", "02.01", "completed", "02.02", "completed", "02.03.00", "completed", "02.03.01", "completed")

		if err := y.p.Cancel(t.Context(), "order-42", "04.*", "ann", "who cares"); err != nil {
			t.Fatal(err)
		}
		done, err := y.p.Await(t.Context(), "order-42", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(done.Status, done.WithError, string(done.Output)), `completed true{"supplier":"north","item":"bicycle without wheels","price":310}`; got != want {
			t.Errorf("the order ended %s, want %s", got, want)
		}
		y.wants("done", "00", "completed+", "01", "completed", "03.00", "aborted", "04.00", "canceled",
			"01.00", "completed+", "01.01", "completed+", "01.02", "completed", "01.02.00", "aborted", "01.04.00", "completed", "01.04.01", "completed",
			"02.00", "completed", "02.01", "completed", "02.02", "completed", "02.03.00", "completed", "02.03.01", "completed")
	})
}
