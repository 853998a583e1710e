package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// diary tells what happens, and when. It may be used concurrently.
type diary struct {
	began time.Time

	mu  sync.Mutex // guards the field below
	out io.Writer
}

func (d *diary) say(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	seconds := int(time.Since(d.began) / time.Second)
	fmt.Fprintf(d.out, "%2ds  %s\n", seconds, fmt.Sprintf(format, args...))
}

// show tells what has become of the maps.
func (d *diary) show(ctx context.Context, st store.Store) error {
	for _, name := range maps {
		object, err := st.Get(ctx, name, nil)
		if err != nil {
			return err
		}
		d.say("%s: %s; lease %s", name, object.Body, object.Lease.State)
	}
	return nil
}
