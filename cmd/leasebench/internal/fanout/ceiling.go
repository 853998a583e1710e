package fanout

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/leasestream/leasestream/scope/store"
)

// bareMetadata are of the size that those of a stream have.
var bareMetadata = map[string]string{
	"status": "inprocess", "pipeline": "fanout", "input": "9b2e4f6a8c0d1e3f9b2e4f6a8c0d1e3f", "progress": "500/1002",
	"ok": "500", "failed": "0", "ready": "Work:437", "running": "Work:64", "steer": "0",
	"commits": "9b2e4f6a8c0d1e3f:18:1764487931",
}

// ceiling is how long the store takes for commits of these sizes in bytes and
// nothing else: one lease, and Puts one after the other, each under its ID and
// the ETag of what it replaces.
func ceiling(ctx context.Context, st store.Store, sizes []int) (took time.Duration, err error) {
	blob := "leasebench/" + uuid.NewString()
	id := uuid.NewString()
	info, err := st.Put(ctx, blob, nil, nil)
	if err != nil {
		return 0, err
	}
	_, err = st.Lease(ctx, blob, &store.LeaseRequest{Action: store.LeaseAcquire, ID: id, Duration: store.LeaseInfinite})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, st.Delete(ctx, blob, &store.Conditions{LeaseID: id})) }()
	body := noise(slices.Max(append(sizes, 1)))
	began := time.Now()
	for _, size := range sizes {
		copy(body, noise(64)) // no two bodies are the same
		info, err = st.Put(ctx, blob, body[:size], &store.PutOptions{
			Conditions: store.Conditions{LeaseID: id, IfMatch: info.ETag},
			Metadata:   bareMetadata,
		})
		if err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

func noise(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}
