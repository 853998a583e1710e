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
failed with their logs.`,
		Args: cobra.RangeArgs(1, 2),
	}
	formatFlag(cmd, &format, "tree", "xml", "json")
	cmd.RunE = a.inRuns(func(ctx context.Context, p *processor.Processor, args []string) error {
		snapshot, err := p.Read(ctx, args[0])
		if err != nil {
			return err
		}
		if len(args) > 1 {
			return a.showEvent(args[0], args[1], snapshot.Stream, format.value)
		}
		return a.showRun(ctx, p, args[0], snapshot.Stream, format.value)
	})
	return cmd
}

func (a *app) showEvent(name, id string, s *eventstream.Stream, format string) error {
	e := s.Event(id)
	if e == nil {
		return fmt.Errorf("run %q: %w: %q", name, processor.ErrNoEvent, id)
	}
	switch format {
	case "xml":
		_, err := fmt.Fprintln(a.stdout, e.XML())
		return err
	case "json":
		return writeJSON(a.stdout, eventJSON(e))
	}
	return newTree(a.stdout, a.coloured()).showEvent(e)
}

func (a *app) showRun(ctx context.Context, p *processor.Processor, name string, s *eventstream.Stream, format string) error {
	if format == "xml" {
		_, err := a.stdout.Write(s.Bytes())
		return err
	}
	workers := staff{p: p}
	unserved, err := workers.unserved(ctx, processor.RunInfo{Name: name, Summary: s.Summary()})
	if err != nil {
		return err
	}
	if format == "json" {
		return a.showJSON(name, s, unserved)
	}
	if err := newTree(a.stdout, a.coloured()).write(name, s); err != nil || unserved == nil {
		return err
	}
	return explainUnserved(a.stdout, unserved)
}

// showJSON writes the run as one object, with one event a line.
func (a *app) showJSON(name string, s *eventstream.Stream, unserved *processor.Unserved) error {
	status, withError := s.Status()
	head, err := marshal(object{
		{"name", name},
		{"run", s.Run()},
		{"pipeline", s.Attr("pipeline")},
		{"status", status.String()},
		{"withError", withError},
		{"tags", tagsJSON(s.Tags())},
		{"progress", progressJSON(s.Progress())},
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
	for e := range s.Events() {
		if err := events.add(eventJSON(e)); err != nil {
			return err
		}
	}
	return events.end("}")
}
