package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
)

// starting is what a run is started with: the flags of run and start.
type starting struct {
	input
	name     string
	tags     tags
	dir      string
	noCreate bool
}

func (s *starting) addTo(cmd *cobra.Command) {
	s.input.addTo(cmd)
	cmd.Flags().StringVar(&s.name, "name", "", "`NAME` of the run (default the pipeline's name and a random part)")
	addTags(cmd, &s.tags)
	addDir(cmd, &s.dir)
	addNoCreate(cmd, &s.noCreate)
}

func (s *starting) load(a *app, file string, logs io.Writer) (*processor.Pipeline, json.RawMessage, error) {
	pl, err := a.loadPipeline(file, s.dir, logs)
	if err != nil {
		return nil, nil, err
	}
	message, err := s.read(a)
	return pl, message, err
}

func (a *app) newStart() *cobra.Command {
	var s starting
	cmd := &cobra.Command{
		Use:   "start FILE",
		Short: "Start a run for workers elsewhere and print its name",
		Args:  cobra.ExactArgs(1),
	}
	s.addTo(cmd)
	cmd.RunE = a.do(func(ctx context.Context, args []string) error {
		if err := a.shared(); err != nil {
			return err
		}
		pl, message, err := s.load(a, args[0], a.stderr)
		if err != nil {
			return err
		}
		return a.withStart(ctx, s.noCreate, func(p *processor.Processor) error {
			run, err := p.Start(ctx, pl, message, &processor.StartOptions{Name: s.name, Tags: s.tags.values})
			if err != nil {
				return startError(err)
			}
			if s.name == "" {
				a.sayEarlier(ctx, p, a.stderr, pl)
			}
			_, err = fmt.Fprintln(a.stdout, run.Name)
			return err
		})
	})
	return cmd
}

// startError makes an error of usage of a name that no run can have.
func startError(err error) error {
	if errors.Is(err, processor.ErrName) {
		return &exitError{codeUsage, err}
	}
	return err
}
