package xpath_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/xpath"
)

// TestBudget_Big holds that nothing takes long on a big stream: what cannot be
// answered by looking at each event a few times is stopped.
func TestBudget_Big(t *testing.T) {
	s := bigStream(t, bigLen)
	for _, expr := range []string{"./Event[last()]", "//Event[@status='completed'][last()]", "./Event[@attempt='1'][last()]/@id"} {
		if v, err := evaluate(t, s, expr); err != nil || len(v.Nodes) != 1 {
			t.Errorf("Evaluate(%s) = %v, %v, want one node", expr, v, err)
		}
	}
	for _, expr := range []string{"./Event[@prev = ../Event/@id]", "./Event[../Event[last()]/@id = @prev]"} {
		wantBudget(t, s, expr)
	}
}

func TestBudget_Quadratic(t *testing.T) {
	s := bigStream(t, 10_000)
	for _, expr := range []string{
		"./Event[count(preceding-sibling::Event) = 5]",
		"//Event[not(//Event/@id = 'x')]",
		"//Event/ancestor-or-self::Event",
		"./Event[string(/) = '']",
		"./Event[. = /]",
	} {
		wantBudget(t, s, expr)
	}
}

func wantBudget(t *testing.T, s *eventstream.Stream, expr string) {
	t.Helper()
	start := time.Now()
	_, err := evaluate(t, s, expr)
	t.Logf("%d events: %s: stopped after %v", s.Len(), expr, time.Since(start).Round(time.Millisecond))
	if !errors.Is(err, xpath.ErrBudget) || !strings.Contains(err.Error(), "budget") {
		t.Errorf("%d events: Evaluate(%s) = %v, want ErrBudget", s.Len(), expr, err)
	}
}

// TestBudget_Linear makes sure that the default is enough for what looks at each
// event a few times.
func TestBudget_Linear(t *testing.T) {
	const n = 10_000
	s := bigStream(t, n)
	for expr, want := range map[string]float64{
		"count(//Event)": n,
		"count(//Event[@status='completed' or @status='init'])": n - 1,
		"count(./Event[position() > 10])":                       n - 10,
		"count(./Event[Input])":                                 n - 1,
		"count(//@id)":                                          n,
		"count(//Input/text())":                                 n - 1,
		"count((//Event)[last()] | //Event[1])":                 2,
		"count(//Event[contains(., 'Brno')][@attempt > 0][starts-with(@id, '01')])": 1,
	} {
		if got, err := evaluate(t, s, expr); err != nil || got.Number != want {
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
