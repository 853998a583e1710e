package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// unreadable is the status of a run whose document is not an Event-Stream.
const unreadable = "unreadable"

func (a *app) newLs() *cobra.Command {
	var (
		format, status choice
		pipelineName   string
		tagged         tags
	)
	cmd := &cobra.Command{Use: "ls", Short: "List the runs", Args: cobra.NoArgs}
	formatFlag(cmd, &format, "text", "json")
	statusFlag(cmd, &status, append([]string{eventstream.Inprocess.String()}, endStatuses...)...)
	addPipelineFilter(cmd, &pipelineName)
	addTagFilter(cmd, &tagged)
	cmd.RunE = a.inRuns(func(ctx context.Context, p *processor.Processor, _ []string) error {
		o := &processor.ListOptions{Status: status.value, Pipeline: pipelineName, Tags: tagged.values}
		if format.value == "json" {
			return a.listRunsJSON(ctx, p, o)
		}
		return a.listRuns(ctx, p, o)
	})
	return cmd
}

// endStatuses are those that a run can end in.
var endStatuses = []string{
	eventstream.Completed.String(), processor.StatusWithError,
	eventstream.Aborted.String(), eventstream.Canceled.String(),
}

func statusFlag(cmd *cobra.Command, status *choice, allowed ...string) {
	status.allowed = allowed
	choiceFlag(cmd, status, "status", "only runs of this `STATUS`: "+strings.Join(allowed, ", "))
}

func addPipelineFilter(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "pipeline", "", "only runs of the pipeline with this `NAME`")
}

func (a *app) listRuns(ctx context.Context, p *processor.Processor, o *processor.ListOptions) error {
	w := table(a.stdout)
	fmt.Fprintln(w, "NAME\tPIPELINE\tSTATUS\tDONE\tUPDATED\tTAGS")
	err := eachRun(ctx, p, o, func(info processor.RunInfo, unserved *processor.Unserved) error {
		runRow(w, info, unserved)
		return nil
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

// eachRun calls f for each run of a listing, with what of it no live worker would take.
func eachRun(ctx context.Context, p *processor.Processor, o *processor.ListOptions, f func(processor.RunInfo, *processor.Unserved) error) error {
	workers := staff{p: p}
	for info, err := range p.List(ctx, o) {
		if err != nil {
			return err
		}
		unserved, err := workers.unserved(ctx, info)
		if err != nil {
			return err
		}
		if err := f(info, unserved); err != nil {
			return err
		}
	}
	return nil
}

func runRow(w io.Writer, info processor.RunInfo, unserved *processor.Unserved) {
	done := fmt.Sprintf("%d/%d", info.Done, info.Total)
	if info.Unreadable != nil {
		done = "-"
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", info.Name, dash(printable(info.Pipeline)),
		shownRunStatus(info, unserved), done, dash(shownTime(info.Updated)), dash(printable(shownTags(info.Tags))))
}

func shownRunStatus(info processor.RunInfo, unserved *processor.Unserved) string {
	switch {
	case info.Unreadable != nil:
		return unreadable + ": " + firstOf(printable(whatIsWrong(info.Unreadable)), maxReason)
	case info.Paused:
		return info.Status.String() + " (paused)"
	case unserved != nil:
		return info.Status.String() + " (no worker)"
	case info.WithError:
		return info.Status.String() + " with errors"
	}
	return info.Status.String()
}

// maxReason is how long the reason why a run is unreadable may be, in characters,
// so that it does not push the columns apart; show has all of it.
const maxReason = 40

// whatIsWrong leaves out of an error which document it is and that it is one.
func whatIsWrong(err error) string {
	if _, reason, ok := strings.Cut(err.Error(), eventstream.ErrMalformed.Error()+": "); ok {
		return reason
	}
	return err.Error()
}

// firstOf keeps the first n characters of a text.
func firstOf(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i] + "…"
		}
		n--
	}
	return text
}

func (a *app) listRunsJSON(ctx context.Context, p *processor.Processor, o *processor.ListOptions) error {
	array := newJSONArray(a.stdout)
	err := eachRun(ctx, p, o, func(info processor.RunInfo, unserved *processor.Unserved) error {
		return array.add(append(runInfoJSON(info), member{"unserved", unservedJSON(unserved)}))
	})
	if err != nil {
		return err
	}
	return array.end("")
}

func runInfoJSON(info processor.RunInfo) object {
	status := info.Status.String()
	if info.Unreadable != nil {
		status = unreadable
	}
	o := object{
		{"name", info.Name},
		{"run", info.Run},
		{"pipeline", info.Pipeline},
		{"status", status},
		{"progress", object{{"total", info.Total}, {"done", info.Done}}},
		{"updated", shownTime(info.Updated)},
		{"tags", tagsJSON(info.Tags)},
	}
	if info.Unreadable != nil {
		o = append(o, member{"error", info.Unreadable.Error()})
	}
	return o
}
