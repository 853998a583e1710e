package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/leasestream/leasestream/processor"
)

// sayEarlier tells whoever began a run of a file that has changed that a run of
// the file as it was has not ended, which they may have meant to resume. It is a
// courtesy: if the runs cannot be listed, nothing is said.
func (a *app) sayEarlier(ctx context.Context, p *processor.Processor, w io.Writer, pl *processor.Pipeline) {
	earlier, n := earlierRuns(ctx, p, pl)
	if n == 0 {
		return
	}
	more := ""
	if n > 1 {
		more = fmt.Sprintf(" (and %d more)", n-1)
	}
	a.say(w, slog.LevelWarn, fmt.Sprintf(
		"a new run begins, since the file has changed: run %q of pipeline %q as it was%s has not ended, and goes on with that file only; to end it: leasestream cancel %s",
		earlier.Name, pl.Name(), more, earlier.Name))
}

// earlierRuns counts the open runs of the pipeline's name in other definitions, and
// gives the newest.
func earlierRuns(ctx context.Context, p *processor.Processor, pl *processor.Pipeline) (newest processor.RunInfo, n int) {
	open := p.List(ctx, &processor.ListOptions{Open: true, Pipeline: pl.Name()})
	newest, n, _ = newestOf(open, func(info processor.RunInfo) bool {
		return info.Unreadable == nil && info.Definition != pl.Definition()
	})
	return newest, n
}
