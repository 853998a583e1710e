package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/pipeline"
)

func TestWordTemplate(t *testing.T) {
	for _, test := range []struct{ word, want string }{
		{"-l ž", "-l ž"},
		{"a\u0085\n", `{{"a\u0085\n"}}`},
		{"{}", "{{.Input}}"},
		{"a{}b{}", `{{"a"}}{{.Input}}{{"b"}}{{.Input}}`},
		{"{{}}", `{{"{"}}{{.Input}}{{"}"}}`},
		{"{{.Run}}", `{{"{{.Run}}"}}`},
		{`{"a": "{}"}`, `{{"{\"a\": \""}}{{.Input}}{{"\"}"}}`},
		{"{\n`}", `{{"{\n` + "`" + `}"}}`},
	} {
		if got := wordTemplate(test.word); got != test.want {
			t.Errorf("wordTemplate(%q) = %s, want %s", test.word, got, test.want)
		}
	}
}

// The command gets exactly the words that were given, with the line in its place.
func TestEachPipeline_Arguments(t *testing.T) {
	for _, test := range []struct{ words, line, want string }{
		{"a b", "x", "a|b|x"},
		{"{}", "x", "x"},
		{"-{}- {}", "a b", "-a b-|a b"},
		{"{{.Input}} {{}} {", "x", "{{.Input}}|{x}|{"},
		{`\n "{}" ' $x # :`, "{{.Key}}", `\n|"{{.Key}}"|'|$x|#|:`},
		{"ž\u2028\u0085", "\t€", "ž\u2028\u0085|\t€"},
	} {
		words := append([]string{"printf", "%s|"}, strings.Fields(strings.ReplaceAll(test.words, "\u2028\u0085", "§"))...)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "§", "\u2028\u0085")
		}
		if got := runLine(t, words, test.line); got != test.want+"|" {
			t.Errorf("%q for line %q got %q, want %q", words, test.line, got, test.want+"|")
		}
	}
}

// runLine runs a command for one line and gives its output.
func runLine(t *testing.T, words []string, line string) string {
	t.Helper()
	var out, errs strings.Builder
	a := &app{
		stdin: strings.NewReader(line), stdout: &out, stderr: &errs, storeURL: "mem:", bus: busFlags{url: "none"},
		getenv: func(string) string { return "" },
	}
	cmd := a.newEach()
	cmd.SetArgs(append([]string{"--"}, words...))
	cmd.SetErr(&errs)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Errorf("%q: %v; %s", words, err, errs.String())
	}
	return out.String()
}

// The same command is the same pipeline, today and tomorrow: an interrupted run
// is found by it.
func TestEachPipeline_Identity(t *testing.T) {
	definition := func(policy string, words ...string) string {
		pl, err := eachPipeline(words, policy, pipeline.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return pl.Definition()
	}
	const want = "sha256:7ba9e7147b7f794850bac37d792a71a5d141ac664e897bc1563c0eea9b97cb9a"
	if got := definition("", "echo", "{}"); got != want {
		t.Errorf("definition of echo {} = %s, want %s: runs of older builds cannot be resumed", got, want)
	}
	if definition("", "echo") != want {
		t.Error("echo is another command than echo {}")
	}
	if definition("", "echo", "-n") == want || definition("failfast", "echo") == want {
		t.Error("another command, or policy, has the same definition")
	}
}

func TestReadLines(t *testing.T) {
	for _, test := range []struct {
		stdin string
		want  []string
	}{
		{"", []string{}},
		{"a", []string{"a"}},
		{"a\n", []string{"a"}},
		{"a\n\nb\r\n", []string{"a", "", "b\r"}},
	} {
		got, err := (&app{stdin: strings.NewReader(test.stdin)}).readLines()
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("readLines() of %q = %q, %v, want %q", test.stdin, got, err, test.want)
		}
	}
	if _, err := (&app{stdin: strings.NewReader("a\n\xff\n")}).readLines(); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("readLines() of what is not UTF-8 = %v, want an error with the line", err)
	}
}

func TestLineResult(t *testing.T) {
	for _, test := range []struct{ result, text, json string }{
		{`{"status":"completed","output":"a\n"}`, "a\n", `{"input":"i","status":"completed","output":"a\n"}`},
		{`{"status":"completed","output":null}`, "", `{"input":"i","status":"completed","output":null}`},
		{`{"status":"completed","output":{"by":"hand"}}`, "{\"by\":\"hand\"}\n", `{"input":"i","status":"completed","output":{"by":"hand"}}`},
		{`{"status":"aborted","error":"no"}`, "", `{"input":"i","status":"aborted","error":"no"}`},
	} {
		var r lineResult
		if err := json.Unmarshal([]byte(test.result), &r); err != nil {
			t.Fatal(err)
		}
		if got := r.text(); got != test.text {
			t.Errorf("text() of %s = %q, want %q", test.result, got, test.text)
		}
		if got, err := marshal(r.json("i")); err != nil || string(got) != test.json {
			t.Errorf("json() of %s = %s, %v, want %s", test.result, got, err, test.json)
		}
	}
}

func TestShowEach_OtherResults(t *testing.T) {
	a := &app{stdout: &strings.Builder{}, stderr: &strings.Builder{}}
	end := &processor.End{Name: "r", Status: eventstream.Completed, Output: json.RawMessage(`[]`)}
	if err := a.showEach(end, []string{"a"}, choice{}); err == nil || !strings.Contains(err.Error(), "0 results for 1 lines") {
		t.Errorf("showEach() = %v, want that results are missing", err)
	}
}
