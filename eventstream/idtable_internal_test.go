package eventstream

import (
	"math/rand/v2"
	"testing"
)

// TestIDTable holds the table against a map while events come and go.
func TestIDTable(t *testing.T) {
	var ids []string
	for i := range 60 {
		ids = append(ids, JoinID("", i), JoinID(JoinID("", i), 0))
	}
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		table := newIDTable()
		var events []*Event
		want := map[string]*Event{}
		for range 400 {
			e := &Event{id: ids[random.IntN(len(ids))], pos: int32(len(events))}
			events = append(events, e)
			_, isOld := want[e.id]
			if got := table.add(e, events); got == isOld {
				t.Fatalf("seed %d: add(%s) = %v, want %v", seed, e.id, got, !isOld)
			}
			if !isOld {
				want[e.id] = e
			}
			if id := ids[random.IntN(len(ids))]; random.IntN(2) == 0 && want[id] != nil {
				table.remove(want[id])
				delete(want, id)
			}
			if !checkTable(t, &table, events, ids, want) {
				t.Fatalf("seed %d, after %d events", seed, len(events))
			}
		}
	}
}

func checkTable(t *testing.T, table *idTable, events []*Event, ids []string, want map[string]*Event) bool {
	t.Helper()
	for _, id := range append(ids, "", ".00", "x.00") {
		if got := table.find(id, events); got != want[id] {
			t.Errorf("find(%s) = %v, want %v", id, got, want[id])
		}
	}
	if table.used != len(want) {
		t.Errorf("used = %d, want %d", table.used, len(want))
	}
	return !t.Failed()
}

func TestIDTable_Reserve(t *testing.T) {
	for _, n := range []int{0, 1, 6, 7, 1000} {
		table := newIDTable()
		table.reserve(n)
		slots := len(table.slots)
		events := make([]*Event, n)
		for i := range events {
			events[i] = &Event{id: JoinID("", i), pos: int32(i)}
			table.add(events[i], events)
		}
		if len(table.slots) != slots || slots > 8+4*n {
			t.Errorf("reserve(%d) made %d slots, and there are %d in the end", n, slots, len(table.slots))
		}
	}
}
