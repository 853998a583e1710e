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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
}
