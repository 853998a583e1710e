// Package model measures the model of a document: how fast it is read and
// written, and what an edit and a query cost, whatever the number of events.
package model

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/leasestream/leasestream/eventstream"
)

// deepest is the event four splits deep that waits to be completed.
const deepest = "01.01.01.01.00"

// MinEvents is the smallest document that can be measured: the root, and one event
// for each of the splits.
const MinEvents = 5

// canonical makes a document of n events as they are written in the course of a
// run: 14 attributes and some 270 bytes each. Below the root there is a thread with
// a split in a split in a split; all others are branches of the root, half of them
// completed, one in forty not begun.
func canonical(n int) []byte {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<EventStream name=\"bench\" run=\"k3v9x2\" pipeline=\"p\">\n")
	next := make([]string, 0, n)
	for i := range n - MinEvents + 1 {
		next = append(next, eventstream.JoinID("", i+1)+".00")
	}
	fmt.Fprintf(&b, `<Event id="00" name="Start" topic="Start" status="inprocess" created="2026-11-30T07:33:51.120Z" timestamp="2026-11-30T07:33:52.004Z" next="%s" join="Done"/>`+"\n",
		strings.Join(next, "|"))
	thread := "01"
	prev := "00"
	for range MinEvents - 2 {
		id := thread + ".00"
		thread += ".01"
		event(&b, id, prev, "inprocess", ` next="`+thread+`.00"`)
		prev = id
	}
	event(&b, deepest, prev, "inprocess", "")
	for i, id := range next[1:] {
		event(&b, id, "00", statusOf(i), "")
	}
	b.WriteString("</EventStream>\n")
	return b.Bytes()
}

func statusOf(i int) string {
	switch {
	case i%40 == 1:
		return "init"
	case i%2 == 0:
		return "completed"
	}
	return "inprocess"
}

func event(b *bytes.Buffer, id, prev, status, more string) {
	fmt.Fprintf(b, `<Event id=%q name="Search" topic="Search" status=%q prev=%q trackingId="9b2e%08d" created="2026-11-30T07:33:51.120Z" `+
		`timestamp="2026-11-30T07:33:52.004Z" key="host1-4711-a1b2c3d4" started="2026-11-30T07:33:51.500Z" attempt="1" failures="0" msg="a &amp; b" tag="x"%s/>`+"\n",
		id, status, prev, b.Len(), more)
}
