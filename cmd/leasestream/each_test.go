package main

import (
	"strings"
	"syscall"
	"testing"
)

// eachGated is a command that waits, for line 2, until there is a file gate, and
// adds a line to the file log when it is done.
var eachGated = []string{"each", "--workers", "3", "--", "sh", "-c",
	`if [ $1 = 2 ]; then while [ ! -e gate ]; do sleep 0.02; done; fi; echo $1 >>log; echo $1`, "sh", "{}"}

const eachLines = "1\n2\n3\n"

// checkEach runs the same command to the end, and checks its result and that no
// line that was done is done again.
func (f folder) checkEach() {
	f.t.Helper()
	code, stdout, stderr := f.startWith(eachLines, eachGated...).wait()
	if code != 0 || stdout != eachLines {
		f.t.Fatalf("each again: exit code %d, %q, want 0 and all lines; %s", code, stdout, stderr)
	}
	if list := f.ls(); len(list) != 1 || list[0].Status != "completed" {
		f.t.Errorf("ls = %+v, want one completed run", list)
	}
	for line := range strings.Lines(eachLines) {
		if log := f.read("log"); strings.Count(log, line) != 1 {
			f.t.Errorf("log = %q, want %q once", log, line)
		}
	}
}

// Whoever dies more often than a step has attempts still loses no line.
func TestEach_ResumeAfterKills(t *testing.T) {
	f := newFolder(t, "")
	for range 4 {
		p := f.startWith(eachLines, eachGated...)
		p.until("2 of 4 events done, 1 running")
		p.signal(syscall.SIGKILL)
		if code, stdout, _ := p.wait(); code != -1 || stdout != "" {
			t.Fatalf("killed: exit code %d, %q, want a death and no output", code, stdout)
		}
	}
	f.write("gate", "")
	f.checkEach()
}

func TestEach_Interrupted(t *testing.T) {
	f := newFolder(t, "")
	p := f.startWith(eachLines, eachGated...)
	p.until("2 of 4 events done, 1 running")
	p.signal(syscall.SIGINT)
	p.until("interrupt again")
	f.write("gate", "") // the command that runs may end
	if code, stdout, stderr := p.wait(); code != 130 || stdout != "" {
		t.Fatalf("interrupted: exit code %d, %q, %s, want 130 and no output", code, stdout, stderr)
	}
	f.checkEach()
}
