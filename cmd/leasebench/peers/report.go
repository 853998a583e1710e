package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/fanout"
	"github.com/leasestream/leasestream/cmd/leasebench/internal/measure"
)

// report is what peers prints.
type report struct {
	Bench   string          `json:"bench"`
	Machine measure.Machine `json:"machine"`
	N       int             `json:"n"`
	Rounds  int             `json:"rounds"`
	Rows    []*row          `json:"rows"`
	// RatioToBest is the rate of leasestream over that of the fastest other one whose
	// results were right; 0 if there is none.
	RatioToBest float64 `json:"ratio_to_best"`
}

// row has the medians of one contender.
type row struct {
	Name string `json:"name"`
	N    int    `json:"n"`
	round
	Setting string `json:"setting"`
	Pragmas string `json:"pragmas"`

	rounds []round
}

// round has the figures of one job.
type round struct {
	JobsPerS float64 `json:"jobs_per_s"`
	WallS    float64 `json:"wall_s"`
	RSSMB    float64 `json:"rss_mb"` // at most, of the process, in 10⁶ bytes
	OK       bool    `json:"ok"`     // the sum was right, in this round and all before
}

// compare has all contenders that take part do the job, in turns.
func compare(ctx context.Context, o *options, stderr io.Writer) (*report, error) {
	r := &report{Bench: "peers", N: o.n, Rounds: o.rounds}
	for _, c := range contenders {
		if o.picks(c.name) && (c.name != "asynq" || o.redis != "" && answers(ctx, o.redis)) {
			r.Rows = append(r.Rows, &row{Name: c.name, N: o.n, Setting: c.setting})
		}
	}
	if len(r.Rows) == 0 {
		return nil, errors.New("nobody takes part")
	}
	var err error
	if r.Machine, err = measure.ThisMachine(os.TempDir()); err != nil {
		return nil, err
	}
	for range o.rounds {
		for _, row := range r.Rows {
			row.measure(ctx, o, stderr)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
		}
	}
	r.conclude()
	return r, nil
}

// measure runs one round. A contender that fails is one whose result is wrong.
func (w *row) measure(ctx context.Context, o *options, stderr io.Writer) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("it took more than %v", o.timeout))
	defer cancel()
	res, err := spawn(ctx, job{Name: w.Name, N: w.N, Redis: o.redis}, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "peers: %s: %v\n", w.Name, err)
		w.rounds = append(w.rounds, round{})
		return
	}
	w.Pragmas = res.Pragmas
	w.rounds = append(w.rounds, round{
		JobsPerS: measure.Ratio(float64(w.N), res.Wall.Seconds()),
		WallS:    measure.Short(res.Wall.Seconds()),
		RSSMB:    measure.Short(float64(res.Peak) / 1e6),
		OK:       res.Sum == fanout.Sum(w.N),
	})
}

// conclude makes the medians, and compares.
func (r *report) conclude() {
	own, best := 0.0, 0.0
	for _, row := range r.Rows {
		row.round = measure.Medians(row.rounds)
		row.OK = allOK(row.rounds)
		switch {
		case row.Name == ours:
			own = row.JobsPerS
		case row.OK:
			best = max(best, row.JobsPerS)
		}
	}
	r.RatioToBest = measure.Ratio(own, best)
}

func allOK(rounds []round) bool {
	for _, r := range rounds {
		if !r.OK {
			return false
		}
	}
	return true
}

func (r *report) write(out io.Writer, format string) error {
	if format == "json" {
		return json.NewEncoder(out).Encode(r)
	}
	m := r.Machine
	fmt.Fprintf(out, "%s/%s, %d CPUs, %s, load %.2f, fsync %.3g ms\n", m.OS, m.Arch, m.CPUs, m.Go, m.Load, m.FsyncMS)
	fmt.Fprintf(out, "%d jobs, medians of %d rounds\n\n", r.N, r.Rounds)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tJOBS/S\tWALL S\tRSS MB\tOK\tPRAGMAS\tSETTING")
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%s\t%.0f\t%.3g\t%.3g\t%t\t%s\t%s\n", row.Name, row.JobsPerS, row.WallS, row.RSSMB, row.OK, row.Pragmas, row.Setting)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\nleasestream does %.3g times the jobs of the best other one\n", r.RatioToBest)
	return err
}
