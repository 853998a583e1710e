package xpath

import (
	"errors"
	"fmt"
)

var (
	// ErrSyntax: the expression is not XPath 1.0.
	ErrSyntax = errors.New("invalid xpath")
	// ErrUnsupported: the expression is XPath 1.0, but this package does not
	// evaluate it. The text says how to write it instead.
	ErrUnsupported = errors.New("unsupported xpath")
	// ErrVariable: a variable has no value, a value has no variable, or a value is
	// of a type that XPath does not know.
	ErrVariable = errors.New("xpath variable")
	// ErrBudget: the evaluation was stopped after the steps it was allowed.
	ErrBudget = errors.New("xpath step budget exceeded")
	// ErrNotEvent: the expression gives something other than events.
	ErrNotEvent = errors.New("not an event")
	// ErrNoMatch: no event matches.
	ErrNoMatch = errors.New("no event matches")
)

// Error says what is wrong with an expression and where. It matches one of the
// sentinels of the package.
type Error struct {
	Err    error  // the sentinel
	Expr   string // the expression
	Column int    // where, in characters from 1; 0 for the whole expression
	Msg    string // what is wrong and what to do about it
}

// Error has the sentinel's text, the expression, the column and the reason.
func (e *Error) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("%v %q: %s", e.Err, shown(e.Expr), e.Msg)
	}
	return fmt.Sprintf("%v %q, column %d: %s", e.Err, shown(e.Expr), e.Column, e.Msg)
}

// maxShown is how much of an expression an error shows, in characters.
const maxShown = 200

// shown cuts an expression that would fill the screen.
func shown(expr string) string {
	n := 0
	for i := range expr {
		if n++; n > maxShown {
			return expr[:i] + "…"
		}
	}
	return expr
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// bailout carries an error up to catch, through the engine too.
type bailout struct{ err error }

// fail stops the work on an expression; catch fills in which one it is.
func fail(sentinel error, column int, format string, args ...any) {
	panic(bailout{&Error{Err: sentinel, Column: column, Msg: fmt.Sprintf(format, args...)}})
}

// catch turns a panic into an error. Whatever is no bailout comes from the
// engine, which panics where a function gets an argument it did not expect.
func catch(expr string, err *error) {
	cause := recover()
	if cause == nil {
		return
	}
	b, ok := cause.(bailout)
	if !ok {
		*err = &Error{Err: ErrUnsupported, Expr: expr, Msg: fmt.Sprintf("the engine gave up: %v", cause)}
		return
	}
	if e, ok := b.err.(*Error); ok {
		e.Expr = expr
	}
	*err = b.err
}
