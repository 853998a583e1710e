package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"
)

// asynqJobs enqueues all jobs and waits until each was handled. The sum is added
// up in memory: asynq has no fan-in.
func asynqJobs(ctx context.Context, j *job) (sum int64, err error) {
	conn := asynq.RedisClientOpt{Addr: j.Redis}
	if j.pragmas, err = redisPragmas(ctx, j.Redis); err != nil {
		return 0, err
	}
	queue := "leasebench-" + uuid.NewString()
	client, inspector := asynq.NewClient(conn), asynq.NewInspector(conn)
	defer func() { err = errors.Join(err, client.Close(), inspector.Close()) }()

	handled := make(chan int64, j.N)
	server := asynq.NewServer(conn, asynq.Config{
		Concurrency: 64, TaskCheckInterval: time.Millisecond, Queues: map[string]int{queue: 1}, LogLevel: asynq.FatalLevel,
	})
	err = server.Start(asynq.HandlerFunc(func(_ context.Context, t *asynq.Task) error {
		i, err := strconv.ParseInt(string(t.Payload()), 10, 64)
		if err == nil {
			handled <- i
		}
		return err
	}))
	if err != nil {
		return 0, err
	}
	sum, err = j.measure(func() (int64, error) { return enqueue(ctx, client, queue, j.N, handled) })
	server.Shutdown()
	return sum, errors.Join(err, inspector.DeleteQueue(queue, true))
}

// enqueue hands out the jobs from many goroutines, as a service would, and adds up
// what was handled.
func enqueue(ctx context.Context, client *asynq.Client, queue string, n int, handled <-chan int64) (int64, error) {
	var group errgroup.Group
	group.SetLimit(16)
	for i := range n {
		group.Go(func() error {
			_, err := client.EnqueueContext(ctx, asynq.NewTask("job", []byte(strconv.Itoa(i+1))), asynq.Queue(queue))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	sum := int64(0)
	for range n {
		select {
		case i := <-handled:
			sum += i
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	return sum, nil
}

// answers reports whether a Redis answers at an address.
func answers(ctx context.Context, addr string) bool {
	_, err := redisPragmas(ctx, addr)
	return err == nil
}

// redisPragmas is how durable a Redis is.
func redisPragmas(ctx context.Context, addr string) (string, error) {
	r := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	defer r.Close() // nothing was written
	config, err := r.ConfigGet(ctx, "append*").Result()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("appendonly=%s appendfsync=%s", config["appendonly"], config["appendfsync"]), nil
}
