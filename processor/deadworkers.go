package processor

import (
	"context"
	"strings"

	"github.com/leasestream/leasestream/scope/store"
)

// collectWorkers removes the blobs of dead workers and, a day after it was written
// last, what lies beside them. As long as a worker's blob is there, nothing of it
// goes.
func (p *Processor) collectWorkers(ctx context.Context) error {
	before := p.scope.Now().Add(-garbageAge)
	there := map[string]bool{} // :: blob of a worker
	var beside []*store.Info
	var bad troubles
	for info, err := range p.scope.Store().List(ctx, workerPrefix) {
		if err != nil {
			bad.add(err)
			return bad.err()
		}
		_, isWorker := workerOf(info.Name)
		switch old := info.LastModified.Before(before); {
		case !isWorker && old && isBeside(info.Name):
			beside = append(beside, info)
		case isWorker && (!old || info.Lease.State.Locked()):
			there[info.Name] = true
		case isWorker:
			// Without a lease ID it goes only if nobody has the lease.
			there[info.Name], err = p.collect(ctx, info)
			bad.add(err)
		}
	}
	bad.add(p.collectBeside(ctx, beside, there))
	return bad.err()
}

// collectBeside removes the settings and logs of workers that are gone.
func (p *Processor) collectBeside(ctx context.Context, blobs []*store.Info, there map[string]bool) error {
	var bad troubles
	for _, info := range blobs {
		if !there[besideOf(info.Name)] {
			_, err := p.collect(ctx, info)
			bad.add(err)
		}
	}
	return bad.err()
}

// besideOf is the blob of the worker that a setting or log belongs to.
func besideOf(blob string) string {
	return strings.TrimSuffix(strings.TrimSuffix(blob, settingsSuffix), logSuffix)
}

// isBeside reports whether a blob lies beside a worker's, and is not somebody else's.
func isBeside(blob string) bool {
	_, ok := workerOf(besideOf(blob))
	return ok
}

// collect removes a blob unless it has changed since it was listed, or somebody
// has its lease: then it is still there, as it is after an error.
func (p *Processor) collect(ctx context.Context, info *store.Info) (there bool, err error) {
	err = p.scope.Store().Delete(ctx, info.Name, &store.Conditions{IfMatch: info.ETag})
	if isChanged(err) {
		return true, nil
	}
	return err != nil, err
}
