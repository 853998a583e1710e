package dashboard

import (
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// timelineView is the page of a run over time.
type timelineView struct {
	Head   runHead
	Filter eventFilter
	Names  []string // of the steps
	Steps  []lane
	Bars   []bar
	Ticks  []tick
	Axis   axis
	paging
}

// lane is a step with how many of its events were worked on over time.
type lane struct {
	*stepStat
	Picture template.HTML
	Most    int // at a time
}

// bar is an event over time.
type bar struct {
	line
	Picture template.HTML
}

// Percent is the place of the mark, from the left.
func (t tick) Percent() string { return strconv.FormatFloat(float64(t.Part)*100/axisWidth, 'f', 1, 64) }

// tick is a mark on the axis.
type tick struct {
	At   string // after the begin
	Part int    // of axisWidth
}

func (d *Dashboard) timelinePage(r *http.Request) (*view, error) {
	v, err := d.openRun(r, "timeline")
	if err != nil {
		return nil, err
	}
	f := eventFilterOf(r.URL.Query())
	matching := f.sift(v.snapshot, v.now)
	body := timelineView{
		Head: v.head, Filter: f, Names: v.stats().Names(), Axis: v.axis(),
		paging: pagingOf(r.URL.Query(), len(matching), barsPerTimeline, f.Query()),
	}
	body.Ticks = body.Axis.ticks()
	for _, step := range v.stats().Steps {
		body.Steps = append(body.Steps, body.Axis.lane(step))
	}
	slices.SortStableFunc(matching, func(a, b event) int {
		return cmp.Compare(a.Attr("created"), b.Attr("created"))
	})
	for _, e := range matching[body.From:body.To] {
		l := lineOf(v.name, e, v.now)
		body.Bars = append(body.Bars, bar{l, body.Axis.bar(l)})
	}
	return v.view("timeline", v.name+" · timeline", body), nil
}

// axis is the time from the first event to the last, or to now while something is
// worked on. What waits for long does not stretch it.
type axis struct{ From, To time.Time }

// axisWidth is the width of all pictures in units of their own.
const axisWidth = 1000

func (v *run) axis() axis {
	st := v.stats()
	a := axis{st.First, st.Last}
	if st.Busy {
		a.To = later(a.To, v.now)
	}
	// Some room after the last event shows what goes on.
	a.To = a.To.Add(a.To.Sub(a.From) / 25)
	if !a.To.After(a.From) {
		a.To = a.From.Add(time.Millisecond)
	}
	return a
}

// Span is the time from end to end, for people.
func (a axis) Span() string { return shownSpan(a.To.Sub(a.From)) }

// at is the place of a time on the axis.
func (a axis) at(t time.Time) float64 {
	part := float64(t.Sub(a.From)) / float64(a.To.Sub(a.From))
	return min(max(part, 0), 1) * axisWidth
}

// ticks are marks at round times, a handful of them.
func (a axis) ticks() []tick {
	step := roundStep(a.To.Sub(a.From) / 6)
	var ticks []tick
	for after := time.Duration(0); after <= a.To.Sub(a.From) && len(ticks) < 12; after += step {
		ticks = append(ticks, tick{"+" + shownSpan(after), int(a.at(a.From.Add(after)))})
	}
	return ticks
}

// roundStep is the next step that people count in.
func roundStep(d time.Duration) time.Duration {
	for unit := time.Millisecond; unit < time.Minute; unit *= 10 {
		for _, n := range []time.Duration{1, 2, 5} {
			if d <= n*unit && n*unit < time.Minute {
				return n * unit
			}
		}
	}
	for _, n := range []time.Duration{1, 2, 5, 10, 30, 60, 120, 360, 720} {
		if d <= n*time.Minute {
			return n * time.Minute
		}
	}
	return (d/(24*time.Hour) + 1) * 24 * time.Hour
}

// svg is a picture over the whole axis, that is as wide as there is room.
func svg(height int, body, says string) template.HTML {
	return template.HTML(fmt.Sprintf(
		`<svg class="over-time" viewBox="0 0 %d %d" preserveAspectRatio="none" role="img" aria-label="%s">%s</svg>`,
		axisWidth, height, template.HTMLEscapeString(says), body))
}

const barHeight = 16

// bar draws an event: waiting, worked on, and waiting for what follows it, each in
// a shape of its own.
func (a axis) bar(l line) template.HTML {
	var b strings.Builder
	end := firstOf(l.Ended, a.To)
	claimed := firstOf(l.Started, end)
	a.rect(&b, "wait", l.Created, claimed, 6, 4)
	says := "waited " + l.Wait()
	if l.Failures > 0 {
		a.marks(&b, l)
		says += ", " + plural(l.Failures, "failed attempt")
	}
	if !l.Started.IsZero() {
		handed := firstOf(l.Handed, end)
		kind := "run s-" + string(l.State)
		if l.State == outside {
			kind = "run s-outside"
		}
		a.rect(&b, kind, l.Started, handed, 2, 12)
		says += ", ran " + l.Took()
		if !l.Handed.IsZero() {
			a.rect(&b, "rest", handed, end, 7, 2)
			says += ", then waited for what follows it " + shownSpan(end.Sub(handed))
		}
	}
	return svg(barHeight, b.String(), says)
}

// rect is at least wide enough to be seen.
func (a axis) rect(b *strings.Builder, class string, from, to time.Time, y, height int) {
	x, end := a.at(from), a.at(to)
	if to.Before(from) {
		end = x
	}
	width := max(end-x, 2)
	fmt.Fprintf(b, `<rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d"/>`, class, min(x, axisWidth-2), y, width, height)
}

// marks show the failed attempts before the last claim, evenly over the time in which they happened, which
// is all the document tells.
func (a axis) marks(b *strings.Builder, l line) {
	from, to := a.at(l.Created), a.at(firstOf(l.Started, l.Ended, a.To))
	n := min(l.vain(), 20)
	for i := range n {
		x := from + (to-from)*float64(i+1)/float64(n+1)
		fmt.Fprintf(b, `<rect class="fault" x="%.1f" y="2" width="3" height="12"/>`, min(x, axisWidth-3))
	}
}

const (
	laneHeight  = 28
	laneBuckets = 200
)

// lane draws how many events of a step were worked on at a time.
func (a axis) lane(s *stepStat) lane {
	busy := a.busy(s.spans)
	most := slices.Max(busy)
	var path strings.Builder
	fmt.Fprintf(&path, "M0 %d", laneHeight)
	for i, n := range busy {
		y := float64(laneHeight)
		if most > 0 {
			y -= float64(n) / float64(most) * (laneHeight - 2)
		}
		x := i * axisWidth / laneBuckets
		fmt.Fprintf(&path, "L%d %.1fL%d %.1f", x, y, x+axisWidth/laneBuckets, y)
	}
	fmt.Fprintf(&path, "L%d %dZ", axisWidth, laneHeight)
	return lane{s, svg(laneHeight, `<path d="`+path.String()+`"/>`, fmt.Sprintf("at most %d at a time", most)), most}
}

// busy is how many spans there are at a time, at most, in each part of the axis.
func (a axis) busy(spans []span) []int {
	type change struct {
		at float64
		by int
	}
	changes := make([]change, 0, 2*len(spans))
	for _, sp := range spans {
		from, to := a.at(sp.from), a.at(firstOf(sp.to, a.To))
		changes = append(changes, change{from, 1}, change{max(from+instant, to), -1})
	}
	// What ends is counted before what begins at the same time.
	slices.SortFunc(changes, func(x, y change) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.by, y.by)) })
	busy := make([]int, laneBuckets)
	n, next := 0, 0
	for i := range busy {
		busy[i] = n
		for ; next < len(changes) && bucketOf(changes[next].at) == i; next++ {
			n += changes[next].by
			busy[i] = max(busy[i], n)
		}
	}
	return busy
}

// instant is how long, in units of the picture, a span lasts at least: what began
// and ended in the same millisecond was there.
const instant = 1e-6

func bucketOf(at float64) int { return min(int(at*laneBuckets/axisWidth), laneBuckets-1) }
