// Command leasestream runs business processes with nothing but a storage account.
// leasestream --help tells how.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/leasestream/leasestream/cmd/internal/cli"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := context.WithCancel(context.Background())
	hurry := make(chan struct{})
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { // until the process ends
		<-signals
		stop()
		<-signals
		close(hurry) // the programs that run are ended, and so are we
		signal.Stop(signals)
	}()
	return cli.Run(cli.WithHurry(ctx, hurry), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
}
