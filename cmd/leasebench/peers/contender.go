package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/measure"
)

// contender is an engine with a setting.
type contender struct {
	name string
	// setting is what was tuned, as far as it is not the default.
	setting string
	// run sets the engine up for a job, measures it, and returns the sum of what the
	// job's parts gave. It is called in a process that does nothing else.
	run func(ctx context.Context, j *job) (sum int64, err error)
}

// ours is the name of the contender that the others are compared with.
const ours = "leasestream"

var contenders = []contender{
	{ours, "2,000 handlers", leasestream},
	{"dbos-steps", "parallel steps of one workflow, 4 connections", dbosSteps},
	{"dbos-queue", "child workflows through a queue polled every 10 ms, 1,000 at a time, 4 connections", dbosQueue},
	{"river", "1,000 workers, fetch cooldown and poll of 1 ms, 1 connection; the sum is kept in memory", riverJobs},
	{"go-workflows", "activities of one workflow, single worker, signals in place of polls, 8 activity pollers, executors cached for 10 min, no limit of the history", goWorkflows},
	{"asynq", "64 workers; the sum is kept in memory", asynqJobs},
}

// job is what a contender has to do.
type job struct {
	Name   string `json:"name"` // of the contender
	N      int    `json:"n"`
	Folder string `json:"folder"` // for its files; empty at first
	Redis  string `json:"redis"`

	wall    time.Duration
	pragmas string
}

// measure takes the time of f: all is set up before it, and the sum is known after.
func (j *job) measure(f func() (sum int64, err error)) (int64, error) {
	began := time.Now()
	sum, err := f()
	j.wall = time.Since(began)
	return sum, err
}

// result is what came of a job.
type result struct {
	Wall    time.Duration `json:"wall"`
	Sum     int64         `json:"sum"`
	Peak    int64         `json:"peak"` // bytes resident
	Pragmas string        `json:"pragmas"`
}

// contending is the argument with which this program is the process of one
// contender.
const contending = "contend"

// contend does the job that is read, and writes the result.
func contend(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	var j job
	if err := json.NewDecoder(stdin).Decode(&j); err != nil {
		return err
	}
	i := slices.IndexFunc(contenders, func(c contender) bool { return c.name == j.Name })
	if i < 0 {
		return fmt.Errorf("no contender %q", j.Name)
	}
	sum, err := contenders[i].run(ctx, &j)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(result{j.wall, sum, measure.PeakMemory(), j.pragmas})
}

// spawn does a job in a process of its own.
func spawn(ctx context.Context, j job, stderr io.Writer) (r result, err error) {
	if j.Folder, err = os.MkdirTemp("", "peers"); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(j.Folder)) }()
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	order, err := json.Marshal(j)
	if err != nil {
		return r, err
	}
	cmd := exec.CommandContext(ctx, self, contending)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(order), stderr
	out, err := cmd.Output()
	if err != nil {
		return r, errors.Join(context.Cause(ctx), err)
	}
	return r, json.Unmarshal(out, &r)
}
