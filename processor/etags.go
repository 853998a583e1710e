package processor

import "sync"

// manyETags is how many of the last own writes are remembered: more than are made
// before the storage account tells of them.
const manyETags = 1024

// Wrote reports whether this Processor wrote the blob of a stream with this ETag,
// as one of its last thousand writes, so that news of it is none.
func (p *Processor) Wrote(etag string) bool { return p.wrote.has(etag) }

// etags are the last ones that were added.
type etags struct {
	mu    sync.Mutex // guards the fields below
	known map[string]struct{}
	order []string // a ring
	next  int
}

func (e *etags) add(etag string) {
	if etag == "" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known == nil {
		e.known, e.order = map[string]struct{}{}, make([]string, manyETags)
	}
	if _, ok := e.known[etag]; ok {
		return // edits share an upload
	}
	delete(e.known, e.order[e.next])
	e.order[e.next] = etag
	e.next = (e.next + 1) % manyETags
	e.known[etag] = struct{}{}
}

func (e *etags) has(etag string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.known[etag]
	return ok
}
