package eventstream

import (
	"bytes"
	"iter"
	"strings"
)

// Parse reads a document. A document of 0 bytes is an empty stream. Whatever
// else is not an Event-Stream is refused with a [SyntaxError], which matches
// [ErrMalformed]. Parse keeps no reference to data.
func Parse(data []byte) (s *Stream, err error) {
	s = newStream()
	if len(data) == 0 {
		s.blank = true
		return s, nil
	}
	if err := checkSizeAndEncoding(data); err != nil {
		return nil, err
	}
	p := &parser{scanner: scanner{src: string(data)}, s: s, expected: expectEvents(data)}
	if err := p.read(data); err != nil {
		return nil, err
	}
	return s, nil
}

// expectEvents guesses how many events a document has, by its end; at its begin
// stands the splitter with the ids of all branches. Whoever writes <Event in
// comments only makes us reserve too much; how much is bounded by the shortest
// event there can be.
func expectEvents(data []byte) int {
	const shortest = len(`<Event id="00" status="init"/>`)
	tail := data[max(0, len(data)-1<<16):]
	n := bytes.Count(tail, []byte("<"+eventName))
	return min(n*(len(data)/len(tail)+1), len(data)/shortest)
}

// parser fills a stream from a scanner.
type parser struct {
	scanner
	s        *Stream
	expected int // how many events there seem to be
	slab     []Event
	nexts    []link // all attributes next
	parent   int    // which of them named an event last
	forward  []link // those attributes prev that name an event further down
	last     *Event // read before the one being read
	block    int    // where the block begins that is being read
}

// link is an attribute that names other events, to be resolved when all events
// are known.
type link struct {
	e    *Event
	ids  string // those that are not resolved yet
	at   int    // where the attribute stands
	next []*Event
}

func (p *parser) read(data []byte) (err error) {
	defer recoverSyntax(&err)
	if p.at(byteOrderMark) {
		p.pos += len(byteOrderMark)
	}
	if p.at("<?xml") && !isNameChar(p.src[p.pos+len("<?xml"):]) {
		p.declaration() // first of all, so that another encoding is refused by its name
	}
	if err := checkChars(data, p.src); err != nil {
		return err
	}
	p.document()
	p.resolve()
	return nil
}

func (p *parser) document() {
	p.misc()
	if !p.at("<") || p.at("<!") {
		p.fail(p.pos, "the document has no root element here")
	}
	root := p.startTag()
	if root.name != rootName {
		p.fail(root.start, "the root element is <%s>, want <%s>", root.name, rootName)
	}
	p.s.size = len(p.src)
	p.s.before = p.src[:root.start]
	p.s.setRootTag(p.src[root.start:root.tagEnd])
	p.s.events = make([]*Event, 0, p.expected)
	p.s.byID.reserve(p.expected)
	done := root.tagEnd
	if !root.empty {
		done = p.body()
	}
	p.s.after = p.src[done:]
	p.misc()
	if p.pos < len(p.src) {
		p.fail(p.pos, "the document goes on after its root element")
	}
}

// body reads the content of the root element, its end tag included, and returns
// where the last event ends.
func (p *parser) body() int {
	done := p.pos
	for {
		p.text()
		switch {
		case p.pos >= len(p.src):
			p.fail(p.pos, "the document ends, and <%s> is not closed", rootName)
		case p.scanner.at("</"):
			p.endTag(rootName)
			return done
		case p.markup():
		default:
			done = p.child(done)
		}
	}
}

// child reads a child element of the root.
func (p *parser) child(done int) int {
	el := p.startTag()
	var e *Event
	if el.name == eventName {
		e = p.event(el)
	}
	if !el.empty {
		p.content(&el)
	}
	if e == nil {
		return done
	}
	e.pre, e.raw = p.src[done:el.start], p.src[el.start:el.end]
	p.extendBlock(e, done, el.end)
	e.updateWake()
	p.s.index(e)
	return el.end
}

// extendBlock makes the text of an event, which stands from one place to another, part
// of its block.
func (p *parser) extendBlock(e *Event, from, to int) {
	if e.pos%blockEvents == 0 {
		p.block = from
		p.s.blocks = append(p.s.blocks, "")
	}
	p.s.blocks[len(p.s.blocks)-1] = p.src[p.block:to]
}

// event takes in an event by its start tag.
func (p *parser) event(el element) *Event {
	e := p.newEvent()
	refs := p.attributes(e, el)
	p.register(e, refs.id)
	p.link(e, refs.prev, refs.next)
	p.enter(e, p.topicOf(refs))
	return e
}

// references are the attributes of an event that take the stream to resolve; nil
// where there is none.
type references struct {
	id, prev, next, name, topic *rawAttr
}

// attributes decodes what stands in the start tag of an event.
func (p *parser) attributes(e *Event, el element) (refs references) {
	e.tagEnd = int32(el.tagEnd - el.start)
	status := false
	for i := range p.attrs {
		a := &p.attrs[i]
		switch a.kind {
		case attrOther:
		case attrID:
			refs.id = a
			p.identify(e, a)
		case attrPrev:
			refs.prev = a
		case attrNext:
			refs.next = a
		case attrName:
			refs.name = a
		case attrTopic:
			refs.topic = a
		case attrMsg:
			// Of a message it matters only whether it is WithError.
			if v := p.rawValue(a); v != "" && (v[0] == withError[0] || v[0] == '&') {
				_ = e.decode(attrMsg, p.attrValue(a))
			}
		default:
			if err := e.decode(a.kind, p.attrValue(a)); err != nil {
				p.fail(int(a.at), "%v", err)
			}
			status = status || a.kind == attrStatus
		}
	}
	switch {
	case refs.id == nil:
		p.fail(el.start, "the event has no id")
	case !status:
		p.fail(el.start, "event %s has no status", e.id)
	case e.id == RootID && p.attrValue(refs.prev) != "":
		p.fail(int(refs.prev.at), "event %s is the root and has no prev", e.id)
	}
	return refs
}

func (p *parser) topicOf(refs references) string {
	return topicName(p.attrValue(refs.topic), p.attrValue(refs.name))
}

func (p *parser) newEvent() *Event {
	if len(p.slab) == 0 {
		p.slab = make([]Event, p.chunk())
	}
	e := &p.slab[0]
	p.slab = p.slab[1:]
	return e
}

// chunk is how many events or threads to make at once: no more than are expected,
// unless more have come already.
func (p *parser) chunk() int {
	const most = 1024
	if left := p.expected - len(p.s.events); left > 0 {
		return min(left, most)
	}
	return most / 32
}

func (p *parser) identify(e *Event, a *rawAttr) {
	e.id = p.attrValue(a)
	if err := CheckID(e.id); err != nil {
		p.fail(int(a.at), "%v", err)
	}
}

func (p *parser) register(e *Event, id *rawAttr) {
	e.pos = int32(len(p.s.events))
	p.s.events = append(p.s.events, e)
	if !p.s.byID.add(e, p.s.events) {
		p.fail(int(id.at), "two events have the id %s", e.id)
	}
}

// link notes what the event says of others.
func (p *parser) link(e *Event, prev, next *rawAttr) {
	switch id := p.attrValue(prev); {
	case id == "":
	case p.last != nil && p.last.prev != nil && p.last.prev.id == id:
		e.prev = p.last.prev
	default:
		// One that comes later, or is the event itself, is looked for at the end.
		if e.prev = p.s.Event(id); e.prev == nil || e.prev == e {
			p.forward = append(p.forward, link{e: e, ids: id, at: int(prev.at)})
		}
	}
	if e.prev != nil {
		p.linkToPrev(e)
	}
	if ids := p.attrValue(next); ids != "" {
		p.nexts = append(p.nexts, link{e: e, ids: ids, at: int(next.at)})
	}
}

// linkToPrev resolves an id that has its turn in the next of e's prev, while all that
// takes is at hand. Branches stand in the document in the order of that attribute.
func (p *parser) linkToPrev(e *Event) {
	for _, i := range [...]int{p.parent, len(p.nexts) - 1} {
		if i < 0 || i >= len(p.nexts) || p.nexts[i].e != e.prev {
			continue
		}
		l := &p.nexts[i]
		if rest, ok := cutID(l.ids, e.id); ok {
			l.add(e)
			l.ids, p.parent = rest, i
		}
		return
	}
}

// cutID cuts an id off a list that begins with it.
func cutID(ids, id string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(ids, id)
	if rest == "" {
		return rest, ok
	}
	return rest[1:], ok && rest[0] == '|' && rest != "|"
}

// add takes in a successor. A superseded event may keep its next as a record; it
// counts nowhere.
func (l *link) add(n *Event) {
	if n.has(flagSuperseded) || l.e.has(flagSuperseded) {
		return
	}
	if l.next == nil {
		l.next = make([]*Event, 0, strings.Count(l.ids, "|")+1)
	}
	n.setFlag(flagLinked, true)
	l.next = append(l.next, n)
}

// enter puts the event into its topic and its thread. Most events have the topic of the one
// before, and many its thread.
func (p *parser) enter(e *Event, topic string) {
	if len(p.s.spare) == 0 {
		p.s.spare = make([]thread, p.chunk())
	}
	if p.last != nil && p.last.topic.name == topic {
		e.topic = p.last.topic
	} else {
		e.topic = p.s.topic(topic)
	}
	p.s.enterThread(e)
	p.last = e
}

// resolve links the events and builds the indexes.
func (p *parser) resolve() {
	for _, l := range p.forward {
		if l.e.prev = p.s.Event(l.ids); l.e.prev == nil {
			p.fail(l.at, "prev of event %s is %q, which does not exist", l.e.id, l.ids)
		}
	}
	p.refuseCycles()
	p.s.findRoot()
	for i := range p.nexts {
		p.linkNext(&p.nexts[i])
	}
	p.s.tally(len(p.forward) == 0)
	p.s.unsettled = p.s.needsSettling()
}

// linkNext resolves what is left of an attribute next.
func (p *parser) linkNext(l *link) {
	e, n := l.e, l.e
	for id := range eachID(l.ids) {
		n = p.lookUp(id, n)
		switch {
		case n == nil:
			p.fail(l.at, "next of event %s has %q, which does not exist", e.id, id)
		case n.prev != e:
			p.fail(l.at, "next of event %s has %s, but the prev of %s is not %s", e.id, id, id, e.id)
		case n.has(flagLinked):
			p.fail(l.at, "next of event %s has %s twice", e.id, id)
		}
		l.add(n)
	}
	p.s.setNext(e, l.next)
}

// eachID yields the ids in an attribute next.
func eachID(ids string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if ids == "" {
			return
		}
		for id := range strings.SplitSeq(ids, "|") {
			if !yield(strings.TrimSpace(id)) {
				return
			}
		}
	}
}

// lookUp finds an event that most often stands right behind another one.
func (p *parser) lookUp(id string, before *Event) *Event {
	if i := before.pos + 1; int(i) < len(p.s.events) && p.s.events[i].id == id {
		return p.s.events[i]
	}
	return p.s.Event(id)
}

// refuseCycles follows each chain of prev until it meets one already followed. A
// cycle has a prev that points forward. next needs no check of its own, since it
// must agree with prev.
func (p *parser) refuseCycles() {
	if len(p.forward) == 0 {
		return
	}
	mark := make([]int32, len(p.s.events)) // 0: not seen; else the walk that came by
	for i, l := range p.forward {
		walk := int32(i + 1)
		e := l.e
		for ; e != nil && mark[e.pos] == 0; e = e.prev {
			mark[e.pos] = walk
		}
		if e != nil && mark[e.pos] == walk {
			p.failCycle(e, mark)
		}
	}
}

// failCycle blames the first prev that closes the cycle around e.
func (p *parser) failCycle(e *Event, mark []int32) {
	const inCycle = -1
	for ; mark[e.pos] != inCycle; e = e.prev {
		mark[e.pos] = inCycle
	}
	for _, l := range p.forward {
		if mark[l.e.pos] == inCycle {
			p.fail(l.at, "event %s is its own predecessor", l.e.id)
		}
	}
}
