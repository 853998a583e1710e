package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/measure"
	"github.com/leasestream/leasestream/cmd/leasebench/internal/model"
)

// modelCommand are the flags of leasebench model.
type modelCommand struct {
	common
	events []int
	least  time.Duration
}

// modelReport is what leasebench model prints.
type modelReport struct {
	Bench   string          `json:"bench"`
	Machine measure.Machine `json:"machine"`
	Rounds  int             `json:"rounds"`
	Rows    []*modelRow     `json:"rows"`
	// UpdateRatio is what a status update costs in the last document, in times of
	// what it costs in the first.
	UpdateRatio float64 `json:"update_ratio"`
}

// modelRow has the medians of one document.
type modelRow struct {
	Events int `json:"events"`
	model.Round

	rounds []model.Round
}

func newModel() *cobra.Command {
	var m modelCommand
	cmd := &cobra.Command{
		Use:   "model",
		Short: "Read, change, query and write a document in memory",
		Long: `Model measures the document itself, without a store: reading it, beside xmlquery;
what it keeps in memory; writing it; a change of status that goes up four splits;
undoing a change; and queries, answered from the index and by evaluating the path.`,
		Args: cobra.NoArgs,
	}
	m.common.add(cmd, 3)
	cmd.Flags().IntSliceVar(&m.events, "events", []int{10, 1000, 100_000}, "how many `EVENTS` the documents have")
	cmd.Flags().DurationVar(&m.least, "time", 200*time.Millisecond, "least `TIME` that each thing is repeated for in a round")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return m.run(cmd.Context(), cmd.OutOrStdout()) }
	return cmd
}

func (m *modelCommand) run(ctx context.Context, out io.Writer) error {
	r := &modelReport{Bench: "model", Rounds: m.rounds}
	for _, n := range m.events {
		if n < model.MinEvents {
			return fmt.Errorf("--events: want %d or more", model.MinEvents)
		}
		r.Rows = append(r.Rows, &modelRow{Events: n})
	}
	var err error
	if r.Machine, err = measure.ThisMachine(os.TempDir()); err != nil {
		return err
	}
	for range m.rounds {
		for _, row := range r.Rows {
			round, err := model.Measure(ctx, row.Events, m.least)
			if err != nil {
				return err
			}
			row.rounds = append(row.rounds, round)
		}
	}
	r.conclude()
	if m.format == "json" {
		return json.NewEncoder(out).Encode(r)
	}
	return r.write(out)
}

// conclude makes the medians, and compares.
func (r *modelReport) conclude() {
	for _, row := range r.Rows {
		row.Round = measure.Medians(row.rounds)
	}
	r.UpdateRatio = measure.Ratio(r.Rows[len(r.Rows)-1].UpdateUS, r.Rows[0].UpdateUS)
}

// modelFigures are the lines of the text.
var modelFigures = []struct {
	label string
	of    func(*modelRow) float64
}{
	{"document, bytes", func(r *modelRow) float64 { return r.Bytes }},
	{"parse, ms", func(r *modelRow) float64 { return r.ParseMS }},
	{"parse, MB/s", func(r *modelRow) float64 { return r.ParseMBPerS }},
	{"parse, allocations per event", func(r *modelRow) float64 { return r.ParseAllocsPerEvent }},
	{"kept in memory, bytes per byte", func(r *modelRow) float64 { return r.KeptPerByte }},
	{"parse by xmlquery, ms", func(r *modelRow) float64 { return r.XMLQueryMS }},
	{"  times as long as ours", func(r *modelRow) float64 { return r.ParseRatio }},
	{"write, ms", func(r *modelRow) float64 { return r.WriteMS }},
	{"write, MB/s", func(r *modelRow) float64 { return r.WriteMBPerS }},
	{"status up four splits, µs", func(r *modelRow) float64 { return r.UpdateUS }},
	{"undo one attribute, µs", func(r *modelRow) float64 { return r.RollbackUS }},
	{"select by id, index, µs", func(r *modelRow) float64 { return r.SelectIDUS }},
	{"select by id, evaluated, µs", func(r *modelRow) float64 { return r.EvaluateIDUS }},
	{"  times as long as the index", func(r *modelRow) float64 { return r.SelectIDRatio }},
	{"select by status, events found", func(r *modelRow) float64 { return r.SelectStatusEvents }},
	{"select by status, index, µs", func(r *modelRow) float64 { return r.SelectStatusUS }},
	{"select by status, evaluated, µs", func(r *modelRow) float64 { return r.EvaluateStatusUS }},
	{"  times as long as the index", func(r *modelRow) float64 { return r.SelectStatusRatio }},
}

func (r *modelReport) write(out io.Writer) error {
	if err := writeMachine(out, r.Machine); err != nil {
		return err
	}
	fmt.Fprintf(out, "medians of %d rounds\n\n", r.Rounds)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprint(w, "events")
	for _, row := range r.Rows {
		fmt.Fprintf(w, "\t%d", row.Events)
	}
	fmt.Fprintln(w)
	for _, f := range modelFigures {
		fmt.Fprint(w, f.label)
		for _, row := range r.Rows {
			fmt.Fprintf(w, "\t%.4g", f.of(row))
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\na change of status in the last document takes %.3g times as long as in the first\n", r.UpdateRatio)
	return err
}
