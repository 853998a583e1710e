package eventstream

import (
	"hash/maphash"
	"strings"
)

// idTable finds events by their ids. It is a hash table with open addressing. It has
// places in the document instead of pointers, so that the garbage collector passes
// over it, and next to each a part of the hash, so that an event is looked at only if
// it is almost surely the one. A map takes three times the memory, and in a large
// document a cache miss or two for each event that is read.
type idTable struct {
	seed  maphash.Seed // whoever makes up ids cannot make them collide
	slots []idSlot     // a power of two of them, or none
	used  int          // half of the slots at most
}

// idSlot is where an event stands.
type idSlot struct {
	hash  uint32 // of its id
	place int32  // in the document, from 1; 0: the slot is free
}

func newIDTable() idTable { return idTable{seed: maphash.MakeSeed()} }

// hash lets the first events of ten branches stand next to each other. Branches are
// numbered through, and are written and read one after the other.
func (t *idTable) hash(id string) uint32 {
	branch, isFirst := strings.CutSuffix(id, ".00")
	if !isFirst || branch == "" {
		return uint32(maphash.String(t.seed, id))
	}
	last := len(branch) - 1
	return uint32(maphash.String(t.seed, branch[:last])) + uint32(branch[last])
}

// find returns the event with an id, or nil.
func (t *idTable) find(id string, events []*Event) *Event {
	if t.used == 0 {
		return nil
	}
	slot := t.slots[t.look(id, t.hash(id), events)]
	if slot.place == 0 {
		return nil
	}
	return events[slot.place-1]
}

// add takes in an event that stands in events. It reports whether its id is new;
// if not, the event stays out.
func (t *idTable) add(e *Event, events []*Event) bool {
	t.reserve(t.used + 1)
	hash := t.hash(e.id)
	slot := &t.slots[t.look(e.id, hash, events)]
	if slot.place > 0 {
		return false
	}
	*slot = idSlot{hash, e.pos + 1}
	t.used++
	return true
}

// look finds the slot of an id, or the free one where it belongs.
func (t *idTable) look(id string, hash uint32, events []*Event) int {
	i := t.home(hash)
	for {
		slot := t.slots[i]
		if slot.place == 0 || slot.hash == hash && events[slot.place-1].id == id {
			return i
		}
		i = t.after(i)
	}
}

// home is the slot at which the search for a hash begins.
func (t *idTable) home(hash uint32) int { return int(hash) & (len(t.slots) - 1) }

func (t *idTable) after(i int) int { return (i + 1) & (len(t.slots) - 1) }

// remove takes out an event that was added.
func (t *idTable) remove(e *Event) {
	i := t.home(t.hash(e.id))
	for t.slots[i].place != e.pos+1 {
		i = t.after(i)
	}
	t.used--
	t.free(i)
}

// free empties a slot, and moves into it what could not be found across an empty
// one.
func (t *idTable) free(gap int) {
	t.slots[gap] = idSlot{}
	for i := t.after(gap); t.slots[i].place > 0; i = t.after(i) {
		if t.distance(t.home(t.slots[i].hash), i) >= t.distance(gap, i) {
			t.slots[gap], t.slots[i] = t.slots[i], idSlot{}
			gap = i
		}
	}
}

// distance is how many steps after takes from one slot to another.
func (t *idTable) distance(from, to int) int { return (to - from) & (len(t.slots) - 1) }

// reserve makes room for n events in all.
func (t *idTable) reserve(n int) {
	size := max(8, len(t.slots))
	for n > size/2 {
		size *= 2
	}
	if size > len(t.slots) {
		t.resize(size)
	}
}

func (t *idTable) resize(size int) {
	old := t.slots
	t.slots = make([]idSlot, size)
	for _, slot := range old {
		if slot.place == 0 {
			continue
		}
		i := t.home(slot.hash)
		for t.slots[i].place > 0 {
			i = t.after(i)
		}
		t.slots[i] = slot
	}
}
