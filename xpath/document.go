package xpath

import (
	"context"
	"fmt"
	"strings"

	"github.com/leasestream/leasestream/eventstream"
)

// document is a stream as one evaluation sees it: with the steps that are left
// and the pieces read last. It belongs to one goroutine.
type document struct {
	stream *eventstream.Stream
	ctx    context.Context // of the evaluation, which the document does not outlive

	budget, left int
	checkAt      int // where left must be for the next look at ctx

	attrsOf  nodeID // whose attributes attrs has
	attrs    []attribute
	gapXML   string // the gap read last; most are alike
	gap      eventstream.Fragment
	inside   int32 // the event whose content was read last, -1 for none
	contents eventstream.Fragment
	outside  bool // prolog and epilog are read
	prolog   eventstream.Fragment
	epilog   eventstream.Fragment
}

type attribute struct{ name, value string }

// checkEvery is how many steps pass between two looks at the context.
const checkEvery = 4096

func newDocument(ctx context.Context, s *eventstream.Stream, budget int) *document {
	return &document{stream: s, ctx: ctx, budget: budget, left: budget, checkAt: budget, inside: -1}
}

// spend counts steps. It panics with a bailout when none are left or the context
// has ended: the engine has no other way out.
func (d *document) spend(steps int) {
	if d.left -= steps; d.left < d.checkAt {
		d.check()
	}
}

func (d *document) check() {
	if d.left < 0 {
		fail(ErrBudget, 0, "stopped after %d steps; narrow the query by @id or @status, or allow it more steps", d.budget)
	}
	if err := d.ctx.Err(); err != nil {
		panic(bailout{fmt.Errorf("xpath stopped: %w", err)})
	}
	d.checkAt = max(0, d.left-checkEvery)
}

// spendText counts what copying a text costs.
func (d *document) spendText(s string) { d.spend(len(s) / 16) }

// spendRead counts what cutting a text into nodes costs.
func (d *document) spendRead(s string) { d.spend(len(s) / 4) }

// attributes returns the attributes of a node without namespace declarations,
// which are none in XPath. The slice is valid until the next call.
func (d *document) attributes(c *cursor) []attribute {
	if d.attrsOf == c.nodeID {
		return d.attrs
	}
	d.attrsOf, d.attrs = c.nodeID, d.attrs[:0]
	for name, value := range c.allAttributes() {
		d.spendText(value)
		if name != "xmlns" && !strings.HasPrefix(name, "xmlns:") {
			d.attrs = append(d.attrs, attribute{name, value})
		}
	}
	return d.attrs
}

// gapBefore returns what stands before event i, or after all events.
func (d *document) gapBefore(i int) eventstream.Fragment {
	xml := d.stream.GapXML(i)
	if i == d.stream.Len() || xml != d.gapXML {
		d.spendRead(xml)
		d.gapXML, d.gap = xml, d.stream.Gap(i)
	}
	return d.gap
}

// content returns what stands inside event i.
func (d *document) content(i int32) eventstream.Fragment {
	if d.inside != i {
		e := d.stream.At(int(i))
		d.spendRead(e.ContentXML())
		d.inside, d.contents = i, e.Content()
	}
	return d.contents
}

// readOutside reads what stands outside of <EventStream>.
func (d *document) readOutside() {
	if !d.outside {
		d.outside, d.prolog, d.epilog = true, d.stream.Prolog(), d.stream.Epilog()
	}
}
