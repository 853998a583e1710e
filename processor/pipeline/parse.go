package pipeline

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/leasestream/leasestream/processor"
)

// maxSource is the size of the largest pipeline file, in bytes.
const maxSource = 1 << 20

// Options of Parse and Load; nil means the defaults.
type Options struct {
	// Name is what messages call the file; "" is the path for Load, and
	// pipeline.yaml for Parse.
	Name string
	// Dir is the folder that programs run in and that relative program names
	// begin from; "" is the file's folder for Load, and the current one for Parse.
	Dir string
	// Logger gets each line that a program writes to stderr; nil drops them.
	Logger *slog.Logger
	// KeepStderr keeps what the program of a failed attempt wrote to stderr, up to
	// the last 4 MiB of it, in the store beside the run's payloads, where the
	// attempt refers to it. Without it the attempt has the last 1 KiB in its error,
	// and that is all.
	KeepStderr bool
	// Redact takes secrets out of what a program wrote to stderr, before it goes
	// into the error of an attempt or the store; nil takes out nothing. The Logger
	// gets all as it is.
	Redact func(string) string
	// MaxOutput is how much a program may write to stdout, and a server may
	// answer, in bytes; 0 means [processor.MaxPayload], 64 MiB. The program is
	// stopped at more, and the step is aborted.
	MaxOutput int
	// Grace is how long a canceled program has between SIGTERM and SIGKILL; 0
	// means 2 s.
	Grace time.Duration
	// Transport carries the requests of http steps. nil means one for this
	// pipeline alone, which keeps its connections, up to 64 to a host, and uses the
	// proxies that the environment names.
	Transport http.RoundTripper
}

// Load reads the pipeline in a file, as Parse does.
func Load(path string, o *Options) (*processor.Pipeline, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("pipeline file: %w", err)
	}
	defer f.Close()
	source, err := io.ReadAll(io.LimitReader(f, maxSource+1))
	if err != nil {
		return nil, fmt.Errorf("pipeline file: %w", err)
	}
	return Parse(source, o.forFile(path))
}

// Parse reads a pipeline from the text of a file. All that is wrong with it is
// returned as [Problems], which match [processor.ErrPipeline]. The pipeline's
// definition is the hash of the text, byte by byte.
func Parse(source []byte, o *Options) (*processor.Pipeline, error) {
	settings, err := o.resolve()
	if err != nil {
		return nil, err
	}
	r := &reader{report: report{file: settings.Name}}
	file := r.file(source)
	if err := r.err(); err != nil {
		return nil, err
	}
	return processor.NewPipeline(file.name.text, &processor.Definition{Source: source}, file.build(settings)...)
}

func (o *Options) forFile(path string) *Options {
	var settings Options
	if o != nil {
		settings = *o
	}
	if settings.Name == "" {
		settings.Name = path
	}
	if settings.Dir == "" {
		settings.Dir = filepath.Dir(path)
	}
	return &settings
}

func (o *Options) resolve() (*Options, error) {
	settings := Options{Name: "pipeline.yaml", Logger: slog.New(slog.DiscardHandler), MaxOutput: processor.MaxPayload, Grace: 2 * time.Second, Redact: asItIs}
	if o == nil {
		o = &Options{}
	}
	if o.Name != "" {
		settings.Name = o.Name
	}
	if o.Logger != nil {
		settings.Logger = o.Logger
	}
	if o.Redact != nil {
		settings.Redact = o.Redact
	}
	settings.KeepStderr = o.KeepStderr
	if o.MaxOutput != 0 {
		settings.MaxOutput = o.MaxOutput
	}
	if o.Grace != 0 {
		settings.Grace = o.Grace
	}
	if settings.Transport = o.Transport; settings.Transport == nil {
		settings.Transport = newTransport()
	}
	// Absolute, so that it still names the same folder if the process changes its
	// own.
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("pipeline folder: %w", err)
	}
	settings.Dir = dir
	return &settings, nil
}

func asItIs(text string) string { return text }
