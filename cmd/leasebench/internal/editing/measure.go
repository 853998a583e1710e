package editing

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/leasestream/leasestream/cmd/internal/wire"
	"github.com/leasestream/leasestream/cmd/leasebench/internal/measure"
	"github.com/leasestream/leasestream/cmd/leasebench/internal/meter"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// Style is how edits are made.
type Style string

// The styles.
const (
	Article       Style = "article"
	ArticleNoWait Style = "article-nowait"
	Ours          Style = "ours"
)

// Config is what is to be measured.
type Config struct {
	Store   string // URL
	Workers int
	Events  int           // of the document
	Time    time.Duration // of a round
}

// Round has the figures of one style.
type Round struct {
	// OK: every edit that succeeded is in the document once, and no other.
	OK        bool    `json:"ok"`
	EditsPerS float64 `json:"edits_per_s"`
	Edits     float64 `json:"edits"`
	// Waits are those of edits for their turn, from the call until the document can
	// be changed; those of workers that waited in vain at the end are among them.
	WaitP50MS float64 `json:"wait_p50_ms"`
	WaitP95MS float64 `json:"wait_p95_ms"`
	WaitP99MS float64 `json:"wait_p99_ms"`
	WaitMaxMS float64 `json:"wait_max_ms"`
	// RequestsPerEdit are requests to the store.
	RequestsPerEdit float64 `json:"requests_per_edit"`
}

// Measure has the workers edit one document for a while. It leaves nothing in the
// store.
func Measure(ctx context.Context, c Config, style Style) (Round, error) {
	b := &bench{Config: c, blob: "leasebench/" + uuid.NewString()}
	defer b.close()
	st, err := b.open(ctx)
	if err != nil {
		return Round{}, err
	}
	if err := newDocument(ctx, st, b.blob, c.Events); err != nil {
		return Round{}, err
	}
	sc := scope.New(b.meter.Wrap(st), nil)
	editors, err := b.editors(ctx, sc, style)
	if err != nil {
		return Round{}, errors.Join(err, sc.Close())
	}
	h := b.run(ctx, editors)
	requests := b.meter.Counts().Requests
	sum, err := total(ctx, sc, b.blob)
	err = errors.Join(h.err, context.Cause(ctx), err, sc.Close(), st.Delete(context.WithoutCancel(ctx), b.blob, nil))
	if err != nil {
		return Round{}, err
	}
	return h.round(sum, requests), nil
}

// bench is one round: the document and the clients.
type bench struct {
	Config
	blob   string
	meter  meter.Meter
	stores []store.Store
}

// open opens one more client.
func (b *bench) open(ctx context.Context) (store.Store, error) {
	st, err := wire.OpenStore(ctx, b.Store, &wire.StoreOptions{Create: true})
	if err == nil {
		b.stores = append(b.stores, st)
	}
	return st, err
}

func (b *bench) close() {
	for _, st := range b.stores {
		st.Close() // everything that matters is done
	}
}

func (b *bench) editors(ctx context.Context, sc *scope.Scope, style Style) ([]editor, error) {
	editors := make([]editor, b.Workers)
	for i := range editors {
		if style == Ours {
			editors[i] = ours(sc, b.blob, i)
			continue
		}
		st, err := b.open(ctx)
		if err != nil {
			return nil, err
		}
		pause := articlePause
		if style == ArticleNoWait {
			pause = noPause
		}
		editors[i] = article(b.meter.Wrap(st), b.blob, i, pause)
	}
	return editors, nil
}

// history is what happened in a round.
type history struct {
	mu    sync.Mutex // guards the fields below
	took  time.Duration
	edits int // that succeeded in time
	late  int // that succeeded after it
	waits []time.Duration
	err   error
}

// run has the editors work until the time is over.
func (b *bench) run(ctx context.Context, editors []editor) *history {
	h := &history{}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, b.Time)
	defer cancel()
	var workers sync.WaitGroup
	for _, edit := range editors {
		workers.Go(func() {
			for ctx.Err() == nil {
				waited, err := edit(ctx)
				h.note(ctx, waited, err)
				if err != nil {
					cancel() // a round with an error is of no use
				}
			}
		})
	}
	<-ctx.Done()
	h.took = time.Since(began)
	workers.Wait()
	return h
}

func (h *history) note(ctx context.Context, waited time.Duration, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waits = append(h.waits, waited)
	switch {
	case errors.Is(err, errLate):
	case err != nil:
		h.err = errors.Join(h.err, err)
	case ctx.Err() != nil:
		h.late++
	default:
		h.edits++
	}
}

func (h *history) round(sum int, requests int64) Round {
	slices.Sort(h.waits)
	wait := func(p float64) float64 { return measure.Milliseconds(measure.Percentile(h.waits, p)) }
	return Round{
		OK:              sum == h.edits+h.late,
		EditsPerS:       measure.Ratio(float64(h.edits), h.took.Seconds()),
		Edits:           float64(h.edits),
		WaitP50MS:       wait(0.5),
		WaitP95MS:       wait(0.95),
		WaitP99MS:       wait(0.99),
		WaitMaxMS:       wait(1),
		RequestsPerEdit: measure.Ratio(float64(requests), float64(h.edits+h.late)),
	}
}
