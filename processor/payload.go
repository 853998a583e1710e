package processor

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/scope/store"
)

// ErrPayload is matched when a payload's blob is missing, or is not what the
// stream says it is.
var ErrPayload = errors.New("payload cannot be read")

const (
	// MaxPayload is the size of the largest payload, in bytes of JSON: one input, one
	// output, one message of a split. It is a quarter of what the driver that takes
	// least takes as one blob, and handlers have a payload in memory as a whole.
	MaxPayload = 64 << 20
	// MaxOutcome is how much all messages of one split may have together, in bytes of
	// JSON.
	MaxOutcome = 256 << 20
)

const (
	// inlineLimit is the size in bytes over which a payload gets a blob of its own
	// (claim check), inlineLimitWide the one in a document beyond wideDocument:
	// every commit writes the whole document.
	inlineLimit     = 4 << 10
	inlineLimitWide = 256
	wideDocument    = 1 << 20
)

// payloads writes the payloads of one event.
type payloads struct {
	p        *Processor
	run      string
	event    string
	document int // bytes of the stream's document
}

// payloadKind tells apart the blobs of an event.
type payloadKind string

const (
	inputKind  payloadKind = "in"
	outputKind payloadKind = "out"
)

func (k payloadKind) text() string { return string(k) + "put" }

// put makes a payload of JSON, in a blob of its own if it is large; nil for none.
// Only the reference in the document finds that blob, so an attempt that comes to
// nothing overwrites nothing.
func (w *payloads) put(ctx context.Context, kind payloadKind, data json.RawMessage) (*eventstream.Payload, error) {
	if len(data) == 0 {
		return nil, nil
	}
	if err := w.check(kind, data); err != nil {
		return nil, err
	}
	limit := inlineLimit
	if w.document > wideDocument {
		limit = inlineLimitWide
	}
	if len(data) <= limit {
		return eventstream.JSON(data), nil
	}
	return w.write(ctx, string(kind), "application/json", data)
}

// take is put for what somebody hands in. It must be JSON, of which nobody is sure
// before it has been read from end to end: not what is too large anyway.
func (w *payloads) take(ctx context.Context, kind payloadKind, data json.RawMessage) (*eventstream.Payload, error) {
	if err := w.check(kind, data); err != nil {
		return nil, err
	}
	data, err := encode(data)
	if err != nil {
		return nil, err
	}
	return w.put(ctx, kind, data)
}

func (w *payloads) check(kind payloadKind, data json.RawMessage) error {
	name := func() string { return fmt.Sprintf("%s of event %s", kind.text(), w.event) }
	return w.p.limits.check(name, data)
}

// write makes a payload in a blob of its own.
func (w *payloads) write(ctx context.Context, kind, contentType string, data []byte) (*eventstream.Payload, error) {
	blob := payloadBlob(w.run, w.event, strings.ToLower(rand.Text()[:16]), kind)
	ctx, cancel := context.WithTimeout(ctx, w.p.timing.payloadIO)
	defer cancel()
	_, err := w.p.scope.Store().Put(ctx, blob, data, &store.PutOptions{
		Conditions:  store.Conditions{IfNoneMatch: store.AnyETag},
		ContentType: contentType,
	})
	if err != nil {
		return nil, fmt.Errorf("write payload of event %s: %w", w.event, err)
	}
	sum := sha256.Sum256(data)
	return &eventstream.Payload{Ref: blob, Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}, nil
}

// limits are in bytes of JSON.
type limits struct {
	payload int // of one
	outcome int // of all messages of a split
}

// check refuses a payload that is over the limit, by a name for it.
func (l limits) check(name func() string, data json.RawMessage) error {
	if len(data) <= l.payload {
		return nil
	}
	return tooLarge(name(), len(data), l.payload, "put the data into a file or a blob, and hand on its name")
}

func tooLarge(what string, size, limit int, advice string) error {
	return fmt.Errorf("%s: %w: %d bytes, the limit is %d; %s", what, store.ErrTooLarge, size, limit, advice)
}

// Payload returns the JSON of a payload, read from its blob if it has one, whose
// size and hash are checked. ErrPayload if that is not possible.
func (p *Processor) Payload(ctx context.Context, payload eventstream.Payload) (json.RawMessage, error) {
	if payload.Ref == "" {
		return payload.JSON, nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.timing.payloadIO)
	defer cancel()
	object, err := p.scope.Store().Get(ctx, payload.Ref, nil)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged) {
		return nil, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	if err != nil {
		return nil, err
	}
	if int64(len(object.Body)) != payload.Bytes {
		return nil, fmt.Errorf("%w: blob %q has %d bytes, the stream says %d", ErrPayload, payload.Ref, len(object.Body), payload.Bytes)
	}
	if sum := sha256.Sum256(object.Body); hex.EncodeToString(sum[:]) != payload.SHA256 {
		return nil, fmt.Errorf("%w: the hash of blob %q is not the one in the stream", ErrPayload, payload.Ref)
	}
	return object.Body, nil
}
