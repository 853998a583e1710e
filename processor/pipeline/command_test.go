package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/pipeline"
)

func TestExec_Output(t *testing.T) {
	for _, c := range []struct {
		output, printed string // a format of printf
		want            any
	}{
		{"json", `{"a": [1, 2]}\n`, complete(`{"a":[1,2]}`)},
		{"json", `12345678901234567890`, complete(`12345678901234567890`)},
		{"json", `{"n":1.000000000000000000001,"e":1e+400}`, complete(`{"n":1.000000000000000000001,"e":1e+400}`)},
		{"json", `"<&>"\n\n`, complete(`"<&>"`)},
		{"json", ``, complete(`null`)},
		{"json", ` \n`, complete(`null`)},
		{"json", `hello`, `output is not one JSON value: invalid character 'h' looking for beginning of value: "hello"`},
		{"json", `1 2`, `output is not one JSON value: invalid character '2' after top-level value: "1 2"`},
		{"json", `{"a":`, `output is not one JSON value: unexpected end of JSON input: "{\"a\":"`},
		{"json", `"\377"`, `output is not UTF-8 at byte 1: "\xff\""`},
		{"lines", `a\r\nb\n\nc`, complete(`["a","b","","c"]`)},
		{"lines", `<a>\n`, complete(`["<a>"]`)},
		{"lines", ``, complete(`[]`)},
		{"lines", `a\n\303`, `output is not UTF-8 at byte 2: "\xc3"`},
		{"ndjson", `1\n\n{"a": 12345678901234567890}\r\n`, complete(`[1,{"a":12345678901234567890}]`)},
		{"ndjson", ``, complete(`[]`)},
		{"ndjson", `1\n2\n{x\n`, `output is not JSON after 2 values: invalid character 'x' looking for beginning of object key string: "{x"`},
		{"ndjson", `1\n{`, `output is not JSON after 1 values: unexpected EOF: "{"`},
		{"text", `P\305\231eh\n`, complete(`"Přeh\n"`)},
		{"text", ``, complete(`""`)},
		{"text", `ok\000`, complete(`"ok\u0000"`)},
		{"text", `\211PNG`, `output is not UTF-8 at byte 0: "\x89PNG"`},
	} {
		t.Run(c.output+" "+c.printed, func(t *testing.T) {
			source := single(`exec: [printf, "{{.Input}}"]`, "output: "+c.output)
			got, err := handle(t, source, task("A", quoted(c.printed)), nil)
			check(t, got, err, c.want)
		})
	}
}

func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func TestExec_Arguments(t *testing.T) {
	for _, c := range []struct{ argument, input, want string }{
		{`{{.Input}}`, `"it's <b> & \"$HOME\""`, `it's <b> & "$HOME"`},
		{`{{.Input}}`, `{"b":"<",  "a":[1.50, null, true]}`, `{"a":[1.50,null,true],"b":"<"}`},
		{`{{.Input}}`, `12345678901234567890`, `12345678901234567890`},
		{`{{.Input}}`, `1000000`, `1000000`},
		{`{{.Input}}`, `-0`, `-0`},
		{`{{.Input}}`, `null`, `null`},
		{`{{.Input}}`, ``, `null`},
		{`{{.Input.a.b}}`, `{"a":{"b":1e6}}`, `1e6`},
		{`{{.Input.a}} {{.Input.b}}`, `{"a":null,"b":false}`, `null false`},
		{`{{index .Input 1}}`, `[1,[2,"x"]]`, `[2,"x"]`},
		{`{{range .Input}}<{{.}}>{{end}}`, `[1,null]`, `<1><null>`},
		{`{{if gt .Input 9}}big{{else}}small{{end}}`, `10`, `big`},
		{`{{if .Input}}some{{else}}none{{end}}`, `null`, `none`},
		{`{{.Event}} {{.Stream}} {{.Run}} {{.Attempt}} {{.Key}}`, ``, `01.00 order-42 k3v9x2 2 k3v9x2/01.00`},
		{`$(id); *`, ``, `$(id); *`},
		{``, ``, ``},
		{`{{/* nothing */}}`, ``, ``},
		{`{{define "x"}}a{{end}}`, ``, ``},
	} {
		t.Run(c.argument+" "+c.input, func(t *testing.T) {
			source := single(`exec: [printf, "%s", '`+c.argument+`']`, "output: text")
			got, err := handle(t, source, task("A", c.input), nil)
			check(t, got, err, complete(quoted(c.want)))
		})
	}
}

// What the next attempt would meet again is not tried again.
func TestExec_Aborts(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plain"), "#!/bin/sh\n", 0o644)
	write(t, filepath.Join(dir, "noshell"), "#!/no/such/shell\n", 0o755)
	write(t, filepath.Join(dir, "binary"), "\x7fELF?", 0o755)
	for _, c := range []struct{ exec, input, want string }{
		{`["{{.Input.rot}}"]`, `{"root":1}`, `abort: pipeline.yaml:4:12: argument at <.Input.rot>: map has no entry for key "rot"`},
		{`[echo, "{{.Input.a.b}}"]`, `{"a":null}`, `abort: pipeline.yaml:4:18: argument at <.Input.a.b>: map has no entry for key "b"`},
		{`[echo, "{{.Input.a}}"]`, `[1]`, `abort: pipeline.yaml:4:18: argument at <.Input.a>: can't evaluate field a in type`},
		{`[echo, "{{.Input}}"]`, `"a\u0000b"`, `abort: pipeline.yaml:4:18: argument "a\x00b" has a NUL character`},
		{`[no-such-program]`, ``, `abort: pipeline.yaml:4:12: program "no-such-program" cannot be run: executable file not found in $PATH`},
		{`["{{.Input}}"]`, `""`, `abort: pipeline.yaml:4:12: program "" cannot be run: executable file not found in $PATH`},
		{`[./missing]`, ``, `abort: pipeline.yaml:4:12: program "./missing" cannot be run: stat ` + dir + `/missing: no such file`},
		{`[./plain]`, ``, `abort: pipeline.yaml:4:12: program "./plain" cannot be run: permission denied`},
		{`[./noshell]`, ``, `abort: pipeline.yaml:4:12: program cannot be run: fork/exec ` + dir + `/noshell: no such file`},
		{`[./binary]`, ``, `abort: pipeline.yaml:4:12: program cannot be run: fork/exec ` + dir + `/binary: exec format error`},
	} {
		t.Run(c.want, func(t *testing.T) {
			got, err := handle(t, single("exec: "+c.exec), task("A", c.input), &pipeline.Options{Dir: dir})
			check(t, got, err, c.want)
		})
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestExec_Folder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tool"), "#!/bin/sh\npwd\n", 0o755)
	write(t, filepath.Join(dir, "p.yaml"), single("exec: [./tool]", "output: lines"), 0o644)
	p, err := pipeline.Load(filepath.Join(dir, "p.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Step("A").Handler(t.Context(), task("A", ""))
	check(t, got, err, complete(`["`+real+`"]`))
}

func TestExec_ArgumentsTooLong(t *testing.T) {
	got, err := handle(t, single(`exec: [echo, "{{.Input}}"]`), task("A", `"`+strings.Repeat("x", 1<<20)+`"`), nil)
	check(t, got, err, "abort: pipeline.yaml:4:12: program cannot be run: fork/exec")
	if reason := reasonOf(got); !strings.HasSuffix(reason, "argument list too long: a message of this size has to be read from stdin") {
		t.Errorf("reason = %q, want the way out", reason)
	}
}

// A worker that was itself started by a step must not pass on what it was told.
func TestExec_Environment(t *testing.T) {
	t.Setenv("LEASESTREAM_EVENT", "99")
	t.Setenv("INHERITED", "yes")
	source := single(`exec: [sh, -c, 'echo $LEASESTREAM_STREAM $LEASESTREAM_RUN $LEASESTREAM_EVENT $LEASESTREAM_ATTEMPT $LEASESTREAM_KEY $INHERITED']`, "output: lines")
	got, err := handle(t, source, task("A", ""), nil)
	check(t, got, err, complete(`["order-42 k3v9x2 01.00 2 k3v9x2/01.00 yes"]`))
}

// The worker's settings, which may hold the key of its store, are not for
// programs: of ours they get the five that say what their task is.
func TestExec_EnvironmentWithoutSettings(t *testing.T) {
	t.Setenv("LEASESTREAM_STORE", "https://account.blob.core.windows.net/runs?sig=s3cr3t")
	t.Setenv("LEASESTREAM_TOKEN", "s3cr3t")
	t.Setenv("LEASESTREAM_", "s3cr3t")
	t.Setenv("leasestream_store", "s3cr3t")
	t.Setenv("LEASESTREAM", "not ours")
	t.Setenv("MY_LEASESTREAM_STORE", "not ours")
	got, err := handle(t, single(`exec: [sh, -c, 'env | cut -d= -f1 | grep -i leasestream | LC_ALL=C sort']`, "output: lines"), task("A", ""), nil)
	check(t, got, err, complete(`["LEASESTREAM","LEASESTREAM_ATTEMPT","LEASESTREAM_EVENT","LEASESTREAM_KEY","LEASESTREAM_RUN","LEASESTREAM_STREAM","MY_LEASESTREAM_STORE"]`))
}

func TestExec_Stdin(t *testing.T) {
	for _, c := range []struct{ input, more, want string }{
		{"{\"a\" :\n 12345678901234567890}", "stdin: json", `{"a":12345678901234567890}`},
		{``, "stdin: json", `null`},
		{`{"a":1}`, "input: '[.a, .b]'", `[1,null]`},
	} {
		source := joining("exec: [cat]", "output: text", c.more)
		got, err := handle(t, source, task("Join", c.input), nil)
		check(t, got, err, complete(quoted(c.want)[:len(quoted(c.want))-1]+`\n"`))
	}
}

// A program need not read its message, whatever its size.
func TestExec_UnreadStdin(t *testing.T) {
	got, err := handle(t, single(`exec: [echo, 1]`), task("A", `"`+strings.Repeat("x", 1<<20)+`"`), nil)
	check(t, got, err, complete("1"))
}

func TestExec_InputShapesArguments(t *testing.T) {
	source := single(`input: "{city: .address.city}"`, `exec: [printf, "%s", "{{.Input.city}}"]`, "output: text")
	got, err := handle(t, source, task("A", `{"address":{"city":"Brno"}}`), nil)
	check(t, got, err, complete(`"Brno"`))
}

func TestExec_Failures(t *testing.T) {
	long := strings.Repeat("x", 2000)
	for _, c := range []struct{ name, script, want string }{
		{"status", `echo out; echo "no such city" >&2; exit 3`, "exit status 3: no such city"},
		{"without a word", `exit 4`, "exit status 4"},
		{"signal", `kill -9 $$`, "signal: killed"},
		{"tail", `printf '` + long + `end' >&2; exit 1`, "exit status 1: " + long[:1021] + "end"},
		{"not UTF-8", `printf 'a\377b' >&2; exit 1`, "exit status 1: a\ufffdb"},
		{"bad output", `echo x; echo warned >&2`, `output is not one JSON value: invalid character 'x' looking for beginning of value: "x\n": warned`},
		{"huge output", `while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done`, "abort: output is larger than 1000 bytes; let it go to a file"},
		{"huge output, deaf", `trap "" PIPE; while :; do echo xxxxxxxxxxxxxxxxxxx 2>/dev/null; done`, "abort: output is larger than 1000 bytes; let it go to a file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := handle(t, single(`exec: [sh, -c, "{{.Input}}"]`), task("A", quoted(c.script)), &pipeline.Options{MaxOutput: 1000})
			check(t, got, err, c.want)
		})
	}
}

func TestExec_Log(t *testing.T) {
	var logged bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&logged, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	script := `printf 'one\r\n\ntwo\nthree' >&2; head -c 9000 /dev/zero | tr '\000' x >&2`
	got, err := handle(t, single(`exec: [sh, -c, "{{.Input}}"]`), task("A", quoted(script)), &pipeline.Options{Logger: logger})
	check(t, got, err, complete("null"))
	var want strings.Builder
	for _, line := range []string{"one", "two", "three" + strings.Repeat("x", 8192-5), strings.Repeat("x", 9005-8192)} {
		want.WriteString(`{"level":"INFO","msg":"stderr of program","stream":"order-42","event":"01.00","step":"A","attempt":2,"worker":"w1","line":"` + line + `"}` + "\n")
	}
	if logged.String() != want.String() {
		t.Errorf("log = %s, want %s", &logged, &want)
	}
}

func TestExec_KeepsStderr(t *testing.T) {
	redact := func(s string) string { return strings.ReplaceAll(s, "secret", "…") }
	long := `i=0; while [ $i -lt 3000 ]; do echo "line $i"; i=$((i+1)); done`
	for _, c := range []struct {
		name, script   string
		keep           bool
		want, wantKept string
	}{
		{"not asked for", `echo "no secret" >&2; exit 3`, false, "exit status 3: no …", ""},
		{"kept", `echo "a secret" >&2; echo b >&2; exit 3`, true, "exit status 3: a …\nb", "a …\nb\n"},
		{"without a word", `exit 3`, true, "exit status 3", ""},
		{"bad output", `echo x; echo warned >&2`, true, `output is not one JSON value: invalid character 'x' looking for beginning of value: "x\n": warned`, "warned\n"},
		{"long", `{ ` + long + `; } >&2; exit 3`, true, "", lines(3000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &pipeline.Options{KeepStderr: c.keep, Redact: redact}
			_, err := handle(t, single(`exec: [sh, -c, "{{.Input}}"]`), task("A", quoted(c.script)), o)
			if err == nil || c.want != "" && err.Error() != c.want {
				t.Errorf("handler = %v, want %s", err, c.want)
			}
			kept := ""
			if logged, ok := errors.AsType[*processor.LoggedError](err); ok {
				kept = string(logged.Log)
			}
			if kept != c.wantKept {
				t.Errorf("the log has %d bytes, %.100q, want %d", len(kept), kept, len(c.wantKept))
			}
		})
	}
}

// lines is what a program says that counts the lines it writes.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// Of more than can be kept it is the end, in whole lines.
func TestExec_KeepsTheEndOfStderr(t *testing.T) {
	script := `yes 'many a line of thirty-two bytes' | head -c 6000000 >&2; echo >&2; echo the end >&2; exit 3`
	_, err := handle(t, single(`exec: [sh, -c, "{{.Input}}"]`), task("A", quoted(script)), &pipeline.Options{KeepStderr: true})
	logged, ok := errors.AsType[*processor.LoggedError](err)
	if !ok {
		t.Fatalf("handler = %v, want its log", err)
	}
	head, rest, _ := strings.Cut(string(logged.Log), "\n")
	if dropped := 6_000_000 + len("\nthe end\n") - len(rest); head != fmt.Sprintf("[%d bytes before this were not kept]", dropped) {
		t.Errorf("the log begins %q, want the bytes that were not kept", head)
	}
	if !strings.HasPrefix(rest, "many a line") || !strings.HasSuffix(rest, "the end\n") || len(rest) > 4<<20 || len(rest) < 4<<20-100 {
		t.Errorf("the log has %d bytes, %.40q…, want the last 4 MiB in whole lines", len(rest), rest)
	}
}

func TestExec_CanceledBefore(t *testing.T) {
	cause := errors.New("lease lost")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	marker := filepath.Join(t.TempDir(), "ran")
	p := parse(t, single(`exec: [touch, "{{.Input}}"]`), nil)
	_, err := p.Step("A").Handler(ctx, task("A", quoted(marker)))
	if !errors.Is(err, cause) {
		t.Errorf("handler = %v, want %v", err, cause)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the program ran")
	}
}

// A program must not take the half of a message for the whole.
func TestExec_ResultsBreakOff(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "done")
	source := joining(`exec: [sh, -c, 'cat >/dev/null; touch "$0"', "{{.Input}}"]`)
	broken := join("Join", quoted(marker))
	broken.SetResults(failing(errors.New("blob is gone")))
	got, err := handle(t, source, broken, nil)
	check(t, got, err, "results of the branches: blob is gone")
	if _, err := os.Stat(marker); err == nil {
		t.Error("the program came to the end of its input")
	}
}

// joining is the text of a pipeline with a step named Join, which is one.
func joining(lines ...string) string {
	return "name: p\nsteps:\n  - {name: Start, jq: ., split: {to: Join, join: Join}}\n  - name: Join\n    " +
		strings.Join(lines, "\n    ") + "\n"
}

func TestExec_Join(t *testing.T) {
	results := []processor.Result{
		{ID: "01.00", Status: "completed", Output: []byte(`{"n": 12345678901234567890, "s": "<"}`)},
		{ID: "02.01", Status: "aborted", Error: "no such city", Output: []byte(`1`)},
		{ID: "03.00", Status: "completed"},
		{ID: "04.00", Status: "canceled"},
	}
	const (
		one   = `{"id":"01.00","status":"completed","output":{"n":12345678901234567890,"s":"<"}}`
		two   = `{"id":"02.01","status":"aborted","error":"no such city"}`
		three = `{"id":"03.00","status":"completed","output":null}`
		four  = `{"id":"04.00","status":"canceled","error":"canceled"}`
	)
	for _, c := range []struct{ more, want string }{
		{"stdin: json", `{"input":"in","results":[` + one + `,` + two + `,` + three + `,` + four + `]}`},
		{"results: errors", `{"input":"in","results":[` + two + `,` + four + `]}`},
		{"results: none", `{"input":"in","results":[]}`},
		{"stdin: ndjson", "\"in\"\n" + one + "\n" + two + "\n" + three + "\n" + four},
		{"{stdin: ndjson, results: errors}", "\"in\"\n" + two + "\n" + four},
		{"{stdin: ndjson, results: none}", `"in"`},
		{"input: '[.input,(.results|length)]'", `["in",4]`},
	} {
		t.Run(c.more, func(t *testing.T) {
			more := strings.Split(strings.Trim(c.more, "{}"), ", ")
			source := joining(append(more, "exec: [cat]", "output: text")...)
			got, err := handle(t, source, join("Join", `"in"`, results...), nil)
			check(t, got, err, complete(strings.ReplaceAll(quoted(c.want+"\n"), "\n", `\n`)))
		})
	}
}
