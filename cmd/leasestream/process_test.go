package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// gated is a pipeline of three branches, of which the second waits until there is
// a file gate. Each adds a line to the file log when it is done.
const gated = `
name: gated
steps:
  - name: Three
    jq: '[1, 2, 3]'
    split: {to: Work, join: Sum}
  - name: Work
    exec: [sh, -c, 'if [ $0 = 2 ]; then while [ ! -e gate ]; do sleep 0.02; done; fi; echo $0 >>log; echo $0', '{{.Input}}']
  - name: Sum
    jq: '[.results[].output] | add'
`

// squares is a pipeline that adds up the squares of the numbers below n.
const squares = `
name: squares
steps:
  - name: Numbers
    jq: '[range(.n)]'
    split: {to: Square, join: Sum}
  - name: Square
    jq: '. * .'
  - name: Sum
    jq: '[.results[].output] | add'
`

// folder is where the processes of one test work.
type folder struct {
	t       *testing.T
	dir     string
	program string   // path of the command
	env     []string // that its processes have, too
}

func newFolder(t *testing.T, pipeline string) folder {
	f := folder{t: t, dir: t.TempDir(), program: "leasestream"}
	f.write("pipeline.yaml", pipeline)
	return f
}

func (f folder) write(name, content string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(content), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f folder) read(name string) string {
	f.t.Helper()
	content, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(content)
}

// process is a running leasestream.
type process struct {
	f      folder
	cmd    *exec.Cmd
	stdout bytes.Buffer
	lines  *bufio.Scanner // of standard error
	said   []string
}

// start starts the command, which TestMain has put on the path unless the test has
// one of its own.
func (f folder) start(args ...string) *process {
	f.t.Helper()
	return f.startWith("", args...)
}

// startWith is start with something on standard input.
func (f folder) startWith(stdin string, args ...string) *process {
	f.t.Helper()
	p := &process{f: f, cmd: exec.Command(f.program, args...)}
	p.cmd.Dir = f.dir
	p.cmd.Env = append(os.Environ(), f.env...)
	p.cmd.Stdin = strings.NewReader(stdin)
	p.cmd.Stdout = &p.stdout
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { p.cmd.Process.Kill() })
	p.lines = bufio.NewScanner(stderr)
	return p
}

// until reads standard error up to a line with the text.
func (p *process) until(text string) {
	p.f.t.Helper()
	for p.lines.Scan() {
		p.said = append(p.said, p.lines.Text())
		if strings.Contains(p.lines.Text(), text) {
			return
		}
	}
	p.f.t.Fatalf("%v never said %q, but:\n%s", p.cmd.Args, text, strings.Join(p.said, "\n"))
}

func (p *process) signal(s syscall.Signal) {
	p.f.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.f.t.Fatal(err)
	}
}

// wait gives the exit code, -1 for a death by signal, and what was printed.
func (p *process) wait() (code int, stdout, stderr string) {
	p.f.t.Helper()
	for p.lines.Scan() {
		p.said = append(p.said, p.lines.Text())
	}
	err := p.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		p.f.t.Fatal(exit, err)
	}
	return p.cmd.ProcessState.ExitCode(), p.stdout.String(), strings.Join(p.said, "\n")
}

// run runs the command to its end.
func (f folder) run(args ...string) (code int, stdout, stderr string) {
	f.t.Helper()
	return f.start(args...).wait()
}

// runs is what ls tells.
type runs []struct{ Name, Status string }

func (f folder) ls() runs {
	f.t.Helper()
	_, stdout, stderr := f.run("ls", "--format", "json")
	var list runs
	if err := json.Unmarshal([]byte(stdout), &list); err != nil {
		f.t.Fatalf("ls: %v; %s", err, stderr)
	}
	return list
}

// event is what the tests need of the events that show tells.
type event struct{ ID, Name, Status, Key string }

func (f folder) events(name string) []event {
	f.t.Helper()
	_, stdout, stderr := f.run("show", name, "--format", "json")
	var shown struct{ Events []event }
	if err := json.Unmarshal([]byte(stdout), &shown); err != nil {
		f.t.Fatalf("show: %v; %s", err, stderr)
	}
	return shown.Events
}

// resume runs the same command again to the end, and checks the result and that
// no finished branch ran again.
func (f folder) resume() {
	f.t.Helper()
	code, stdout, stderr := f.run("run", "pipeline.yaml")
	if code != 0 || stdout != "6\n" {
		f.t.Fatalf("run again: exit code %d, %q, want 0 and 6; %s", code, stdout, stderr)
	}
	if list := f.ls(); len(list) != 1 || list[0].Status != "completed" {
		f.t.Errorf("ls = %+v, want one completed run", list)
	}
	for _, branch := range []string{"1\n", "3\n"} {
		if log := f.read("log"); strings.Count(log, branch) != 1 {
			f.t.Errorf("log = %q, want %q once: a finished branch ran again", log, branch)
		}
	}
}

// checkHolder checks that the lease of the one worker shows which process has it.
func (f folder) checkHolder(pid int) {
	f.t.Helper()
	_, stdout, stderr := f.run("lease", "ls", "workers/", "--format", "json")
	var leases []struct{ Holder struct{ PID int } }
	if err := json.Unmarshal([]byte(stdout), &leases); err != nil || len(leases) != 1 || leases[0].Holder.PID != pid {
		f.t.Errorf("lease ls = %s, %v, want a lease of process %d; %s", stdout, err, pid, stderr)
	}
	_, stdout, _ = f.run("lease", "ls", "workers/")
	if want := fmt.Sprintf("process %d on ", pid); !strings.Contains(stdout, want) {
		f.t.Errorf("lease ls = %s, want %q in it", stdout, want)
	}
}

func TestRun_ResumeAfterKill(t *testing.T) {
	f := newFolder(t, gated)
	p := f.start("run", "pipeline.yaml")
	p.until("2 of 4 events done, 1 running")
	f.checkHolder(p.cmd.Process.Pid)
	p.signal(syscall.SIGKILL)
	if code, stdout, _ := p.wait(); code != -1 || stdout != "" {
		t.Fatalf("killed: exit code %d, %q, want a death and no output", code, stdout)
	}
	f.write("gate", "")
	f.resume()
}

// A run goes on with another build of the command than it began with.
func TestRun_ResumeWithAnotherBuild(t *testing.T) {
	t.Parallel()
	f := newFolder(t, gated)
	p := f.start("run", "pipeline.yaml")
	p.until("2 of 4 events done, 1 running")
	p.signal(syscall.SIGKILL)
	p.wait()
	f.write("gate", "")
	f.program = filepath.Join(plainBuild(t), "leasestream")
	f.resume()
}

func TestRun_Interrupted(t *testing.T) {
	f := newFolder(t, gated)
	p := f.start("run", "pipeline.yaml")
	p.until("2 of 4 events done, 1 running")
	p.signal(syscall.SIGINT)
	p.until("interrupt again")
	f.write("gate", "") // the step that runs may end
	code, stdout, stderr := p.wait()
	if code != 130 || stdout != "" || !strings.Contains(stderr, "the same command goes on with it") {
		t.Fatalf("interrupted: exit code %d, %q, %s, want 130, no output and how to go on", code, stdout, stderr)
	}
	f.resume()
	if log := f.read("log"); strings.Count(log, "2\n") != 1 {
		t.Errorf("log = %q, want 2 once: what ran was to finish", log)
	}
}

// At the second signal nothing is waited for, and no program is left over.
func TestRun_InterruptedTwice(t *testing.T) {
	f := newFolder(t, strings.Replace(gated, "while [", "echo $$ >pid; while [", 1))
	t.Cleanup(func() { f.write("gate", "") }) // for a program that is left over
	p := f.start("run", "pipeline.yaml")
	p.until("2 of 4 events done, 1 running")
	p.signal(syscall.SIGINT)
	p.until("interrupt again")
	p.signal(syscall.SIGINT)
	code, stdout, stderr := p.wait()
	if code != 130 || stdout != "" || !strings.Contains(stderr, "the same command goes on with it") {
		t.Errorf("interrupted twice: exit code %d, %q, %s, want 130, no output and how to go on", code, stdout, stderr)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(f.read("pid")))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the step's program is left over (%v)", err)
	}
}

func TestWork_SharedByProcesses(t *testing.T) {
	const branches = 20
	f := newFolder(t, fmt.Sprintf(`
name: shared
steps:
  - name: Split
    jq: '[range(%d)]'
    split: {to: Work, join: Count}
  - name: Work
    exec: [sleep, '0.1']
    output: text
  - name: Count
    jq: '.results | length'
`, branches))
	workers := []*process{
		f.start("work", "pipeline.yaml", "--workers", "2"),
		f.start("work", "pipeline.yaml", "--workers", "2", "--log-format", "json"),
	}
	workers[0].until(`msg="worker started"`)
	workers[1].until(`"msg":"worker started"`)
	if code, stdout, stderr := f.run("start", "pipeline.yaml", "--name", "r"); code != 0 || stdout != "r\n" {
		t.Fatalf("start: exit code %d, %q, %s", code, stdout, stderr)
	}
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for f.ls()[0].Status == "inprocess" {
		<-look.C
	}
	done := map[string]int{}
	for _, e := range f.events("r") {
		if e.Name == "Work" && e.Status == "completed" {
			done[e.Key]++
		}
	}
	total := 0
	for key, n := range done {
		total += n
		if n < branches/5 {
			t.Errorf("worker %s did %d branches of %d, want at least a fifth", key, n, branches)
		}
	}
	if len(done) != 2 || total != branches {
		t.Errorf("branches by worker = %v, want %d by two", done, branches)
	}
	for _, w := range workers {
		w.signal(syscall.SIGTERM)
		if code, stdout, stderr := w.wait(); code != 0 || stdout != "" {
			t.Errorf("%v: exit code %d, %q, want 0 and no output; %s", w.cmd.Args, code, stdout, stderr)
		}
	}
}
