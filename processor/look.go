package processor

import (
	"context"

	"github.com/leasestream/leasestream/scope"
)

// Scope is the scope that the processor works with.
func (p *Processor) Scope() *scope.Scope { return p.scope }

// Look returns what List says of a run, wherever it lies, at the price of one
// request as a rule: the document is read only if its blob has no metadata of
// ours. ErrNoRun if there is none.
func (p *Processor) Look(ctx context.Context, name string) (RunInfo, error) {
	blob, err := p.find(ctx, name)
	if err != nil {
		return RunInfo{}, err
	}
	return p.runInfo(ctx, name, blob)
}
