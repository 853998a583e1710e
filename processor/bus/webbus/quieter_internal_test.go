package webbus

import (
	"testing"
	"testing/synctest"
	"time"
)

// After close nothing is told, neither what waits nor what is new, and no timer
// is left.
func TestQuieter_Close(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		q := newQuieter(time.Second, func(string) { told++ })
		for _, stream := range []string{"a", "a", "b"} {
			q.changed(stream)
		}
		q.close()
		q.changed("a")
		q.changed("c")
		if n := len(q.streams); n != 0 {
			t.Errorf("%d streams are kept after close", n)
		}
		time.Sleep(time.Minute)
		if told != 2 {
			t.Errorf("%d changes were told, want the first two alone", told)
		}
	})
}

// close waits for what is being told.
func TestQuieter_CloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := false
		q := newQuieter(time.Second, func(string) {
			if slow {
				time.Sleep(time.Minute)
			}
		})
		q.changed("a")
		slow = true
		q.changed("a")
		time.Sleep(2 * time.Second)
		start := time.Now()
		q.close()
		if d := time.Since(start); d != 59*time.Second {
			t.Errorf("close waited %v, want 59s", d)
		}
		if n := len(q.streams); n != 0 {
			t.Errorf("%d streams are kept after close", n)
		}
	})
}
