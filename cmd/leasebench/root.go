package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/cmd/internal/wire"
	"github.com/leasestream/leasestream/cmd/leasebench/internal/measure"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "leasebench",
		Short: "Measure leasestream",
		Long: `Leasebench measures leasestream on this machine. Every figure is the median of
rounds, in which those that are compared take turns; the time of an fsync stands
beside them, since every commit to a SQLite file waits for one.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newFanout(), newFanoutProcess(), newScope(), newModel(), newExec())
	return root
}

// common are the flags that all benchmarks have.
type common struct {
	format string
	rounds int
}

func (c *common) add(cmd *cobra.Command, rounds int) {
	cmd.Flags().StringVar(&c.format, "format", "text", "`FORMAT` of the output: text, json")
	cmd.Flags().IntVar(&c.rounds, "rounds", rounds, "how many `ROUNDS` the medians are of")
	cmd.PreRunE = func(*cobra.Command, []string) error { return c.check() }
}

func (c *common) check() error {
	switch {
	case c.format != "text" && c.format != "json":
		return fmt.Errorf("--format %q: want text or json", c.format)
	case c.rounds < 1:
		return errors.New("--rounds: want 1 or more")
	}
	return nil
}

// storeFlag is the store that a benchmark runs on.
type storeFlag struct{ url string }

func (s *storeFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.url, "store", "", "`URL` of the store (default a new SQLite file for each round, in the folder for temporary files)")
}

// shown is the URL as it may be printed.
func (s *storeFlag) shown() string {
	if s.url == "" {
		return "sqlite, a new file for each round"
	}
	return wire.Redact(s.url)
}

// with calls f with the URL of a store for one round.
func (s *storeFlag) with(f func(url string) error) error {
	if s.url != "" {
		return f(s.url)
	}
	dir, err := os.MkdirTemp("", "leasebench")
	if err != nil {
		return err
	}
	return errors.Join(f("sqlite:"+filepath.Join(dir, "bench.db")), os.RemoveAll(dir))
}

// folder is that of the store's disk, as far as it has one.
func (s *storeFlag) folder() string {
	if path, ok := strings.CutPrefix(s.url, "sqlite:"); ok {
		return filepath.Dir(path)
	}
	return os.TempDir()
}

func (s *storeFlag) inMemory() bool { return strings.HasPrefix(s.url, "mem:") }

func writeMachine(w io.Writer, m measure.Machine) error {
	_, err := fmt.Fprintf(w, "%s/%s, %d CPUs, %s, load %.2f, fsync %.3g ms\n", m.OS, m.Arch, m.CPUs, m.Go, m.Load, m.FsyncMS)
	return err
}
