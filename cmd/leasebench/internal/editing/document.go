package editing

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// newDocument writes a document of a split into so many events, about 200 bytes
// each.
func newDocument(ctx context.Context, st store.Store, blob string, events int) error {
	s, err := eventstream.New(time.Now(), eventstream.Start{Name: "bench", Run: "bench", Root: eventstream.NewEvent{Name: "Start"}})
	if err != nil {
		return err
	}
	branches := make([]eventstream.NewEvent, events)
	for i := range branches {
		branches[i].Name = "Work"
	}
	_, err = s.Edit(time.Now(), func() error {
		_, err := s.Split(s.Root(), branches, &eventstream.SplitOptions{Join: "Done"})
		return err
	})
	if err != nil {
		return err
	}
	_, err = st.Put(ctx, blob, s.Bytes(), nil)
	return err
}

// change is one edit: it adds one to the counter of an event.
func change(s *eventstream.Stream, worker int) error {
	e := s.At(1 + worker%(s.Len()-1))
	n, err := count(e)
	if err != nil {
		return err
	}
	return s.Update(e, "tag", strconv.Itoa(n+1))
}

func count(e *eventstream.Event) (int, error) {
	if e.Attr("tag") == "" {
		return 0, nil
	}
	return strconv.Atoi(e.Attr("tag"))
}

// total is the sum of all counters.
func total(ctx context.Context, sc *scope.Scope, blob string) (int, error) {
	snapshot, err := sc.Read(ctx, blob)
	if err != nil {
		return 0, err
	}
	sum := 0
	for i := range snapshot.Stream.Len() {
		n, err := count(snapshot.Stream.At(i))
		if err != nil {
			return 0, fmt.Errorf("counter of event %d: %w", i, err)
		}
		sum += n
	}
	return sum, nil
}
