package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// decision is the outcome that a step has put out; one of its fields is set.
type decision struct {
	Complete json.RawMessage `json:"complete"`
	Next     *decidedNext    `json:"next"`
	Split    *decidedSplit   `json:"split"`
	Wait     *decidedWait    `json:"wait"`
	Abort    *string         `json:"abort"`
}

type decidedNext struct {
	Step    string          `json:"step"`
	Message json.RawMessage `json:"message"`
	Delay   duration        `json:"delay"`
}

type decidedBranch struct {
	decidedNext
	Number int `json:"number"`
}

type decidedSplit struct {
	To       string            `json:"to"`
	Messages []json.RawMessage `json:"messages"`
	Branches []decidedBranch   `json:"branches"`
	Join     string            `json:"join"`
	Policy   string            `json:"policy"`
	Timeout  duration          `json:"timeout"`
}

type decidedWait struct {
	Timeout duration `json:"timeout"`
}

// duration is read from Go's text form.
type duration time.Duration

// UnmarshalText refuses what no wait can be.
func (d *duration) UnmarshalText(text []byte) error {
	value, err := time.ParseDuration(string(text))
	if err != nil {
		return err
	}
	if value < 0 {
		return fmt.Errorf("duration %s is negative", text)
	}
	*d = duration(value)
	return nil
}

// decide makes an outcome of the output of a step that decides itself.
func (f *file) decide(output json.RawMessage) (processor.Outcome, error) {
	outcome, err := f.decided(output)
	if err != nil {
		return processor.Outcome{}, fmt.Errorf("output is no outcome: %w: %.80q", err, output)
	}
	return outcome, nil
}

func (f *file) decided(output json.RawMessage) (processor.Outcome, error) {
	var d decision
	decoder := json.NewDecoder(bytes.NewReader(output))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return processor.Outcome{}, err
	}
	if err := d.check(); err != nil {
		return processor.Outcome{}, err
	}
	switch {
	case d.Next != nil:
		b, err := f.branch(decidedBranch{decidedNext: *d.Next})
		return processor.Next(b.Step, b.Message).Delay(b.Delay), err
	case d.Split != nil:
		return f.decidedSplit(d.Split)
	case d.Wait != nil:
		return processor.Wait(time.Duration(d.Wait.Timeout)), nil
	case d.Abort != nil:
		return processor.Abort(*d.Abort), nil
	}
	return processor.Complete(d.Complete), nil
}

// check reports a decision that is none, or more than one.
func (d *decision) check() error {
	var given []string
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"complete", d.Complete != nil},
		{"next", d.Next != nil},
		{"split", d.Split != nil},
		{"wait", d.Wait != nil},
		{"abort", d.Abort != nil},
	} {
		if field.set {
			given = append(given, field.name)
		}
	}
	switch len(given) {
	case 0:
		return errors.New("want one of complete, next, split, wait, abort")
	case 1:
		return nil
	}
	return fmt.Errorf("want one of complete, next, split, wait, abort, got %s", strings.Join(given, " and "))
}

func (f *file) decidedSplit(s *decidedSplit) (processor.Outcome, error) {
	if s.Messages == nil && s.Branches == nil {
		return processor.Outcome{}, errors.New("a split has messages or branches")
	}
	policy, err := eventstream.ParsePolicy(s.Policy)
	if err != nil {
		return processor.Outcome{}, err
	}
	if s.Join != "" && f.step(s.Join) == nil {
		return processor.Outcome{}, f.missing(s.Join)
	}
	for _, m := range s.Messages {
		s.Branches = append(s.Branches, decidedBranch{decidedNext: decidedNext{Step: s.To, Message: m}})
	}
	branches := make([]processor.Branch, len(s.Branches))
	for i, b := range s.Branches {
		if branches[i], err = f.branch(b); err != nil {
			return processor.Outcome{}, err
		}
	}
	return processor.SplitTo(branches...).Join(s.Join).Policy(policy).Timeout(time.Duration(s.Timeout)), nil
}

// branch is a branch with the delay of its step, unless it has one of its own.
func (f *file) branch(b decidedBranch) (processor.Branch, error) {
	step := f.step(b.Step)
	switch {
	case step == nil:
		return processor.Branch{}, f.missing(b.Step)
	case b.Number < 0:
		return processor.Branch{}, fmt.Errorf("branch number %d is negative", b.Number)
	}
	delay := time.Duration(b.Delay)
	if delay == 0 {
		delay = step.delay
	}
	return processor.Branch{Step: b.Step, Message: orNull(b.Message), Number: b.Number, Delay: delay}, nil
}
