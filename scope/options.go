package scope

import (
	"cmp"
	"crypto/rand"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/leasestream/leasestream/scope/store"
)

// Strategy says how an edit keeps others from writing in between.
type Strategy int

const (
	// Leased edits hold the lease of the blob. Those of other processes wait.
	Leased Strategy = iota
	// Optimistic edits hold nothing and write under the ETag alone. Whoever comes
	// second runs again on what the first one wrote. Blobs that someone else has
	// leased are waited for all the same.
	Optimistic
)

// Options of a Scope; nil means the defaults. Where two defaults are given, the
// first is that of a local store, whose calls take microseconds, and the second
// that of a remote one. The zero value of a field is its default.
type Options struct {
	// Logger is told what an operator may have to act on; nil: nobody.
	Logger *slog.Logger

	// MeterProvider takes the metrics that [Stats] has, and how long leases are
	// waited for and held; nil: there are none, at no cost.
	MeterProvider metric.MeterProvider

	// Writer names this scope in the metadata of what it writes, by which it
	// finds a commit again that was not answered. No two scopes that live may
	// have the same one. Default: random.
	Writer string

	// Strategy of edits.
	Strategy Strategy

	// Lease is how long a lease lasts without a renewal, in whole seconds from
	// 15 s to 60 s. Default: 15 s, 60 s.
	Lease time.Duration
	// RenewEvery is the time between two renewals, less than half of Lease.
	// Default: a third of Lease.
	RenewEvery time.Duration
	// Margin is how much earlier than the store we take a lease for lost, for
	// clocks that run differently and requests that are under way. Default: a
	// fifth of Lease, at least 2 s.
	Margin time.Duration
	// CallTimeout is the longest that one read or write of a document may take.
	// Lease operations are far shorter. Default: 10 s, 60 s.
	CallTimeout time.Duration
	// GiveUp is how long a store that does not answer, or asks to slow down, is
	// asked again before the caller is told. Default: 10 s, 30 s.
	GiveUp time.Duration

	// PollMin and PollMax bound the pauses of a waiter between two looks at a
	// lease that is held. They are random; their range grows from the one to the
	// other. Those who wait for their turn at a stream on a local store use the
	// whole range, and the next in line its first part. Default: 0.25 ms to 5 ms,
	// 10 ms to 1 s.
	PollMin, PollMax time.Duration
	// ArticleWait makes a waiter pause for 750 ms to 2,500 ms, as in the article
	// this library goes back to: few requests, long waits.
	ArticleWait bool

	// MaxHold is how long edits keep a lease while more of them wait, from when the
	// document was read. It doubles each time that nobody else has written since they
	// did last, up to five times that, and is up to as much where the document took so
	// long to read, twice in a row, that less would hardly be worth it. Default: 20 ms,
	// 1 s.
	MaxHold time.Duration
	// Linger is how long edits keep a lease although none waits: the next one is
	// often near. Default: 1 ms, 20 ms.
	Linger time.Duration
	// PauseMin and PauseMax bound the random pause after a release for MaxHold,
	// without which other processes would never find the lease free. Default:
	// 2 ms to 5 ms, 50 ms to 150 ms.
	PauseMin, PauseMax time.Duration
	// Warm is how many streams are kept in memory between edits, so that an edit
	// need not read them if nobody else wrote. Default: 32.
	Warm int
}

// settings are options with all defaults filled in.
type settings struct {
	logger   *slog.Logger
	writer   string
	strategy Strategy

	terms        terms
	call, giveUp time.Duration
	grace        time.Duration // how long a canceled caller waits for an outcome that is near
	poll, retry  waits
	pause        waits
	maxHold      time.Duration
	linger       time.Duration
	warm         int
}

var (
	localDefaults = settings{
		terms:   terms{duration: store.MinLease},
		call:    10 * time.Second,
		giveUp:  10 * time.Second,
		grace:   time.Second,
		poll:    waits{min: 250 * time.Microsecond, max: 5 * time.Millisecond},
		retry:   waits{min: 5 * time.Millisecond, max: 250 * time.Millisecond},
		pause:   waits{min: 2 * time.Millisecond, max: 5 * time.Millisecond, flat: true},
		maxHold: 20 * time.Millisecond,
		linger:  time.Millisecond,
		warm:    32,
	}
	remoteDefaults = settings{
		terms:   terms{duration: time.Minute},
		call:    time.Minute,
		giveUp:  30 * time.Second,
		grace:   2 * time.Second,
		poll:    waits{min: 10 * time.Millisecond, max: time.Second},
		retry:   waits{min: 100 * time.Millisecond, max: 2 * time.Second},
		pause:   waits{min: 50 * time.Millisecond, max: 150 * time.Millisecond, flat: true},
		maxHold: time.Second,
		linger:  20 * time.Millisecond,
		warm:    32,
	}
	articleWait = waits{min: 750 * time.Millisecond, max: 2500 * time.Millisecond, flat: true}
)

func (o *Options) settings(local bool) settings {
	if o == nil {
		o = &Options{}
	}
	d := remoteDefaults
	if local {
		d = localDefaults
	}
	poll := waits{min: cmp.Or(o.PollMin, d.poll.min), max: cmp.Or(o.PollMax, d.poll.max)}
	if o.ArticleWait {
		poll = articleWait
	}
	logger := o.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return settings{
		logger:   logger,
		writer:   o.writer(),
		strategy: o.Strategy,
		terms:    newTerms(cmp.Or(o.Lease, d.terms.duration), o.RenewEvery, o.Margin),
		call:     cmp.Or(o.CallTimeout, d.call),
		giveUp:   cmp.Or(o.GiveUp, d.giveUp),
		grace:    d.grace,
		poll:     poll,
		retry:    d.retry,
		pause:    waits{min: cmp.Or(o.PauseMin, d.pause.min), max: cmp.Or(o.PauseMax, d.pause.max), flat: true},
		maxHold:  cmp.Or(o.MaxHold, d.maxHold),
		linger:   cmp.Or(o.Linger, d.linger),
		warm:     cmp.Or(o.Warm, d.warm),
	}
}

// writer is the name as it stands in the metadata, where blanks and colons part
// the fields.
func (o *Options) writer() string {
	if o.Writer == "" {
		return strings.ToLower(rand.Text()[:10])
	}
	return url.QueryEscape(o.Writer)
}
