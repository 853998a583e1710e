package scope_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store"
)

// pieceCounter counts what is said to be known of what is read and written.
type pieceCounter struct {
	store.Store

	mu            sync.Mutex // guards the fields below
	reads, cold   int        // reads, and those by somebody who knows nothing of it
	pieces, fresh int        // that are written, and those that had does not have
}

func (c *pieceCounter) Local() bool { return true }

func (c *pieceCounter) GetPieces(ctx context.Context, name string, had *store.Body, o *store.Conditions) (*store.Info, *store.Body, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	if had == nil {
		c.cold++
	}
	return store.GetPieces(ctx, c.Store, name, had, o)
}

func (c *pieceCounter) PutPieces(ctx context.Context, name string, pieces []string, had *store.Body, o *store.PutOptions) (*store.Info, *store.Body, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, piece := range pieces {
		c.pieces++
		if had == nil || i >= len(had.Pieces) || had.Pieces[i] != piece {
			c.fresh++
		}
	}
	return store.PutPieces(ctx, c.Store, name, pieces, had, o)
}

// Processes that edit a large document in turns read and write what has changed.
func TestEdit_CostsWhatHasChanged(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		var doc strings.Builder
		doc.WriteString("<EventStream>")
		for i := range 2000 {
			fmt.Fprintf(&doc, "\n<Event id=\"%02d.00\" name=\"E\" status=\"init\"/>", i)
		}
		doc.WriteString("\n</EventStream>\n")
		w.put([]byte(doc.String()))
		counter := &pieceCounter{Store: w.in}
		a, b := newScope(t, counter, nil), newScope(t, counter, nil)
		touchAt := func(i int) func(*eventstream.Stream) error {
			return func(s *eventstream.Stream) error { return s.Update(s.At(i), "tag", s.At(i).Attr("tag")+"x") }
		}
		edit(t, a, touchAt(700))
		edit(t, b, touchAt(900))
		edit(t, a, touchAt(700))
		*counter = pieceCounter{Store: w.in}
		for i := range 10 {
			edit(t, b, touchAt(900))
			edit(t, a, touchAt(700))
			time.Sleep(time.Duration(i%2) * time.Second) // who comes back at once reads before it has the lease
		}
		if counter.reads != 20 || counter.cold != 0 {
			t.Errorf("%d reads, %d of them by who knew nothing, want 20 and 0", counter.reads, counter.cold)
		}
		if counter.fresh > 40 || counter.pieces < 300 {
			t.Errorf("%d pieces of %d were written anew by 20 edits, want one or two each", counter.fresh, counter.pieces)
		}
	})
}
