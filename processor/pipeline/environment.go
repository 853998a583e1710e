package pipeline

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/leasestream/leasestream/processor"
)

const ourPrefix = "LEASESTREAM_"

// isOurs reports whether a variable belongs to Leasestream: one that says what a
// program's task is, or a setting of the worker, which may hold the key of the
// store. On some systems the case of names means nothing.
func isOurs(variable string) bool {
	return strings.EqualFold(variable[:min(len(variable), len(ourPrefix))], ourPrefix)
}

// inherited is the worker's environment without what is said anew for each task.
func inherited() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool { return isOurs(variable) || isTrace(variable) })
}

// environment is what a program learns about its task.
func environment(ctx context.Context, t *processor.Task) []string {
	return append(traceEnvironment(ctx),
		"LEASESTREAM_STREAM="+t.Stream,
		"LEASESTREAM_RUN="+t.Run,
		"LEASESTREAM_EVENT="+t.Event,
		"LEASESTREAM_ATTEMPT="+strconv.Itoa(t.Attempt),
		"LEASESTREAM_KEY="+t.Key(),
	)
}
