package eventstream_test

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/leasestream/leasestream/eventstream"
)

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
