package main

import (
	"bufio"
	"bytes"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var leasestream string // the command, built once

func TestMain(m *testing.M) {
	os.Exit(build(m))
}

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "searchorder")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	leasestream = filepath.Join(dir, "leasestream")
	cmd := exec.Command("go", "build", "-o", leasestream, "../../cmd/leasestream")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		log.Fatal(err)
	}
	return m.Run()
}

// found is what the declared pipeline answers, the same as the one in Go.
const found = `{"item":"bicycle without wheels","price":310,"supplier":"north"}`

// declared is a run of pipeline.yaml with a store of its own.
type declared struct {
	t     *testing.T
	store string
}

func newDeclared(t *testing.T) declared {
	return declared{t, "sqlite:" + filepath.Join(t.TempDir(), "store.db")}
}

func (o declared) command(args ...string) *exec.Cmd {
	return exec.CommandContext(o.t.Context(), leasestream, append(args, "--store", o.store)...)
}

func (o declared) search() *exec.Cmd {
	return o.command("run", "pipeline.yaml", "--name", "order-42", "--set", "item=bicycle")
}

// ends runs a search to its end.
func (o declared) ends(code int, stdout string) {
	o.t.Helper()
	cmd := o.search()
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, _ := cmd.Output()
	if got := cmd.ProcessState.ExitCode(); got != code || strings.TrimSpace(string(out)) != stdout {
		o.t.Errorf("run ended with %d and %q, want %d and %q; %s", got, out, code, stdout, &errors)
	}
}

// untilOnlyEast starts a search and waits until nothing is left of it but the
// supplier that never answers.
func (o declared) untilOnlyEast() *exec.Cmd {
	o.t.Helper()
	cmd := o.search()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		o.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "13 of 15 events done") {
			return cmd
		}
	}
	o.t.Fatalf("the search ended before that: %v", cmd.Wait())
	return nil
}

func (o declared) show() string {
	o.t.Helper()
	out, err := o.command("show", "order-42").CombinedOutput()
	if err != nil {
		o.t.Fatalf("show: %v; %s", err, out)
	}
	return string(out)
}

func TestDeclared(t *testing.T) {
	o := newDeclared(t)
	o.ends(3, found)
	for _, want := range []string{
		"01.02.00 SearchStart completed", "01.04.00 SearchStart completed", "02.03.00 SearchStart completed",
		"03.00 SearchStart aborted (attempt 2, failures 2): exit status 1: supplier west is closed",
		"04.00 SearchStart aborted (attempt 2, failures 2): the step's timeout has passed",
		"01 OrderDone completed",
	} {
		if tree := o.show(); !strings.Contains(tree, want) {
			t.Errorf("show = %s\nwant %q in it", tree, want)
		}
	}
}

// Killed, the same command goes on where it was: what is answered is not asked again.
func TestDeclared_ResumeAfterKill(t *testing.T) {
	o := newDeclared(t)
	killed := o.untilOnlyEast()
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed.Wait()
	o.ends(3, found)
	for _, line := range []string{"01.00 SearchStart completed\n", "02.00 SearchStart completed\n"} {
		if tree := o.show(); !strings.Contains(tree, line) {
			t.Errorf("show = %s\nwant %q: it was asked once", tree, line)
		}
	}
}

func TestDeclared_Canceled(t *testing.T) {
	o := newDeclared(t)
	running := o.untilOnlyEast()
	if out, err := o.command("cancel", "order-42", "--by", "ann", "--reason", "bought elsewhere").CombinedOutput(); err != nil {
		t.Fatalf("cancel: %v; %s", err, out)
	}
	running.Wait()
	if code := running.ProcessState.ExitCode(); code != 5 {
		t.Errorf("run ended with %d, want 5", code)
	}
	o.ends(5, "")
	if tree := o.show(); !strings.Contains(tree, "by ann): bought elsewhere") {
		t.Errorf("show = %s\nwant who canceled it, and why", tree)
	}
}
