// Package programs measures what an exec step costs beside the bare start of its
// program, and looks for what it leaves behind.
//
// The program is cat. The step hands it a message on stdin and reads its stdout;
// so does the bare start, by package os/exec alone.
package programs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/measure"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/pipeline"
)

// Round has the figures of as many runs of both kinds.
type Round struct {
	// BareUS and StepUS are the median times of one run.
	BareUS float64 `json:"bare_us"`
	StepUS float64 `json:"step_us"`
	// OverheadUS is what a step takes more than a bare start, and Ratio how many times
	// as long it takes.
	OverheadUS   float64 `json:"overhead_us"`
	Ratio        float64 `json:"ratio"`
	BareRunsPerS float64 `json:"bare_runs_per_s"`
	StepRunsPerS float64 `json:"step_runs_per_s"`
}

// message is what the program gets, and gives back.
var message = json.RawMessage(`{"city":"Brno","nights":3}`)

const source = `
name: programs
steps:
  - name: Run
    exec: [cat]
`

// runner runs the program once. That it wrote something else is an error.
type runner func(context.Context) error

func bare(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "cat")
	cmd.Stdin = bytes.NewReader(message)
	out, err := cmd.Output()
	if err == nil && !bytes.Equal(out, message) {
		err = fmt.Errorf("cat wrote %q", out)
	}
	return err
}

// step is the handler of an exec step.
func step() (runner, error) {
	p, err := pipeline.Parse([]byte(source), nil)
	if err != nil {
		return nil, err
	}
	handler := p.Step("Run").Handler
	return func(ctx context.Context) error {
		t := &processor.Task{Stream: "programs", Run: "bench", Event: "00", Step: "Run", Attempt: 1, Input: message}
		out, err := handler(ctx, t)
		if err == nil && !reflect.DeepEqual(out, processor.Complete(message)) {
			err = fmt.Errorf("the outcome of cat is %+v", out)
		}
		return err
	}, nil
}

// Measure runs the program n times bare and n times as a step, so many workers at
// a time.
func Measure(ctx context.Context, n, workers int) (Round, error) {
	asStep, err := step()
	if err != nil {
		return Round{}, err
	}
	alone, err := runAll(ctx, bare, n, workers)
	if err != nil {
		return Round{}, err
	}
	steps, err := runAll(ctx, asStep, n, workers)
	if err != nil {
		return Round{}, err
	}
	r := Round{BareUS: alone.median, StepUS: steps.median, BareRunsPerS: alone.rate, StepRunsPerS: steps.rate}
	r.OverheadUS = measure.Short(r.StepUS - r.BareUS)
	r.Ratio = measure.Ratio(r.StepUS, r.BareUS)
	return r, nil
}

type times struct {
	median float64 // µs
	rate   float64 // runs per second
}

// runAll runs n times, so many workers at a time.
func runAll(ctx context.Context, run runner, n, workers int) (times, error) {
	took := make([]time.Duration, n)
	errs := make([]error, workers)
	began := time.Now()
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n && errs[w] == nil; i += workers {
				took[i], errs[w] = timed(ctx, run)
			}
		})
	}
	wg.Wait()
	rate := measure.Ratio(float64(n), time.Since(began).Seconds())
	slices.Sort(took)
	median := float64(measure.Percentile(took, 0.5)) / float64(time.Microsecond)
	return times{measure.Short(median), rate}, cmp.Or(errs...)
}

func timed(ctx context.Context, run runner) (time.Duration, error) {
	began := time.Now()
	err := run(ctx)
	return time.Since(began), err
}
