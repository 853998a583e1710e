package eventstream_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/leasestream/leasestream/eventstream"
)

// TestStream_NaiveModel drives a stream and the naive model with the same random
// edits, some of which fail, and with what foreign hands do to the document, and
// compares everything that can be asked of them after each.
func TestStream_NaiveModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPair(t)
		p.compare("after the start")
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			p.step()
		}
	})
}

// pair is a stream and the model of it.
type pair struct {
	*rapid.T
	s *eventstream.Stream
	m *naive
}

var epoch = time.Date(2026, 11, 30, 7, 33, 51, 0, time.UTC)

func newPair(t *rapid.T) *pair {
	s, err := eventstream.New(epoch, eventstream.Start{
		Name: "order", Run: "r1", Pipeline: "p", Root: eventstream.NewEvent{Name: "A"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &pair{t, s, &naive{now: epoch, events: []*naiveEvent{{id: "00", name: "A", status: "init"}}}}
}

var errWanted = errors.New("wanted")

func (p *pair) step() {
	p.m.now = p.m.now.Add(time.Duration(rapid.IntRange(0, 5000).Draw(p.T, "ms")) * time.Millisecond)
	switch rapid.IntRange(0, 9).Draw(p.T, "kind of step") {
	case 0:
		p.foreignHand()
	case 1:
		p.failingEdit(func() error { return errWanted })
	case 2:
		p.failingEdit(func() error { panic(errWanted) })
	default:
		p.edit()
	}
}

func (p *pair) edit() {
	before := p.s.Bytes()
	wasDone, had := p.s.IsDone(), p.s.Len()
	changes, err := p.s.Edit(p.m.now, func() error {
		p.m.settle()
		for range rapid.IntRange(1, 3).Draw(p.T, "operations") {
			p.operate()
		}
		return nil
	})
	if err != nil {
		p.Fatalf("Edit = %v", err)
	}
	p.compare("after an edit")
	if got, want := len(changes.Created), p.s.Len()-had; got != want {
		p.Fatalf("Changes.Created has %d events, want %d", got, want)
	}
	if got, want := changes.Ended, p.s.IsDone() && !wasDone; got != want {
		p.Fatalf("Changes.Ended = %v, want %v", got, want)
	}
	if changes.Changed == 0 && !bytes.Equal(before, p.s.Bytes()) {
		p.Fatalf("Changes.Changed = 0, but the document changed:\n%s\n%s", before, p.s.Bytes())
	}
}

// failingEdit does several operations, which must all be undone.
func (p *pair) failingEdit(end func() error) {
	// What was left undone by a foreign hand is settled before, and stays.
	if _, err := p.s.Edit(p.m.now, func() error { return nil }); err != nil {
		p.Fatal(err)
	}
	p.m.settle()
	p.compare("settled")
	before, dump, kept := p.s.Bytes(), p.s.Dump(), p.m.clone()
	err := func() (err error) {
		defer func() {
			if r := recover(); r != nil && r != errWanted {
				panic(r)
			} else if r != nil {
				err = errWanted
			}
		}()
		_, err = p.s.Edit(p.m.now, func() error {
			for range rapid.IntRange(1, 4).Draw(p.T, "operations") {
				p.operate()
			}
			return end()
		})
		return err
	}()
	if !errors.Is(err, errWanted) {
		p.Fatalf("Edit = %v, want %v", err, errWanted)
	}
	p.m = kept
	if got := p.s.Bytes(); !bytes.Equal(got, before) {
		p.Fatalf("a failed edit left\n%s\nwant\n%s", got, before)
	}
	if got := p.s.Dump(); got != dump {
		p.Fatalf("a failed edit left the indexes\n%s\nwant\n%s", got, dump)
	}
	p.compare("undone")
}

// agree fails if only one of the two refused an operation.
func (p *pair) agree(what string, err error, want bool) {
	if (err == nil) != want {
		p.Fatalf("%s = %v, the model says ok = %v", what, err, want)
	}
}

// draw picks an event that is there, superseded ones included.
func (p *pair) draw(label string) (*eventstream.Event, *naiveEvent) {
	// Open ones are more interesting.
	all := p.m.events
	if open := slices.DeleteFunc(p.m.live(), (*naiveEvent).final); len(open) > 0 && rapid.IntRange(0, 3).Draw(p.T, "any") > 0 {
		all = open
	}
	m := rapid.SampledFrom(all).Draw(p.T, label)
	return p.s.Event(m.id), m
}

func (p *pair) operate() {
	e, m := p.draw("event")
	ops := []func(*eventstream.Event, *naiveEvent){
		p.claim, p.claim, p.split, p.split, p.next, p.complete, p.complete, p.abort, p.cancel, p.update,
		p.fail, p.giveBack, p.wait, p.pause, p.resume, p.reopen, p.reopen, p.reopenFrom, p.closeSplit, p.batch, p.rejudge,
	}
	i := rapid.IntRange(0, len(ops)-1).Draw(p.T, "operation")
	ops[i](e, m)
}

func (p *pair) claim(e *eventstream.Event, m *naiveEvent) {
	key := rapid.SampledFrom([]string{"w1", "w2"}).Draw(p.T, "key")
	timeout := time.Duration(rapid.IntRange(0, 3).Draw(p.T, "timeout")) * time.Second
	var attrs []string
	if timeout > 0 {
		attrs = []string{"timeout", timeout.String()}
	}
	ok := p.m.claimable(m)
	p.agree("Claim", p.s.Claim(e, key, attrs...), ok)
	if ok {
		m.status, m.key, m.started, m.due = "inprocess", key, p.m.now, time.Time{}
		m.attempt++
		if timeout > 0 {
			m.timeout = timeout
		}
		if got, err := p.s.Owned(m.id, key, m.attempt); m.running() && (got != e || err != nil) {
			p.Fatalf("Owned(%s) = %v, %v", m.id, got, err)
		}
	}
}

func (p *pair) open(m *naiveEvent) bool { return !m.superseded && !m.final() }

func (p *pair) complete(e *eventstream.Event, m *naiveEvent) {
	ok := p.open(m)
	p.agree("Complete", p.s.Complete(e, eventstream.JSON([]byte(`{"n": 1}`))), ok)
	if ok {
		m.output = `{"n":1}`
		p.m.finish(m, "completed", "")
	}
}

func (p *pair) abort(e *eventstream.Event, m *naiveEvent) { p.stop(p.s.Abort, "aborted", e, m) }

func (p *pair) cancel(e *eventstream.Event, m *naiveEvent) { p.stop(p.s.Cancel, "canceled", e, m) }

func (p *pair) stop(f func(*eventstream.Event, string, string) error, status string, e *eventstream.Event, m *naiveEvent) {
	by := rapid.SampledFrom([]string{"", "alice"}).Draw(p.T, "by")
	ok := !m.superseded && (!m.final() || m.status == status)
	p.agree(status, f(e, by, "because"), ok)
	if ok && !m.final() {
		p.m.finish(m, status, by)
		m.by, m.withError = by, false
	}
}

func (p *pair) update(e *eventstream.Event, m *naiveEvent) {
	status := rapid.SampledFrom([]string{"init", "inprocess", "completed", "aborted", "canceled"}).Draw(p.T, "status")
	ok := !m.superseded && (m.status == status || !m.final() && !(status == "init" && len(m.next) > 0))
	p.agree("Update", p.s.Update(e, "status", status), ok)
	switch {
	case !ok || status == m.status:
	case status == "init":
		m.status, m.key, m.started = status, "", time.Time{}
	case status == "inprocess":
		m.status = status
	default:
		p.m.finish(m, status, "")
	}
	if ok && !m.final() {
		p.m.rejudge(m)
	}
}

func (p *pair) next(e *eventstream.Event, m *naiveEvent) {
	ok := p.open(m) && len(m.next) == 0
	created, err := p.s.Next(e, eventstream.NewEvent{Name: "N"})
	p.agree("Next", err, ok)
	if ok {
		m.status, m.due = "inprocess", time.Time{}
		n := p.m.append(m, "N", p.m.nextStep(m.thread()))
		if created.ID() != n.id {
			p.Fatalf("Next made %s, want %s", created.ID(), n.id)
		}
	}
}

var policies = []string{"all", "all", "failfast", "first:1", "first:2", "first:3", "tolerate:0", "tolerate:1", "tolerate:50%"}

func (p *pair) split(e *eventstream.Event, m *naiveEvent) {
	policy := rapid.SampledFrom(policies).Draw(p.T, "policy")
	parsed, err := eventstream.ParsePolicy(policy)
	if err != nil {
		p.Fatal(err)
	}
	join := rapid.SampledFrom([]string{"", "J"}).Draw(p.T, "join")
	o := &eventstream.SplitOptions{Join: join, Policy: parsed}
	if rapid.IntRange(0, 3).Draw(p.T, "due") == 0 {
		o.Due = p.m.now.Add(5 * time.Second)
	}
	n := rapid.IntRange(0, 4).Draw(p.T, "branches")
	branches := make([]eventstream.NewEvent, n)
	names, numbers, batch := make([]string, n), make([]int, n), make([]int, n)
	for i := range branches {
		names[i] = rapid.SampledFrom([]string{"B", "C"}).Draw(p.T, "step")
		numbers[i] = rapid.SampledFrom([]int{0, 0, 0, 1, 2, 5}).Draw(p.T, "number")
		branches[i] = eventstream.NewEvent{Name: names[i], Branch: numbers[i]}
		if rapid.IntRange(0, 5).Draw(p.T, "batch") == 0 {
			batch[i] = 3
			branches[i].Attrs = []string{"branches", "3"}
		}
	}
	ok := !m.superseded && p.m.split(m, names, numbers, batch, join, policy, o.Due)
	_, err = p.s.Split(e, branches, o)
	p.agree("Split", err, ok)
}

func (p *pair) fail(e *eventstream.Event, m *naiveEvent) {
	ok := p.open(m)
	p.agree("Fail", p.s.Fail(e, eventstream.Attempt{N: m.attempt, Error: "no\nluck \x00", Detail: "<&>"}), ok)
	if ok {
		m.failures++
		m.attempts++
	}
}

func (p *pair) giveBack(e *eventstream.Event, m *naiveEvent) {
	due := time.Time{}
	if rapid.Bool().Draw(p.T, "due") {
		due = p.m.now.Add(3 * time.Second)
	}
	ok := p.open(m) && m.status == "inprocess" && len(m.next) == 0
	p.agree("GiveBack", p.s.GiveBack(e, due), ok)
	if ok {
		m.status, m.key, m.started, m.due = "init", "", time.Time{}, due
	}
}

func (p *pair) wait(e *eventstream.Event, m *naiveEvent) {
	timeout := time.Duration(rapid.IntRange(0, 3).Draw(p.T, "timeout")) * time.Second
	ok := p.open(m) && len(m.next) == 0
	p.agree("Wait", p.s.Wait(e, timeout), ok)
	if !ok {
		return
	}
	if m.status == "init" || m.started.IsZero() {
		m.started = p.m.now
	}
	m.status, m.key, m.due, m.timeout = "inprocess", "", time.Time{}, 0
	if timeout > 0 {
		m.timeout = timeout + p.m.now.Sub(m.started)
	}
}

func (p *pair) pause(e *eventstream.Event, m *naiveEvent) {
	if rapid.IntRange(0, 3).Draw(p.T, "run") == 0 {
		ok := !p.m.root().final() || !p.m.paused.IsZero()
		p.agree("Pause(nil)", p.s.Pause(nil, "bob", "lunch"), ok)
		if ok && p.m.paused.IsZero() {
			p.m.paused = p.m.now
		}
		return
	}
	ok := p.open(m)
	p.agree("Pause", p.s.Pause(e, "bob", "lunch"), ok)
	if ok && m.paused.IsZero() {
		m.paused, m.by = p.m.now, "bob"
	}
}

func (p *pair) resume(e *eventstream.Event, m *naiveEvent) {
	if rapid.IntRange(0, 3).Draw(p.T, "run") == 0 {
		p.agree("Resume(nil)", p.s.Resume(nil), true)
		if since := p.m.paused; !since.IsZero() {
			p.m.paused = time.Time{}
			p.m.resume(nil, since)
		}
		return
	}
	// Those that are paused are more interesting.
	paused := slices.DeleteFunc(p.m.live(), func(x *naiveEvent) bool { return x.paused.IsZero() })
	if len(paused) > 0 {
		m = rapid.SampledFrom(paused).Draw(p.T, "paused event")
		e = p.s.Event(m.id)
	}
	ok := !m.superseded
	p.agree("Resume", p.s.Resume(e), ok)
	if since := m.paused; ok && !since.IsZero() {
		m.paused, m.by, m.withError = time.Time{}, "", false
		p.m.resume(m, since)
	}
}

func (p *pair) reopen(e *eventstream.Event, m *naiveEvent) {
	o := &eventstream.ReopenOptions{By: "carol"}
	var below *naiveEvent
	if rapid.IntRange(0, 2).Draw(p.T, "below") == 0 {
		o.Below, below = e, m
	}
	ok := (below == nil || !below.superseded) && p.m.reopen(below, nil, "carol")
	_, err := p.s.Reopen(o)
	p.agree("Reopen", err, ok)
}

func (p *pair) reopenFrom(e *eventstream.Event, m *naiveEvent) {
	ok := !m.superseded && p.m.reopen(nil, m, "carol")
	_, err := p.s.Reopen(&eventstream.ReopenOptions{From: e, By: "carol"})
	p.agree("Reopen from", err, ok)
}

func (p *pair) closeSplit(e *eventstream.Event, m *naiveEvent) {
	branches, _, _ := p.m.counts(m)
	ok := !m.superseded && m.status == "inprocess" && branches > 0 && len(p.m.own(m)) == 0
	p.agree("CloseSplit", p.s.CloseSplit(e, eventstream.ByTimeout), ok)
	if ok {
		p.m.cancelBelow(m, "timeout")
		m.due = time.Time{}
		p.m.propagate(m)
	}
}

// batch reports results of a batch event.
func (p *pair) batch(e *eventstream.Event, m *naiveEvent) {
	good, bad := rapid.IntRange(0, 2).Draw(p.T, "ok"), rapid.IntRange(0, 1).Draw(p.T, "failed")
	ok := p.open(m)
	p.agree("Update ok, failed", p.s.Update(e, "ok", fmt.Sprint(good), "failed", fmt.Sprint(bad)), ok)
	if ok {
		m.ok, m.failed = good, bad
		p.m.rejudge(m)
	}
}

func (m *naive) rejudge(e *naiveEvent) {
	m.propagate(e)
	if !e.final() {
		m.propagate(m.get(e.prev))
	}
}

// rejudge gives a split another policy or join.
func (p *pair) rejudge(e *eventstream.Event, m *naiveEvent) {
	ok := p.open(m)
	switch rapid.IntRange(0, 2).Draw(p.T, "what") {
	case 0:
		policy := rapid.SampledFrom(policies).Draw(p.T, "policy")
		p.agree("Update policy", p.s.Update(e, "policy", policy), ok)
		if ok {
			m.policy = policy
		}
	case 1:
		p.agree("Update join", p.s.Update(e, "join", "K"), ok)
		if ok {
			m.join = "K"
		}
	case 2:
		p.agree("Remove", p.s.Remove(e, "join", "policy"), ok)
		if ok {
			m.join, m.policy = "", ""
		}
	}
	if ok {
		p.m.rejudge(m)
	}
}

// foreignHand changes the document as an editor would.
func (p *pair) foreignHand() {
	text := string(p.s.Bytes())
	e, m := p.draw("event")
	element := e.XML()
	changed := element
	switch rapid.IntRange(0, 5).Draw(p.T, "what the foreign hand does") {
	case 0, 1:
		status := rapid.SampledFrom([]string{"init", "inprocess", "completed", "aborted", "canceled"}).Draw(p.T, "status")
		changed = strings.Replace(element, ` status="`+m.status+`"`, ` status='`+status+`'`, 1)
		if changed == element {
			changed = strings.Replace(element, ` status='`+m.status+`'`, ` status="`+status+`"`, 1)
		}
		m.status = status
	case 2:
		changed = strings.Replace(element, "<Event", fmt.Sprintf("<Event\tx:odd%d = '&lt;\"'\r\n ", len(text)), 1)
		text = strings.Replace(text, element, "<!-- <Event id=\"00\"/> -->\r\n\t"+element+"<Other><Event/></Other>", 1)
	case 3: // an event that its prev does not know
		id := p.m.nextStep(m.thread())
		text = strings.Replace(text, "\n</EventStream>", fmt.Sprintf("\n<Event id=%q name=\"L\" status=\"init\" prev=%q></Event >\n</EventStream>", id, m.id), 1)
		p.m.events = append(p.m.events, &naiveEvent{id: id, name: "L", status: "init", prev: m.id, loose: true})
	case 4: // the successors are forgotten
		changed = regexp.MustCompile(` next="[^"]*"`).ReplaceAllString(element, "")
		for _, n := range p.m.next(m) {
			n.loose = true
		}
		m.next = nil
	case 5:
		m.join, m.policy = "F", "failfast"
		changed = regexp.MustCompile(` (join|policy)="[^"]*"`).ReplaceAllString(element, "")
		changed = strings.Replace(changed, "<Event", `<Event join="F" policy="failfast"`, 1)
	}
	text = strings.Replace(text, element, changed, 1)
	s, err := eventstream.Parse([]byte(text))
	if err != nil {
		p.Fatalf("Parse after the foreign hand: %v\n%s", err, text)
	}
	if got := string(s.Bytes()); got != text {
		p.Fatalf("Bytes after the foreign hand =\n%s\nwant\n%s", got, text)
	}
	p.s = s
	p.compareClaimable()
}

// compare holds the stream against the model, and against itself read anew.
func (p *pair) compare(when string) {
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
	if p.s.Len() != len(p.m.events) {
		p.Fatalf("%s: %d events, want %d\n%s", when, p.s.Len(), len(p.m.events), doc)
	}
	for i, m := range p.m.events {
		p.compareEvent(when, p.s.At(i), m)
	}
	p.compareCounts(when)
	p.compareClaimable()
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
		if last := p.m.last(""); last.final() {
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
