package bustest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/bustest"
	"github.com/leasestream/leasestream/processor/bus/membus"
)

// spy is a bus that notes what is rung and when.
type spy struct {
	*membus.Bus
	start time.Time
	rung  chan string
}

func (s *spy) Ring(_ context.Context, bells ...bus.Doorbell) error {
	for _, b := range bells {
		s.rung <- fmt.Sprintf("%s %v", b.Event, time.Since(s.start))
	}
	return nil
}

// chaosOf rings n doorbells through a Chaos and returns what came of them, in
// order, as "EVENT AFTER".
func chaosOf(t *testing.T, seed uint64, n int) (lines []string) {
	synctest.Test(t, func(t *testing.T) {
		s := &spy{Bus: membus.New(), start: time.Now(), rung: make(chan string, 2*n)}
		c := bustest.Chaos(s, seed)
		for i := range n / 10 {
			var bells []bus.Doorbell
			for j := range 10 {
				bells = append(bells, bus.Doorbell{Stream: "order-42", Event: fmt.Sprint(10*i + j), Step: "Search"})
			}
			if err := c.Ring(t.Context(), bells...); err != nil {
				t.Errorf("Ring() = %v", err)
			}
		}
		time.Sleep(time.Minute)
		if err := c.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
		close(s.rung)
		for line := range s.rung {
			lines = append(lines, line)
		}
	})
	return lines
}

func TestChaos_LosesDoublesDelaysReorders(t *testing.T) {
	const n = 1000
	counts := map[int]int{} // :: event → times heard
	var late, swapped, last int
	for _, line := range chaosOf(t, 1, n) {
		var event int
		var after string
		if _, err := fmt.Sscan(line, &event, &after); err != nil {
			t.Fatal(err)
		}
		counts[event]++
		if after != "0s" {
			late++
		}
		if event < last {
			swapped++
		}
		last = event
	}
	doubled := 0
	for _, times := range counts {
		doubled += times - 1
	}
	heard := len(counts) + doubled
	for _, c := range []struct {
		what           string
		got, low, high int
	}{
		{"lost", n - len(counts), 200, 300},
		{"doubled", doubled, 140, 240},
		{"late", late, heard * 4 / 10, heard * 6 / 10},
		{"out of order", swapped, heard / 4, heard},
	} {
		if c.got < c.low || c.got > c.high {
			t.Errorf("%s: %d of %d, want %d to %d", c.what, c.got, n, c.low, c.high)
		}
	}
}

func TestChaos_DependsOnTheSeed(t *testing.T) {
	sorted := func(seed uint64) []string { return slices.Sorted(slices.Values(chaosOf(t, seed, 100))) }
	if a, b := sorted(7), sorted(7); !slices.Equal(a, b) {
		t.Errorf("seed 7 gives\n%v and then\n%v", a, b)
	}
	if a, b := sorted(7), sorted(8); slices.Equal(a, b) {
		t.Errorf("seeds 7 and 8 both give %v", a)
	}
}

func TestChaos_CloseDropsWhatIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &spy{Bus: membus.New(), start: time.Now(), rung: make(chan string, 100)}
		c := bustest.Chaos(s, 1)
		for i := range 50 {
			if err := c.Ring(t.Context(), bus.Doorbell{Stream: "order-42", Event: fmt.Sprint(i), Step: "Search"}); err != nil {
				t.Errorf("Ring() = %v", err)
			}
		}
		before := len(s.rung)
		for range 2 {
			if err := c.Close(); err != nil {
				t.Errorf("Close() = %v", err)
			}
		}
		if after := time.Since(s.start); after != 0 {
			t.Errorf("Close waited %v", after)
		}
		time.Sleep(time.Minute)
		if after := len(s.rung); after != before {
			t.Errorf("%d doorbells rang after Close", after-before)
		}
		if err := s.Listen(t.Context(), nil, nil); err == nil {
			t.Error("Close left the bus beneath open")
		}
	})
}
