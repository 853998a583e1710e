package cli

import (
	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
)

func (a *app) newAbort() *cobra.Command {
	return a.newEnding("abort", "End a run, or a part of it, as failed", (*processor.Processor).Abort)
}
