package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leasestream/leasestream/internal/azurite"
)

// nested is a pipeline that splits in ten, and each of those in as many as it is
// given. Each leaf adds a line to the file log.
const nested = `
name: nested
steps:
  - name: Ten
    input: '.width as $w | [range(10) | {first: (. * $w), width: $w}]'
    jq: '.'
    split: {to: Many, join: Total}
    retry: {attempts: 10000, backoff: 1ms, max: 1ms}
  - name: Many
    jq: '.first as $f | [range(.width) | . + $f]'
    split: {to: Leaf, join: Sum}
    retry: {attempts: 10000, backoff: 1ms, max: 1ms}
  - name: Leaf
    exec: [sh, -c, 'sleep 0.1; echo $0 >>log; echo $0', '{{.Input}}']
    retry: {attempts: 10000, backoff: 1ms, max: 1ms}
  - name: Sum
    jq: '[.results[].output] | add'
    retry: {attempts: 10000, backoff: 1ms, max: 1ms}
  - name: Total
    jq: '[.results[].output] | add'
    retry: {attempts: 10000, backoff: 1ms, max: 1ms}
`

// A run whose process is killed again and again, at any moment, ends with the right
// result: no branch is lost or counted twice, no aggregator is there twice.
func TestRun_KilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	kills := 20
	if os.Getenv("LEASESTREAM_LONG") != "" {
		kills = 200
	}
	width := kills / 2 // for a kill every second leaf
	f := newFolder(t, nested)
	command := []string{"run", "pipeline.yaml", "--name", "r", "--set", fmt.Sprintf("width=%d", width), "--workers"}
	killed := 0
	for range kills {
		p := f.start(append(command, "1")...)
		if !p.says("events done") {
			p.wait() // it has ended before
			break
		}
		<-time.After(rand.N(250 * time.Millisecond))
		p.signal(syscall.SIGKILL)
		if code, _, _ := p.wait(); code == -1 {
			killed++
		}
	}
	if code, _, stderr := f.run(append(command, "8")...); code != 0 {
		t.Fatalf("after %d kills: exit code %d; %s", killed, code, stderr)
	}
	if killed < kills/2 {
		t.Errorf("%d processes were killed, want at least half of %d", killed, kills)
	}
	f.checkNested("r", width)
}

// Three workers share a run, and again and again one of them is killed and another
// begins, while doorbells get lost: the end is the same, and comes by itself.
func TestWork_Storm(t *testing.T) {
	t.Parallel()
	kills := 10
	if os.Getenv("LEASESTREAM_LONG") != "" {
		kills = 100
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		f := newFolder(t, nested)
		f.env = []string{"LEASESTREAM_BUS=" + leakyNATS(t)}
		f.storm(kills, 3*kills, 250*time.Millisecond)
	})
	// There, what a killed worker had is taken over when its lease of a minute is over.
	t.Run("Azurite", func(t *testing.T) {
		t.Parallel()
		f := newFolder(t, nested)
		f.env = []string{"LEASESTREAM_BUS=" + leakyNATS(t), "LEASESTREAM_STORE=" + azurite.Start(t).Container()}
		f.storm(kills/2, 30, 2*time.Second)
	})
}

// storm kills workers of a run of 10 times width branches, one at random after a
// random time up to pause, and checks its end.
func (f folder) storm(kills, width int, pause time.Duration) {
	f.t.Helper()
	if code, _, stderr := f.run("start", "pipeline.yaml", "--name", "r", "--set", fmt.Sprintf("width=%d", width)); code != 0 {
		f.t.Fatal(stderr)
	}
	begin := func() *process {
		p := f.start("work", "pipeline.yaml", "--workers", "2")
		p.until(`msg="worker started"`)
		return p
	}
	workers := []*process{begin(), begin(), begin()}
	for range kills {
		<-time.After(rand.N(pause))
		i := rand.IntN(len(workers))
		workers[i].signal(syscall.SIGKILL)
		workers[i].wait()
		workers[i] = begin()
	}
	if code, _, stderr := f.run("watch", "r"); code != 0 {
		f.t.Errorf("watch: exit code %d; %s", code, stderr)
	}
	f.checkNested("r", width)
	for _, p := range workers {
		p.signal(syscall.SIGTERM)
		if code, _, stderr := p.wait(); code != 0 {
			f.t.Errorf("%v: exit code %d; %s", p.cmd.Args, code, stderr)
		}
	}
}

// checkNested checks that each event of the nested pipeline is there once, and the
// sum of all.
func (f folder) checkNested(name string, width int) {
	f.t.Helper()
	leaves := 10 * width
	code, stdout, stderr := f.run("run", "pipeline.yaml", "--name", name, "--set", fmt.Sprintf("width=%d", width))
	if want := fmt.Sprintf("%d\n", leaves*(leaves-1)/2); code != 0 || stdout != want {
		f.t.Fatalf("the run gave %q with exit code %d, want %q; %s", stdout, code, want, stderr)
	}
	count := map[string]int{}
	for _, e := range f.events(name) {
		if e.Status != "completed" {
			f.t.Errorf("event %s is %s", e.ID, e.Status)
		}
		count[e.Name]++
	}
	want := map[string]int{"Ten": 1, "Many": 10, "Leaf": leaves, "Sum": 10, "Total": 1}
	if fmt.Sprint(count) != fmt.Sprint(want) {
		f.t.Errorf("events by step = %v, want %v", count, want)
	}
	log := "\n" + f.read("log")
	for leaf := range leaves {
		if !strings.Contains(log, fmt.Sprintf("\n%d\n", leaf)) {
			f.t.Errorf("leaf %d never ran", leaf)
		}
	}
}

// says reports whether a line with the text comes on standard error.
func (p *process) says(text string) bool {
	for p.lines.Scan() {
		p.said = append(p.said, p.lines.Text())
		if strings.Contains(p.lines.Text(), text) {
			return true
		}
	}
	return false
}

// attempts is a pipeline of one step that waits for a file gate and gives the number
// of its attempt.
const attempts = `
name: attempts
steps:
  - name: Work
    exec: [sh, -c, 'echo begun >>begun; while [ ! -e gate ]; do sleep 0.05; done; echo $LEASESTREAM_ATTEMPT']
`

// attemptsBegun waits until so many attempts have begun.
func (f folder) attemptsBegun(n int) {
	f.t.Helper()
	f.eventually(fmt.Sprintf("%d attempts have begun", n), func() bool {
		content, _ := os.ReadFile(filepath.Join(f.dir, "begun"))
		return strings.Count(string(content), "\n") >= n
	})
}

func (f folder) status(name string) string {
	f.t.Helper()
	for _, r := range f.ls() {
		if r.Name == name {
			return r.Status
		}
	}
	return ""
}

// root is the first event of the one run.
func (f folder) root() event {
	f.t.Helper()
	return f.events("r")[0]
}

// stopAtRest stops a process that is not in the middle of a write just then, which would
// keep all others from writing.
func (f folder) stopAtRest(p *process) {
	f.t.Helper()
	for range 20 {
		p.signal(syscall.SIGSTOP)
		if f.isWritable() {
			return
		}
		p.signal(syscall.SIGCONT)
	}
	f.t.Fatal("the process was in the middle of a write each time")
}

func (f folder) isWritable() bool {
	probe := f.start("blob", "put", "probe", "pipeline.yaml")
	patience := time.AfterFunc(3*time.Second, func() { _ = probe.cmd.Process.Kill() })
	defer patience.Stop()
	code, _, _ := probe.wait()
	return code == 0
}

// A worker that was stopped for longer than its lease lasts must not write what it
// has when it goes on.
func TestWork_StoppedPastItsLease(t *testing.T) {
	t.Parallel()
	f := newFolder(t, attempts)
	first := f.start("work", "pipeline.yaml")
	first.until(`msg="worker started"`)
	if code, _, stderr := f.run("start", "pipeline.yaml", "--name", "r"); code != 0 {
		t.Fatal(stderr)
	}
	f.attemptsBegun(1)
	f.stopAtRest(first)
	second := f.start("work", "pipeline.yaml")
	second.until(`msg="worker started"`)
	f.attemptsBegun(2)
	first.signal(syscall.SIGCONT)
	f.write("gate", "")
	f.eventually("the run ends", func() bool { return f.status("r") == "completed" })
	if code, stdout, stderr := f.run("query", "r", "string(//Output)"); code != 0 || !strings.Contains(stdout, "2") || strings.Contains(stdout, "1") {
		t.Errorf("output = %q, want that of the second attempt; %s", stdout, stderr)
	}
	for _, p := range []*process{first, second} {
		p.signal(syscall.SIGTERM)
		if code, _, stderr := p.wait(); code != 0 {
			t.Errorf("%v: exit code %d; %s", p.cmd.Args, code, stderr)
		}
	}
}

// The events of a worker that is killed run at once in another process of the same
// host: nobody waits for its lease to run out.
func TestWork_KilledBesideAnother(t *testing.T) {
	t.Parallel()
	f := newFolder(t, attempts)
	first := f.start("work", "pipeline.yaml", "--workers", "1")
	first.until(`msg="worker started"`)
	if code, _, stderr := f.run("start", "pipeline.yaml", "--name", "r"); code != 0 {
		t.Fatal(stderr)
	}
	f.attemptsBegun(1)
	second := f.start("work", "pipeline.yaml", "--workers", "1")
	second.until(`msg="worker started"`)
	_, before, _ := f.run("lease", "ls", "workers/", "--format", "json")
	first.signal(syscall.SIGKILL)
	first.wait()
	f.attemptsBegun(2)
	// Had anybody waited, the lease would have run out by itself.
	if _, after, _ := f.run("lease", "ls", "workers/", "--format", "json"); !strings.Contains(after, `"broken"`) {
		t.Errorf("the leases were %s and are %s, want that of the dead worker broken", before, after)
	}
	f.write("gate", "")
	f.eventually("the run ends", func() bool { return f.status("r") == "completed" })
}

// steps that start a child and a grandchild, and wait for a signal that may come.
const family = `
name: family
steps:
  - name: Parent
    exec: [sh, -c, 'sh -c "echo \$\$ >grandchild; sleep 600; true" & echo $$ >child; wait; true']
`

// A hand that changes the document steers: what it says is brought to its end by the
// next edit, and programs that run for it are stopped with all their children.
func TestSteer_ByEditingTheDocument(t *testing.T) {
	for status, want := range map[string]string{"canceled": "canceled", "aborted": "aborted", "completed": "completed"} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t, family)
			w := f.start("work", "pipeline.yaml")
			w.until(`msg="worker started"`)
			if code, _, stderr := f.run("start", "pipeline.yaml", "--name", "r"); code != 0 {
				t.Fatal(stderr)
			}
			child, grandchild := f.pid("child"), f.pid("grandchild")
			f.byHand("r", `status="inprocess"`, `status="`+status+`"`)
			for _, pid := range []int{child, grandchild} {
				f.eventually(fmt.Sprintf("process %d is gone", pid), func() bool {
					return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
				})
			}
			if got := f.root().Status; got != want {
				t.Errorf("the run is %s, want %s", got, want)
			}
			w.signal(syscall.SIGTERM)
			if code, _, stderr := w.wait(); code != 0 {
				t.Errorf("work: exit code %d; %s", code, stderr)
			}
		})
	}
}

// pid reads the number of a process from a file as soon as it is there.
func (f folder) pid(name string) (pid int) {
	f.t.Helper()
	f.eventually(name+" has begun", func() bool {
		content, _ := os.ReadFile(filepath.Join(f.dir, name))
		var err error
		pid, err = strconv.Atoi(strings.TrimSpace(string(content)))
		return err == nil && strings.HasSuffix(string(content), "\n")
	})
	return pid
}

// byHand changes the document of a run as an operator would: under its lease, with
// the commands for blobs.
func (f folder) byHand(name, old, now string) {
	f.t.Helper()
	blob := "streams/" + name + ".xml"
	code, lease, stderr := f.run("lease", "acquire", blob, "--wait", "1m", "--duration", "60s")
	if code != 0 {
		f.t.Fatal(stderr)
	}
	lease = strings.TrimSpace(lease)
	_, document, _ := f.run("blob", "get", blob)
	changed := strings.Replace(document, old, now, 1)
	if changed == document {
		f.t.Fatalf("%q is not in the document\n%s", old, document)
	}
	f.write("edited.xml", changed)
	if code, _, stderr := f.run("blob", "put", blob, "edited.xml", "--lease-id", lease); code != 0 {
		f.t.Fatal(stderr)
	}
	if code, _, stderr := f.run("lease", "release", blob, "--id", lease); code != 0 {
		f.t.Fatal(stderr)
	}
}
