package xpath_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/xpath"
)

func TestBudget_Quadratic(t *testing.T) {
	s := bigStream(t, bigLen)
	for _, expr := range []string{
		"./Event[@prev = ../Event/@id]",
		"./Event[count(preceding-sibling::Event) = 5]",
		"//Event[../Event[last()]/@id = '00']",
		"./Event[position() = last() or 1 = 2]/..//Event[not(//Event/@id = 'x')]",
		"//Event/ancestor-or-self::Event",
		"./Event[string(/) = '']",
		"count(./Event[. = /])",
	} {
		x, err := xpath.Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, err = x.Evaluate(t.Context(), s, nil, nil)
		t.Logf("%s: stopped after %v", expr, time.Since(start).Round(time.Millisecond))
		if !errors.Is(err, xpath.ErrBudget) || !strings.Contains(err.Error(), "budget") {
			t.Errorf("Evaluate(%s) = %v, want ErrBudget", expr, err)
		}
	}
}

func TestBudget_Linear(t *testing.T) {
	s := bigStream(t, bigLen)
	for expr, want := range map[string]float64{
		"count(//Event)":         bigLen,
		"count(./Event[last()])": 1,
		"count(//Event[@status='completed' or @status='init'])": bigLen - 1,
		"count(./Event[position() > 10])":                       bigLen - 10,
		"count(./Event[Input])":                                 bigLen - 1,
		"count(//@id)":                                          bigLen,
		"count(//Input/text())":                                 bigLen - 1,
		"count((//Event)[last()] | //Event[1])":                 2,
		"count(//Event[contains(., 'Brno')][@attempt > 0][starts-with(@id, '01')])": 1,
	} {
		x, err := xpath.Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		got, err := x.Evaluate(t.Context(), s, nil, nil)
		t.Logf("%s: %v", expr, time.Since(start).Round(time.Millisecond))
		if err != nil || got.Number != want {
			t.Errorf("Evaluate(%s) = %v, %v, want %v", expr, got, err, want)
		}
	}
}

func TestBudget_Steps(t *testing.T) {
	s := orderStream(t)
	x, err := xpath.Compile("//Event[@attempt > 1]")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Evaluate(t.Context(), s, nil, &xpath.Options{Steps: 20}); !errors.Is(err, xpath.ErrBudget) {
		t.Errorf("with 20 steps: %v, want ErrBudget", err)
	}
	if _, err := x.Evaluate(t.Context(), s, nil, &xpath.Options{Steps: 10_000}); err != nil {
		t.Errorf("with 10,000 steps: %v", err)
	}
}

// cancelAfter is a context that ends at the n-th look at it.
type cancelAfter struct {
	context.Context
	looks *int
}

func (c cancelAfter) Err() error {
	if *c.looks--; *c.looks < 0 {
		return context.Canceled
	}
	return nil
}

func TestBudget_Context(t *testing.T) {
	s := bigStream(t, 1000)
	for expr, looks := range map[string]int{
		"./Event[@prev = ../Event/@id]": 5,
		"./Event[@status='completed']":  0,
	} {
		x, err := xpath.Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		for _, err = range x.Select(cancelAfter{t.Context(), &looks}, s, nil, nil) {
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Select(%s) of a canceled context = %v, want %v", expr, err, context.Canceled)
		}
	}
}
