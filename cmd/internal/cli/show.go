package cli

import (
	"bufio"
	"context"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

func (a *app) newShow() *cobra.Command {
	var format choice
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a run with all its events, those that a retry replaced included",
		Args:  cobra.ExactArgs(1),
	}
	formatFlag(cmd, &format, "tree", "xml", "json")
	cmd.RunE = a.inRuns(func(ctx context.Context, p *processor.Processor, args []string) error {
		snapshot, err := p.Read(ctx, args[0])
		if err != nil {
			return err
		}
		switch format.value {
		case "xml":
			_, err = a.stdout.Write(snapshot.Stream.Bytes())
			return err
		case "json":
			return a.showJSON(args[0], snapshot.Stream)
		}
		return newTree(a.stdout, a.coloured()).write(args[0], snapshot.Stream)
	})
	return cmd
}

// showJSON writes the run as one object, with one event a line.
func (a *app) showJSON(name string, s *eventstream.Stream) error {
	status, withError := s.Status()
	head, err := marshal(object{
		{"name", name},
		{"run", s.Run()},
		{"pipeline", s.Attr("pipeline")},
		{"status", status.String()},
		{"withError", withError},
		{"progress", progressJSON(s.Progress())},
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
