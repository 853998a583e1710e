package main

import (
	"context"
	"errors"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/fanout"
)

// leasestream runs a pipeline with one split. Its store syncs every commit of a
// document; operations on leases that run out by themselves reach the disk with
// the next of them.
func leasestream(ctx context.Context, j *job) (int64, error) {
	p, err := fanout.Open(ctx, fanout.Config{Store: "sqlite:" + j.file(), Name: "run", N: j.N, Workers: 2000})
	if err != nil {
		return 0, err
	}
	sum, err := j.measure(func() (int64, error) {
		if err := p.Start(ctx); err != nil {
			return 0, err
		}
		return p.Await(ctx)
	})
	_, closed := p.Close()
	j.pragmas = "journal_mode=wal synchronous=FULL for documents, NORMAL for leases"
	return sum, errors.Join(err, closed)
}
