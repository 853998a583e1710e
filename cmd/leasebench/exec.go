package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/measure"
	"github.com/leasestream/leasestream/cmd/leasebench/internal/programs"
)

// execCommand are the flags of leasebench exec.
type execCommand struct {
	common
	n, runs, workers int
}

// execReport is what leasebench exec prints: the medians, and the search for
// leaks.
type execReport struct {
	Bench   string          `json:"bench"`
	Machine measure.Machine `json:"machine"`
	Rounds  int             `json:"rounds"`
	Runs    int             `json:"runs"` // of each kind in a round
	Workers int             `json:"workers"`
	programs.Round
	Leak programs.Leak `json:"leak"`
}

func newExec() *cobra.Command {
	var e execCommand
	cmd := &cobra.Command{
		Use:   "exec",
		Short: "Run a program as a step, beside its bare start",
		Long: `Exec runs cat as the exec step of a pipeline, and bare, with the same message, and
compares the times of one run. Then it runs the step many times and looks whether
goroutines, threads or open files become more; if they do, it fails.`,
		Args: cobra.NoArgs,
	}
	e.common.add(cmd, 5)
	cmd.Flags().IntVar(&e.n, "n", 2000, "how many `STEPS` are run in search of a leak")
	cmd.Flags().IntVar(&e.runs, "runs", 500, "how many `RUNS` of each kind a round compares")
	cmd.Flags().IntVar(&e.workers, "workers", 1, "how many `RUNS` go on at a time")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return e.run(cmd.Context(), cmd.OutOrStdout()) }
	return cmd
}

func (e *execCommand) run(ctx context.Context, out io.Writer) error {
	if e.n < 1 || e.runs < 1 || e.workers < 1 {
		return errors.New("--n, --runs and --workers: want 1 or more")
	}
	machine, err := measure.ThisMachine(os.TempDir())
	if err != nil {
		return err
	}
	r := &execReport{Bench: "exec", Machine: machine, Rounds: e.rounds, Runs: e.runs, Workers: e.workers}
	var rounds []programs.Round
	for range e.rounds {
		round, err := programs.Measure(ctx, e.runs, e.workers)
		if err != nil {
			return err
		}
		rounds = append(rounds, round)
	}
	r.Round = measure.Medians(rounds)
	if r.Leak, err = programs.LookForLeak(ctx, e.n, max(e.workers, 8)); err != nil {
		return err
	}
	if err := e.print(r, out); err != nil {
		return err
	}
	if r.Leak.Leaks {
		return errors.New("exec steps leave something behind")
	}
	return nil
}

func (e *execCommand) print(r *execReport, out io.Writer) error {
	if e.format == "json" {
		return json.NewEncoder(out).Encode(r)
	}
	if err := writeMachine(out, r.Machine); err != nil {
		return err
	}
	l := r.Leak
	_, err := fmt.Fprintf(out, `%d runs of cat of each kind, %d at a time; medians of %d rounds

bare start      %.4g µs, %.4g a second
exec step       %.4g µs, %.4g a second
overhead        %.4g µs, %.3g times as long

%d steps        before  half  after
goroutines      %6d  %4d  %5d
threads         %6d  %4d  %5d
open files      %6d  %4d  %5d
`, r.Runs, r.Workers, r.Rounds,
		r.BareUS, r.BareRunsPerS, r.StepUS, r.StepRunsPerS, r.OverheadUS, r.Ratio, l.N,
		l.Before.Goroutines, l.Half.Goroutines, l.After.Goroutines,
		l.Before.Threads, l.Half.Threads, l.After.Threads,
		l.Before.Files, l.Half.Files, l.After.Files)
	return err
}
