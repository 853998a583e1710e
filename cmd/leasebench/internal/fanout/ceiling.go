package fanout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	text := events(slices.Max(append(sizes, 1)) + shifts)
	began := time.Now()
	for i, size := range sizes {
		at := i % shifts // all that follows an edit moves
		info, err = st.Put(ctx, blob, text[at:at+size], &store.PutOptions{
			Conditions: store.Conditions{LeaseID: id, IfMatch: info.ETag},
			Metadata:   bareMetadata,
		})
		if err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// shifts is how many places a body may begin at.
const shifts = 64

// events are lines like those of the document of a run, as many bytes long or a
// little longer: a store that packs what it keeps packs them as well.
func events(size int) []byte {
	var b bytes.Buffer
	b.Grow(size + 1<<10)
	for i := 0; b.Len() < size; i++ {
		at := time.Unix(1764487931, int64(i/64)*3_700_000).UTC().Format("2006-01-02T15:04:05.000Z")
		fmt.Fprintf(&b, `<Event id="%02d.00" name="Work" topic="Work" status="completed" prev="00" trackingId="e2e0205a-2848-42c5-8067-1f094aa64d48"`+
			` created="2026-11-30T17:02:08.633Z" timestamp=%q key="leasebench-9b2e4f6a" started=%q attempt="1">`+
			`<Input>{"n":%d,"pad":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}</Input><Output>%d</Output></Event>`+"\n", i, at, at, i, i)
	}
	return b.Bytes()
}
