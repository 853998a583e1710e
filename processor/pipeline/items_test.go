package pipeline_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/pipeline"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

// runToEnd runs a pipeline in memory, in a folder.
func runToEnd(t *testing.T, source, dir, input string) *processor.End {
	t.Helper()
	st := memstore.New(nil)
	if err := st.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	sc := scope.New(st, nil)
	defer sc.Close()
	p := processor.New(sc, nil)
	pl := parse(t, source, &pipeline.Options{Dir: dir, MaxOutput: 1000})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- p.Work(ctx, nil, pl) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	run, err := p.Start(ctx, pl, []byte(input), nil)
	if err != nil {
		t.Fatal(err)
	}
	end, err := p.Await(ctx, run.Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return end
}

// collecting is a pipeline that splits to the items of a file and collects them.
func collecting(items, split string) string {
	return fmt.Sprintf(`name: collect
steps:
  - name: Read
    items: {%s}
    split: {to: Each, join: All%s}
  - name: Each
    jq: .
  - name: All
    jq: '[.results[] | .output // .error]'
`, items, split)
}

func TestItems(t *testing.T) {
	const bom = "\ufeff"
	for _, c := range []struct{ name, content, want string }{
		{"a.ndjson", "1\n{\"b\": 2}\n\n \"<&>\" \r\nnull", `[1,{"b":2},"<&>",null]`},
		{"a.jsonl", bom + "12345678901234567890\n", `[12345678901234567890]`},
		{"a.ndjson", "", `[]`},
		{"A.NDJSON", "[]\n", `[[]]`},
		{"a.json", bom + " [1,\r\n {\"b\" : [ ]}, \"x\"]\n ", `[1,{"b":[]},"x"]`},
		{"a.json", "[]", `[]`},
		{"a.csv", bom + "name,n\r\nBrno,1\r\n\"Ústí, \"\"x\"\"\",\r\n\"a\r\nb\",3", `[{"n":"1","name":"Brno"},{"n":"","name":"Ústí, \"x\""},{"n":"3","name":"a\nb"}]`},
		{"a.csv", "only\n", `[]`},

		{"a.ndjson", "1\n{\"b\": \n", `a.ndjson:2: not one JSON value: unexpected end of JSON input: "{\"b\":"`},
		{"a.ndjson", "1\n2 3\n", `a.ndjson:2: not one JSON value: invalid character '3' after top-level value: "2 3"`},
		{"a.ndjson", "1\n\"\xff\"\n", `a.ndjson:2: not UTF-8: "\"\xff\""`},
		{"a.ndjson", "1\n\"" + strings.Repeat("x", 1000) + "\"\n", `a.ndjson:2: the item is longer than 1000 bytes`},
		{"a.json", "{\"a\": 1}", `a.json:1: the file is not a JSON array`},
		{"a.json", "", `a.json:1: the file is not a JSON array: EOF`},
		{"a.json", "[\n1,\n2,\nx]", `a.json:3: element 3: invalid character 'x' looking for beginning of value`},
		{"a.json", "[\n1,\n\"\xff\"]", `a.json:3: element 2: not UTF-8`},
		{"a.json", "[\n1", `a.json:2: the array is not closed: EOF`},
		{"a.json", "[\n1,\n2\n]\n[]", `a.json:5: there is more after the array`},
		{"a.csv", "", `a.csv:1: the file is empty; a CSV file begins with a row of names`},
		{"a.csv", "a,,c\n", `a.csv:1: column 2 has no name`},
		{"a.csv", "a,b,a\n", `a.csv:1: two columns have the name "a"`},
		{"a.csv", "a,b\n1,2\n\n\"x\ny\",2\n1,2,3\n", `a.csv:6: the row has 3 fields, the first one has 2 names`},
		{"a.csv", "a,b\n1,2\nx\"y,2\n", `a.csv:3: column 2: bare " in non-quoted-field`},
		{"a.csv", "a,b\n1,\"2\n", `a.csv:2: column 6: extraneous or missing " in quoted-field`},
		{"a.csv", "a,b\n1,\xff\n", `a.csv:2: column "b" is not UTF-8`},
		{"a.csv", "a\n1\n\"" + strings.Repeat("x\n", 100_000), `a.csv:3: the row is longer than 1000 bytes; it may have a quote that is not closed`},
		{"a.json", "[1,\n[" + strings.Repeat("1,\n", 100_000), `a.json:1: the item is longer than 1000 bytes`},
		{"a.json", "[1,\n" + strings.Repeat(" ", 100_000) + "2]", `a.json:1: the item is longer than 1000 bytes`},
		{"a.csv", "\xff\n", `a.csv:1: the name of column 1 is not UTF-8`},
	} {
		t.Run(fmt.Sprintf("%.60q", c.name+" "+c.content), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.name), []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				end := runToEnd(t, collecting(`file: "{{.Input}}"`, ""), dir, fmt.Sprintf("%q", c.name))
				wantItems(t, end, c.want)
			})
		})
	}
}

// How much a file has in all does not matter.
func TestItems_LongFile(t *testing.T) {
	const n = 500 // of 500 bytes each, more than is read ahead
	text := strings.Repeat("x", 498)
	for name, content := range map[string]string{
		"a.ndjson": strings.Repeat(`"`+text+"\"\n", n),
		"a.json":   "[" + strings.Repeat(`"`+text+`",`, n-1) + `"` + text + `"]`,
		"a.csv":    "a\n" + strings.Repeat(text+"\n", n),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				end := runToEnd(t, collecting(`file: "{{.Input}}"`, ""), dir, fmt.Sprintf("%q", name))
				if got := strings.Count(string(end.Output), text); got != n {
					t.Errorf("run has %d items, %s, want %d", got, end.Msg, n)
				}
			})
		})
	}
}

// wantItems checks the output of a run, or why it was aborted.
func wantItems(t *testing.T, end *processor.End, want string) {
	t.Helper()
	got := string(end.Output)
	if end.Status != eventstream.Completed {
		got = end.Msg
	}
	if isAbort := !strings.HasPrefix(want, "["); got != want || isAbort != (end.Status == eventstream.Aborted) {
		t.Errorf("run ended %v: %s\nwant %s", end.Status, got, want)
	}
}

func TestItems_Settings(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "data"), []byte("1\n2\n3\n4\n5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	absolute := fmt.Sprintf("%q", filepath.Join(dir, "data"))
	for _, c := range []struct{ items, split, input, want string }{
		{`file: data, format: ndjson`, ``, `null`, `[1,2,3,4,5]`},
		{`file: "{{.Input}}", format: ndjson`, ``, absolute, `[1,2,3,4,5]`},
		{`file: data, format: ndjson`, `, batch: 2`, `null`, `[[1,2],[3,4],[5]]`},
		{`file: data, format: ndjson`, `, batch: 5`, `null`, `[[1,2,3,4,5]]`},
		{`file: "{{.Input}}"`, ``, `"data"`, `pipeline.yaml:4:19: the format of "data" cannot be told from its name; add format: one of ndjson, csv, json`},
		{`file: none.csv`, ``, `null`, `pipeline.yaml:4:19: items of "none.csv": no such file or directory`},
		{`file: ., format: csv`, ``, `null`, `pipeline.yaml:4:19: items of ".": it is a folder`},
		{`file: "{{.Input.name}}.csv"`, ``, `{}`, `pipeline.yaml:4:19: file at <.Input.name>: map has no entry for key "name"`},
	} {
		t.Run(c.items+c.split, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				wantItems(t, runToEnd(t, collecting(c.items, c.split), dir, c.input), c.want)
			})
		})
	}
}

// A file of more items than one document takes.
func TestItems_Many(t *testing.T) {
	dir := t.TempDir()
	var content strings.Builder
	content.WriteString("n\n")
	for i := range 2500 {
		fmt.Fprintln(&content, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "many.csv"), []byte(content.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	source := strings.Replace(collecting("file: many.csv", ""), ".error]'", ".error | .n | tonumber] | add'", 1)
	synctest.Test(t, func(t *testing.T) {
		end := runToEnd(t, source, dir, "null")
		if got, want := string(end.Output), fmt.Sprint(2500*2499/2); got != want {
			t.Errorf("run ended %v: %s %s, want %s", end.Status, got, end.Msg, want)
		}
	})
}
