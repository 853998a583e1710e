package dashboard

import (
	"slices"

	"github.com/leasestream/leasestream/processor"
)

// Graph is a pipeline as it is drawn: the steps, the first of which begins each
// run.
type Graph struct{ Steps []GraphStep }

// GraphStep is a step of a Graph.
type GraphStep struct {
	Name string
	Kind string // what does its work, such as exec; may be empty
	Text string // more about that, such as the command; may be empty
	// Where it leads to. Steps that do not exist are not drawn.
	Edges []GraphEdge
}

// GraphEdge leads from one step to another.
type GraphEdge struct {
	To   string
	Kind EdgeKind
	Text string // such as the policy of a split; may be empty
}

// EdgeKind says when an edge is taken.
type EdgeKind string

// The kinds of edges.
const (
	EdgeNext    EdgeKind = "next"    // handed on, in the same branch
	EdgeSplit   EdgeKind = "split"   // to many branches
	EdgeJoin    EdgeKind = "join"    // when all branches have ended
	EdgeFailure EdgeKind = "failure" // when the retries are spent
)

// graphOf is what can be drawn of a pipeline: all of it if its source can be read,
// else its steps.
func (d *Dashboard) graphOf(source []byte, pl *processor.Pipeline) (*Graph, error) {
	if d.o.Describe != nil {
		if g, err := d.o.Describe(source); err == nil || pl == nil {
			return g, err
		}
	}
	g := &Graph{}
	if pl != nil {
		for _, s := range pl.Steps() {
			step := GraphStep{Name: s.Name}
			if s.OnFailure != "" {
				step.Edges = []GraphEdge{{To: s.OnFailure, Kind: EdgeFailure}}
			}
			g.Steps = append(g.Steps, step)
		}
	}
	return g, nil
}

func (g *Graph) step(name string) *GraphStep {
	i := slices.IndexFunc(g.Steps, func(s GraphStep) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &g.Steps[i]
}

// routed is the graph as it is drawn: a join follows the steps in which the
// branches end, and not the step that named it.
func (g *Graph) routed() *Graph {
	r := &Graph{Steps: slices.Clone(g.Steps)}
	for i := range r.Steps {
		r.Steps[i].Edges = nil
	}
	for _, s := range g.Steps {
		for _, e := range s.Edges {
			if g.step(e.To) == nil {
				continue
			}
			from := []string{s.Name}
			if e.Kind == EdgeJoin {
				from = g.branchEnds(s, e.To)
			}
			for _, name := range from {
				if step := r.step(name); !slices.Contains(step.Edges, e) {
					step.Edges = append(step.Edges, e)
				}
			}
		}
	}
	return r
}

// branchEnds are the steps in which the branches of a split can end: those that
// lead nowhere. If none can be seen, the split itself stands for them.
func (g *Graph) branchEnds(split GraphStep, join string) []string {
	var ends []string
	seen := map[string]bool{join: true}
	var walk func(name string)
	walk = func(name string) {
		step := g.step(name)
		if step == nil || seen[name] {
			return
		}
		seen[name] = true
		last := true
		for _, e := range step.Edges {
			// A split inside a branch comes together again in its own join.
			if e.Kind != EdgeFailure && (e.Kind != EdgeSplit || !joins(*step)) {
				last = false
			}
			if e.Kind != EdgeSplit || !joins(*step) {
				walk(e.To)
			}
		}
		if last {
			ends = append(ends, name)
		}
	}
	for _, e := range split.Edges {
		if e.Kind == EdgeSplit {
			walk(e.To)
		}
	}
	if len(ends) == 0 {
		ends = []string{split.Name}
	}
	return ends
}

func joins(s GraphStep) bool {
	return slices.ContainsFunc(s.Edges, func(e GraphEdge) bool { return e.Kind == EdgeJoin })
}
