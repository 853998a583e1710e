package xpath

import (
	"iter"
	"slices"

	engine "github.com/antchfx/xpath"

	"github.com/leasestream/leasestream/eventstream"
)

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
	if s.index == nil {
		return r.walk(s.walk, from)
	}
	return func(yield func(cursor) bool) {
		for e := range r.lookup(s.index) {
			if !yield(r.d.event(e)) {
				return
			}
		}
	}
}

func (r *run) lookup(f *lookup) iter.Seq[*eventstream.Event] {
	return func(yield func(*eventstream.Event) bool) {
		f.find(r.d.stream, func(e *eventstream.Event) bool { return r.mayGoOn() && yield(e) })
	}
}

// mayGoOn counts a step of our own.
func (r *run) mayGoOn() bool {
	if r.d.left--; r.d.left < r.d.checkAt {
		r.guard(r.d.check)
	}
	return r.err == nil
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
