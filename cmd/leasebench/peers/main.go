// Command peers runs the same fan-out on leasestream and on other engines, side by
// side: a split into N jobs that do nothing, whose results are added up. It is a
// module of its own, so that what the others need is no dependency of leasestream.
// README.md in the folder above tells what each figure means.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command(ctx, args, stdin, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "peers:", err)
		return 1
	}
	return 0
}

func command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(args) == 1 && args[0] == contending {
		return contend(ctx, stdin, stdout)
	}
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	report, err := compare(ctx, o, stderr)
	if err != nil {
		return err
	}
	return report.write(stdout, o.format)
}

// options are the flags.
type options struct {
	n, rounds int
	format    string
	redis     string
	only      string
	timeout   time.Duration
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.n, "n", 1000, "how many `jobs`")
	flags.IntVar(&o.rounds, "rounds", 5, "how many `rounds` the medians are of")
	flags.StringVar(&o.format, "format", "text", "`format` of the output: text, json")
	flags.StringVar(&o.redis, "redis", "", "`address` of a Redis, HOST:PORT: asynq joins if it answers")
	flags.StringVar(&o.only, "only", "", "`names` of those that take part, with commas between; empty for all")
	flags.DurationVar(&o.timeout, "timeout", 10*time.Minute, "the longest `time` of one round of one of them")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.n < 1 || o.rounds < 1:
		return nil, errors.New("-n and -rounds: want 1 or more")
	case o.format != "text" && o.format != "json":
		return nil, fmt.Errorf("-format %q: want text or json", o.format)
	}
	return o, nil
}

// picks reports whether a contender takes part.
func (o *options) picks(name string) bool {
	return o.only == "" || strings.Contains(","+o.only+",", ","+name+",")
}
