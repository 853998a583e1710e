// Command leasebench measures leasestream: how fast it fans out and in, edits,
// reads and writes its documents, and runs programs. README.md beside it tells
// what each figure means and how to get it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot()
	root.SetArgs(os.Args[1:])
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "leasebench:", err)
		return 1
	}
	return 0
}
