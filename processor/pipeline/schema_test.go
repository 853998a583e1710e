package pipeline_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/leasestream/leasestream/processor/pipeline"
)

// The schema accepts what Parse accepts, refuses what is wrong in shape, and
// cannot know what makes no sense between steps.
func TestSchema(t *testing.T) {
	schema := compileSchema(t)
	for pattern, accepts := range map[string]bool{
		"testdata/good/*.yaml":      true,
		"testdata/bad/sense/*.yaml": true,
		"testdata/bad/shape/*.yaml": false,
	} {
		for _, path := range files(t, pattern) {
			err := schema.Validate(document(t, path))
			if (err == nil) != accepts {
				t.Errorf("%s: Validate = %v, want accepted: %t", path, err, accepts)
			}
		}
	}
}

// Each single mistake must be refused; a file of many hides those that are not.
func TestSchema_EachMistake(t *testing.T) {
	schema := compileSchema(t)
	for _, step := range []string{
		`{}`,
		`{name: A}`,
		`{exec: [a]}`,
		`{name: A, exec: a}`,
		`{name: A, exec: []}`,
		`{name: A, exec: [[a]]}`,
		`{name: "a b", exec: [a]}`,
		`{name: A, exec: [a], jq: .}`,
		`{name: A, exec: [a], tiemout: 5s}`,
		`{name: A, exec: [a], timeout: 5}`,
		`{name: A, exec: [a], timeout: 0s}`,
		`{name: A, exec: [a], timeout: -5s}`,
		`{name: A, exec: [a], timeout: 5 s}`,
		`{name: A, exec: [a], concurrency: 0}`,
		`{name: A, exec: [a], concurrency: 1.5}`,
		`{name: A, exec: [a], concurrency: [1]}`,
		`{name: A, exec: [a], concurrency: {}}`,
		`{name: A, exec: [a], concurrency: {run: 0}}`,
		`{name: A, exec: [a], concurrency: {workers: 8}}`,
		`{name: A, exec: [a], concurrency: {worker: {run: 8}}}`,
		`{name: A, exec: [a], retry: 3}`,
		`{name: A, exec: [a], retry: {attempt: 3}}`,
		`{name: A, exec: [a], output: xml}`,
		`{name: A, exec: [a], split: B}`,
		`{name: A, exec: [a], split: {join: B}}`,
		`{name: A, exec: [a], split: {to: B, policy: most}}`,
		`{name: A, exec: [a], split: {to: B, policy: "first:0"}}`,
		`{name: A, exec: [a], split: {to: B, policy: "tolerate:101%"}}`,
		`{name: A, exec: [a], split: {to: B}, next: B}`,
		`{name: A, exec: [a], output: outcome, next: B}`,
		`{name: A, exec: [a], output: outcome, split: {to: B}}`,
		`{name: A, exec: [a], stdin: ndjson, input: .}`,
		`{name: A, jq: ., stdin: json}`,
		`{name: A, jq: ., output: lines}`,
		`{name: A, items: a.csv, split: {to: B}}`,
		`{name: A, items: {}, split: {to: B}}`,
		`{name: A, items: {file: a.csv}}`,
		`{name: A, items: {file: a.csv}, next: B}`,
		`{name: A, items: {file: a.csv, format: xml}, split: {to: B}}`,
		`{name: A, items: {file: [a.csv]}, split: {to: B}}`,
		`{name: A, items: {file: a.csv}, split: {to: B}, output: lines}`,
		`{name: A, items: {file: a.csv}, split: {to: B}, stdin: json}`,
		`{name: A, wait: 5s}`,
		`{name: A, wait: {}, next: B}`,
		`{name: A, wait: {}, timeout: 5s}`,
		`{name: A, http: "http://x/"}`,
		`{name: A, http: {}}`,
		`{name: A, http: {url: x}}`,
		`{name: A, http: {url: 5}}`,
		`{name: A, http: {url: "ftp://x/"}}`,
		`{name: A, http: {url: "http:///x"}}`,
		`{name: A, http: {url: "http://x/", method: GET}}`,
		`{name: A, http: {url: "http://x/", timeout: 5}}`,
		`{name: A, http: {url: "http://x/", headers: [A]}}`,
		`{name: A, http: {url: "http://x/", headers: {"a b": c}}}`,
		`{name: A, http: {url: "http://x/", headers: {A: [b]}}}`,
		`{name: A, http: {url: "http://x/", headers: {A: "b\nc"}}}`,
		`{name: A, http: {url: "http://x/", headers: {A: {}}}}`,
		`{name: A, http: {url: "http://x/", headers: {A: {env: "5"}}}}`,
		`{name: A, http: {url: "http://x/", headers: {A: {env: B, of: C}}}}`,
		`{name: A, http: {url: "http://x/", headers: {A: {env: B, prefix: "c\r"}}}}`,
		`{name: A, http: {url: "http://x/"}, stdin: json}`,
		`{name: A, http: {url: "http://x/"}, exec: [a]}`,
		`{name: A, http: {url: "http://x/"}, jq: .}`,
	} {
		source := "name: a\nsteps: [" + step + ", {name: B, jq: .}]\n"
		if err := schema.Validate(decodeYAML(t, []byte(source))); err == nil {
			t.Errorf("schema accepts %s", step)
		}
		if _, err := pipeline.Parse([]byte(source), nil); err == nil {
			t.Errorf("Parse accepts %s", step)
		}
	}
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := jsonschema.UnmarshalJSON(strings.NewReader(pipeline.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("pipeline.schema.json", text); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("pipeline.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func document(t *testing.T, path string) any {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return decodeYAML(t, bytes.TrimPrefix(source, []byte("\ufeff")))
}

// decodeYAML gives YAML the types that JSON has.
func decodeYAML(t *testing.T, source []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(source, &v); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return document
}
