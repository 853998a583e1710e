package processor

import "sync"

// hub wakes those in this process that wait for something to happen to a stream.
type hub struct {
	mu   sync.Mutex // guards the fields below
	subs map[*subscription]struct{}
}

// interest is what a subscription is about.
type interest int

const (
	newEvents interest = iota // edits that created events
	runsEnd                   // edits that ended a run
)

// subscription collects the names of streams that changed. c has a value when
// there are any.
type subscription struct {
	c     chan struct{}
	about interest
	mu    sync.Mutex // guards the fields below
	names map[string]struct{}
}

func newSubscription(about interest) *subscription {
	return &subscription{c: make(chan struct{}, 1), about: about, names: map[string]struct{}{}}
}

func (h *hub) subscribe(about interest) *subscription {
	s := newSubscription(about)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.subs == nil {
		h.subs = map[*subscription]struct{}{}
	}
	h.subs[s] = struct{}{}
	return s
}

func (h *hub) leave(s *subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.subs, s)
}

func (h *hub) ring(name string, about interest) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		if s.about == about {
			s.add(name)
		}
	}
}

func (s *subscription) add(name string) {
	s.mu.Lock()
	s.names[name] = struct{}{}
	s.mu.Unlock()
	select {
	case s.c <- struct{}{}:
	default:
	}
}

// take returns the names collected so far and forgets them.
func (s *subscription) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, 0, len(s.names))
	for name := range s.names {
		names = append(names, name)
	}
	clear(s.names)
	return names
}
