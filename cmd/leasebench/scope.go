package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/editing"
	"github.com/leasestream/leasestream/cmd/leasebench/internal/measure"
)

// styles are what --style stands for.
var styles = map[string][]editing.Style{
	"article": {editing.Article, editing.ArticleNoWait},
	"ours":    {editing.Ours},
	"both":    {editing.Article, editing.ArticleNoWait, editing.Ours},
}

// scopeCommand are the flags of leasebench scope.
type scopeCommand struct {
	common
	store  storeFlag
	style  string
	config editing.Config
}

// scopeReport is what leasebench scope prints.
type scopeReport struct {
	Bench    string          `json:"bench"`
	Machine  measure.Machine `json:"machine"`
	Store    string          `json:"store"`
	Workers  int             `json:"workers"`
	Events   int             `json:"events"`
	Duration string          `json:"duration"`
	Rounds   int             `json:"rounds"`
	Rows     []*scopeRow     `json:"rows"`
	// Ratio is our edits per second over those of the better loop of the article; 0
	// if not both were measured.
	Ratio float64 `json:"ratio"`
}

// scopeRow has the medians of one style.
type scopeRow struct {
	Style editing.Style `json:"style"`
	editing.Round

	rounds []editing.Round
}

func newScope() *cobra.Command {
	var s scopeCommand
	cmd := &cobra.Command{
		Use:   "scope",
		Short: "Edit one document by many workers, in the article's loop and in ours",
		Long: `Scope has workers edit one document for a while and counts the edits, in three
styles that take turns:

  article         a client for each worker; acquire, get, change, put, release; who
                  finds the lease held waits for 750 to 2,500 ms
  article-nowait  the same, and asks again at once
  ours            the edits of all workers share leases and uploads`,
		Args: cobra.NoArgs,
	}
	s.common.add(cmd, 3)
	s.store.add(cmd)
	cmd.Flags().IntVar(&s.config.Workers, "workers", 16, "how many `WORKERS` edit")
	cmd.Flags().IntVar(&s.config.Events, "events", 100, "how many `EVENTS` the document has")
	cmd.Flags().DurationVar(&s.config.Time, "duration", 5*time.Second, "`TIME` of one round of one style")
	cmd.Flags().StringVar(&s.style, "style", "both", "`STYLE` of the edits: article, ours, both")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return s.run(cmd.Context(), cmd.OutOrStdout()) }
	return cmd
}

func (s *scopeCommand) checkFlags() error {
	switch {
	case styles[s.style] == nil:
		return fmt.Errorf("--style %q: want article, ours or both", s.style)
	case s.config.Workers < 1 || s.config.Events < 1 || s.config.Time <= 0:
		return errors.New("--workers, --events and --duration: want more than 0")
	case s.style != "ours" && s.store.inMemory():
		return errors.New("--style: the clients of the article's loop cannot share a store in memory")
	}
	return nil
}

func (s *scopeCommand) run(ctx context.Context, out io.Writer) error {
	if err := s.checkFlags(); err != nil {
		return err
	}
	machine, err := measure.ThisMachine(s.store.folder())
	if err != nil {
		return err
	}
	r := &scopeReport{
		Bench: "scope", Machine: machine, Store: s.store.shown(), Workers: s.config.Workers,
		Events: s.config.Events, Duration: s.config.Time.String(), Rounds: s.rounds,
	}
	for _, style := range styles[s.style] {
		r.Rows = append(r.Rows, &scopeRow{Style: style})
	}
	for range s.rounds {
		for _, row := range r.Rows {
			if err := s.measure(ctx, row); err != nil {
				return err
			}
		}
	}
	r.conclude()
	if s.format == "json" {
		return json.NewEncoder(out).Encode(r)
	}
	return r.write(out)
}

func (s *scopeCommand) measure(ctx context.Context, row *scopeRow) error {
	return s.store.with(func(url string) error {
		c := s.config
		c.Store = url
		round, err := editing.Measure(ctx, c, row.Style)
		if err == nil && !round.OK {
			err = fmt.Errorf("style %s: an edit was lost, or applied twice", row.Style)
		}
		row.rounds = append(row.rounds, round)
		return err
	})
}

// conclude makes the medians, and compares.
func (r *scopeReport) conclude() {
	own, best := 0.0, 0.0
	for _, row := range r.Rows {
		row.Round = measure.Medians(row.rounds)
		if row.Style == editing.Ours {
			own = row.EditsPerS
		} else {
			best = max(best, row.EditsPerS)
		}
	}
	r.Ratio = measure.Ratio(own, best)
}

func (r *scopeReport) write(out io.Writer) error {
	if err := writeMachine(out, r.Machine); err != nil {
		return err
	}
	fmt.Fprintf(out, "store: %s; %d workers on a document of %d events; medians of %d rounds of %s\n\n",
		r.Store, r.Workers, r.Events, r.Rounds, r.Duration)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "style\tedits/s\tedits\trequests/edit\twait ms p50\tp95\tp99\tmax\t")
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%s\t%.4g\t%.0f\t%.3g\t%.3g\t%.3g\t%.3g\t%.3g\t\n", row.Style, row.EditsPerS, row.Edits,
			row.RequestsPerEdit, row.WaitP50MS, row.WaitP95MS, row.WaitP99MS, row.WaitMaxMS)
	}
	if err := w.Flush(); err != nil || r.Ratio == 0 {
		return err
	}
	_, err := fmt.Fprintf(out, "\nours makes %.3g times the edits of the better of the article's loops\n", r.Ratio)
	return err
}
