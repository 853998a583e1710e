package xpath

import (
	"context"
	"iter"
	"unicode/utf8"

	"github.com/leasestream/leasestream/eventstream"
)

// Expr is a compiled expression. It may be used from several goroutines at once,
// on the same stream too while no edit of it runs.
type Expr struct {
	text string
	root expression
	vars []variable
}

// Options bounds an evaluation. The zero value has the defaults.
type Options struct {
	// Steps is how many moves through the document an evaluation may make before it
	// ends with ErrBudget. 0 is 1,000,000 and one for every three bytes of the
	// document: enough for a query that looks at every event a few times, and far
	// from enough for one that looks at every event for every event.
	Steps int
}

func (o *Options) steps(s *eventstream.Stream) int {
	if o == nil || o.Steps == 0 {
		return 1_000_000 + s.Size()/3
	}
	return o.Steps
}

// Compile reads an expression of at most 4 KiB. The error is an [*Error] that
// matches ErrSyntax if the expression is not XPath 1.0 and ErrUnsupported if it
// is but is not evaluated here.
func Compile(expr string) (x *Expr, err error) {
	defer catch(expr, &err)
	switch {
	case len(expr) > maxLength:
		fail(ErrSyntax, 0, "%d bytes long; the limit is %d", len(expr), maxLength)
	case !utf8.ValidString(expr):
		fail(ErrSyntax, 0, "it is not UTF-8")
	}
	p := parser{tokens: lex(expr)}
	x = &Expr{text: expr, root: p.whole(), vars: p.vars}
	// Without variables all that may be wrong with it shows now.
	if len(x.vars) == 0 {
		x.rehearse()
	}
	return x, nil
}

// String is the text of the expression.
func (x *Expr) String() string { return x.text }

// rehearse does all of an evaluation but the evaluation.
func (x *Expr) rehearse() {
	l := &lowerer{vars: values{}}
	l.nodes = func(e expression) []cursor {
		l.plan(e)
		return nil
	}
	if kindOf(x.root, l.vars) == nodesKind {
		l.plan(x.root)
	} else {
		compile(l.lower(x.root).text)
	}
}

// Select yields the events that the expression selects, in the order of the
// document, each once; superseded ones too. A relative path starts at
// <EventStream>. The stream must not be edited before the sequence has ended; take
// [SelectAll] to edit what is found. An error ends the sequence: ErrNotEvent if the expression gives
// something else, ErrVariable, ErrUnsupported, ErrBudget, or that of ctx.
func (x *Expr) Select(ctx context.Context, s *eventstream.Stream, vars Vars, opts *Options) iter.Seq2[*eventstream.Event, error] {
	return func(yield func(*eventstream.Event, error) bool) {
		r, err := x.start(ctx, s, vars, opts)
		if err != nil {
			yield(nil, err)
			return
		}
		for e := range r.events() {
			if !yield(e, nil) {
				return
			}
		}
		if r.err != nil {
			yield(nil, r.err)
		}
	}
}

// Evaluate gives the value of the expression, whatever its type. Its errors are
// those of Select but ErrNotEvent.
func (x *Expr) Evaluate(ctx context.Context, s *eventstream.Stream, vars Vars, opts *Options) (v Value, err error) {
	r, err := x.start(ctx, s, vars, opts)
	if err != nil {
		return Value{}, err
	}
	r.guard(func() { v = r.value() })
	if r.err != nil {
		return Value{}, r.err
	}
	return v, nil
}

func (x *Expr) start(ctx context.Context, s *eventstream.Stream, vars Vars, opts *Options) (*run, error) {
	bound, err := x.bind(vars)
	if err != nil {
		return nil, err
	}
	r := &run{x: x, d: newDocument(ctx, s, opts.steps(s))}
	r.l = &lowerer{vars: bound, nodes: r.collect}
	r.guard(r.d.check)
	return r, r.err
}
