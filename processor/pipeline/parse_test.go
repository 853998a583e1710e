package pipeline_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/pipeline"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestLoad_Good(t *testing.T) {
	for _, path := range files(t, "testdata/good/*.yaml") {
		p, err := pipeline.Load(path, nil)
		if err != nil {
			t.Errorf("Load(%s) = %v", path, err)
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(p.Source(), source) {
			t.Errorf("%s: source of the pipeline is not the file", path)
		}
	}
}

func TestLoad_Bad(t *testing.T) {
	for _, path := range files(t, "testdata/bad/*/*.yaml") {
		_, err := pipeline.Load(path, &pipeline.Options{Name: filepath.Base(path)})
		if !errors.Is(err, processor.ErrPipeline) {
			t.Errorf("Load(%s) = %v, want an error that matches ErrPipeline", path, err)
			continue
		}
		golden(t, strings.TrimSuffix(path, ".yaml")+".err", err.Error()+"\n")
	}
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("Glob(%s) = %v, %v, want files", pattern, paths, err)
	}
	return paths
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\ngot\n%swant\n%s", path, got, want)
	}
}

func TestLoad_Settings(t *testing.T) {
	p, err := pipeline.Load("testdata/good/everything.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Name(), "every.thing_1-2"; got != want {
		t.Errorf("Name() = %q, want %q", got, want)
	}
	p2, err := pipeline.Load("testdata/good/codestats.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	count := p2.Step("Count")
	count.Handler = nil
	want := processor.Step{
		Name: "Count", Timeout: 30 * time.Second, Concurrency: 8,
		Retry: processor.Retry{Attempts: 3, Backoff: 500 * time.Millisecond, Max: 10 * time.Second},
	}
	if got := fmt.Sprintf("%+v", *count); got != fmt.Sprintf("%+v", want) {
		t.Errorf("Count = %s, want %+v", got, want)
	}
	work := p.Step("Work")
	if got := work.OnFailure; got != "Report" {
		t.Errorf("OnFailure = %q, want Report", got)
	}
	if work.Concurrency != 4 || work.RunConcurrency != 20 {
		t.Errorf("concurrency = %d a worker, %d a run, want 4, 20", work.Concurrency, work.RunConcurrency)
	}
	if again := p.Step("Again"); again.Concurrency != 0 || again.RunConcurrency != 100 {
		t.Errorf("concurrency = %d a worker, %d a run, want 0, 100", again.Concurrency, again.RunConcurrency)
	}
	if got := p2.Steps()[0].Name; got != "Folders" {
		t.Errorf("first step = %q, want Folders", got)
	}
}

// The definition must tell apart files that mean the same, since it stands for
// the file that a worker was given.
func TestParse_DefinitionIsTheText(t *testing.T) {
	text := "name: a\nsteps: [{name: A, jq: .}]\n"
	definitions := map[string]bool{}
	for _, source := range []string{text, text + "# more\n", strings.ReplaceAll(text, "\n", "\r\n")} {
		definitions[parse(t, source, nil).Definition()] = true
	}
	if len(definitions) != 3 {
		t.Errorf("definitions of three texts = %v, want three", definitions)
	}
}

func TestParse_ProblemsHavePlaces(t *testing.T) {
	_, err := pipeline.Parse([]byte("name: a\nsteps:\n  - name: A\n    exec: [a]\n    nex: B\n"), &pipeline.Options{Name: "p.yaml"})
	problems, ok := errors.AsType[pipeline.Problems](err)
	if !ok || len(problems) != 1 {
		t.Fatalf("Parse() = %v, want one problem", err)
	}
	want := pipeline.Problem{File: "p.yaml", Line: 5, Column: 5, Text: `unknown key "nex"; did you mean "next"?`}
	if problems[0] != want {
		t.Errorf("problem = %+v, want %+v", problems[0], want)
	}
}

func TestParse_Large(t *testing.T) {
	step := "  - {name: S%d, exec: [echo, a, b, c, d], retry: {attempts: 3}, next: S%d}\n"
	var steps strings.Builder
	for i := range 500 {
		fmt.Fprintf(&steps, step, i, (i+1)%500)
	}
	for name, c := range map[string]struct{ source, want string }{
		"500 steps":     {"name: a\nsteps:\n" + steps.String(), ""},
		"a long text":   {"name: a\nsteps: [{name: A, jq: '" + strings.Repeat("1+", 10_000) + "1'}]", ""},
		"a deep jq":     {"name: a\nsteps: [{name: A, jq: '" + strings.Repeat("[", 100_000) + "'}]", "pipeline.yaml:2:23: jq: the text is longer than 65536 bytes"},
		"over 1 MiB":    {"name: a # " + strings.Repeat("x", 1<<20), "pipeline.yaml:1:1: the file is larger than 1 MiB"},
		"deep brackets": {"name: " + strings.Repeat("[", 100_000), "pipeline.yaml:1:20005: the file is too large: more than 20000 YAML tokens"},
		"wide mapping":  {strings.Repeat("a: b\n", 10_000), "pipeline.yaml:6667:4: the file is too large: more than 20000 YAML tokens"},
		"deep lists":    {"name: a\nsteps:\n" + strings.Repeat("- ", 2000) + "a\n", "pipeline.yaml:3:3: step: want keys and values, got a list"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pipeline.Parse([]byte(c.source), nil)
			if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.HasPrefix(got, c.want) {
				t.Errorf("Parse() = %.300s, want %s", got, c.want)
			}
		})
	}
}

func TestLoad_Missing(t *testing.T) {
	_, err := pipeline.Load("testdata/none.yaml", nil)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("Load() = %v, want the missing file by name", err)
	}
}

// The processor has the last word on names; ours has to agree, or a problem
// would have no place.
func TestParse_StepNamesAreTheProcessors(t *testing.T) {
	for _, name := range []string{"A", "0", "a.b-c_d", "_a", "a b", ".a", "é", strings.Repeat("x", 100), strings.Repeat("x", 101)} {
		_, ours := pipeline.Parse(fmt.Appendf(nil, "name: a\nsteps: [{name: %q, jq: .}]", name), nil)
		_, theirs := processor.NewPipeline("a", nil, processor.Step{Name: name, Handler: processor.Func(nothing)})
		if (ours == nil) != (theirs == nil) {
			t.Errorf("step name %q: Parse = %v, NewPipeline = %v, want the same", name, ours, theirs)
		}
	}
}

func parse(t *testing.T, source string, o *pipeline.Options) *processor.Pipeline {
	t.Helper()
	p, err := pipeline.Parse([]byte(source), o)
	if err != nil {
		t.Fatalf("Parse() = %v", err)
	}
	return p
}

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.yaml", "testdata/bad/*/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			source, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(source)
		}
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		_, err := pipeline.Parse(source, nil)
		if err == nil {
			return
		}
		problems, ok := errors.AsType[pipeline.Problems](err)
		if !ok {
			t.Fatalf("Parse() = %v, want problems with places", err)
		}
		lines := bytes.Count(source, []byte("\n")) + 1
		for _, p := range problems {
			if p.Line < 1 || p.Line > lines+1 || p.Column < 1 || p.Text == "" || p.File == "" {
				t.Errorf("problem %+v is not in a file of %d lines", p, lines)
			}
		}
	})
}
