package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

func (a *app) newWatch() *cobra.Command {
	return &cobra.Command{
		Use:   "watch [NAME]",
		Short: "Watch a run until it ends",
		Long: `Watch a run until it ends; without a name, the newest that has not ended. On a
terminal its events are shown as a tree that is drawn anew when something changes:
what is alike is one line, what failed is open. Elsewhere a line is written for each
change that is seen, and one for each event that was aborted.

The exit code is that of the run: 0 if it completed, 3 if it did and something in it
failed or was canceled, 4 if it was aborted, 5 if it was canceled. Nothing happens
to the run if you interrupt this command; its exit code is then 130.`,
		Args: cobra.MaximumNArgs(1),
		RunE: a.inRuns(func(ctx context.Context, p *processor.Processor, args []string) error {
			name, err := a.watched(ctx, p, args)
			if err != nil {
				return err
			}
			end, err := a.watch(ctx, p, name)
			if err != nil && ctx.Err() != nil {
				return &exitError{code: codeInterrupted}
			}
			if err != nil {
				return err
			}
			return endError(end)
		}),
	}
}

// watched is the run to watch: the one that is named, else the newest open one.
func (a *app) watched(ctx context.Context, p *processor.Processor, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	newest, n, err := newestOf(p.List(ctx, &processor.ListOptions{Open: true}), func(info processor.RunInfo) bool {
		return info.Unreadable == nil
	})
	switch {
	case err != nil:
		return "", err
	case n == 0:
		return "", errors.New("all runs have ended; name one to see how, leasestream ls lists them")
	case n > 1:
		a.say(a.stderr, slog.LevelInfo, fmt.Sprintf("watching %s, the newest of %d runs that have not ended", newest.Name, n))
	}
	return newest.Name, nil
}

// view shows a run as it is now.
type view interface {
	show(ctx context.Context, name string, d *processor.Document) error
	close() error
}

func (a *app) newView() view {
	if s := a.newScreen(a.stdout); s != nil {
		return &treeView{screen: s, coloured: a.coloured()}
	}
	return &lineView{w: a.stdout}
}

// watch shows a run until it ends.
func (a *app) watch(ctx context.Context, p *processor.Processor, name string) (end *processor.End, err error) {
	v := a.newView()
	defer func() {
		if closed := v.close(); err == nil {
			err = closed
		}
	}()
	return follow(ctx, p, name, v)
}

// follow shows each state of a run that is seen, and its end.
func follow(ctx context.Context, p *processor.Processor, name string, v view) (*processor.End, error) {
	ctx, cancel := context.WithCancel(ctx)
	var side sync.WaitGroup
	defer side.Wait()
	defer cancel()
	changed := make(chan struct{}, 1) // has a value when there is something new
	ended := make(chan struct{})
	var end *processor.End
	var err error
	side.Go(func() { // until the run ends, or ctx
		defer close(ended)
		end, err = p.Await(ctx, name, func(eventstream.Summary) {
			select {
			case changed <- struct{}{}:
			default:
			}
		})
	})
	for {
		select {
		case <-ended:
			if err != nil {
				return nil, err
			}
			return end, showNow(ctx, p, name, v)
		case <-changed:
			began := time.Now()
			if err := showNow(ctx, p, name, v); err != nil {
				return nil, err
			}
			rest(ended, max(shortestPause, restPerWork*time.Since(began)))
		}
	}
}

func showNow(ctx context.Context, p *processor.Processor, name string, v view) error {
	d, err := p.Document(ctx, name)
	if err != nil {
		return err
	}
	return v.show(ctx, name, d)
}

// Nobody reads faster than a few times a second, and a large run must not keep
// this process, or the store, busy with being looked at.
const (
	shortestPause = 200 * time.Millisecond
	restPerWork   = 5 // how many times as long as a look the pause after it is
)

// rest pauses, but not beyond the end.
func rest(ended <-chan struct{}, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
}

// treeView is the outline of a run on a screen.
type treeView struct {
	screen   *screen
	coloured bool
}

func (v *treeView) show(ctx context.Context, name string, d *processor.Document) error {
	lines, err := outlineOf(ctx, name, d)
	if err != nil {
		return err
	}
	return v.screen.draw(lines, v.coloured)
}

func (v *treeView) close() error { return v.screen.close() }
