package eventstream

import (
	"fmt"
	"strings"
)

// newEvent makes an event, and changes nothing.
func (s *Stream) newEvent(id string, prev *Event, n NewEvent) (*Event, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	e := &Event{id: id, prev: prev, pre: "\n"}
	pairs, err := s.newAttrs(e, n)
	if err != nil {
		return nil, err
	}
	input := ""
	if n.Input != nil {
		if input, err = n.Input.element("Input"); err != nil {
			return nil, fmt.Errorf("event %s: %w", id, err)
		}
	}
	e.raw, e.tagEnd = newElement(pairs, input)
	for name, value := range eachPair(pairs) {
		_ = e.decode(kindOf(name), value)
	}
	return e, nil
}

// newAttrs are the attributes of a new event, checked.
func (s *Stream) newAttrs(e *Event, n NewEvent) ([]string, error) {
	now, tracking := s.stamp(e), n.TrackingID
	attrs := []string{"id", e.id, "name", n.Name, "topic", topicName(n.Topic, n.Name), "status", Init.String()}
	if e.prev != nil {
		now = s.stamp(e.prev) // that of prev when it hands on
		attrs = append(attrs, "prev", e.prev.id)
		if tracking == "" {
			tracking = e.prev.Attr("trackingId")
		}
	}
	if tracking != "" {
		attrs = append(attrs, "trackingId", tracking)
	}
	attrs = append(attrs, "created", FormatTime(now), "timestamp", FormatTime(now))
	if !n.Due.IsZero() {
		attrs = append(attrs, "due", FormatTime(n.Due))
	}
	changes, err := checkPairs(e, n.Attrs)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		attrs = setPair(attrs, c.name, c.value)
	}
	for name, value := range eachPair(attrs) {
		if err := checkEventAttr(name, value); err != nil {
			return nil, fmt.Errorf("event %s: attribute %s: %w", e.id, name, err)
		}
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
	e.epoch = s.epoch
	e.topic = s.topic(topicName(e.Attr("topic"), e.Attr("name")))
	s.openRoot()
	s.enterThread(e)
	s.size += len(e.pre) + len(e.raw)
	e.updateWake()
	e.pos = int32(len(s.events))
	s.events = append(s.events, e)
	s.byID[e.id] = e
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
