package xpath

import (
	"iter"
	"slices"

	"github.com/leasestream/leasestream/eventstream"
)

// run is one evaluation. Its sequences end early when err is set.
type run struct {
	x   *Expr
	l   *lowerer
	d   *document
	err error
}

// guard runs f, which may use up the budget.
func (r *run) guard(f func()) {
	defer catch(r.x.text, &r.err)
	f()
}

// events yields the events that the expression gives, and sets err if it gives
// anything else.
func (r *run) events() iter.Seq[*eventstream.Event] {
	var p plan
	r.guard(func() {
		if k := kindOf(r.x.root, r.l.vars); k != nodesKind {
			fail(ErrNotEvent, 0, "it gives %s", k)
		}
		p = *r.l.plan(r.x.root)
	})
	return func(yield func(*eventstream.Event) bool) {
		if r.err != nil {
			return
		}
		if f := p.onlyLookup(); f != nil {
			r.lookup(f)(yield)
			return
		}
		for c := range r.nodes(&p) {
			e := c.asEvent()
			if e == nil {
				r.guard(func() { fail(ErrNotEvent, 0, "it gives %s", newNode(c).describe()) })
			}
			if r.err != nil || !yield(e) {
				return
			}
		}
	}
}

// value evaluates the expression. It panics with a bailout if it cannot.
func (r *run) value() Value {
	if kindOf(r.x.root, r.l.vars) == nodesKind {
		v := Value{Kind: NodeSet}
		for _, c := range r.collect(r.x.root) {
			v.Nodes = append(v.Nodes, newNode(c))
		}
		return v
	}
	t := r.l.lower(r.x.root)
	if t.value != nil {
		return newValue(t.value)
	}
	// The engine's Evaluate changes the expression that it evaluates: it must be of
	// this run alone.
	return newValue(compile(t.text).Evaluate(new(r.d.element())))
}

// collect gives the nodes of a path that does not depend on any but the context
// node of the whole expression.
func (r *run) collect(e expression) []cursor {
	nodes := slices.Collect(r.nodes(r.l.plan(e)))
	if r.err != nil {
		panic(bailout{r.err})
	}
	return nodes
}
