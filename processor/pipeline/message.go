package pipeline

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/leasestream/leasestream/processor"
)

// message is what a step works on: the message of its event or, for a join, the
// message of the splitter and the results of the branches.
type message struct {
	task *processor.Task
	// shaped stands for all of it, if the step has an input expression.
	shaped json.RawMessage
	// which results a join gets: all, errors or none; "" is all.
	which string
	// ndjson: a join is sent line by line.
	ndjson bool
}

// input is the message without results.
func (m *message) input() json.RawMessage {
	switch {
	case m.shaped != nil:
		return m.shaped
	case len(m.task.Input) == 0:
		return null
	}
	return m.task.Input
}

// joined reports whether results are part of the message.
func (m *message) joined() bool { return m.task.Join && m.shaped == nil }

// results are those that are wanted, each as JSON.
func (m *message) results() iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		if m.which == "none" {
			return
		}
		for r, err := range m.task.Results() {
			if err == nil && m.which == "errors" && r.OK() {
				continue
			}
			data, err := encodeResult(r, err)
			if !yield(data, err) || err != nil {
				return
			}
		}
	}
}

// encodeResult gives a result an output or an error, never both and never
// neither.
func encodeResult(r processor.Result, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, fmt.Errorf("results of the branches: %w", err)
	}
	var fields struct {
		ID     string          `json:"id"`
		Status string          `json:"status"`
		Output json.RawMessage `json:"output,omitempty"`
		Error  string          `json:"error,omitempty"`
	}
	fields.ID, fields.Status = r.ID, r.Status
	if r.OK() {
		fields.Output = orNull(r.Output)
	} else {
		fields.Error = cmp.Or(r.Error, r.Status)
	}
	return encode(fields)
}

func orNull(data json.RawMessage) json.RawMessage {
	if len(data) == 0 {
		return null
	}
	return data
}

// value is the whole message for a jq expression.
func (m *message) value() (any, error) {
	input, err := decode(m.input())
	if err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	if !m.joined() {
		return input, nil
	}
	results := []any{}
	for data, err := range m.results() {
		if err != nil {
			return nil, err
		}
		r, err := decode(data)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return map[string]any{"input": input, "results": results}, nil
}

// frame is what stands around the parts of a message that is sent.
type frame struct{ open, results, first, next, end string }

func (m *message) frame() frame {
	switch {
	case !m.joined():
		return frame{end: "\n"}
	case m.ndjson:
		return frame{first: "\n", next: "\n", end: "\n"}
	}
	return frame{open: `{"input":`, results: `,"results":[`, next: ",", end: "]}\n"}
}

// send writes the message for a program, each result as it is read. A program
// need not read it all, so an error of w ends it without one of its own.
func (m *message) send(w io.Writer) error {
	var input bytes.Buffer
	if err := json.Compact(&input, m.input()); err != nil {
		return fmt.Errorf("message: %w", err)
	}
	out, f := bufio.NewWriter(w), m.frame()
	out.WriteString(f.open)
	out.Write(input.Bytes())
	out.WriteString(f.results)
	if m.joined() {
		before := f.first
		for data, err := range m.results() {
			if err != nil {
				return err
			}
			out.WriteString(before)
			if _, err := out.Write(data); err != nil {
				return nil
			}
			before = f.next
		}
	}
	out.WriteString(f.end)
	out.Flush()
	return nil
}
