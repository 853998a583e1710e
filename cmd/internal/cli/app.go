package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/leasestream/leasestream/cmd/internal/telemetry"
	"github.com/leasestream/leasestream/cmd/internal/wire"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
)

// app is what one invocation of the command has to work with.
type app struct {
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	getenv  func(string) string
	console io.Writer // stderr itself if a bar can be drawn there; else nil

	configFile string
	settings   *settings
	// fromCommandLine has the flags that the command line gives.
	fromCommandLine map[string]bool

	storeURL  string
	bus       busFlags
	logLevel  choice
	logFormat choice
	shipLogs  bool
	shipped   *processor.Tail // see shippedLog
	metrics   address         // that metrics are served on

	// telemetry is on while measured runs.
	telemetry telemetry.Telemetry

	// rungAt is where this process takes doorbells over HTTP; "": nowhere.
	rungAt string

	// running tells that the command line was understood, so that an error from
	// now on is none of usage.
	running bool
}

// body is what a command does, and storeBody and runsBody what it does with an
// open store.
type (
	body      = func(ctx context.Context, args []string) error
	storeBody = func(ctx context.Context, st store.Store, args []string) error
	runsBody  = func(ctx context.Context, p *processor.Processor, args []string) error
)

func (a *app) addCommonFlags(flags *pflag.FlagSet) {
	flags.StringVar(&a.configFile, "config", "", "`FILE` with settings (default leasestream/config.yaml in the user's folder of configuration)")
	flags.StringVar(&a.storeURL, "store", wire.DefaultStore, "`URL` of the store: sqlite:PATH, mem:, or a container in Azure")
	a.bus.addTo(flags)
	a.logLevel = choice{"", []string{"debug", "info", "warn", "error"}}
	flags.Var(&a.logLevel, "log-level", "least `LEVEL` that is logged: debug, info, warn, error (default info for work, else warn)")
	a.logFormat = choice{"text", []string{"text", "json"}}
	flags.Var(&a.logFormat, "log-format", "`FORMAT` of the log: text, json")
}

// prepare fills in what the environment and the configuration file say and checks
// the common flags.
func (a *app) prepare(cmd *cobra.Command, _ []string) error {
	a.fromCommandLine = map[string]bool{}
	cmd.Flags().Visit(func(f *pflag.Flag) { a.fromCommandLine[f.Name] = true })
	var err error
	if a.settings, err = a.readSettings(cmd); err != nil {
		return err
	}
	if err := a.settings.apply(cmd); err != nil {
		return err
	}
	return wire.CheckBus(a.bus.url)
}

// do makes a command's function of its body.
func (a *app) do(f body) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.running = true
		return f(cmd.Context(), args)
	}
}

// inStore runs a body on a store that must be there.
func (a *app) inStore(f storeBody) func(*cobra.Command, []string) error {
	return a.do(func(ctx context.Context, args []string) error {
		return a.withStore(ctx, false, func(st store.Store) error { return f(ctx, st, args) })
	})
}

// inRuns runs a body on the runs of a store that must be there.
func (a *app) inRuns(f runsBody) func(*cobra.Command, []string) error {
	return a.do(func(ctx context.Context, args []string) error {
		return a.withRuns(ctx, func(p *processor.Processor) error { return f(ctx, p, args) })
	})
}

// withStore opens the store, which is created if it is missing and create says
// so, and closes it after f.
func (a *app) withStore(ctx context.Context, create bool, f func(store.Store) error) error {
	st, err := a.open(ctx, create)
	if err != nil {
		return err
	}
	return errors.Join(explain(ctx, st, f(st)), st.Close())
}

// inMemory is the URL of a store that only this process has.
const inMemory = "mem:"

// shared refuses a store that nobody else can reach to those whose work is for
// others, or of others.
func (a *app) shared() error {
	if a.storeURL == inMemory {
		return usagef("--store mem: is the memory of this process, which no other can reach; leasestream run works there alone")
	}
	return nil
}

// codeNoContainer is the storage error code of a missing container, which a local
// store is as a file.
const codeNoContainer = "ContainerNotFound"

// open opens the store. Whoever may use a container but not create one has
// nothing to create: then it is there, or the first request says what is wrong.
func (a *app) open(ctx context.Context, create bool) (store.Store, error) {
	st, err := wire.OpenStore(ctx, a.storeURL, &wire.StoreOptions{Create: create})
	switch {
	case create && errors.Is(err, store.ErrUnauthorized):
		return wire.OpenStore(ctx, a.storeURL, nil)
	case !create && err != nil:
		return nil, missingFile(err)
	}
	return st, err
}

// missingFile gives the error of a local store that is not there its code.
func missingFile(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w (%s)", err, codeNoContainer)
	}
	return err
}

// withRuns is withStore for what looks at runs and steers them. The log goes to
// stderr.
func (a *app) withRuns(ctx context.Context, f func(*processor.Processor) error) error {
	return a.withStore(ctx, false, func(st store.Store) error { return a.process(st, nil, a.stderr, f) })
}

// withWork is withStore for what makes and does work, for which there may be a
// bus, and which is traced and measured. The log goes to logs.
func (a *app) withWork(ctx context.Context, noCreate bool, logs io.Writer, f func(*processor.Processor) error) error {
	return a.withBus(ctx, noCreate, false, logs, f)
}

// withStart is withWork for what only makes work, and takes no doorbells.
func (a *app) withStart(ctx context.Context, noCreate bool, f func(*processor.Processor) error) error {
	return a.withBus(ctx, noCreate, true, a.stderr, f)
}

func (a *app) withBus(ctx context.Context, noCreate, mute bool, logs io.Writer, f func(*processor.Processor) error) error {
	var l link
	opened, err := a.bus.open(a.storeURL, mute, &l)
	if err != nil {
		return err
	}
	if opened != nil {
		defer opened.Close() // what it may still say changes nothing
		l.bus, a.rungAt = opened.Bus, opened.URL
	}
	return a.withStore(ctx, !noCreate, func(st store.Store) error {
		return a.measured(ctx, logs, func() error { return a.process(st, &l, logs, f) })
	})
}

// process makes the processor over a store, and links it to a bus; nil for none.
func (a *app) process(st store.Store, l *link, logs io.Writer, f func(*processor.Processor) error) error {
	if l == nil {
		l = &link{}
	}
	log := a.logger(logs)
	sc := scope.New(st, &scope.Options{Logger: log, MeterProvider: a.telemetry.Meters})
	p := processor.New(sc, &processor.Options{
		Logger: log, Bus: l.bus, TracerProvider: a.telemetry.Traces, MeterProvider: a.telemetry.Meters,
	})
	l.to.Store(p)
	return errors.Join(f(p), sc.Close())
}
