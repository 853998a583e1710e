package processor

import (
	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// maxSightings is how many bytes of documents a sweep keeps for the next one.
const maxSightings = 32 << 20

// sightings are what a sweep has seen of the open streams: for the next one, which
// reads only those that were written since.
type sightings struct {
	steered     func(name string) // called for streams of whose handlers some may have to stop
	before, now map[string]sighting
	bytes       int // of the documents of now
}

type sighting struct {
	glance glance
	etag   string              // of what was read
	stream *eventstream.Stream // nil if it was not read, or is too large to be kept
}

func newSightings(steered func(name string)) *sightings {
	return &sightings{steered: steered, now: map[string]sighting{}}
}

// begin starts a sweep; what the one before the last saw is forgotten.
func (s *sightings) begin() {
	s.before, s.now, s.bytes = s.now, make(map[string]sighting, len(s.now)), 0
}

// look takes down what a listing shows of a stream.
func (s *sightings) look(name string, blob *store.Info) {
	g := glanceAt(blob)
	if before, known := s.before[name]; known && g.calls(before.glance) {
		s.steered(name)
	}
	s.now[name] = sighting{glance: g}
}

// unchanged returns a stream as this sweep or the last one read it, if it is still so.
func (s *sightings) unchanged(name, etag string) *eventstream.Stream {
	for _, read := range []sighting{s.now[name], s.before[name]} {
		if read.stream != nil && read.etag == etag {
			s.put(name, etag, read.stream)
			return read.stream
		}
	}
	return nil
}

func (s *sightings) keep(name string, snapshot *scope.Snapshot) {
	s.put(name, snapshot.ETag, snapshot.Stream)
}

// put keeps a stream, if there is room: a large one does not keep small ones out.
func (s *sightings) put(name, etag string, stream *eventstream.Stream) {
	if s.now[name].stream == stream || s.bytes+stream.Size() > maxSightings {
		return
	}
	s.bytes += stream.Size()
	seen := s.now[name]
	seen.etag, seen.stream = etag, stream
	s.now[name] = seen
}
