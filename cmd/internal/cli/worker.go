package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
)

func (a *app) newWorker() *cobra.Command {
	return a.group("worker", "List workers, change their slots and read their logs",
		a.newWorkerLs(), a.newWorkerSet(), a.newWorkerLog())
}

func (a *app) newWorkerLs() *cobra.Command {
	var format choice
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the workers, dead ones that nobody has cleared away among them",
		Args:  cobra.NoArgs,
	}
	formatFlag(cmd, &format, "text", "json")
	cmd.RunE = a.inRuns(func(ctx context.Context, p *processor.Processor, _ []string) error {
		if format.value == "json" {
			return a.listWorkersJSON(ctx, p)
		}
		return a.listWorkers(ctx, p)
	})
	return cmd
}

func (a *app) listWorkers(ctx context.Context, p *processor.Processor) error {
	w := table(a.stdout)
	fmt.Fprintln(w, "ID\tSTATE\tLEASE LEFT\tSLOTS\tPIPELINES\tSTARTED")
	for info, err := range p.Workers(ctx) {
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", info.ID, workerState(info), dash(leaseLeft(info)),
			info.Slots, dash(servedNames(info)), dash(shownTime(info.Started)))
	}
	return w.Flush()
}

func workerState(info processor.WorkerInfo) string {
	switch {
	case !info.Alive:
		return "dead"
	case info.Unreadable != nil:
		return unreadable
	}
	return "alive"
}

// leaseLeft is how long the lease lasts unless it is renewed; "" where the store
// does not tell.
func leaseLeft(info processor.WorkerInfo) string {
	if !info.Alive || info.Lease.Expires.IsZero() {
		return ""
	}
	return max(0, time.Until(info.Lease.Expires)).Round(time.Second).String()
}

// servedNames are the pipelines that a worker serves, with the runs it is
// restricted to.
func servedNames(info processor.WorkerInfo) string {
	names := make([]string, len(info.Pipelines))
	for i, served := range info.Pipelines {
		names[i] = served.Name
	}
	text := strings.Join(names, ", ")
	if info.Only != nil {
		text += " (only " + strings.Join(info.Only, ", ") + ")"
	}
	return printable(text)
}

func (a *app) listWorkersJSON(ctx context.Context, p *processor.Processor) error {
	array := newJSONArray(a.stdout)
	for info, err := range p.Workers(ctx) {
		if err != nil {
			return err
		}
		if err := array.add(workerJSON(info)); err != nil {
			return err
		}
	}
	return array.end("")
}

func workerJSON(info processor.WorkerInfo) object {
	o := object{
		{"id", info.ID},
		{"state", workerState(info)},
		{"lease", leaseJSON(info.Lease)},
		{"slots", info.Slots},
		{"pipelines", info.Pipelines},
		{"started", shownTime(info.Started)},
	}
	if info.Only != nil {
		o = append(o, member{"only", info.Only})
	}
	if info.Set != nil {
		o = append(o, member{"set", object{{"by", info.Set.By}, {"at", shownTime(info.Set.At)}}})
	}
	if info.Unreadable != nil {
		o = append(o, member{"error", info.Unreadable.Error()})
	}
	return o
}

func (a *app) newWorkerSet() *cobra.Command {
	var (
		s     steering
		slots uint
	)
	cmd := &cobra.Command{
		Use:   "set ID --slots N",
		Short: "Change how many steps a worker runs at a time",
		Long: `Change how many steps a live worker runs at a time, for as long as it lives. With
fewer, the steps that run are left to finish; with 0 the worker takes nothing new.
It follows within a third of its lease: 5 s on a local store, 20 s elsewhere; one
that has 0 slots looks once a minute.`,
		Args: cobra.ExactArgs(1),
	}
	s.addTo(cmd)
	cmd.Flags().UintVar(&slots, "slots", 0, "how many steps to run at a time")
	require(cmd, "slots")
	cmd.RunE = a.inRuns(func(ctx context.Context, p *processor.Processor, args []string) error {
		return workerError(p.SetSlots(ctx, args[0], int(slots), s.who(a)))
	})
	return cmd
}

func (a *app) newWorkerLog() *cobra.Command {
	return &cobra.Command{
		Use:   "log ID",
		Short: "Print the end of a worker's log, if it was started with --ship-logs",
		Long: `Print the end of the log of a worker that was started with --ship-logs: the last
256 KiB of what it said, the standard error of its programs included. It is at most
5 s old. The log of a worker that is gone can be read for a day after its last line.`,
		Args: cobra.ExactArgs(1),
		RunE: a.inRuns(func(ctx context.Context, p *processor.Processor, args []string) error {
			log, err := p.WorkerLog(ctx, args[0])
			if err != nil {
				return workerError(err)
			}
			return a.printLines(log)
		}),
	}
}

// printLines writes a text that may come from anyone.
func (a *app) printLines(text []byte) error {
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Fprintln(a.stdout, printable(strings.TrimRight(line, "\r\n"))); err != nil {
			return err
		}
	}
	return nil
}

// workerError adds what to do about an error on a worker. An ID that none can have
// is an error of usage.
func workerError(err error) error {
	switch {
	case errors.Is(err, processor.ErrName):
		return &exitError{codeUsage, err}
	case errors.Is(err, processor.ErrNoWorker):
		return fmt.Errorf("%w; leasestream worker ls lists them", err)
	case errors.Is(err, processor.ErrNoLog):
		return fmt.Errorf("%w; one that is started with --ship-logs has", err)
	}
	return err
}
