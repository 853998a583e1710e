package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// version is a pipeline file whose runs leave a line in the log of the folder that
// they run in.
func version(name, output string) string {
	return "name: " + name + "\nsteps:\n  - {name: Only, exec: [sh, -c, 'echo " + output + " >>log; echo " + output + "'], output: text}\n"
}

// ended waits until a run has ended and gives its status.
func (f folder) ended(name string) string {
	f.t.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		for _, run := range f.ls() {
			if run.Name == name && run.Status != "inprocess" {
				return run.Status
			}
		}
		<-look.C
	}
}

func (f folder) mustRun(args ...string) {
	f.t.Helper()
	if code, _, stderr := f.run(args...); code != 0 {
		f.t.Fatalf("%v = %d, %s", args, code, stderr)
	}
}

func (p *process) terminate() {
	p.f.t.Helper()
	p.signal(syscall.SIGTERM)
	if code, _, stderr := p.wait(); code != 0 {
		p.f.t.Errorf("%v = %d, %s", p.cmd.Args, code, stderr)
	}
}

// A folder of definitions may grow and change under a worker: what is wrong is
// left out, what is new is found, and what was there goes on.
func TestWork_Definitions(t *testing.T) {
	f := newFolder(t, "")
	if err := os.Mkdir(filepath.Join(f.dir, "defs"), 0o700); err != nil {
		t.Fatal(err)
	}
	f.write("defs/first.yaml", version("first", "one"))
	f.write("defs/wrong.yaml", "name: wrong\nstesp: []\n")
	f.write("defs/notes.txt", "no pipeline")
	w := f.start("work", "--definitions", "defs", "--dir", ".")
	w.until(`file=defs/wrong.yaml`)
	w.until(`msg="worker started"`)
	f.mustRun("start", "defs/first.yaml", "--name", "a")
	f.ended("a")

	f.write("first-before.yaml", version("first", "one"))
	f.write("defs/first.yaml", version("first", "two"))     // changed
	f.write("defs/second.yaml", version("second", "three")) // new
	f.write("defs/wrong.yaml", version("wrong", "four"))    // mended
	f.mustRun("start", "defs/first.yaml", "--name", "b")
	f.mustRun("start", "first-before.yaml", "--name", "c")
	f.mustRun("start", "defs/second.yaml", "--name", "d")
	f.mustRun("start", "defs/wrong.yaml", "--name", "e")
	for _, name := range []string{"b", "c", "d", "e"} {
		if status := f.ended(name); status != "completed" {
			t.Errorf("run %s is %s, want completed", name, status)
		}
	}
	for line, want := range map[string]int{"one": 2, "two": 1, "three": 1, "four": 1} {
		if got := strings.Count(f.read("log"), line+"\n"); got != want {
			t.Errorf("log has %q %d times, want %d: a run goes on under the file it began with", line, got, want)
		}
	}
	w.terminate()
	if n := strings.Count(strings.Join(w.said, "\n"), "a pipeline file is left out"); n != 1 {
		t.Errorf("the wrong file was logged %d times, want once:\n%s", n, strings.Join(w.said, "\n"))
	}
}

// What is found only in the store is run by those who trust it, and by nobody
// else.
func TestWork_TrustStore(t *testing.T) {
	f := newFolder(t, version("known", "known"))
	f.write("foreign.yaml", version("foreign", "foreign"))
	f.mustRun("start", "foreign.yaml", "--name", "r")
	careful := f.start("work", "pipeline.yaml")
	careful.until(`msg="worker started"`)
	f.mustRun("start", "pipeline.yaml", "--name", "s")
	f.ended("s") // it has looked at all runs by now
	if list := f.ls(); list[0].Status != "inprocess" || f.read("log") != "known\n" {
		t.Errorf("without --trust-store: runs %+v, log %q, want that the foreign one waits", list, f.read("log"))
	}
	careful.terminate()
	trusting := f.start("work", "--trust-store", "--dir", ".")
	if status := f.ended("r"); status != "completed" || f.read("log") != "known\nforeign\n" {
		t.Errorf("with --trust-store: run %s, log %q, want completed", status, f.read("log"))
	}
	trusting.terminate()
}

// A definition whose hash does not match is refused, logged, and never run.
func TestWork_TrustStoreChecksTheHash(t *testing.T) {
	f := newFolder(t, version("honest", "honest"))
	f.mustRun("start", "pipeline.yaml", "--name", "r")
	_, stdout, _ := f.run("blob", "ls", "pipelines/", "--format", "json")
	blob := stdout[strings.Index(stdout, "pipelines/"):]
	blob = blob[:strings.Index(blob, `"`)]
	f.write("evil.yaml", version("honest", "evil"))
	f.mustRun("blob", "put", blob, "evil.yaml")
	w := f.start("work", "--trust-store", "--dir", ".")
	w.until("does not have the hash")
	w.terminate()
	if list := f.ls(); list[0].Status != "inprocess" {
		t.Errorf("ls = %+v, want that the run waits", list)
	}
	if _, err := os.Stat(filepath.Join(f.dir, "log")); !os.IsNotExist(err) {
		t.Errorf("the program of the blob was run: %q", f.read("log"))
	}
}
