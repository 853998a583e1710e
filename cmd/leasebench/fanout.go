package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"text/tabwriter"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/fanout"
	"github.com/leasestream/leasestream/cmd/leasebench/internal/measure"
)

// fanoutCommand are the flags of leasebench fanout. Every combination of n,
// workers and processes is one shape.
type fanoutCommand struct {
	common
	store                 storeFlag
	n, workers, processes []int
	payload               int
	narrow                bool
	profiles              string
}

// fanoutReport is what leasebench fanout prints.
type fanoutReport struct {
	Bench   string          `json:"bench"`
	Machine measure.Machine `json:"machine"`
	Store   string          `json:"store"`
	Payload int             `json:"payload_bytes"`
	Rounds  int             `json:"rounds"`
	Rows    []*fanoutRow    `json:"rows"`
}

// fanoutRow has the medians of one shape.
type fanoutRow struct {
	N         int `json:"n"`
	Workers   int `json:"workers"`
	Processes int `json:"processes"`
	fanout.Round

	rounds []fanout.Round
}

func newFanout() *cobra.Command {
	var f fanoutCommand
	cmd := &cobra.Command{
		Use:   "fanout",
		Short: "Split into branches that do nothing, and add up what comes back",
		Long: `Fanout runs a split into N branches that do nothing, whose results are added up,
and checks the sum. Processes are real ones, each with so many handlers. The
ceiling is what the store takes for as many bare commits of the same sizes.

Lists, as in --n 1000,10000 --processes 1,4, are measured in turns.`,
		Args: cobra.NoArgs,
	}
	f.common.add(cmd, 5)
	f.store.add(cmd)
	cmd.Flags().IntSliceVar(&f.n, "n", []int{1000}, "how many `BRANCHES`")
	cmd.Flags().IntSliceVar(&f.workers, "workers", []int{64}, "how many `HANDLERS` run at a time in each process")
	cmd.Flags().IntSliceVar(&f.processes, "processes", []int{1}, "how many `PROCESSES` share the work")
	cmd.Flags().IntVar(&f.payload, "payload", 64, "`BYTES` of the message of a branch")
	cmd.Flags().BoolVar(&f.narrow, "narrow", false, "keep each split in one document, however many branches it has")
	cmd.Flags().StringVar(&f.profiles, "cpuprofiles", "", "`FOLDER` for the CPU profiles of all processes, which go tool pprof adds up")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd.OutOrStdout()) }
	return cmd
}

func (f *fanoutCommand) run(ctx context.Context, out io.Writer) error {
	report := &fanoutReport{Bench: "fanout", Store: f.store.shown(), Payload: f.payload, Rounds: f.rounds}
	report.Rows = f.rows()
	if err := f.checkRows(report.Rows); err != nil {
		return err
	}
	var err error
	if report.Machine, err = measure.ThisMachine(f.store.folder()); err != nil {
		return err
	}
	for range f.rounds {
		for _, row := range report.Rows {
			if err := f.measure(ctx, row); err != nil {
				return err
			}
		}
	}
	for _, row := range report.Rows {
		row.Round = measure.Medians(row.rounds)
	}
	if f.format == "json" {
		return json.NewEncoder(out).Encode(report)
	}
	return report.write(out)
}

// rows are the shapes, without figures.
func (f *fanoutCommand) rows() []*fanoutRow {
	var rows []*fanoutRow
	for _, n := range f.n {
		for _, p := range f.processes {
			for _, w := range f.workers {
				rows = append(rows, &fanoutRow{N: n, Workers: w, Processes: p})
			}
		}
	}
	return rows
}

func (f *fanoutCommand) checkRows(rows []*fanoutRow) error {
	for _, r := range rows {
		if r.N < 1 || r.Workers < 1 || r.Processes < 1 {
			return errors.New("--n, --workers and --processes: want 1 or more")
		}
		if r.Processes > 1 && f.store.inMemory() {
			return errors.New("--processes: a store in memory is that of one process")
		}
	}
	return nil
}

// measure runs a shape once.
func (f *fanoutCommand) measure(ctx context.Context, row *fanoutRow) error {
	c := fanout.Config{
		Name: "leasebench-" + uuid.NewString(), N: row.N, Workers: row.Workers, Payload: f.payload, Narrow: f.narrow, Profiles: f.profiles,
	}
	return f.store.with(func(url string) error {
		c.Store = url
		round, err := fanout.Measure(ctx, c, row.Processes, again("fanout-process"))
		if err == nil && !round.OK {
			err = fmt.Errorf("the sum of %d branches is wrong", row.N)
		}
		row.rounds = append(row.rounds, round)
		return err
	})
}

func (r *fanoutReport) write(out io.Writer) error {
	if err := writeMachine(out, r.Machine); err != nil {
		return err
	}
	fmt.Fprintf(out, "store: %s; messages of %d bytes; medians of %d rounds\n\n", r.Store, r.Payload, r.Rounds)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "n\tprocesses\twall s\tjobs/s\tceiling jobs/s\tshare\trequests/job\twritten B/job\tread B/job\tedits/commit\tjoin ms\tpeak MB\tbusiest\tidlest\tlongest wait ms\t")
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%d\t%dx%d\t%.4g\t%.0f\t%.0f\t%.2f\t%.3g\t%.4g\t%.4g\t%.3g\t%.3g\t%.3g\t%.0f\t%.0f\t%.3g\t\n",
			row.N, row.Processes, row.Workers, row.WallS, row.JobsPerS, row.CeilingJobsPerS, row.Share, row.RequestsPerJob,
			row.WrittenPerJob, row.ReadPerJob, row.EditsPerCommit, row.JoinMS, row.PeakMB, row.Busiest, row.Idlest, row.LongestWaitMS)
	}
	return w.Flush()
}

// again is this program with other arguments, in a process of its own.
func again(args ...string) func(context.Context) *exec.Cmd {
	return func(ctx context.Context) *exec.Cmd {
		self, err := os.Executable()
		if err != nil {
			self = os.Args[0]
		}
		cmd := exec.CommandContext(ctx, self, args...)
		cmd.Stderr = os.Stderr
		return cmd
	}
}

// newFanoutProcess is the command of the processes that fanout starts.
func newFanoutProcess() *cobra.Command {
	return &cobra.Command{
		Use:    "fanout-process",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return fanout.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}
