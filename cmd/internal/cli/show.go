package cli

import (
	"bufio"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

func (a *app) newShow() *cobra.Command {
	var format choice
	cmd := &cobra.Command{
		Use:   "show NAME [ID]",
		Short: "Show a run with all its events, those that a retry replaced included",
		Long: `Show a run with all its events, those that a retry replaced included, or, with ID,
one event with what it contains: its message, its output, and the attempts that
failed with their logs.

The branches of a wide split are in child streams of their own, and shown below the
batch events that stand for them: 01.00/05.00 is event 05.00 below batch event
01.00. The format xml gives one document after the other, that of the run first.`,
		Args: cobra.RangeArgs(1, 2),
	}
	formatFlag(cmd, &format, "tree", "xml", "json")
	cmd.RunE = a.inRuns(func(ctx context.Context, p *processor.Processor, args []string) error {
		if len(args) > 1 {
			return a.showEvent(ctx, p, args[0], args[1], format.value)
		}
		return a.showRun(ctx, p, args[0], format.value)
	})
	return cmd
}

func (a *app) showEvent(ctx context.Context, p *processor.Processor, name, id string, format string) error {
	d, e, err := p.Event(ctx, name, id)
	if err != nil {
		return err
	}
	switch format {
	case "xml":
		_, err := fmt.Fprintln(a.stdout, e.XML())
		return err
	case "json":
		return writeJSON(a.stdout, eventJSON(d, e))
	}
	return newTree(a.stdout, a.coloured()).showEvent(d, e)
}

func (a *app) showRun(ctx context.Context, p *processor.Processor, name string, format string) error {
	if format == "xml" {
		return a.showXML(ctx, p, name)
	}
	d, err := p.Document(ctx, name)
	if err != nil {
		return err
	}
	sum, err := d.Summary(ctx)
	if err != nil {
		return err
	}
	workers := staff{p: p}
	unserved, err := workers.unserved(ctx, processor.RunInfo{Name: name, Summary: sum})
	if err != nil {
		return err
	}
	if format == "json" {
		return a.showJSON(ctx, p, name, d.Stream, unserved)
	}
	if err := newTree(a.stdout, a.coloured()).write(ctx, name, d); err != nil || unserved == nil {
		return err
	}
	return explainUnserved(a.stdout, unserved)
}

func (a *app) showXML(ctx context.Context, p *processor.Processor, name string) error {
	for d, err := range p.Documents(ctx, name) {
		if err != nil {
			return err
		}
		if _, err := a.stdout.Write(d.Stream.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// showJSON writes the run as one object, with one event a line.
func (a *app) showJSON(ctx context.Context, p *processor.Processor, name string, s *eventstream.Stream, unserved *processor.Unserved) error {
	status, withError := s.Status()
	progress, err := progressOf(ctx, p, name)
	if err != nil {
		return err
	}
	head, err := marshal(object{
		{"name", name},
		{"run", s.Run()},
		{"pipeline", s.Attr("pipeline")},
		{"status", status.String()},
		{"withError", withError},
		{"tags", tagsJSON(s.Tags())},
		{"progress", progressJSON(progress)},
		{"limits", limitsJSON(s)},
		{"unserved", unservedJSON(unserved)},
	})
	if err != nil {
		return err
	}
	w := bufio.NewWriter(a.stdout)
	w.Write(head[:len(head)-1])
	w.WriteString(`,"events":`)
	events := &jsonArray{w: w}
	for d, err := range p.Documents(ctx, name) {
		if err != nil {
			return err
		}
		for e := range d.Stream.Events() {
			if d.IsChild() && e == d.Stream.Root() {
				continue // its batch event stands for it
			}
			if err := events.add(eventJSON(d, e)); err != nil {
				return err
			}
		}
	}
	return events.end("}")
}

// progressOf counts the events of all documents of a run, save those that only hold
// the tree together.
func progressOf(ctx context.Context, p *processor.Processor, name string) (eventstream.Progress, error) {
	counts := map[eventstream.Status]int{}
	for d, err := range p.Documents(ctx, name) {
		if err != nil {
			return eventstream.Progress{}, err
		}
		for e := range d.Stream.Events() {
			if !e.Superseded() && !e.IsBatch() && !(d.IsChild() && e == d.Stream.Root()) {
				counts[e.Status()]++
			}
		}
	}
	sum := eventstream.Progress{
		Init: counts[eventstream.Init], Inprocess: counts[eventstream.Inprocess], Completed: counts[eventstream.Completed],
		Aborted: counts[eventstream.Aborted], Canceled: counts[eventstream.Canceled],
	}
	sum.Total = sum.Init + sum.Inprocess + sum.Done()
	return sum, nil
}
