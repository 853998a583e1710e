// Package bus is the seam for doorbells: messages that say "event E of stream S
// waits for step T".
//
// A doorbell only saves waiting. The stream is the truth, and every worker polls,
// so a doorbell that is lost, doubled, late or out of order does no harm.
package bus

import "context"

// Doorbell says that an event waits for a step. With an empty Step it says less:
// the stream has changed in some way, have a look.
type Doorbell struct {
	Stream string `json:"stream"`
	Event  string `json:"event"`
	Step   string `json:"step"`
}

// Bus carries doorbells between workers. All methods may be called concurrently.
type Bus interface {
	// Ring sends doorbells, each to one or more listeners for its step, and one
	// without a step to every listener. It is no error if nobody listens. Ring does
	// not wait for listeners; an error means that some doorbells may be lost. The
	// slice stays the caller's.
	Ring(ctx context.Context, bells ...Doorbell) error

	// Listen calls f for each doorbell of one of the steps, and for each without a
	// step, until ctx ends, and returns nil then. f is called from one goroutine at
	// a time and must not block: what it does not take in time may be dropped.
	// Listen returns an error when no more doorbells can come; the caller may
	// listen again.
	Listen(ctx context.Context, steps []string, f func(Doorbell)) error

	// Close ends all listening on this bus, with an error, and frees what the bus
	// holds. A closed bus rings no more. Closing it again does nothing.
	Close() error
}
