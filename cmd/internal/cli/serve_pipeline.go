package cli

import (
	"strings"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/dashboard"
	"github.com/leasestream/leasestream/processor/pipeline"
)

// loadStored reads a definition that lies in the store, to start runs of it. Its
// steps are never run by who serves the dashboard.
func loadStored(source []byte) (*processor.Pipeline, error) { return pipeline.Parse(source, nil) }

// drawStored reads what is drawn of a definition.
func drawStored(source []byte) (*dashboard.Graph, error) {
	d, err := pipeline.Describe(source)
	if err != nil {
		return nil, err
	}
	g := &dashboard.Graph{}
	for _, s := range d.Steps {
		g.Steps = append(g.Steps, drawStep(s))
	}
	return g, nil
}

func drawStep(s pipeline.StepDescription) dashboard.GraphStep {
	step := dashboard.GraphStep{Name: s.Name, Kind: s.Kind, Text: strings.TrimSpace(s.Text)}
	if s.Dynamic {
		step.Kind += ", decides what comes next:"
	}
	lead := func(to string, kind dashboard.EdgeKind, text string) {
		if to != "" {
			step.Edges = append(step.Edges, dashboard.GraphEdge{To: to, Kind: kind, Text: text})
		}
	}
	policy := s.Policy
	if policy == "all" {
		policy = ""
	}
	lead(s.Next, dashboard.EdgeNext, "")
	lead(s.SplitTo, dashboard.EdgeSplit, policy)
	lead(s.Join, dashboard.EdgeJoin, "")
	lead(s.OnFailure, dashboard.EdgeFailure, "")
	return step
}
