package cli

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vbauerster/mpb/v8"

	"github.com/leasestream/leasestream/eventstream"
)

func TestLines_Throttled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := &lines{Writer: &out, print: printLine}
		for done := range 25 {
			l.update("r", eventstream.Summary{Done: done, Total: 30})
			l.update("r", eventstream.Summary{Done: done, Total: 30}) // no change
			time.Sleep(130 * time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		l.update("r", eventstream.Summary{Done: 29, Total: 30})
		l.update("r", eventstream.Summary{Done: 30, Total: 30})
		l.close()
		time.Sleep(10 * time.Second)
		want := "leasestream: r: 0 of 30 events done\n" +
			"leasestream: r: 7 of 30 events done\n" +
			"leasestream: r: 15 of 30 events done\n" +
			"leasestream: r: 23 of 30 events done\n" +
			"leasestream: r: 24 of 30 events done\n" +
			"leasestream: r: 29 of 30 events done\n" +
			"leasestream: r: 30 of 30 events done\n"
		if out.String() != want {
			t.Errorf("lines:\n%swant:\n%s", out.String(), want)
		}
	})
}

func TestLines_NothingToShow(t *testing.T) {
	var out bytes.Buffer
	(&lines{Writer: &out, print: printLine}).close()
	if out.Len() > 0 {
		t.Errorf("close() wrote %q, want nothing", out.String())
	}
}

func TestCounts(t *testing.T) {
	for _, test := range []struct {
		s    eventstream.Summary
		want string
	}{
		{eventstream.Summary{Done: 3, Total: 7}, "3 of 7 events done"},
		{eventstream.Summary{Total: 7, Running: map[string]int{"A": 1, "B": 2}}, "0 of 7 events done, 3 running"},
		{eventstream.Summary{Done: 3, Total: 7, Failed: 1, Paused: true}, "3 of 7 events done, 1 failed, paused"},
	} {
		if got := counts(test.s); got != test.want {
			t.Errorf("counts(%+v) = %q, want %q", test.s, got, test.want)
		}
	}
}

func TestBar(t *testing.T) {
	var out bytes.Buffer
	redact := func(s string) string { return strings.ReplaceAll(s, "secret", "…") }
	b := newBar(&out, redact, mpb.WithAutoRefresh())
	if _, err := b.Write([]byte("a line of the log with a secret\n")); err != nil {
		t.Fatal(err)
	}
	b.update("order-1", eventstream.Summary{Done: 1, Total: 4})
	b.update("order-1", eventstream.Summary{Done: 3, Total: 9, Failed: 2})
	b.close()
	for _, want := range []string{"order-1", "3 of 9 events done, 2 failed", "a line of the log with a …"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the bar shows %q, want %q in it", out.String(), want)
		}
	}
	if strings.Contains(out.String(), "secret") {
		t.Errorf("the bar shows a secret: %q", out.String())
	}
}

func TestBar_NothingToShow(t *testing.T) {
	var out bytes.Buffer
	newBar(&out, strings.ToUpper).close()
	if out.Len() > 0 {
		t.Errorf("close() wrote %q, want nothing", out.String())
	}
}
