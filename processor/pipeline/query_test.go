package pipeline_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/leasestream/leasestream/processor"
)

func TestJQ(t *testing.T) {
	for _, c := range []struct {
		jq, input string
		want      any
	}{
		{`.`, `{"b":1.50,"a":12345678901234567890}`, complete(`{"a":12345678901234567890,"b":1.50}`)},
		{`.`, ``, complete(`null`)},
		{`. + 1`, `12345678901234567890`, complete(`12345678901234567891`)},
		{`. * 3`, `12345678901234567890`, complete(`37037036703703703670`)},
		{`.a`, `{"a":"<&>"}`, complete(`"<&>"`)},
		{`empty`, `1`, complete(`null`)},
		{`.[]`, `[7]`, complete(`7`)},
		{`.[]`, `[7,{"a":8},9]`, `abort: pipeline.yaml:4:9: jq has more than one result: 7, {"a":8}; collect them: [ … ]`},
		{`.[]`, `{"a":1`, `message: unexpected EOF`},
		{`.a[]`, `{}`, `abort: pipeline.yaml:4:9: jq: cannot iterate over: null`},
		{`1, error("no")`, ``, `abort: pipeline.yaml:4:9: jq: error: no`},
		{`error({code: 5})`, ``, `abort: pipeline.yaml:4:9: jq: error: {"code":5}`},
		{`halt`, ``, `abort: pipeline.yaml:4:9: jq: halt error: null`},
	} {
		t.Run(c.jq+" "+c.input, func(t *testing.T) {
			got, err := handle(t, single("jq: '"+c.jq+"'"), task("A", c.input), nil)
			check(t, got, err, c.want)
		})
	}
}

func TestJQ_Input(t *testing.T) {
	got, err := handle(t, single(`input: ".order.items"`, `jq: "length"`), task("A", `{"order":{"items":[1,2]}}`), nil)
	check(t, got, err, complete("2"))
	got, err = handle(t, single(`input: ".[]"`, `jq: "."`), task("A", `{"a":1,"b":2}`), nil)
	check(t, got, err, `abort: pipeline.yaml:4:12: jq has more than one result: 1, 2`)
}

func TestJQ_Join(t *testing.T) {
	results := []processor.Result{
		{ID: "01.00", Status: "completed", Output: []byte(`{"n":12345678901234567890}`)},
		{ID: "02.00", Status: "aborted", Error: "no"},
		{ID: "03.00", Status: "completed", Output: []byte(`{"n":1}`)},
	}
	for _, c := range []struct {
		jq, more string
		want     any
	}{
		{`[.results[].output.n] | add`, "", complete(`12345678901234567891`)},
		{`[.input, .results[].error]`, "", complete(`["in",null,"no",null]`)},
		{`[.results[].id]`, "results: errors", complete(`["02.00"]`)},
		{`.results`, "results: none", complete(`[]`)},
		{`.`, "input: .results[0].status", complete(`"completed"`)},
	} {
		t.Run(c.jq+" "+c.more, func(t *testing.T) {
			got, err := handle(t, joining("jq: '"+c.jq+"'", c.more), join("Join", `"in"`, results...), nil)
			check(t, got, err, c.want)
		})
	}
}

func TestJQ_ResultsBreakOff(t *testing.T) {
	broken := join("Join", `1`)
	broken.SetResults(failing(errors.New("blob is gone")))
	got, err := handle(t, joining("jq: ."), broken, nil)
	check(t, got, err, "results of the branches: blob is gone")
}

func TestJQ_EndsWithItsContext(t *testing.T) {
	cause := errors.New("lease lost")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err := parse(t, single(`jq: "last(repeat(1))"`), nil).Step("A").Handler(ctx, task("A", ""))
	if !errors.Is(err, cause) {
		t.Errorf("handler = %v, want %v", err, cause)
	}
}

// A pipeline's handlers are shared by all that a worker runs at a time.
func TestHandlers_Concurrent(t *testing.T) {
	p := parse(t, "name: p\nsteps:\n  - {name: A, exec: [echo, '[{{.Input}}]'], split: {to: B}}\n  - {name: B, input: '. + 1', jq: . * 2}\n", nil)
	var handlers sync.WaitGroup
	for range 8 {
		handlers.Go(func() {
			for range 5 {
				got, err := p.Step("A").Handler(t.Context(), task("A", "7"))
				check(t, got, err, processor.Split("B", message("7")))
				got, err = p.Step("B").Handler(t.Context(), task("B", "7"))
				check(t, got, err, complete("16"))
			}
		})
	}
	handlers.Wait()
}
