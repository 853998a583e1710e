package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/leasestream/leasestream/processor"
)

// items is a file whose items are the messages of a split. They are read one by
// one while they are written to the store, so a file may be larger than memory.
type items struct {
	file   *argument
	format word
}

// itemFormats read the items of a file, by the name of the format.
var itemFormats = map[string]func(*itemFile) itemSeq{
	"ndjson": ndjsonItems,
	"json":   arrayItems,
	"csv":    csvItems,
}

var formatNames = []string{"ndjson", "csv", "json"}

// formatsByExtension are the formats of files whose format is not given.
var formatsByExtension = map[string]string{".ndjson": "ndjson", ".jsonl": "ndjson", ".csv": "csv", ".json": "json"}

// itemSeq yields the items of a file as JSON.
type itemSeq = iter.Seq2[any, error]

func (s *step) readItems(v value) {
	s.items = &items{}
	given := v.mapping(
		field{"file", func(v value) { s.items.file = v.argument("file") }},
		field{"format", func(v value) { s.items.format = v.choice(formatNames...) }},
	)
	v.r.require(given, v.at, "file")
	if f := s.items.file; f != nil && f.template == nil && s.items.formatOf(f.text) == "" && !s.items.has(given, "format") {
		v.r.add(given["file"], "%v", unknownFormat(f.text))
	}
}

func (*items) has(given keys, name string) bool {
	_, ok := given[name]
	return ok
}

// formatOf is the format of a file; "" if it is not known.
func (i *items) formatOf(path string) string {
	if i.format.text != "" {
		return i.format.text
	}
	return formatsByExtension[strings.ToLower(filepath.Ext(path))]
}

func unknownFormat(path string) error {
	return fmt.Errorf("the format of %q cannot be told from its name; add format: one of %s", path, strings.Join(formatNames, ", "))
}

// itemsHandler ends in a split to the items of the file.
func (f *file) itemsHandler(s *step, settings *Options) processor.Handler {
	return func(ctx context.Context, t *processor.Task) (processor.Outcome, error) {
		m := &message{task: t, which: s.results.text}
		err := s.shape(ctx, m)
		var all itemSeq
		if err == nil {
			all, err = s.items.read(m, settings)
		}
		if _, ok := errors.AsType[hopeless](err); ok {
			return processor.Abort(err.Error()), nil
		}
		if err != nil {
			return processor.Outcome{}, err
		}
		if s.split.batch > 0 {
			all = batched(all, s.split.batch)
		}
		return processor.SplitSeq(s.split.to.text, all).Delay(f.step(s.split.to.text).delay).
			Join(s.split.join.text).Policy(s.split.policy).Timeout(s.split.timeout), nil
	}
}

// read finds the file and yields its items. A file that is not there is not there
// the next time either.
func (i *items) read(m *message, settings *Options) (itemSeq, error) {
	path, err := i.file.expand(newArgumentData(m))
	if err != nil {
		return nil, err
	}
	format := i.formatOf(path)
	if format == "" {
		return nil, hopeless{fmt.Errorf("%s: %w", i.file.where, unknownFormat(path))}
	}
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(settings.Dir, full)
	}
	info, err := os.Stat(full)
	switch {
	case err != nil:
		return nil, i.unreadable(path, err)
	case info.IsDir():
		return nil, hopeless{fmt.Errorf("%s: items of %q: it is a folder", i.file.where, path)}
	case !info.Mode().IsRegular(): // a named pipe could be waited for without end, and read only once
		return nil, hopeless{fmt.Errorf("%s: items of %q: it is no regular file", i.file.where, path)}
	}
	return func(yield func(any, error) bool) {
		file, err := os.Open(full)
		if err != nil {
			yield(nil, i.unreadable(path, err))
			return
		}
		defer file.Close()
		itemFormats[format](newItemFile(path, file, settings.MaxOutput))(yield)
	}, nil
}

// unreadable says why a file cannot be read, without the folder it was looked for
// in.
func (i *items) unreadable(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	err = fmt.Errorf("%s: items of %q: %w", i.file.where, path, err)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return hopeless{err}
	}
	return err
}

// batched makes an array of so many items each, of the last fewer.
func batched(all itemSeq, size int) itemSeq {
	return func(yield func(any, error) bool) {
		batch := make([]any, 0, size)
		for item, err := range all {
			if err != nil {
				yield(nil, err)
				return
			}
			if batch = append(batch, item); len(batch) < size {
				continue
			}
			if !yield(batch, nil) {
				return
			}
			batch = make([]any, 0, size)
		}
		if len(batch) > 0 {
			yield(batch, nil)
		}
	}
}

// itemFile is a file that items are read from.
type itemFile struct {
	name  string // for errors
	text  io.Reader
	limit int // of one item, in bytes
}

// itemError is what is wrong with the content of a file. No further attempt can
// mend it.
type itemError struct{ error }

// Is makes the split that the items are for an abort.
func (itemError) Is(target error) bool { return target == processor.ErrOutcome }

func (f *itemFile) wrong(line int, format string, args ...any) error {
	return itemError{fmt.Errorf("%s:%d: %w", f.name, line, fmt.Errorf(format, args...))}
}
