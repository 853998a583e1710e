package cli

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/pipeline"
	"github.com/leasestream/leasestream/scope/store"
)

// rescan is how old a look into the folder of definitions may be.
const rescan = time.Second

// definitions are the pipelines of a folder: of every file in it whose name ends
// in .yaml. What has been read stays, so that a file that changes or goes away
// leaves nobody's run behind. It is for one goroutine at a time.
type definitions struct {
	folder string
	o      pipeline.Options
	log    *slog.Logger

	read  time.Time                      // when the folder was
	known map[string]*processor.Pipeline // :: definition → pipeline
	wrong map[string]string              // :: file → what is wrong with it
}

// openDefinitions reads the folder for the first time. A file that is wrong is
// logged, and the others go on.
func openDefinitions(folder string, o pipeline.Options) (*definitions, error) {
	d := &definitions{
		folder: folder, o: o, log: o.Logger,
		known: map[string]*processor.Pipeline{}, wrong: map[string]string{},
	}
	if err := d.scan(); err != nil {
		return nil, &exitError{codeUsage, err}
	}
	return d, nil
}

func (d *definitions) all() []*processor.Pipeline { return slices.Collect(maps.Values(d.known)) }

// find looks for a definition; nil if no file has had it.
func (d *definitions) find(_ context.Context, definition string) (*processor.Pipeline, error) {
	if pl := d.known[definition]; pl != nil {
		return pl, nil
	}
	if time.Since(d.read) >= rescan {
		if err := d.scan(); err != nil {
			return nil, err
		}
	}
	return d.known[definition], nil
}

func (d *definitions) scan() error {
	entries, err := os.ReadDir(d.folder)
	if err != nil {
		return err
	}
	d.read = time.Now()
	for _, entry := range entries {
		if file := filepath.Join(d.folder, entry.Name()); strings.HasSuffix(file, ".yaml") && mayBeRead(file) {
			d.load(file)
		}
	}
	return nil
}

// mayBeRead leaves out folders, and what would keep a reader waiting, such as a named
// pipe. Of a link it looks at what that leads to; one that leads nowhere is read, to
// say so.
func mayBeRead(file string) bool {
	info, err := os.Stat(file)
	return err != nil || info.Mode().IsRegular()
}

// load reads one file. That it is wrong is said once.
func (d *definitions) load(file string) {
	o := d.o
	pl, err := pipeline.Load(file, &o)
	switch {
	case err != nil && d.wrong[file] != err.Error():
		d.wrong[file] = err.Error()
		d.log.Warn("a pipeline file is left out", "file", file, "err", err)
	case err == nil:
		delete(d.wrong, file)
		if d.known[pl.Definition()] == nil {
			d.known[pl.Definition()] = pl
		}
	}
}

// findFunc is Find of processor.WorkOptions.
type findFunc = func(ctx context.Context, definition string) (*processor.Pipeline, error)

// inAny looks in one place after the other.
func inAny(places ...findFunc) findFunc {
	if len(places) == 0 {
		return nil
	}
	return func(ctx context.Context, definition string) (*processor.Pipeline, error) {
		var errs []error
		for _, find := range places {
			pl, err := find(ctx, definition)
			if pl != nil {
				return pl, nil
			}
			errs = append(errs, err)
		}
		return nil, errors.Join(errs...)
	}
}

// inStore looks for definitions in the store itself, where whoever can write into
// it could have put them; their hash is checked.
func inStore(p *processor.Processor, o pipeline.Options) findFunc {
	return func(ctx context.Context, definition string) (*processor.Pipeline, error) {
		source, err := p.Source(ctx, definition)
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		named := o
		named.Name = "definition " + definition
		return pipeline.Parse(source, &named)
	}
}
