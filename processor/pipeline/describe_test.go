package pipeline_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/pipeline"
)

func TestDescribe(t *testing.T) {
	got, err := pipeline.Describe([]byte(`name: shop
steps:
  - name: Order
    exec: [sh, order.sh, "{{.Input}}"]
    split: {to: Price, join: Total, policy: "tolerate:10%"}
  - name: Price
    http: {url: "https://prices.example.com/{{.Input.id}}"}
    on_failure: Guess
  - {name: Guess, jq: "0"}
  - {name: Total, jq: ".", next: Approve}
  - {name: Approve, wait: {timeout: 1h}}
  - {name: Route, exec: [route], output: outcome}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &pipeline.Description{Name: "shop", Steps: []pipeline.StepDescription{
		{Name: "Order", Kind: "exec", Text: "sh order.sh {{.Input}}", SplitTo: "Price", Join: "Total", Policy: "tolerate:10%"},
		{Name: "Price", Kind: "http", Text: "https://prices.example.com/{{.Input.id}}", OnFailure: "Guess"},
		{Name: "Guess", Kind: "jq"},
		{Name: "Total", Kind: "jq", Next: "Approve"},
		{Name: "Approve", Kind: "wait"},
		{Name: "Route", Kind: "exec", Text: "route", Dynamic: true},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Describe() = %+v, want %+v", got, want)
	}
}

func TestDescribe_Wrong(t *testing.T) {
	if _, err := pipeline.Describe([]byte("name: shop\nsteps: [{name: A}]\n")); !errors.Is(err, processor.ErrPipeline) {
		t.Errorf("Describe() = %v, want what is wrong with the file", err)
	}
}
