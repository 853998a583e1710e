package eventstream_test

import (
	"fmt"
	"log"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

// A document is read, one attribute is set, and it is written again. What the
// package does not know stays as it was.
func Example() {
	document := []byte(`<EventStream name="order-42">
<!-- by hand -->
<Event id="00" name="OrderStart" status='init' timestamp="2026-11-30T07:33:51.000Z"/>
</EventStream>`)
	s, err := eventstream.Parse(document)
	if err != nil {
		log.Fatal(err)
	}
	now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	changes, err := s.Edit(now, func() error {
		return s.Update(s.Root(), "key", "worker-1", "status", "completed")
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\nended: %v\n", s.Bytes(), changes.Ended)
	// Output:
	// <EventStream name="order-42">
	// <!-- by hand -->
	// <Event id="00" name="OrderStart" status='completed' timestamp="2026-11-30T08:00:00.000Z" key="worker-1"/>
	// </EventStream>
	// ended: true
}

// A split makes one branch for each message; the edit that ends the last of them
// creates the aggregator's event.
func ExampleStream_Split() {
	now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	s, err := eventstream.New(now, eventstream.Start{Name: "sum", Root: eventstream.NewEvent{Name: "Numbers"}})
	if err != nil {
		log.Fatal(err)
	}
	_, err = s.Edit(now, func() error {
		var squares []eventstream.NewEvent
		for _, n := range []string{"2", "3", "4"} {
			squares = append(squares, eventstream.NewEvent{Name: "Square", Input: eventstream.JSON([]byte(n))})
		}
		_, err := s.Split(s.Root(), squares, &eventstream.SplitOptions{Join: "Sum"})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, result := range []struct{ id, output string }{{"03.00", "16"}, {"01.00", "4"}, {"02.00", "9"}} {
		changes, err := s.Edit(now, func() error {
			return s.Complete(s.Event(result.id), eventstream.JSON([]byte(result.output)))
		})
		if err != nil {
			log.Fatal(err)
		}
		for _, e := range changes.Created {
			fmt.Printf("event %s waits for %s\n", e.ID(), e.Topic())
		}
	}
	for r := range s.Results(s.Root()) {
		output, _ := r.Last.Output()
		fmt.Println(r.Last.ID(), r.Last.Status(), string(output.JSON))
	}
	// Output:
	// event 01 waits for Sum
	// 01.00 completed 4
	// 02.00 completed 9
	// 03.00 completed 16
}

// A retry runs again what failed. The other branches keep their results, and the
// aggregator's event is made anew.
func ExampleStream_Reopen() {
	now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	s, err := eventstream.New(now, eventstream.Start{Name: "two", Root: eventstream.NewEvent{Name: "Start"}})
	if err != nil {
		log.Fatal(err)
	}
	edit := func(f func() error) {
		if _, err := s.Edit(now, f); err != nil {
			log.Fatal(err)
		}
	}
	edit(func() error {
		_, err := s.Split(s.Root(), []eventstream.NewEvent{{Name: "Work"}, {Name: "Work"}}, &eventstream.SplitOptions{Join: "Report"})
		return err
	})
	edit(func() error { return s.Complete(s.Event("01.00"), nil) })
	edit(func() error { return s.Abort(s.Event("02.00"), "", "no connection") })
	edit(func() error { return s.Complete(s.Event("01"), nil) })
	fmt.Println(s.Status())

	edit(func() error {
		picked, err := s.Reopen(&eventstream.ReopenOptions{By: "alice"})
		for _, e := range picked {
			fmt.Println("runs again:", e.ID())
		}
		return err
	})
	fmt.Println("01 is superseded:", s.Event("01").Superseded())
	edit(func() error { return s.Complete(s.Event("02.00"), nil) })
	edit(func() error { return s.Complete(s.Event("02"), nil) })
	fmt.Println(s.Status())
	// Output:
	// completed true
	// runs again: 02.00
	// 01 is superseded: true
	// completed false
}
