package fanout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/meter"
	"github.com/leasestream/leasestream/scope/store"
)

// bareMetadata are of the size that those of a stream have.
var bareMetadata = map[string]string{
	"status": "inprocess", "pipeline": "fanout", "input": "9b2e4f6a8c0d1e3f9b2e4f6a8c0d1e3f", "progress": "500/1002",
	"ok": "500", "failed": "0", "ready": "Work:437", "running": "Work:64", "steer": "0",
	"commits": "9b2e4f6a8c0d1e3f:18:1764487931",
}

// ceiling is how long the store takes for these commits and nothing else: a lease of
// each blob, and Puts one after the other, each under its ID and the ETag of what it
// replaces. As many bytes stand in pieces that have changed as in the commits.
func ceiling(ctx context.Context, st store.Store, puts []meter.Put) (took time.Duration, err error) {
	blobs := map[string]*bare{}
	defer func() {
		for _, b := range blobs {
			err = errors.Join(err, b.remove(ctx))
		}
	}()
	largest := 1
	for _, p := range puts {
		largest = max(largest, p.Size)
		if blobs[p.Blob] == nil {
			if blobs[p.Blob], err = newBare(ctx, st); err != nil {
				return 0, err
			}
		}
	}
	text := string(events(largest + shifts))
	began := time.Now()
	for _, p := range puts {
		if err := blobs[p.Blob].commit(ctx, text, p); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// bare is a blob with a lease to which nothing happens but commits.
type bare struct {
	st       store.Store
	name, id string // id is that of the lease
	etag     string
	body     *store.Body
	shift    []int // of the text, by piece
	turn     int   // which piece is the next to change
}

func newBare(ctx context.Context, st store.Store) (*bare, error) {
	b := &bare{st: st, name: "leasebench/" + uuid.NewString(), id: uuid.NewString()}
	info, err := st.Put(ctx, b.name, nil, nil)
	if err != nil {
		return nil, err
	}
	b.etag = info.ETag
	_, err = st.Lease(ctx, b.name, &store.LeaseRequest{Action: store.LeaseAcquire, ID: b.id, Duration: store.LeaseInfinite})
	return b, err
}

func (b *bare) remove(ctx context.Context) error {
	if b == nil {
		return nil
	}
	return b.st.Delete(ctx, b.name, &store.Conditions{LeaseID: b.id})
}

// pieceSize is about that of the pieces of a document, in bytes.
const pieceSize = 26 << 10

// commit writes a body of the size of a commit with as much of it changed.
func (b *bare) commit(ctx context.Context, text string, p meter.Put) error {
	n := (p.Size + pieceSize - 1) / pieceSize
	b.shift = append(b.shift, make([]int, max(0, n-len(b.shift)))...)
	for range (p.Changed + pieceSize/2) / pieceSize {
		b.turn = (b.turn + 1) % n
		b.shift[b.turn] = (b.shift[b.turn] + 1) % shifts
	}
	pieces := make([]string, n)
	for i := range pieces {
		from := i * pieceSize
		to := min(from+pieceSize, p.Size)
		pieces[i] = text[from+b.shift[i] : to+b.shift[i]]
	}
	info, body, err := store.PutPieces(ctx, b.st, b.name, pieces, b.body, &store.PutOptions{
		Conditions: store.Conditions{LeaseID: b.id, IfMatch: b.etag},
		Metadata:   bareMetadata,
	})
	if err != nil {
		return err
	}
	b.etag, b.body = info.ETag, body
	return nil
}

// shifts is how many places of the text a piece may begin at.
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
