package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// steps makes a graph of lines such as "A -split> B -join> C".
func steps(lines ...string) *Graph {
	g := &Graph{}
	for _, line := range lines {
		fields := strings.Fields(line)
		s := GraphStep{Name: fields[0]}
		for i := 1; i+1 < len(fields); i += 2 {
			kind := EdgeKind(strings.Trim(fields[i], "->"))
			s.Edges = append(s.Edges, GraphEdge{To: fields[i+1], Kind: kind})
		}
		g.Steps = append(g.Steps, s)
	}
	return g
}

// columns are the steps by their columns.
func columns(d *drawing) string {
	list := make([][]string, d.columns)
	for _, s := range d.graph.Steps {
		list[d.column[s.Name]] = append(list[d.column[s.Name]], s.Name)
	}
	parts := make([]string, len(list))
	for i, names := range list {
		slices.Sort(names)
		parts[i] = strings.Join(names, "")
	}
	return strings.Join(parts, " ")
}

func TestGraph_Layout(t *testing.T) {
	for _, test := range []struct {
		name  string
		graph *Graph
		want  string
	}{
		{"one step", steps("A"), "A"},
		{"split and join", steps("A -split> B -join> C", "B", "C"), "A B C"},
		{"a branch of several steps", steps("A -split> B -join> D", "B -next> C", "C", "D -next> E", "E"), "A B C D E"},
		{"a split in a branch", steps("A -split> B -join> E", "B -split> C -join> D", "C", "D", "E"), "A B C D E"},
		{"a failure step in a branch", steps("A -split> B -join> C", "B -failure> F", "C", "F"), "A B F C"},
		{"a loop", steps("A -next> B", "B -next> A"), "A B"},
		{"a step that splits to itself", steps("A -split> A -join> B", "B"), "A B"},
		{"steps that nothing leads to", steps("A", "B -next> C", "C"), "AB C"},
		{"an edge to nowhere", steps("A -next> X"), "A"},
	} {
		d := test.graph.routed().layout()
		if got := columns(d); got != test.want {
			t.Errorf("%s: columns %q, want %q", test.name, got, test.want)
		}
		for _, s := range test.graph.Steps {
			if picture := string(test.graph.Picture(nil)); !strings.Contains(picture, ">"+s.Name+"</text>") {
				t.Errorf("%s: step %s is not drawn", test.name, s.Name)
			}
		}
	}
}

// Steps do not lie on each other, however many there are, and a large graph is
// drawn soon.
func TestGraph_Large(t *testing.T) {
	g := &Graph{}
	for i := range 300 {
		s := GraphStep{Name: fmt.Sprintf("S%d", i)}
		for _, to := range []int{i + 2, i + 1, i * 7 % 300} {
			s.Edges = append(s.Edges, GraphEdge{To: fmt.Sprintf("S%d", to), Kind: EdgeNext})
		}
		g.Steps = append(g.Steps, s)
	}
	d := g.routed().layout()
	places := map[[2]int]string{}
	for _, s := range g.Steps {
		x, y := d.corner(s.Name)
		if other := places[[2]int{x, y}]; other != "" {
			t.Fatalf("%s and %s lie on each other", s.Name, other)
		}
		places[[2]int{x, y}] = s.Name
	}
}

func TestGraph_Hostile(t *testing.T) {
	g := &Graph{Steps: []GraphStep{{Name: "<script>", Kind: "<b>", Text: `"><i>`, Edges: []GraphEdge{{To: "<script>", Kind: EdgeSplit, Text: "<u>"}}}}}
	picture := string(g.Picture(nil))
	for _, markup := range []string{"<script>", "<b>", "<i>", "<u>"} {
		if strings.Contains(picture, markup) {
			t.Errorf("the picture has %q as markup", markup)
		}
	}
}
