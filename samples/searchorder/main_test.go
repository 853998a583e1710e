package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// The events stand in the order in which they happened to be created, which is
// another one each time; their ids do not depend on it.
const want = `
00        OrderStart  completed: WithError
01        OrderDone   completed
01.00     SearchStart completed
01.01     SearchDone  completed
01.02     SearchMerge completed
01.02.00  SearchStart completed
01.02.01  SearchDone  completed
01.04.00  SearchStart completed
01.04.01  SearchDone  completed
02.00     SearchStart completed
02.01     SearchDone  completed
02.02     SearchMerge completed
02.03.00  SearchStart completed
02.03.01  SearchDone  completed
03.00     SearchStart aborted: supplier west is closed
04.00     SearchStart aborted: the step's timeout has passed
order-42: {"supplier":"north","item":"bicycle without wheels","price":310}
`

func TestOutput(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	slices.Sort(lines[:len(lines)-1])
	if got := strings.Join(lines, "\n"); got != strings.TrimSpace(want) {
		t.Errorf("run printed\n%s\nwant\n%s", got, want)
	}
}
