package processor

import "time"

// maxRest is the longest time for which a stream is left alone that promised work
// and had none.
const maxRest = 30 * time.Second

// rests remembers streams that seemed to have work and gave none: they cannot be
// read, or what waits in them is for somebody else. As long as they stay as they
// are they are looked at ever less often; a claim for nothing is a lease taken for
// nothing. It belongs to one goroutine.
type rests struct {
	first, longest time.Duration
	streams        map[string]*rest
}

type rest struct {
	etag  string // of the stream when it was listed last
	until time.Time
	wait  time.Duration // 0: it does not rest
}

func newRests(first, longest time.Duration) rests {
	return rests{first, longest, map[string]*rest{}}
}

// over reports whether a stream that is listed with this ETag is worth a claim.
func (r *rests) over(name, etag string) bool {
	known := r.streams[name]
	if known == nil || known.etag != etag {
		r.streams[name] = &rest{etag: etag}
		return true
	}
	return !time.Now().Before(known.until)
}

// yield is what a claim of a stream gave.
type yield int

const (
	nothing yield = iota
	limited       // nothing, but only because a step is at the limit of its concurrency in this worker
	some
)

// note takes down what a claim of a stream gave, and reports whether it is the
// first for nothing since the stream was changed.
func (r *rests) note(name string, gave yield) (first bool) {
	known := r.streams[name]
	switch {
	case gave == some:
		delete(r.streams, name)
		return true
	case known == nil:
		return true // it was not listed: a doorbell, which comes once
	}
	first = known.wait == 0
	known.wait = min(max(r.first, 2*known.wait), r.longest)
	if gave == limited {
		known.wait = r.first // a place may become free without any change here
	}
	known.until = time.Now().Add(known.wait)
	return first
}

// forget is for streams that have ended.
func (r *rests) forget(name string) { delete(r.streams, name) }
