package programs

import (
	"context"
	"time"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/measure"
)

// Leak is what a process uses before, amid and after many runs of a step.
type Leak struct {
	N      int               `json:"n"` // steps
	Before measure.Resources `json:"before"`
	Half   measure.Resources `json:"half"`
	After  measure.Resources `json:"after"`
	// Leaks: goroutines or open files are more than before, or threads are more than
	// after half of the runs by more than runs at a time need. (Threads come with the
	// first runs and stay, so they are no leak as long as they become no more.)
	Leaks bool `json:"leaks"`
}

// patience is how long what ended last may take to be gone.
const patience = 5 * time.Second

// LookForLeak runs the program n times as a step, so many workers at a time, and
// looks whether goroutines, threads or open files become more.
func LookForLeak(ctx context.Context, n, workers int) (Leak, error) {
	run, err := step()
	if err != nil {
		return Leak{}, err
	}
	// What the first run of all opens, such as the poller's files, stays for good.
	if _, err := runAll(ctx, run, workers, workers); err != nil {
		return Leak{}, err
	}
	l := Leak{N: n, Before: measure.Used()}
	for _, after := range []*measure.Resources{&l.Half, &l.After} {
		if _, err := runAll(ctx, run, (n+1)/2, workers); err != nil {
			return Leak{}, err
		}
		*after = settled(l.Before)
	}
	l.Leaks = more(l.After, l.Before) || l.After.Threads > l.Half.Threads+2*workers
	return l, nil
}

// settled is what is used once it is no more than before, or patience is at an
// end.
func settled(before measure.Resources) measure.Resources {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if now := measure.Used(); !more(now, before) || time.Since(began) > patience {
			return now
		}
	}
}

func more(a, b measure.Resources) bool { return a.Goroutines > b.Goroutines || a.Files > b.Files }
