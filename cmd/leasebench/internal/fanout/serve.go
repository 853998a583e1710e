package fanout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"time"
)

// order is what a process is told, as JSON. The first one is the configuration,
// the end of its input makes it stop.
type order struct {
	Config *Config `json:"config,omitempty"`
	Start  bool    `json:"start,omitempty"`
}

// news is what a process tells, as JSON: that it is ready, that it began the run,
// that the run has ended, and at last what it did.
type news struct {
	Ready   bool    `json:"ready,omitempty"`
	Started int64   `json:"started,omitempty"` // ns since 1970
	Ended   int64   `json:"ended,omitempty"`   // ns since 1970
	Sum     int64   `json:"sum,omitempty"`
	Report  *Report `json:"report,omitempty"`
}

// Serve is a whole process of a fan-out, for [Program]: it is told on stdin what to
// do, works until the end of stdin, and tells on stdout how the run goes.
func Serve(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	in, out := json.NewDecoder(stdin), json.NewEncoder(stdout)
	var first order
	if err := in.Decode(&first); err != nil || first.Config == nil {
		return fmt.Errorf("no configuration was given: %w", err)
	}
	end, err := startProfile(first.Config.Profiles)
	if err != nil {
		return err
	}
	defer end()
	p, err := Open(ctx, *first.Config)
	if err != nil {
		return err
	}
	served := p.serve(ctx, orders(in), out)
	report, closed := p.Close()
	if err := errors.Join(served, closed); err != nil {
		return err
	}
	return out.Encode(news{Report: &report})
}

// startProfile puts a CPU profile into a file of its own, so that those of many
// processes and rounds can be added up. It makes the folder.
func startProfile(folder string) (end func(), err error) {
	if folder == "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(folder, "cpu-*.pprof")
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}

// orders sends what is read, and closes at its end.
func orders(in *json.Decoder) <-chan order {
	c := make(chan order)
	// Ends with the input, which the end of the parent process ends at the latest.
	go func() {
		defer close(c)
		for {
			var o order
			if in.Decode(&o) != nil {
				return
			}
			c <- o
		}
	}()
	return c
}

func (p *Process) serve(ctx context.Context, told <-chan order, out *json.Encoder) error {
	if err := out.Encode(news{Ready: true}); err != nil {
		return err
	}
	for {
		select {
		case o, more := <-told:
			if !more {
				return nil
			}
			if err := p.obey(ctx, o, out); err != nil {
				return err
			}
		case <-p.Aggregates():
			sum, err := p.Await(ctx)
			if err != nil {
				return err
			}
			if err := out.Encode(news{Ended: time.Now().UnixNano(), Sum: sum}); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (p *Process) obey(ctx context.Context, o order, out *json.Encoder) error {
	if !o.Start {
		return nil
	}
	began := time.Now().UnixNano()
	if err := p.Start(ctx); err != nil {
		return err
	}
	return out.Encode(news{Started: began})
}
