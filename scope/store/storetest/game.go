package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// Game is a history to be: clients that do random things to a few blobs at once.
// What they do follows from the seed and from what they are answered.
type Game struct {
	Seed uint64
	// Prefix of the names of its blobs, which no other game may have.
	Prefix string
	// FakeTime lets requests take their time and leases end. It is for a bubble;
	// in real time all is over before a lease can end.
	FakeTime bool
}

// The size of a game.
const (
	Clients = 8
	blobs   = 3
	acts    = 10 // of each client
)

// lostOf is out of how many calls one is not carried out and another one is
// carried out and not answered.
const lostOf = 16

// Play lets the clients from the first up to the last, exclusive, play all at once,
// and returns what they did. The clients of one game may play in different
// processes, on stores over the same blobs; their histories make one if they are
// put together.
func (g Game) Play(ctx context.Context, s store.Store, first, last int) History {
	histories := make([]History, last-first)
	var clock stamps
	var all sync.WaitGroup
	for i := range histories {
		all.Go(func() { histories[i] = newPlayer(g, s, &clock, first+i).play(ctx) })
	}
	all.Wait()
	return slices.Concat(histories...)
}

// stamps are times of which no two are equal and that order the acts of one
// process, also in a bubble, where time stands still. Those of processes on one
// machine can be compared.
type stamps struct{ last atomic.Int64 }

func (s *stamps) next() int64 {
	for {
		last := s.last.Load()
		next := max(last+1, time.Now().UnixNano())
		if s.last.CompareAndSwap(last, next) {
			return next
		}
	}
}

// player is one client. It has one lease ID for all leases.
type player struct {
	game  Game
	store store.Store // with faults
	clock *stamps
	rand  *rand.Rand
	n     int
	id    string
	puts  int
	blob  string
	at    int64             // when the store got the call that is under way; 0 in real time
	held  map[string]bool   // blobs whose lease it believes to hold
	etags map[string]string // of the blobs, as it saw them last
}

func newPlayer(g Game, s store.Store, clock *stamps, n int) *player {
	p := &player{
		game: g, clock: clock, rand: rand.New(rand.NewPCG(g.Seed, uint64(n))), n: n, id: guid(n + 1),
		held: map[string]bool{}, etags: map[string]string{},
	}
	p.store = NewFaults(s, p.fault)
	return p
}

// fault lets the request of a call take its time, and decides what becomes of it.
func (p *player) fault(Call) (apply bool, err error) {
	p.travel()
	if p.game.FakeTime {
		p.at = time.Now().UnixNano()
	}
	switch p.rand.IntN(lostOf) {
	case 0:
		return false, errLost
	case 1:
		return true, errLost
	}
	return true, nil
}

var errLost = errors.New("the request or its answer is lost")

// travel is the way of a request or of an answer. Full milliseconds make calls
// meet.
func (p *player) travel() {
	if p.game.FakeTime {
		time.Sleep(time.Duration(p.rand.IntN(3)) * time.Millisecond)
	}
}

// rest is the time between two calls, now and then enough for a lease to end.
func (p *player) rest() {
	if p.game.FakeTime && p.rand.IntN(4) == 0 {
		time.Sleep(time.Duration(p.rand.Int64N(int64(store.MinLease))))
	}
}

func (p *player) play(ctx context.Context) History {
	var h History
	for range acts {
		p.rest()
		a := Act{Client: p.n, Blob: p.pick(), Call: p.clock.next()}
		err := p.act(ctx, &a)
		p.travel()
		a.At, a.Return = p.at, p.clock.next()
		if errors.Is(err, store.ErrThrottled) || errors.Is(err, store.ErrStoreLocked) {
			continue // not carried out, and for no reason that the model knows
		}
		a.Outcome = outcomeOf(err)
		p.learn(&a)
		h = append(h, a)
	}
	return h
}

// pick stays at the same blob now and then, so that a lease is used that was got.
func (p *player) pick() string {
	if p.blob == "" || p.rand.IntN(2) == 0 {
		p.blob = fmt.Sprint(p.game.Prefix, p.rand.IntN(blobs))
	}
	return p.blob
}

func outcomeOf(err error) Outcome {
	e, ok := errors.AsType[*store.Error](err)
	switch {
	case err == nil:
		return Done
	case ok && e.Sentinel != nil:
		return Refused
	}
	return Unknown
}

// act picks a call and makes it.
func (p *player) act(ctx context.Context, a *Act) error {
	switch n := p.rand.IntN(20); {
	case n < 4:
		return p.get(ctx, a)
	case n < 11:
		return p.put(ctx, a)
	case n < 12:
		return p.remove(ctx, a)
	case n < 14:
		return p.breakUp(ctx, a)
	case n < 16 && p.held[a.Blob]:
		return p.lease(ctx, a, renew(p.id))
	case p.held[a.Blob]:
		return p.lease(ctx, a, release(p.id))
	}
	return p.acquire(ctx, a)
}

func (p *player) get(ctx context.Context, a *Act) error {
	a.Op = "get"
	object, err := p.store.Get(ctx, a.Blob, nil)
	if err != nil {
		return err
	}
	a.ETag, a.State = object.ETag, object.Lease.State
	a.Version, err = strconv.Atoi(string(object.Body))
	return err
}

func (p *player) put(ctx context.Context, a *Act) error {
	p.puts++
	a.Op, a.Version = "put", 1000*(p.n+1)+p.puts
	if p.etags[a.Blob] == "" && p.rand.IntN(2) == 0 {
		a.IfMatch = store.AnyETag
	}
	c := p.conditions(a)
	if a.IfMatch == store.AnyETag {
		c.IfMatch, c.IfNoneMatch = "", store.AnyETag
	}
	info, err := p.store.Put(ctx, a.Blob, []byte(strconv.Itoa(a.Version)), &store.PutOptions{Conditions: c})
	if err == nil {
		a.ETag = info.ETag
	}
	return err
}

func (p *player) remove(ctx context.Context, a *Act) error {
	a.Op = "delete"
	c := p.conditions(a)
	return p.store.Delete(ctx, a.Blob, &c)
}

// conditions are what a careful client names, and now and then a careless one.
func (p *player) conditions(a *Act) store.Conditions {
	if careful := p.rand.IntN(8) > 0; careful == p.held[a.Blob] {
		a.LeaseID = p.id
	}
	if a.IfMatch == "" && p.rand.IntN(3) > 0 {
		a.IfMatch = p.etags[a.Blob]
	}
	return store.Conditions{LeaseID: a.LeaseID, IfMatch: a.IfMatch}
}

func (p *player) acquire(ctx context.Context, a *Act) error {
	d := p.term()
	if p.rand.IntN(4) == 0 {
		d = store.LeaseInfinite
	}
	return p.lease(ctx, a, acquire(p.id, d))
}

func (p *player) breakUp(ctx context.Context, a *Act) error {
	periods := []time.Duration{0, store.BreakNaturally, p.term()}
	return p.lease(ctx, a, breakAfter(periods[p.rand.IntN(len(periods))]))
}

// term is how long a finite lease, or a break, is to last: where time is real,
// longer than any game.
func (p *player) term() time.Duration {
	if p.game.FakeTime {
		return store.MinLease
	}
	return store.MaxLease
}

func (p *player) lease(ctx context.Context, a *Act, r store.LeaseRequest) error {
	a.Op, a.LeaseID, a.Duration = string(r.Action), r.ID, r.Duration
	if r.Action == store.LeaseBreak {
		a.Duration = r.BreakPeriod
	}
	result, err := p.store.Lease(ctx, a.Blob, &r)
	if err == nil {
		a.ETag = result.ETag
	}
	return err
}

// learn is what a client concludes from an answer.
func (p *player) learn(a *Act) {
	switch {
	case a.Op == "acquire" || a.Op == "renew":
		p.held[a.Blob] = a.Outcome != Refused
	case a.Op == "release":
		p.held[a.Blob] = false
	case a.Op == "get" && a.Outcome == Refused || a.Op == "delete" && a.Outcome == Done:
		delete(p.etags, a.Blob)
	case a.Version != 0 && a.Outcome == Done:
		p.etags[a.Blob] = a.ETag
	}
}
