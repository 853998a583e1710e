package bustest

import (
	"slices"
	"strings"

	"github.com/leasestream/leasestream/processor/bus"
)

func deliver(w *world) {
	a, b := w.bus(), w.bus()
	e := w.listen(a, "Search", "Done")
	want := []bus.Doorbell{bell("Search", 1), bell("Done", 2), bell("Search", 3)}
	w.ring(b, want[0])
	w.ring(a, want[1:]...)
	e.want(want...)
}

func deliverOther(w *world) {
	a, b := w.bus(), w.bus()
	searcher, other := w.listen(a, "Search"), w.listen(b, "Done")
	w.ring(b, bell("Search", 1), bell("Nobody", 2))
	w.ring(a, bell("Done", 3), bell("search", 4))
	searcher.want(bell("Search", 1))
	other.want(bell("Done", 3))
	w.ring(b, bell("Search", 5), bell("Done", 6))
	searcher.want(bell("Search", 5))
	other.want(bell("Done", 6))
	searcher.wantOnly("Search")
	other.wantOnly("Done")
}

// deliverShared rings for listeners that share a step in different buses and in
// one. How they share is the driver's choice, so long as each doorbell is heard
// by somebody, also once one of them has left.
func deliverShared(w *world) {
	a, b := w.bus(), w.bus()
	ears := []*ear{w.listen(a, "Search"), w.listen(a, "Search", "Done"), w.listen(b, "Search"), w.listen(w.bus(), "Search")}
	first := bells("Search", 0, 60)
	for _, bell := range first {
		w.ring(b, bell)
	}
	wantAmong(w.t, first, ears...)

	ears[0].end()
	second := bells("Search", 60, 120)
	w.ring(a, second...)
	wantAmong(w.t, second, ears[1:]...)
}

func deliverLook(w *world) {
	a, b := w.bus(), w.bus()
	ears := []*ear{w.listen(a, "Search"), w.listen(a, "Search"), w.listen(b, "Search"), w.listen(b, "Done"), w.listen(b)}
	look := bus.Doorbell{Stream: "order-42"}
	w.ring(b, look, bell("Done", 1))
	for _, e := range ears {
		e.want(look)
	}
	ears[3].want(bell("Done", 1))
}

// names are names that a driver might have to write in some other way.
var names = []string{
	"a", "A", "a.b", "a b", " a ", "a*", "*", ">", "a.>", "..", "/", "a/b", "a%2Fb", "%", "a+b", "a&b=c?d#e",
	`"quoted"`, `back\slash`, "<tag>", "line\nbreak", "tab\t", "nul\x00", "-", "_", "$", "{}", "own",
	"Vyhledání", "поиск", "検索", "🔔", "é", "e\u0301", "\u2028", strings.Repeat("long", 1000), strings.Repeat("ž", 1000),
}

// deliverNames has one listener for each name, so that no two names may be the
// same on the wire.
func deliverNames(w *world) {
	a, b := w.bus(), w.bus()
	ears := make([]*ear, len(names))
	rung := make([]bus.Doorbell, len(names))
	for i, name := range names {
		ears[i] = w.listen(a, name)
		rung[i] = bus.Doorbell{Stream: "stream " + name, Event: name, Step: name}
	}
	w.ring(b, rung...)
	for i, e := range ears {
		e.want(rung[i])
		e.wantOnly(names[i])
	}
}

func deliverMany(w *world) {
	a, b := w.bus(), w.bus()
	e := w.listen(a, "Search")
	many := bells("Search", 0, 2000)
	w.ring(b, many...)
	e.want(many...)
}

func deliverCopy(w *world) {
	a, b := w.bus(), w.bus()
	e := w.listen(a, "Search")
	rung := bells("Search", 0, 20)
	want := slices.Clone(rung)
	w.ring(b, rung...)
	clear(rung)
	e.want(want...)
}
