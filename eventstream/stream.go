package eventstream

import (
	"fmt"
	"iter"
	"slices"
	"time"
)

// Stream is the state of one run: an Event-Stream document with the indexes to
// work on it. It is changed only inside [Stream.Edit].
//
// A Stream may be read from several goroutines while no edit runs; edits need to
// be alone. A loop over events may change them: those that it has not come to
// yet are yielded, or not, as they are then.
type Stream struct {
	before  string // what stands before the root's start tag
	rootTag string
	attrs   []rootAttr // what it has; replaced as a whole
	after   string     // what stands after the last event
	blank   bool       // nothing is written yet: the document has 0 bytes
	size    int        // bytes of the document

	events []*Event
	blocks blocks
	root   *Event
	byID   idTable
	// Threads without a step 0, by name; only a foreign hand writes such.
	oddThreads map[string]*thread
	spare      []thread
	topics     map[string]*topic

	byStatus   [statusCount]bitset // live events
	timed      bitset              // live events with a wake time
	batches    bitset              // live batch events
	pausedRun  bool                // the root element has paused
	paused     int                 // live events with an attribute paused
	superseded int
	unsettled  bool // a foreign hand left something undone
	loose      bool // live events are not in the next of their prev
	irregular  bool // live events are not where we would have put them

	tx      *edit // the journal while an edit runs, or nil
	journal edit
	epoch   uint32 // counts edits and the savepoints in them
	now     time.Time
	text    string // textOf as it is written
	textOf  time.Time
	stamped stamping // the predecessor that was looked at last
	settled Changes  // what was settled for a foreign hand and not yet told
}

const (
	xmlDeclaration = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
	rootName       = "EventStream"
	eventName      = "Event"
	emptyAfter     = "\n</EventStream>\n"
)

func newStream() *Stream {
	return &Stream{
		before:     xmlDeclaration,
		rootTag:    "<EventStream>",
		after:      emptyAfter,
		byID:       newIDTable(),
		oddThreads: map[string]*thread{},
		topics:     map[string]*topic{},
	}
}

// Start describes a new run.
type Start struct {
	Name       string            // of the stream
	Run        string            // random id of this run
	Pipeline   string            // name of the pipeline; may be empty
	Definition string            // hash of the pipeline's definition; may be empty
	InputHash  string            // hash of the input; may be empty
	Deadline   time.Time         // when the run has to be over; zero: never
	Tags       map[string]string // as CheckTags allows; may be nil
	Attrs      []string          // further attributes of the root element, name and value by turns
	Root       NewEvent          // the first event; its TrackingID is that of all others
}

// New makes the stream of a new run with its root event in status init.
// ErrValue if there is a value that XML cannot carry, ErrTag if there is a tag that
// [CheckTags] refuses.
func New(now time.Time, start Start) (*Stream, error) {
	if err := CheckTags(start.Tags); err != nil {
		return nil, err
	}
	s := newStream()
	s.size = len(s.before) + len(s.rootTag) + len(s.after)
	_, err := s.Edit(now, func() error {
		attrs := []string{"name", start.Name, "run", start.Run, "pipeline", start.Pipeline,
			"definition", start.Definition, "input", start.InputHash, "tags", formatTags(start.Tags)}
		if !start.Deadline.IsZero() {
			attrs = append(attrs, "deadline", FormatTime(start.Deadline))
		}
		if err := s.SetAttrs(append(attrs, start.Attrs...)...); err != nil {
			return err
		}
		_, err := s.AppendRoot(start.Root)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Bytes returns the document.
func (s *Stream) Bytes() []byte { return s.AppendTo(make([]byte, 0, s.Size())) }

// AppendTo appends the document to dst. What was not edited is copied as it was
// read.
func (s *Stream) AppendTo(dst []byte) []byte {
	for text := range s.pieces() {
		dst = append(dst, text...)
	}
	return dst
}

// Pieces returns the document in pieces, which together are Bytes. They do not change
// with the stream, and after [Stream.Compact] they are few: to keep a document as it
// is now costs less than a copy of it.
func (s *Stream) Pieces() []string {
	return slices.AppendSeq(make([]string, 0, len(s.blocks)+3), s.pieces())
}

// pieces yields the document from its beginning to its end.
func (s *Stream) pieces() iter.Seq[string] {
	return func(yield func(string) bool) {
		if s.blank || !yield(s.before) || !yield(s.rootTag) {
			return
		}
		for from := 0; from < len(s.events); from += blockEvents {
			if text := s.blocks.at(from); text != "" {
				if !yield(text) {
					return
				}
				continue
			}
			for _, e := range s.events[from:s.blockEnd(from)] {
				if !yield(e.pre) || !yield(e.raw) {
					return
				}
			}
		}
		yield(s.after)
	}
}

// Size is the length of the document in bytes.
func (s *Stream) Size() int {
	if s.blank {
		return 0
	}
	return s.size
}

// Attr returns an attribute of the root element; "" if it is missing.
func (s *Stream) Attr(name string) string {
	for i := range s.attrs {
		if a := &s.attrs[i]; a.name == name {
			return a.value
		}
	}
	return ""
}

// rootAttr is an attribute of the root element, unescaped. Every edit asks for a few
// of them, and few edits change one.
type rootAttr struct{ name, value string }

// Attrs yields the attributes of the root element in the order of the document.
func (s *Stream) Attrs() iter.Seq2[string, string] {
	attrs := s.attrs
	return func(yield func(string, string) bool) {
		for _, a := range attrs {
			if !yield(a.name, a.value) {
				return
			}
		}
	}
}

// Name is the name of the stream.
func (s *Stream) Name() string { return s.Attr("name") }

// Run is the random id of this run.
func (s *Stream) Run() string { return s.Attr("run") }

// Len is the number of events, superseded ones included.
func (s *Stream) Len() int { return len(s.events) }

// Root is the event with which the run begins and ends: 00, or in a document
// that has none, the first event without prev. It is nil in an empty stream.
func (s *Stream) Root() *Event { return s.root }

// Event returns the event with the given id, or nil.
func (s *Stream) Event(id string) *Event { return s.byID.find(id, s.events) }

// At returns the event at place i of the document, from 0. It panics if there is
// none.
func (s *Stream) At(i int) *Event { return s.events[i] }

// Events yields all events in the order of the document, superseded ones
// included.
func (s *Stream) Events() iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		for _, e := range s.events {
			if !yield(e) {
				return
			}
		}
	}
}

// ByStatus yields the live events of a status in the order of the document, from
// the index.
func (s *Stream) ByStatus(status Status) iter.Seq[*Event] {
	return s.members(&s.byStatus[status], 0)
}

// Batches yields the live batch events in the order of the document, from the
// index.
func (s *Stream) Batches() iter.Seq[*Event] { return s.members(&s.batches, 0) }

func (s *Stream) members(set *bitset, from int) iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		for i := set.next(from); i >= 0; i = set.next(i + 1) {
			if !yield(s.events[i]) {
				return
			}
		}
	}
}

// String names the stream in messages.
func (s *Stream) String() string {
	return fmt.Sprintf("event-stream %q with %d events", s.Name(), len(s.events))
}
