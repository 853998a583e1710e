package eventstream_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/leasestream/leasestream/eventstream"
)

// compare holds the stream against the model, and against itself read anew.
func (p *pair) compare(when string) {
	p.compareRead(when)
	if p.s.Len() != len(p.m.events) {
		p.Fatalf("%s: %d events, want %d\n%s", when, p.s.Len(), len(p.m.events), p.s.Bytes())
	}
	for i, m := range p.m.events {
		p.compareEvent(when, p.s.At(i), m)
	}
	p.compareCounts(when)
	p.compareClaimable()
}

// compareRead holds the stream against itself read anew.
func (p *pair) compareRead(when string) {
	doc := p.s.Bytes()
	if p.s.Size() != len(doc) {
		p.Fatalf("%s: Size() = %d, the document has %d bytes", when, p.s.Size(), len(doc))
	}
	again, err := eventstream.Parse(doc)
	if err != nil {
		p.Fatalf("%s: Parse: %v\n%s", when, err, doc)
	}
	if !bytes.Equal(again.Bytes(), doc) {
		p.Fatalf("%s: read and written again:\n%s\nwant\n%s", when, again.Bytes(), doc)
	}
	if got, want := p.s.Dump(), again.Dump(); got != want {
		p.Fatalf("%s: the indexes are\n%s\nread anew they are\n%s", when, got, want)
	}
}

func (p *pair) compareEvent(when string, e *eventstream.Event, m *naiveEvent) {
	got, want := fmt.Sprint(p.facts(e)), fmt.Sprint(*m)
	if got != want {
		p.Fatalf("%s: event %s is\n%s\nwant\n%s\nin\n%s", when, m.id, got, want, p.s.Bytes())
	}
	prev := e.Prev()
	if e.Superseded() || e.Status() != eventstream.Init && e.Status() != eventstream.Inprocess || prev == nil || m.loose {
		return
	}
	if prev.Status().Final() {
		p.Fatalf("%s: event %s is live below a final one:\n%s", when, m.id, p.s.Bytes())
	}
	if e.Time("timestamp").Before(prev.Time("created")) || e.Time("timestamp").Before(e.Time("created")) {
		p.Fatalf("%s: event %s has a time before its own or its prev's:\n%s", when, m.id, p.s.Bytes())
	}
}

// facts is an event as the model has it.
func (p *pair) facts(e *eventstream.Event) naiveEvent {
	branches, _ := e.LookupAttr("branches")
	m := naiveEvent{
		id: e.ID(), name: e.Name(), status: e.Status().String(), by: e.Attr("by"), key: e.Key(), withError: e.WithError(),
		join: e.Attr("join"), policy: e.Attr("policy"), attempt: e.Attempt(), failures: e.Failures(), attempts: len(e.Attempts()),
		started: e.Time("started"), due: e.Time("due"), paused: e.Time("paused"), timeout: e.Timeout(), superseded: e.Superseded(),
	}
	if e.Prev() != nil {
		m.prev = e.Prev().ID()
	}
	for n := range e.Next() {
		m.next = append(m.next, n.ID())
	}
	if output, ok := e.Output(); ok {
		m.output = string(output.JSON)
	}
	fmt.Sscan(branches, &m.branches)
	fmt.Sscan(e.Attr("ok"), &m.ok)
	fmt.Sscan(e.Attr("failed"), &m.failed)
	if want := p.m.get(e.ID()); want != nil {
		m.loose = want.loose
	}
	return m
}

// compareCounts asks for everything that is counted rather than kept.
func (p *pair) compareCounts(when string) {
	ready, running := map[string]int{}, map[string]int{}
	byStatus := map[string][]string{}
	var wake time.Time
	for _, m := range p.m.live() {
		byStatus[m.status] = append(byStatus[m.status], m.id)
		if m.status == "init" && m.due.IsZero() {
			ready[m.name]++
		}
		if m.running() {
			running[m.name]++
		}
		if w := p.m.wake(m); !w.IsZero() && (wake.IsZero() || w.Before(wake)) {
			wake = w
		}
		branches, ok, failed := p.m.counts(m)
		if b, o, f := p.s.Event(m.id).Tally(); b != branches || o != ok || f != failed {
			p.Fatalf("%s: Tally of %s = %d, %d, %d, want %d, %d, %d", when, m.id, b, o, f, branches, ok, failed)
		}
	}
	for status := eventstream.Init; status <= eventstream.Canceled; status++ {
		var got []string
		for e := range p.s.ByStatus(status) {
			got = append(got, e.ID())
		}
		if !slices.Equal(got, byStatus[status.String()]) {
			p.Fatalf("%s: ByStatus(%v) = %v, want %v", when, status, got, byStatus[status.String()])
		}
	}
	n := func(status string) int { return len(byStatus[status]) }
	want := eventstream.Progress{
		Total: len(p.m.live()), Init: n("init"), Inprocess: n("inprocess"),
		Completed: n("completed"), Aborted: n("aborted"), Canceled: n("canceled"),
	}
	if got := p.s.Progress(); got != want {
		p.Fatalf("%s: Progress() = %+v, want %+v", when, got, want)
	}
	sum := p.s.Summary()
	if !maps.Equal(sum.Ready, ready) || !maps.Equal(sum.Running, running) {
		p.Fatalf("%s: Summary has ready %v and running %v, want %v and %v", when, sum.Ready, sum.Running, ready, running)
	}
	if got := p.s.NextWake(); !got.Equal(wake) || !sum.Due.Equal(wake) {
		p.Fatalf("%s: NextWake() = %v, want %v\n%s", when, got, wake, p.s.Bytes())
	}
	p.compareStatus(when, sum)
}

func (p *pair) compareStatus(when string, sum eventstream.Summary) {
	status, withError := "inprocess", false
	if root := p.m.root(); root.final() {
		status, withError = root.status, root.withError
		if last := p.m.last(""); status == "completed" && last.final() {
			status = last.status
		}
	}
	if got, gotError := p.s.Status(); got.String() != status || gotError != withError || sum.Status != got || sum.WithError != gotError {
		p.Fatalf("%s: Status() = %v, %v, want %v, %v\n%s", when, got, gotError, status, withError, p.s.Bytes())
	}
	if got := p.s.IsDone(); got != p.m.root().final() || sum.Paused != !p.m.paused.IsZero() {
		p.Fatalf("%s: IsDone() = %v, paused %v", when, got, sum.Paused)
	}
}

func (p *pair) compareClaimable() {
	from := rapid.IntRange(0, len(p.m.events)).Draw(p.T, "from")
	var got, want []string
	for e := range p.s.Claimable(p.m.now, from) {
		got = append(got, e.ID())
	}
	for i := range p.m.events {
		if m := p.m.events[(from+i)%len(p.m.events)]; p.m.claimable(m) {
			want = append(want, m.id)
		}
	}
	if !slices.Equal(got, want) {
		p.Fatalf("Claimable(%d) = %v, want %v\n%s", from, got, want, p.s.Bytes())
	}
}
