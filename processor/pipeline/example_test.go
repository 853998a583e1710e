package pipeline_test

import (
	"fmt"

	"github.com/leasestream/leasestream/processor/pipeline"
)

func ExampleParse() {
	p, err := pipeline.Parse([]byte(`
name: greetings
steps:
  - name: Names
    exec: [printf, "{{.Input.first}}\n{{.Input.second}}\n"]
    output: lines
    split: {to: Greet, join: All}
  - name: Greet
    jq: '"Hello, " + .'
    timeout: 10s
  - name: All
    jq: '[.results[].output] | join("; ")'
`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Name(), "begins with", p.Steps()[0].Name)
	fmt.Println("one attempt of Greet may take", p.Step("Greet").Timeout)
	// Output:
	// greetings begins with Names
	// one attempt of Greet may take 10s
}

func ExampleProblems() {
	_, err := pipeline.Parse([]byte(`
name: greetings
steps:
  - name: Names
    exec: [cat, names.txt]
    output: line
    split: {to: Gret}
  - name: Greet
    jq: '"Hello, " + '
    tiemout: 10s
`), nil)
	fmt.Println(err)
	// Output:
	// pipeline.yaml:6:13: output: "line" is none of json, lines, ndjson, text, outcome
	// pipeline.yaml:7:17: step "Gret" does not exist; did you mean "Greet"?
	// pipeline.yaml:9:22: jq: unexpected EOF
	// pipeline.yaml:10:5: unknown key "tiemout"; did you mean "timeout"?
}
