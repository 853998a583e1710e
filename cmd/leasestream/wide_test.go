package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// wide is a pipeline whose split is too wide for one document. Each branch adds a
// line to the file log.
const wide = `
name: wide
steps:
  - name: Many
    jq: '[range(1500)]'
    split: {to: Work, join: Sum}
  - name: Work
    exec: [sh, -c, 'echo $0 >>log; echo $0', '{{.Input}}']
  - name: Sum
    jq: '[.results[].output] | add'
`

// A wide run is killed again and again: while the children are made, while they are
// worked on, when it is about done.
func TestRun_WideSurvivesKills(t *testing.T) {
	f := newFolder(t, wide)
	deaths := 0
	for kill := 100 * time.Millisecond; ; kill += 400 * time.Millisecond {
		p := f.start("run", "pipeline.yaml", "--name", "w")
		timer := time.AfterFunc(kill, func() { _ = p.cmd.Process.Signal(syscall.SIGKILL) })
		code, stdout, stderr := p.wait()
		timer.Stop()
		if code == -1 {
			deaths++
			continue
		}
		if code != 0 || stdout != "1124250\n" {
			t.Fatalf("after %d deaths: exit code %d, %q, want the sum; %s", deaths, code, stdout, stderr)
		}
		break
	}
	if deaths == 0 {
		t.Error("the run ended before anybody killed it")
	}
	// A branch may have run again for each death, as far as it ran then.
	times := map[string]int{}
	for line := range strings.Lines(f.read("log")) {
		times[line]++
	}
	if len(times) != 1500 {
		t.Errorf("%d branches were run, want 1500", len(times))
	}
	for line, n := range times {
		if n > 1+deaths {
			t.Errorf("branch %s was run %d times in %d lives", line, n, 1+deaths)
		}
	}
	joins := 0
	for _, e := range f.events("w") {
		if e.Name == "Sum" {
			joins++
		}
	}
	if joins != 1 {
		t.Errorf("the join was created %d times", joins)
	}
}
