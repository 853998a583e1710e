package processor_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

func TestTail(t *testing.T) {
	for _, sizes := range [][]int{{0}, {3}, {10}, {25}, {4, 4, 4, 4, 4, 4}, {1, 30, 2}, {9, 1, 1, 20}} {
		tail := processor.NewTail(10)
		var all []byte
		for i, n := range sizes {
			p := bytes.Repeat([]byte{'a' + byte(i)}, n)
			all = append(all, p...)
			if n, err := tail.Write(p); n != len(p) || err != nil {
				t.Fatalf("Write() = %d, %v, want %d", n, err, len(p))
			}
			if got, want := tail.Bytes(), all[max(0, len(all)-10):]; !bytes.Equal(got, want) {
				t.Errorf("Bytes() after writes of %v = %q, want %q", sizes[:i+1], got, want)
			}
		}
		if got := tail.Written(); got != int64(len(all)) {
			t.Errorf("Written() = %d, want %d", got, len(all))
		}
	}
}

func TestTail_Lines(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"one\ntwo\n":           "one\ntwo\n",
		"one\ntwo\nthree\n":    "three\n",
		"a line that is long":  "at is long",
		"a line that is lon\n": "at is lon\n",
	} {
		tail := processor.NewTail(10)
		io.WriteString(tail, text)
		if got := string(tail.Lines()); got != want {
			t.Errorf("Lines() of %q = %q, want %q", text, got, want)
		}
	}
}

// shipping is a process whose log goes to a tail as well.
func (w *world) shipping(st store.Store) (*process, *processor.Tail) {
	tail := processor.NewTail(4 << 10)
	return w.processOn(st, &processor.Options{Logger: slog.New(slog.NewTextHandler(tail, nil))}), tail
}

func TestShipLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		spy := storetest.NewFaults(w.st, nil)
		p, tail := w.shipping(spy)
		pl := squares(t, square)
		p.work(&processor.WorkOptions{ID: "w1", Log: tail}, pl)
		reader := w.process(nil)
		if _, err := reader.WorkerLog(t.Context(), "w1"); !errors.Is(err, processor.ErrNoLog) {
			t.Errorf("WorkerLog() before anything was logged = %v, want ErrNoLog", err)
		}
		read := func() string {
			t.Helper()
			text, err := reader.WorkerLog(t.Context(), "w1")
			if err != nil {
				t.Fatalf("WorkerLog() = %v", err)
			}
			return string(text)
		}
		time.Sleep(6 * time.Second)
		if got := read(); !strings.Contains(got, `msg="worker started"`) {
			t.Errorf("WorkerLog() = %q, want the worker's start", got)
		}

		before := spy.Counts()["put"]
		time.Sleep(time.Minute)
		if n := spy.Counts()["put"] - before; n > 0 {
			t.Errorf("%d writes in a minute in which nothing was logged", n)
		}
		for i := range 600 { // a minute of many lines
			fmt.Fprintf(tail, "line %d\n", i)
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(6 * time.Second)
		if n := spy.Counts()["put"] - before; n < 10 || n > 14 {
			t.Errorf("%d writes in a minute of many lines, want one every 5 s", n)
		}
		if got := read(); !strings.HasPrefix(got, "line ") || !strings.HasSuffix(got, "line 599\n") || len(got) > 4<<10 || len(got) < 3<<10 {
			t.Errorf("WorkerLog() has %d bytes, %.20q … %q, want the last 4 KiB in whole lines", len(got), got, got[len(got)-20:])
		}

		p.stop()
		p.done.Wait()
		if got := read(); !strings.Contains(got, `msg="worker stopped"`) {
			t.Errorf("WorkerLog() of a worker that ended = %q, want its last word", got[len(got)-200:])
		}
		if got := w.blobs("workers/"); !slices.Equal(got, []string{"workers/w1.log"}) {
			t.Errorf("blobs of workers = %q, want the log alone", got)
		}
	})
}

// A log that cannot be written stops no work, and does not fill itself with that.
func TestShipLog_ThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var failed atomic.Int32
		spy := storetest.NewFaults(w.st, func(call storetest.Call) (bool, error) {
			if strings.HasSuffix(call.Name, ".log") {
				failed.Add(1)
				return false, &store.Error{Op: "put", Err: errCut}
			}
			return true, nil
		})
		p, tail := w.shipping(spy)
		pl := squares(t, square)
		p.work(&processor.WorkOptions{ID: "w1", Log: tail}, pl)
		wantEnd(t, p.run(pl, "r", 3), eventstream.Completed, false, "14")
		time.Sleep(time.Minute)
		if n := failed.Load(); n < 3 {
			t.Errorf("the log was tried to be written %d times, want it tried again", n)
		}
		if n := bytes.Count(tail.Bytes(), []byte("log was not written")); n != 1 {
			t.Errorf("the log tells %d times that it was not written, want once:\n%s", n, tail.Bytes())
		}
		p.stop()
		p.done.Wait()
	})
}
