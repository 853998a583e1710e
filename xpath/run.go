package xpath

import (
	"iter"
	"slices"

	engine "github.com/antchfx/xpath"
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

// result yields the nodes that the expression gives.
func (r *run) result() iter.Seq[cursor] {
	var p *plan
	r.guard(func() {
		if k := kindOf(r.x.root, r.l.vars); k != nodesKind {
			fail(ErrNotEvent, 0, "it gives %s", k)
		}
		p = r.l.plan(r.x.root)
	})
	if r.err != nil {
		return func(func(cursor) bool) {}
	}
	return r.nodes(p)
}

func (r *run) failNotEvent(c cursor) {
	r.guard(func() {
		n := newNode(c)
		fail(ErrNotEvent, 0, "it gives %s", n.describe())
	})
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

// nodes yields the nodes of a plan in document order, each once.
func (r *run) nodes(p *plan) iter.Seq[cursor] {
	start := r.d.element()
	if p.absolute {
		start = r.d.root()
	}
	nodes := one(start)
	if len(p.from) > 0 {
		nodes = r.sorted(r.all(p.from))
	}
	for _, s := range p.stages {
		nodes = r.stage(nodes, s)
	}
	return nodes
}

func one(c cursor) iter.Seq[cursor] {
	return func(yield func(cursor) bool) { yield(c) }
}

func (r *run) all(plans []*plan) iter.Seq[cursor] {
	return func(yield func(cursor) bool) {
		for _, p := range plans {
			for c := range r.nodes(p) {
				if !yield(c) {
					return
				}
			}
		}
	}
}

func (r *run) stage(in iter.Seq[cursor], s stage) iter.Seq[cursor] {
	if s.index == nil && s.walk == nil {
		return r.filtered(in, s.filters)
	}
	out := func(yield func(cursor) bool) {
		for from := range in {
			for c := range r.filtered(r.find(from, s), s.filters) {
				if !yield(c) {
					return
				}
			}
		}
	}
	if s.sort {
		return r.sorted(out)
	}
	return out
}

func (r *run) find(from cursor, s stage) iter.Seq[cursor] {
	if s.index != nil {
		return r.lookup(s.index)
	}
	return r.walk(s.walk, from)
}

func (r *run) lookup(f *lookup) iter.Seq[cursor] {
	return func(yield func(cursor) bool) {
		for e := range f.events(r.d.stream) {
			r.guard(func() { r.d.spend(1) })
			if r.err != nil || !yield(r.d.event(e)) {
				return
			}
		}
	}
}

// walk yields what the engine finds from one node.
func (r *run) walk(x *engine.Expr, from cursor) iter.Seq[cursor] {
	return func(yield func(cursor) bool) {
		found := x.Select(&from)
		for r.advance(found) {
			if !yield(*found.Current().(*cursor)) {
				return
			}
		}
	}
}

func (r *run) advance(found *engine.NodeIterator) (ok bool) {
	if r.err == nil {
		r.guard(func() { ok = found.MoveNext() })
	}
	return ok && r.err == nil
}

func (r *run) filtered(in iter.Seq[cursor], filters []filter) iter.Seq[cursor] {
	for _, f := range filters {
		if f.where != nil {
			in = r.where(in, f.where)
		} else {
			in = r.at(in, f)
		}
	}
	return in
}

func (r *run) where(in iter.Seq[cursor], x *engine.Expr) iter.Seq[cursor] {
	return func(yield func(cursor) bool) {
		for c := range in {
			keep := false
			for range r.walk(x, c) {
				keep = true
			}
			if keep && !yield(c) {
				return
			}
		}
	}
}

// at yields the nodes that stand where the filter says.
func (r *run) at(in iter.Seq[cursor], f filter) iter.Seq[cursor] {
	return func(yield func(cursor) bool) {
		at := place{vars: f.l.vars}
		if usesLast(f.position) {
			nodes := slices.Collect(in)
			at.last, in = len(nodes), slices.Values(nodes)
		}
		only, constant := f.l.constantNumber(f.position)
		for c := range in {
			at.position++
			if at.holds(f.position) && !yield(c) || constant && float64(at.position) >= only {
				return
			}
		}
	}
}

// sorted yields nodes in document order, each once.
func (r *run) sorted(in iter.Seq[cursor]) iter.Seq[cursor] {
	return func(yield func(cursor) bool) {
		nodes := slices.SortedFunc(in, compare)
		for _, c := range slices.CompactFunc(nodes, same) {
			if !yield(c) {
				return
			}
		}
	}
}
