package fanout

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/leasestream/leasestream/cmd/internal/wire"
	"github.com/leasestream/leasestream/cmd/leasebench/internal/measure"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// Round has the figures of one fan-out.
type Round struct {
	// OK: the aggregator's sum is right.
	OK       bool    `json:"ok"`
	WallS    float64 `json:"wall_s"`
	JobsPerS float64 `json:"jobs_per_s"`
	// Requests and bytes are those of all processes, what workers need for
	// themselves included.
	RequestsPerJob float64 `json:"requests_per_job"`
	WrittenPerJob  float64 `json:"written_bytes_per_job"`
	ReadPerJob     float64 `json:"read_bytes_per_job"`
	Edits          float64 `json:"edits"`
	Commits        float64 `json:"commits"`
	EditsPerCommit float64 `json:"edits_per_commit"`
	// JoinMS is the time from the end of the last branch's handler to the call of
	// the aggregator's.
	JoinMS float64 `json:"join_ms"`
	// PeakMB is the most memory that one of the processes had resident, in 10⁶ bytes;
	// 0 where the system does not tell.
	PeakMB float64 `json:"peak_mb"`
	// Busiest and Idlest are how many branches those processes handled.
	Busiest float64 `json:"busiest_jobs"`
	Idlest  float64 `json:"idlest_jobs"`
	// LongestWaitMS is the longest wait of an edit for its turn, in any process.
	LongestWaitMS float64 `json:"longest_wait_ms"`
	// CeilingS is how long the store takes for as many commits of the same sizes and
	// nothing else, and CeilingJobsPerS what the rate could be at most. Share is our
	// part of it.
	CeilingS        float64 `json:"ceiling_s"`
	CeilingJobsPerS float64 `json:"ceiling_jobs_per_s"`
	Share           float64 `json:"share_of_ceiling"`
}

// Measure runs one fan-out with so many processes, and the ceiling after it. It
// leaves nothing of them in the store.
func Measure(ctx context.Context, c Config, processes int, program Program) (Round, error) {
	s, err := work(ctx, c, processes, program)
	if err != nil {
		return Round{}, err
	}
	st, err := wire.OpenStore(ctx, c.Store, &wire.StoreOptions{Create: true})
	if err != nil {
		return Round{}, err
	}
	bare, err := ceiling(ctx, st, s.total().Requests.Puts)
	return s.round(c.N, bare), errors.Join(err, purge(ctx, st, c.Name), st.Close())
}

func purge(ctx context.Context, st store.Store, name string) error {
	sc := scope.New(st, nil)
	_, err := processor.New(sc, nil).Purge(ctx, name)
	if errors.Is(err, processor.ErrNoRun) { // a store in memory went with its process
		err = nil
	}
	return errors.Join(err, sc.Close())
}

// total is what all processes did together: sums, and the highest of what cannot
// be added.
func (s *story) total() Report {
	t := Report{}
	for _, r := range s.reports {
		t.Jobs += r.Jobs
		t.Edits += r.Edits
		t.Commits += r.Commits
		t.LongestWait = max(t.LongestWait, r.LongestWait)
		t.Peak = max(t.Peak, r.Peak)
		t.LastBranch = max(t.LastBranch, r.LastBranch)
		t.Aggregator = max(t.Aggregator, r.Aggregator)
		t.Requests.Requests += r.Requests.Requests
		t.Requests.Written += r.Requests.Written
		t.Requests.Read += r.Requests.Read
		t.Requests.Puts = append(t.Requests.Puts, r.Requests.Puts...)
	}
	return t
}

// round makes the figures of a fan-out into n branches, whose commits the store
// alone took bare time for.
func (s *story) round(n int, bare time.Duration) Round {
	t := s.total()
	wall := time.Duration(s.ended - s.started)
	return Round{
		OK:              s.sum == Sum(n),
		WallS:           measure.Short(wall.Seconds()),
		JobsPerS:        rate(n, wall),
		RequestsPerJob:  perJob(t.Requests.Requests, n),
		WrittenPerJob:   perJob(t.Requests.Written, n),
		ReadPerJob:      perJob(t.Requests.Read, n),
		Edits:           float64(t.Edits),
		Commits:         float64(t.Commits),
		EditsPerCommit:  measure.Ratio(float64(t.Edits), float64(t.Commits)),
		JoinMS:          measure.Milliseconds(time.Duration(t.Aggregator - t.LastBranch)),
		PeakMB:          measure.Short(float64(t.Peak) / 1e6),
		Busiest:         float64(slices.MaxFunc(s.reports, byJobs).Jobs),
		Idlest:          float64(slices.MinFunc(s.reports, byJobs).Jobs),
		LongestWaitMS:   measure.Milliseconds(t.LongestWait),
		CeilingS:        measure.Short(bare.Seconds()),
		CeilingJobsPerS: rate(n, bare),
		Share:           measure.Ratio(bare.Seconds(), wall.Seconds()),
	}
}

func byJobs(a, b Report) int { return cmp.Compare(a.Jobs, b.Jobs) }

func rate(n int, d time.Duration) float64 { return measure.Ratio(float64(n), d.Seconds()) }

func perJob(v int64, n int) float64 { return measure.Ratio(float64(v), float64(n)) }
