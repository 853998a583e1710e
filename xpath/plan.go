package xpath

import (
	"slices"
	"strings"

	engine "github.com/antchfx/xpath"
)

// plan is how the nodes of a path or a union are found. The engine counts
// positions wrongly behind other predicates and gives unions, parents and
// siblings out of order, or several times. So a path is cut into stages at its
// positions: the engine walks each stage from one node, and what lies between,
// positions and document order, is done here.
type plan struct {
	from     []*plan // whose nodes the stages begin with; none: one node
	absolute bool    // which is the document, else the context
	stages   []stage
}

// stage leads from each node to others, by the index or by a path.
type stage struct {
	index   *lookup
	walk    *engine.Expr
	filters []filter // of all nodes at once, where there is neither index nor walk
	sort    bool     // the nodes may come out of order or several times
}

// filter is a predicate.
type filter struct {
	where    *engine.Expr // gives the node itself if it is to stay
	position expression   // a test of the node's position; nil with where
	l        *lowerer     // has the variables of position
}

func (l *lowerer) plan(e expression) *plan {
	checkNodes(e, l.vars)
	if b, ok := e.(*binary); ok {
		return &plan{from: slices.Concat(l.plan(b.left).operands(), l.plan(b.right).operands())}
	}
	return l.planPath(e.(*path))
}

// operands are the plans of a union of unions, or the plan itself.
func (p *plan) operands() []*plan {
	if p.from != nil && p.stages == nil {
		return p.from
	}
	return []*plan{p}
}

// onlyLookup returns the lookup that answers the plan as a whole, or nil.
func (p *plan) onlyLookup() *lookup {
	if len(p.stages) != 1 || len(p.stages[0].filters) > 0 {
		return nil
	}
	return p.stages[0].index
}

func (l *lowerer) planPath(p *path) *plan {
	out := &planner{l: l, known: singleNode}
	out.plan.absolute = p.absolute
	if p.base != nil {
		out.plan.from = []*plan{l.plan(p.base)}
		out.known = set{ordered: true, distinct: true}
		out.add(stage{filters: l.filters(p.preds)}, out.known)
	}
	steps := l.fuse(p.steps)
	if p.base == nil {
		steps = out.useIndex(p.absolute, steps)
	}
	for _, s := range steps {
		out.step(s)
	}
	out.flush()
	return &out.plan
}

// planner collects the stages of a path.
type planner struct {
	l     *lowerer
	plan  plan
	steps []*step // without positions, not yet in a stage
	known set     // about the nodes so far
}

func (p *planner) step(s *step) {
	first := slices.IndexFunc(s.preds, p.l.isPosition)
	if first < 0 {
		p.steps = append(p.steps, s)
		return
	}
	p.flush()
	if s.axis == "preceding" {
		fail(ErrUnsupported, s.column(), "a position on the axis preceding::, which the engine walks out of order; "+
			"use preceding-sibling::")
	}
	counted := *s
	counted.preds = s.preds[:first]
	p.walk([]*step{&counted}, p.l.filters(s.preds[first:]))
}

// flush makes a stage of the steps collected so far.
func (p *planner) flush() {
	if len(p.steps) > 0 {
		p.walk(p.steps, nil)
		p.steps = nil
	}
}

func (p *planner) walk(steps []*step, filters []filter) {
	t := p.l.steps(steps, p.known)
	p.add(stage{walk: compile(t.text), filters: filters}, t.set)
}

// add appends a stage that finds nodes of which known is known.
func (p *planner) add(s stage, known set) {
	s.sort = !known.ordered || !known.distinct
	known.ordered, known.distinct = true, true
	p.plan.stages, p.known = append(p.plan.stages, s), known
}

// filters makes filters of predicates, the first of which counts positions. The
// parts of a predicate that count come first and as one: what else it tests would
// change the count.
func (l *lowerer) filters(preds []expression) []filter {
	var out []filter
	for _, pred := range preds {
		var counted expression
		var others []expression
		for _, e := range conjuncts(pred) {
			switch {
			case kindOf(pred, l.vars) != numberKind && !anywhere(e, isPositionCall):
				others = append(others, e)
			case counted == nil:
				counted = e
			default:
				counted = &binary{at(e.column()), "and", counted, e}
			}
		}
		if counted != nil {
			l.checkPosition(counted)
			out = append(out, filter{position: counted, l: l})
		}
		out = append(out, l.wheres(others)...)
	}
	return out
}

// wheres makes filters of predicates that are true or false.
func (l *lowerer) wheres(preds []expression) []filter {
	var out []filter
	for _, e := range preds {
		out = append(out, filter{where: compile("self::node()[" + l.predicate(e) + "]")})
	}
	return out
}

// compile hands a lowered expression to the engine.
func compile(text string) *engine.Expr {
	x, err := engine.Compile(text)
	if err != nil {
		fail(ErrUnsupported, 0, "the engine refuses it: %s", strings.TrimPrefix(err.Error(), "xpath: "))
	}
	return x
}
