package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/pipeline"
)

func addDir(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", "", "`DIR` that programs run in and that relative ones are looked for from (default the file's own)")
}

// loadPipeline reads a pipeline file. A wrong one is an error of usage: nothing
// was done. What its programs say goes into the log.
func (a *app) loadPipeline(file, dir string, logs io.Writer) (*processor.Pipeline, error) {
	if err := checkDir(dir); err != nil {
		return nil, err
	}
	o := a.pipelineOptions(dir, logs)
	pl, err := pipeline.Load(file, &o)
	if err != nil {
		return nil, &exitError{codeUsage, err}
	}
	return pl, nil
}

func (a *app) pipelineOptions(dir string, logs io.Writer) pipeline.Options {
	return pipeline.Options{Dir: dir, Logger: a.logger(logs), KeepStderr: a.shipLogs, Redact: a.redact}
}

// checkDir refuses a --dir that no program could run in.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	switch info, err := os.Stat(dir); {
	case err != nil:
		return &exitError{codeUsage, fmt.Errorf("--dir: %w", err)}
	case !info.IsDir():
		return usagef("--dir: %s is not a directory", dir)
	}
	return nil
}
