package dashboard

import (
	"fmt"
	"html/template"
	"strings"
)

// Sizes of the picture, in its own units.
const (
	nodeWidth, nodeHeight = 190, 54
	columnGap, rowGap     = 72, 26
	margin                = 12
)

// drawing is a Graph with places for its steps.
type drawing struct {
	graph   *Graph
	column  map[string]int
	row     map[string]int
	columns int
	rows    int
}

// maxDrawn is how many steps are drawn at most: nobody finds their way in more.
const maxDrawn = 300

// Picture draws a graph from left to right. counts, if there are any, stand in the
// steps.
func (g *Graph) Picture(counts map[string]*stepStat) template.HTML {
	if g == nil || len(g.Steps) == 0 || len(g.Steps) > maxDrawn {
		return ""
	}
	d := g.routed().layout()
	var b strings.Builder
	width := d.columns*(nodeWidth+columnGap) - columnGap + 2*margin
	height := d.rows*(nodeHeight+rowGap) - rowGap + 2*margin + d.detour()
	fmt.Fprintf(&b, `<svg class="graph" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`,
		width, height, width, height, template.HTMLEscapeString(g.says()))
	b.WriteString(arrowHeads())
	for _, s := range d.graph.Steps {
		for _, e := range s.Edges {
			d.edge(&b, s.Name, e)
		}
	}
	for _, s := range g.Steps {
		d.node(&b, s, counts[s.Name])
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// arrowHeads are the ends of the edges, by kind: a marker does not take the colour
// of its line everywhere.
func arrowHeads() string {
	var b strings.Builder
	b.WriteString("<defs>")
	for _, kind := range []EdgeKind{EdgeNext, EdgeSplit, EdgeJoin, EdgeFailure} {
		fmt.Fprintf(&b, `<marker id="head-%s" class="head e-%s" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8Z"/></marker>`, kind, kind)
	}
	b.WriteString("</defs>")
	return b.String()
}

// layout puts each step one column behind the last step that leads to it. Edges
// that go back do not count.
func (g *Graph) layout() *drawing {
	d := &drawing{graph: g, column: map[string]int{}, row: map[string]int{}}
	d.place(g.Steps[0].Name, 0, map[string]bool{})
	for _, s := range g.Steps {
		if _, ok := d.column[s.Name]; !ok { // nothing that can be seen leads to it
			d.place(s.Name, 0, map[string]bool{})
		}
	}
	used := map[int]int{}
	for _, s := range g.Steps {
		c := d.column[s.Name]
		d.row[s.Name] = used[c]
		used[c]++
		d.columns, d.rows = max(d.columns, c+1), max(d.rows, used[c])
	}
	return d
}

// place moves a step, and what it leads to, to a column or further. on are the
// steps on the way, so that a loop ends where it began.
func (d *drawing) place(name string, column int, on map[string]bool) {
	step := d.graph.step(name)
	if step == nil || on[name] {
		return
	}
	if at, ok := d.column[name]; ok && at >= column {
		return
	}
	d.column[name] = column
	on[name] = true
	for _, e := range step.Edges {
		d.place(e.To, column+1, on)
	}
	delete(on, name)
}

// says is the graph in words.
func (g *Graph) says() string {
	var parts []string
	for _, s := range g.Steps {
		words := []string{s.Name}
		for _, e := range s.Edges {
			words = append(words, string(e.Kind)+" "+e.To)
		}
		parts = append(parts, strings.Join(words, ", "))
	}
	return "Steps: " + strings.Join(parts, "; ")
}

// corner is the upper left corner of a step.
func (d *drawing) corner(name string) (x, y int) {
	return margin + d.column[name]*(nodeWidth+columnGap), margin + d.row[name]*(nodeHeight+rowGap)
}

// detour is the room below the steps for edges that pass others or go back.
func (d *drawing) detour() int {
	for _, s := range d.graph.Steps {
		for _, e := range s.Edges {
			if d.goesRound(s.Name, e) {
				return 40
			}
		}
	}
	return 0
}

// goesRound is true for an edge that would run through a step or against the
// stream.
func (d *drawing) goesRound(from string, e GraphEdge) bool {
	span := d.column[e.To] - d.column[from]
	return span <= 0 || span > 1 && d.row[from] == d.row[e.To]
}

func (d *drawing) edge(b *strings.Builder, from string, e GraphEdge) {
	x1, y1 := d.corner(from)
	x2, y2 := d.corner(e.To)
	x1, y1, y2 = x1+nodeWidth, y1+nodeHeight/2, y2+nodeHeight/2
	path := fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+columnGap/2, y1, x2-columnGap/2, y2, x2-1, y2)
	textX, textY := (x1+x2)/2, (y1+y2)/2-6
	if d.goesRound(from, e) {
		low := margin + d.rows*(nodeHeight+rowGap) - rowGap + 24
		out, in := x1-nodeWidth/2, x2+nodeWidth/2
		path = fmt.Sprintf("M%d %dC%d %d %d %d %d %d", out, y1+nodeHeight/2, out, low+10, in, low+10, in, y2+nodeHeight/2+1)
		textX, textY = (out+in)/2, low-4
	}
	fmt.Fprintf(b, `<path class="edge e-%s" d="%s" marker-end="url(#head-%s)"/>`, e.Kind, path, e.Kind)
	if label := edgeLabel(e); label != "" {
		fmt.Fprintf(b, `<text class="edge-label" x="%d" y="%d" text-anchor="middle">%s</text>`, textX, textY, template.HTMLEscapeString(label))
	}
}

func edgeLabel(e GraphEdge) string {
	switch e.Kind {
	case EdgeNext:
		return e.Text
	case EdgeFailure:
		return "on failure"
	}
	return strings.TrimSpace(string(e.Kind) + " " + e.Text)
}

func (d *drawing) node(b *strings.Builder, s GraphStep, n *stepStat) {
	x, y := d.corner(s.Name)
	fmt.Fprintf(b, `<g class="node"><title>%s</title><rect x="%d" y="%d" width="%d" height="%d" rx="8"/>`,
		template.HTMLEscapeString(strings.TrimSpace(s.Name+" "+s.Text)), x, y, nodeWidth, nodeHeight)
	fmt.Fprintf(b, `<text class="node-name" x="%d" y="%d">%s</text>`, x+12, y+22, template.HTMLEscapeString(shortened(20, s.Name)))
	text := strings.TrimSpace(s.Kind + " " + s.Text)
	if n != nil {
		text = n.says()
	}
	fmt.Fprintf(b, `<text class="node-text" x="%d" y="%d">%s</text></g>`, x+12, y+40, template.HTMLEscapeString(shortened(22, text)))
}

// says is how far a step is, in few words.
func (s *stepStat) says() string {
	text := shownCount(s.Done) + "/" + shownCount(s.Total)
	if s.Running > 0 {
		text += ", " + shownCount(s.Running) + " running"
	}
	if s.Failed > 0 {
		text += ", " + shownCount(s.Failed) + " failed"
	}
	return text
}
