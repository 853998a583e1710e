package xpath

import (
	"context"
	"iter"
	"maps"

	"github.com/leasestream/leasestream/eventstream"
)

// Select returns the first event that an expression selects, or nil if there is
// none. Several vars are taken together. It compiles the expression and evaluates
// it with the default [Options]; use [Compile] and [Expr.Select] to keep the
// expression, and for a context.
func Select(s *eventstream.Stream, expr string, vars ...Vars) (*eventstream.Event, error) {
	for e, err := range events(s, expr, vars) {
		return e, err
	}
	return nil, nil
}

// MustSelect is Select that gives an error which matches ErrNoMatch if there is no
// such event.
func MustSelect(s *eventstream.Stream, expr string, vars ...Vars) (*eventstream.Event, error) {
	e, err := Select(s, expr, vars...)
	if err == nil && e == nil {
		err = &Error{Err: ErrNoMatch, Expr: expr, Msg: "nothing in " + s.String()}
	}
	return e, err
}

// SelectAll returns all events that an expression selects, in the order of the
// document.
func SelectAll(s *eventstream.Stream, expr string, vars ...Vars) ([]*eventstream.Event, error) {
	var all []*eventstream.Event
	for e, err := range events(s, expr, vars) {
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

func events(s *eventstream.Stream, expr string, vars []Vars) iter.Seq2[*eventstream.Event, error] {
	x, err := Compile(expr)
	if err != nil {
		return func(yield func(*eventstream.Event, error) bool) { yield(nil, err) }
	}
	return x.Select(context.Background(), s, joinVars(vars), nil)
}

func joinVars(vars []Vars) Vars {
	if len(vars) == 1 {
		return vars[0]
	}
	all := Vars{}
	for _, v := range vars {
		maps.Copy(all, v)
	}
	return all
}
