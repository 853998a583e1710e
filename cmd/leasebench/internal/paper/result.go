package paper

import "time"

// Result is how a fan-out went.
type Result struct {
	Workers, N int
	Wall       time.Duration // from before the run is created until its end is stored
	Bill       Bill          // for the run, with what idle workers asked for meanwhile
}

// JobsPerSecond is the rate of branches.
func (r Result) JobsPerSecond() float64 { return float64(r.N) / r.Wall.Seconds() }

// CostPerMillion is what a million jobs cost in US dollars, at this rate of requests
// per job.
func (r Result) CostPerMillion(a Azure) float64 { return a.Cost(r.Bill) / float64(r.N) * 1e6 }

// Knee is the number of workers beyond which the rate grows by less than half of the
// factor that their number grows by. The results are of one N, by rising number of
// workers.
func Knee(results []Result) int {
	for i, r := range results[1:] {
		before := results[i]
		workers := float64(r.Workers) / float64(before.Workers)
		if r.JobsPerSecond()/before.JobsPerSecond() < workers/2 {
			return before.Workers
		}
	}
	return results[len(results)-1].Workers
}

// Extrapolate tells how times as many branches would go if each took the time and
// the requests that it took in r. A guess, to be marked as such.
func (r Result) Extrapolate(times int) Result {
	more := int64(times)
	return Result{
		Workers: r.Workers,
		N:       r.N * times,
		Wall:    r.Wall * time.Duration(times),
		Bill: Bill{
			Writes:    r.Bill.Writes * more,
			Reads:     r.Bill.Reads * more,
			Others:    r.Bill.Others * more,
			Free:      r.Bill.Free * more,
			Throttled: r.Bill.Throttled * more,
		},
	}
}
