package pipeline_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// flow is the text of a pipeline whose step A puts its message out, under the
// given keys, before steps B, which waits 5 s, and C; D makes B reached.
func flow(more string) string {
	return "name: p\nsteps:\n  - {name: A, jq: ., on_failure: D, " + more + "}\n  - {name: D, jq: ., next: B}\n  - {name: B, jq: ., delay: 5s, next: C}\n  - {name: C, jq: .}\n"
}

func message(text string) json.RawMessage { return json.RawMessage(text) }

func TestNext(t *testing.T) {
	got, err := handle(t, flow("next: B"), task("A", `{"a":1}`), nil)
	check(t, got, err, processor.Next("B", message(`{"a":1}`)).Delay(5*time.Second))
	got, err = handle(t, flow("next: B"), task("B", ``), nil)
	check(t, got, err, processor.Next("C", message(`null`)))
}

func TestSplit(t *testing.T) {
	none := make([]processor.Branch, 0)
	for _, c := range []struct {
		split, input string
		want         any
	}{
		{`{to: B}`, `[1,{"a":12345678901234567890},"<"]`,
			processor.Split("B", message(`1`), message(`{"a":12345678901234567890}`), message(`"<"`)).Delay(5 * time.Second)},
		{`{to: B, join: C}`, `[]`, processor.SplitTo(none...).Join("C")},
		{`{to: C, join: C, policy: failfast, timeout: 1m}`, `[null]`,
			processor.Split("C", message(`null`)).Join("C").Policy(eventstream.FailFast).Timeout(time.Minute)},
		{`{to: B, policy: "tolerate:10%"}`, `[1]`, processor.Split("B", message(`1`)).Delay(5 * time.Second).Policy(eventstream.ToleratePercent(10))},
		{`{to: B, batch: 2}`, `[1,2,[3],4,5]`, processor.Split("B", message(`[1,2]`), message(`[[3],4]`), message(`[5]`)).Delay(5 * time.Second)},
		{`{to: B, batch: 2}`, `[]`, processor.SplitTo(none...)},
		{`{to: B}`, `null`, `a split needs an array of messages, and the output is "null"`},
		{`{to: B}`, `{"a":[]}`, `a split needs an array of messages, and the output is "{\"a\":[]}"`},
	} {
		t.Run(c.split+" "+c.input, func(t *testing.T) {
			got, err := handle(t, flow("split: "+c.split), task("A", c.input), nil)
			check(t, got, err, c.want)
		})
	}
}

func TestSplit_Lines(t *testing.T) {
	source := "name: p\nsteps:\n  - {name: A, exec: [printf, 'a\\nb\\n'], output: lines, split: {to: B}}\n  - {name: B, jq: .}\n"
	got, err := handle(t, source, task("A", ""), nil)
	check(t, got, err, processor.Split("B", message(`"a"`), message(`"b"`)))
}

func TestWait(t *testing.T) {
	got, err := handle(t, single("wait: {timeout: 24h}"), task("A", ""), nil)
	check(t, got, err, processor.Wait(24*time.Hour))
	got, err = handle(t, single("wait: {}"), task("A", ""), nil)
	check(t, got, err, processor.Wait(0))
}

func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		output string
		want   any
	}{
		{`{"complete": {"n": 12345678901234567890}}`, complete(`{"n":12345678901234567890}`)},
		{`{"complete": null}`, complete(`null`)},
		{`{"next": {"step": "C", "message": [1]}}`, processor.Next("C", message(`[1]`))},
		{`{"next": {"step": "B"}}`, processor.Next("B", message(`null`)).Delay(5 * time.Second)},
		{`{"next": {"step": "B", "delay": "1s"}}`, processor.Next("B", message(`null`)).Delay(time.Second)},
		{`{"split": {"to": "C", "messages": [1, null], "join": "B", "policy": "first:1", "timeout": "1m"}}`,
			processor.Split("C", message(`1`), message(`null`)).Join("B").Policy(eventstream.First(1)).Timeout(time.Minute)},
		{`{"split": {"branches": [{"step": "C", "message": 1, "number": 4}, {"step": "B", "delay": "2s"}]}}`,
			processor.SplitTo(processor.Branch{Step: "C", Message: message(`1`), Number: 4}, processor.Branch{Step: "B", Message: message(`null`), Delay: 2 * time.Second})},
		{`{"split": {"to": "C", "messages": [], "join": "B"}}`, processor.SplitTo(make([]processor.Branch, 0)...).Join("B")},
		{`{"wait": {}}`, processor.Wait(0)},
		{`{"wait": {"timeout": "1h"}}`, processor.Wait(time.Hour)},
		{`{"abort": "no such city"}`, processor.Abort("no such city")},
		{`{"abort": ""}`, processor.Abort("")},

		{`1`, `output is no outcome: json: cannot unmarshal number into Go value of type`},
		{`null`, `output is no outcome: want one of complete, next, split, wait, abort: "null"`},
		{`{}`, `output is no outcome: want one of complete, next, split, wait, abort: "{}"`},
		{`{"complete": 1, "abort": "x"}`, `output is no outcome: want one of complete, next, split, wait, abort, got complete and abort: `},
		{`{"done": 1}`, `output is no outcome: json: unknown field "done": "{\"done\":1}"`},
		{`{"next": {"step": "Z"}}`, `output is no outcome: step "Z" does not exist`},
		{`{"next": {"step": "c"}}`, `output is no outcome: step "c" does not exist; did you mean "C"?`},
		{`{"next": {}}`, `output is no outcome: step "" does not exist`},
		{`{"next": {"step": "C", "number": 2}}`, `output is no outcome: json: unknown field "number"`},
		{`{"split": {"messages": [1]}}`, `output is no outcome: step "" does not exist`},
		{`{"split": {"to": "C"}}`, `output is no outcome: a split has messages or branches`},
		{`{"split": {"to": "C", "messages": [1], "join": "Z"}}`, `output is no outcome: step "Z" does not exist`},
		{`{"split": {"to": "C", "messages": [1], "policy": "most"}}`, `output is no outcome: invalid failure policy "most"`},
		{`{"split": {"branches": [{"step": "C", "number": -1}]}}`, `output is no outcome: branch number -1 is negative`},
		{`{"wait": {"timeout": "soon"}}`, `output is no outcome: time: invalid duration "soon"`},
		{`{"wait": {"timeout": "-1s"}}`, `output is no outcome: duration -1s is negative`},
	} {
		t.Run(c.output, func(t *testing.T) {
			got, err := handle(t, flow("output: outcome"), task("A", c.output), nil)
			check(t, got, err, c.want)
		})
	}
}
