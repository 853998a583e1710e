package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
)

func (a *app) newWork() *cobra.Command {
	var (
		o        processor.WorkOptions
		dir      string
		workers  uint
		noCreate bool
	)
	cmd := &cobra.Command{
		Use:   "work FILE...",
		Short: "Work on the runs of pipelines until interrupted",
		Long: `Work on all runs of the given pipeline files until a signal comes. Then no more
work is taken, and what cannot be finished in time is given back, for other
workers or a later start to do. That is how a worker ends, so the exit code is 0.`,
		Args: cobra.MinimumNArgs(1),
	}
	addWorkers(cmd, &workers)
	cmd.Flags().StringVar(&o.ID, "id", "", "`ID` of this worker (default made of host and process)")
	a.addShipLogs(cmd)
	addDir(cmd, &dir)
	addNoCreate(cmd, &noCreate)
	a.addMetrics(cmd)
	cmd.RunE = a.do(func(ctx context.Context, files []string) error {
		if a.logLevel.value == "" {
			a.logLevel.value = "info"
		}
		pipelines := make([]*processor.Pipeline, len(files))
		for i, file := range files {
			var err error
			if pipelines[i], err = a.loadPipeline(file, dir, a.stderr); err != nil {
				return err
			}
		}
		o.Slots, o.Hurry, o.Log = int(workers), hurryOf(ctx), a.shippedLog()
		return a.withWork(ctx, noCreate, a.stderr, func(p *processor.Processor) error {
			o.URL = a.rungAt
			return p.Work(ctx, &o, pipelines...)
		})
	})
	return cmd
}

func addWorkers(cmd *cobra.Command, workers *uint) {
	cmd.Flags().UintVar(workers, "workers", 0, "how many steps to run at a time (default two for each processor)")
}
