package eventstream

import (
	"cmp"
	"fmt"
	"strings"
)

// birth is what new events with the same predecessor have in common.
type birth struct {
	prev              *Event
	created, tracking string
}

func (s *Stream) birthBelow(prev *Event) birth {
	if prev == nil {
		return birth{created: s.nowText()}
	}
	// The time is that of prev when it hands on.
	return birth{prev, s.stampText(prev), prev.Attr("trackingId")}
}

// newEvent makes an event, and changes nothing.
func newEvent(id string, from birth, n NewEvent) (*Event, error) {
	e := &Event{}
	if err := e.create(id, from, n); err != nil {
		return nil, err
	}
	return e, nil
}

// create makes an event of an empty one.
func (e *Event) create(id string, from birth, n NewEvent) error {
	if err := CheckID(id); err != nil {
		return err
	}
	e.id, e.prev, e.pre = id, from.prev, "\n"
	var room [24]string
	pairs, err := newAttrs(room[:0], e, from, n)
	if err != nil {
		return err
	}
	input := ""
	if n.Input != nil {
		if input, err = n.Input.element("Input"); err != nil {
			return fmt.Errorf("event %s: %w", id, err)
		}
	}
	e.raw, e.tagEnd = newElement(pairs, input)
	for name, value := range eachPair(pairs) {
		_ = e.decode(kindOf(name), value)
	}
	return nil
}

// newAttrs appends the attributes of a new event. What the caller gave is checked.
func newAttrs(attrs []string, e *Event, from birth, n NewEvent) ([]string, error) {
	due := formatOptional(n.Due)
	for name, value := range eachPair([]string{"name", n.Name, "topic", n.Topic, "trackingId", n.TrackingID, "due", due}) {
		if err := checkEventAttr(name, value); err != nil {
			return nil, fmt.Errorf("event %s: attribute %s: %w", e.id, name, err)
		}
	}
	changes, err := checkPairs(nil, e, n.Attrs)
	if err != nil {
		return nil, err
	}
	attrs = append(attrs, "id", e.id, "name", n.Name, "topic", topicName(n.Topic, n.Name), "status", Init.String())
	if e.prev != nil {
		attrs = append(attrs, "prev", e.prev.id)
	}
	if tracking := cmp.Or(n.TrackingID, from.tracking); tracking != "" {
		attrs = append(attrs, "trackingId", tracking)
	}
	attrs = append(attrs, "created", from.created, "timestamp", from.created)
	if due != "" {
		attrs = append(attrs, "due", due)
	}
	for _, c := range changes {
		attrs = setPair(attrs, c.name, c.value)
	}
	return attrs, nil
}

func setPair(pairs []string, name, value string) []string {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] == name {
			pairs[i+1] = value
			return pairs
		}
	}
	return append(pairs, name, value)
}

// newElement writes the element of a new event.
func newElement(pairs []string, input string) (raw string, tagEnd int32) {
	var b strings.Builder
	size := 2*len(eventName) + len("<></>") + len(input)
	for name, value := range eachPair(pairs) {
		size += len(name) + len(value) + len(` =""`)
	}
	b.Grow(size)
	b.WriteString("<" + eventName)
	for name, value := range eachPair(pairs) {
		writeAttr(&b, name, value)
	}
	if input == "" {
		b.WriteString("/>")
		return b.String(), int32(b.Len())
	}
	b.WriteByte('>')
	tagEnd = int32(b.Len())
	b.WriteString(input)
	b.WriteString("</" + eventName + ">")
	return b.String(), tagEnd
}

// insert puts a new event at the end of the document; it is not yet in the next
// of its prev.
func (s *Stream) insert(e *Event) {
	e.topic = s.topic(topicName(e.Attr("topic"), e.Attr("name")))
	s.openRoot()
	s.size += len(e.pre) + len(e.raw)
	s.enter(e)
}

// enter takes the last event of the document into the stream.
func (s *Stream) enter(e *Event) {
	e.epoch = s.epoch
	s.enterThread(e)
	e.updateWake()
	e.pos = int32(len(s.events))
	s.events = append(s.events, e)
	s.blocks.open(e)
	s.byID.add(e, s.events)
	s.index(e)
}

// openRoot gives a root element that was written as empty a place for events,
// and each event a line of its own.
func (s *Stream) openRoot() {
	s.write()
	s.size -= len(s.rootTag) + len(s.after)
	if tag, ok := strings.CutSuffix(s.rootTag, "/>"); ok {
		s.rootTag = tag + ">"
		s.after = "</" + rootName + ">" + s.after
	}
	if strings.HasPrefix(s.after, "</") {
		s.after = "\n" + s.after
	}
	s.size += len(s.rootTag) + len(s.after)
}
