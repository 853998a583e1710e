package eventstream

import "strings"

// thread is a branch of the run.
type thread struct {
	name     string
	first    *Event // the live event with the lowest step; nil if none is live
	last     *Event // the one with the highest
	live     int32  // events that are not superseded
	maxStep  int32  // highest step ever used, -1 if none
	maxChild int32  // highest number ever used by a thread split off this one
	depth    int32  // dots in the id of an event
	epoch    uint32
}

// parentThread cuts a thread's name into that of its parent and its own number.
func parentThread(name string) (parent string, n int) {
	dot := strings.LastIndexByte(name, '.')
	return name[:max(dot, 0)], number(name[dot+1:])
}

// topic counts the events that wait for one step and those it runs.
type topic struct {
	name           string
	ready, running int
}

// topicName is what an event waits for.
func topicName(topic, name string) string {
	if topic != "" {
		return topic
	}
	return name
}

func (s *Stream) topic(name string) *topic {
	t := s.topics[name]
	if t == nil {
		t = &topic{name: name}
		s.topics[name] = t
	}
	return t
}

// findThread returns the thread of a name, or nil. It is found by its first
// event, step 0; those that have none are kept apart.
func (s *Stream) findThread(name string) *thread {
	var buf [64]byte
	id := append(buf[:0], name...)
	if name != "" {
		id = append(id, '.')
	}
	if first := s.Event(string(append(id, "00"...))); first != nil && first.thread != nil {
		return first.thread
	}
	return s.oddThreads[name]
}

// threadOf returns the thread of an event, made at need together with those it
// was split off. Most often it is that of its prev, or a new one below it.
func (s *Stream) threadOf(e *Event) (t *thread, step int) {
	name, step := SplitID(e.id)
	var near *thread
	if e.prev != nil {
		near = e.prev.thread // nil if prev comes further down in the document
	}
	switch {
	case near != nil && near.name == name:
		return near, step
	case step > 0 || len(s.oddThreads) > 0:
		t = s.findThread(name)
	}
	if t == nil {
		t = s.makeThread(name, near)
		if step > 0 {
			s.oddThreads[name] = t
		}
	}
	return t, step
}

// makeThread makes a thread and counts it in the one above. near is one that may
// well be that, or nil.
func (s *Stream) makeThread(name string, near *thread) *thread {
	t := s.newThread()
	t.name, t.maxStep = name, -1
	s.saveThread(t, true)
	if name == "" {
		return t
	}
	parent, n := parentThread(name)
	above := near
	if near == nil || near.name != parent {
		above = s.findThread(parent)
	}
	if above == nil {
		above = s.makeThread(parent, nil)
		s.oddThreads[parent] = above
	}
	s.touchThread(above)
	above.maxChild = max(above.maxChild, int32(n))
	t.depth = above.depth + 1
	return t
}

// reserveThreads makes so many threads at once.
func (s *Stream) reserveThreads(n int) {
	if len(s.spare) < n {
		s.spare = make([]thread, n)
	}
}

// newThread takes from the spare ones, of which reading a document leaves some.
func (s *Stream) newThread() *thread {
	if len(s.spare) == 0 {
		return &thread{}
	}
	t := &s.spare[0]
	s.spare = s.spare[1:]
	return t
}

// enterThread puts an event into its thread.
func (s *Stream) enterThread(e *Event) {
	t, step := s.threadOf(e)
	s.touchThread(t)
	e.thread, e.step = t, int32(step)
	t.maxStep = max(t.maxStep, e.step)
	if e.has(flagSuperseded) {
		return
	}
	t.live++
	if t.first == nil || t.first.step > e.step {
		t.first = e
	}
	if t.last == nil || t.last.step < e.step {
		t.last = e
	}
}

// leaveThread takes a superseded event out of its thread. Where the steps are
// ours, the thread's last event is the one that e followed, and its first one
// goes last.
func (s *Stream) leaveThread(e *Event) {
	t := e.thread
	s.touchThread(t)
	t.live--
	switch {
	case t.live == 0:
		t.first, t.last = nil, nil
	case s.irregular:
		t.first, t.last = s.ends(t)
	case t.last == e:
		t.last = e.prev
	}
	s.reportFirst(t)
}

// ends looks for the first and the last live event of a thread.
func (s *Stream) ends(t *thread) (first, last *Event) {
	for _, e := range s.events {
		if e.thread != t || e.has(flagSuperseded) {
			continue
		}
		if first == nil || e.step < first.step {
			first = e
		}
		if last == nil || e.step > last.step {
			last = e
		}
	}
	return first, last
}

// findRoot: every other chain of prev than that of the root ends in an event
// that a foreign hand wrote.
func (s *Stream) findRoot() {
	if s.root = s.Event(RootID); s.root != nil {
		return
	}
	for _, e := range s.events {
		if e.prev == nil {
			s.root = e
			return
		}
	}
}

// index enters an event, as it is now, into the indexes; unindex takes it out.
func (s *Stream) index(e *Event) {
	if e.has(flagSuperseded) {
		s.superseded++
		return
	}
	s.byStatus[e.status].add(int(e.pos))
	s.count(e, 1)
	if e.wake != 0 {
		s.timed.add(int(e.pos))
	}
	if e.has(flagBatch) {
		s.batches.add(int(e.pos))
	}
}

func (s *Stream) unindex(e *Event) {
	if e.has(flagSuperseded) {
		s.superseded--
		return
	}
	s.byStatus[e.status].remove(int(e.pos))
	s.count(e, -1)
	s.timed.remove(int(e.pos))
	s.batches.remove(int(e.pos))
}

func (s *Stream) count(e *Event, by int) {
	switch {
	case e.status == Init && !e.has(flagDue):
		e.topic.ready += by
	case e.Running():
		e.topic.running += by
	}
	if e.has(flagPaused) {
		s.paused += by
	}
}
