package processor

import (
	"context"

	"github.com/leasestream/leasestream/eventstream"
)

// SetLimits makes the limits of payloads ones that tests reach with less work. It
// comes before all else.
func (p *Processor) SetLimits(payload, outcome int) { p.limits = limits{payload, outcome} }

// SetWide makes splits wide that have more branches than this, or more bytes of
// messages, and so brings wide splits within the reach of tests.
func (p *Processor) SetWide(branches, bytes int) { p.wide = wideLimits{branches, bytes} }

// Report tells the parent of a child stream that the child, as it was open for an
// attempt of its batch event, has completed with so many branches.
func (p *Processor) Report(ctx context.Context, doc string, attempt, ok, failed int) error {
	return p.report(ctx, doc, &report{status: eventstream.Completed, ok: ok, failed: failed, attempt: attempt})
}

// CancelChild cancels a child stream because its batch event has ended in an
// attempt.
func (p *Processor) CancelChild(ctx context.Context, doc string, attempt int) error {
	return p.align(ctx, doc, wish{attempt: attempt, cancel: true})
}
