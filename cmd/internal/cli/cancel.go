package cli

import (
	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
)

func (a *app) newCancel() *cobra.Command {
	return a.newEnding("cancel", "Cancel a run, or a part of it", (*processor.Processor).Cancel)
}
