package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// A few requests tell how long they take: reads of the blob, and, since a local
// store has to bring each write to the disk, writes.
const (
	manyReads  = 20
	manyWrites = 5
	slowRead   = 500 * time.Millisecond
	slowWrite  = 100 * time.Millisecond
)

// latency measures round trips, and on the way what the store's clock says.
func (s *specimen) latency(ctx context.Context) {
	reads, err := timed(manyReads, func() error {
		sent := time.Now()
		info, err := s.Store.Stat(ctx, s.name, nil)
		if err == nil {
			s.dates = append(s.dates, dated{sent, time.Now(), info.Date})
		}
		return err
	})
	if err != nil {
		s.failed(ctx, "latency", err, "")
		return
	}
	s.tell(s.pace("latency", "a request", reads, slowRead, "work nearer to the store: an edit takes several requests"))
	if !store.IsLocal(s.Store) {
		return
	}
	writes, err := timed(manyWrites, func() error {
		_, err := s.Store.Put(ctx, s.name, nil, nil)
		return err
	})
	if err != nil {
		s.failed(ctx, "fsync", err, "")
		return
	}
	s.tell(s.pace("fsync", "a durable write", writes, slowWrite, "put the file on a faster disk"))
}

// timed returns how long each of n calls took, in order of length.
func timed(n int, call func() error) ([]time.Duration, error) {
	took := make([]time.Duration, n)
	for i := range took {
		begin := time.Now()
		if err := call(); err != nil {
			return nil, err
		}
		took[i] = time.Since(begin)
	}
	slices.Sort(took)
	return took, nil
}

func (s *specimen) pace(check, what string, took []time.Duration, slow time.Duration, remedy string) Finding {
	median, p99 := took[len(took)/2], took[len(took)*99/100]
	f := Finding{OK, check, fmt.Sprintf("%s takes %v (median), %v (p99 of %d)", what, rounded(median), rounded(p99), len(took)), ""}
	if median > slow {
		f.Verdict, f.Remedy = Warn, remedy
	}
	return f
}

// rounded keeps two digits or so.
func rounded(d time.Duration) time.Duration {
	for unit := time.Second; unit > time.Microsecond; unit /= 10 {
		if d.Abs() >= unit {
			return d.Round(unit / 10)
		}
	}
	return d.Round(time.Microsecond)
}
