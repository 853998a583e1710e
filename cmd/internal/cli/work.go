package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
)

// working is what work is told by its flags.
type working struct {
	o           processor.WorkOptions
	dir         string
	definitions string
	trustStore  bool
	workers     uint
	noCreate    bool
}

func (a *app) newWork() *cobra.Command {
	var w working
	cmd := &cobra.Command{
		Use:   "work [FILE...]",
		Short: "Work on the runs of pipelines until interrupted",
		Long: `Work on all runs of the given pipeline files until a signal comes. Then no more
work is taken, and what cannot be finished in time is given back, for other
workers or a later start to do. That is how a worker ends, so the exit code is 0.

A run goes on under the file that it began with, byte by byte. With --definitions,
every *.yaml file of a folder is served. New and changed files are found when a run
needs them, and what was read before is served until the worker ends, so that a
changed file leaves no run behind. A file that is wrong is logged and left out.

Programs of files that the worker was not given are never run. --trust-store runs
what is found only in the store, after its hash was checked: then whoever can write
into the store can run programs on this machine. It needs --dir, since such a file
has no folder of its own.`,
	}
	addWorkers(cmd, &w.workers)
	cmd.Flags().StringVar(&w.o.ID, "id", "", "`ID` of this worker (default made of host and process)")
	cmd.Flags().StringVar(&w.definitions, "definitions", "", "`DIR` whose *.yaml files are served as well")
	cmd.Flags().BoolVar(&w.trustStore, "trust-store", false, "run the programs of pipelines that are found only in the store")
	a.addShipLogs(cmd)
	addDir(cmd, &w.dir)
	addNoCreate(cmd, &w.noCreate)
	a.addMetrics(cmd)
	cmd.RunE = a.do(func(ctx context.Context, files []string) error { return w.run(ctx, a, files) })
	return cmd
}

func (w *working) check(files []string) error {
	switch {
	case len(files) == 0 && w.definitions == "" && !w.trustStore:
		return usagef("nothing to work on: give FILE, --definitions DIR or --trust-store")
	case w.trustStore && w.dir == "":
		return usagef("--trust-store needs --dir, the folder that the programs run in")
	}
	return checkDir(w.dir)
}

func (w *working) run(ctx context.Context, a *app, files []string) error {
	if a.logLevel.value == "" {
		a.logLevel.value = "info"
	}
	if err := errors.Join(a.shared(), w.check(files)); err != nil {
		return err
	}
	pipelines, finds, err := w.load(a, files)
	if err != nil {
		return err
	}
	w.o.Slots, w.o.Hurry, w.o.Log = int(w.workers), hurryOf(ctx), a.shippedLog()
	return a.withWork(ctx, w.noCreate, a.stderr, func(p *processor.Processor) error {
		if w.trustStore {
			finds = append(finds, inStore(p, a.pipelineOptions(w.dir, a.stderr)))
		}
		w.o.Find, w.o.URL = inAny(finds...), a.rungAt
		return p.Work(ctx, &w.o, pipelines...)
	})
}

// load reads what is there at the start, and gives the places to look for more.
func (w *working) load(a *app, files []string) ([]*processor.Pipeline, []findFunc, error) {
	var pipelines []*processor.Pipeline
	for _, file := range files {
		pl, err := a.loadPipeline(file, w.dir, a.stderr)
		if err != nil {
			return nil, nil, err
		}
		pipelines = append(pipelines, pl)
	}
	if w.definitions == "" {
		return pipelines, nil, nil
	}
	d, err := openDefinitions(w.definitions, a.pipelineOptions(w.dir, a.stderr))
	if err != nil {
		return nil, nil, err
	}
	return append(pipelines, d.all()...), []findFunc{d.find}, nil
}

func addWorkers(cmd *cobra.Command, workers *uint) {
	cmd.Flags().UintVar(workers, "workers", 0, "how many steps to run at a time (default two for each processor)")
}
