package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal opens a pseudo terminal: what is written to tty is read from
// screen.
func openTerminal(t *testing.T, columns uint16) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return screen, tty
}

// onTerminal runs the command with one of its outputs on a terminal, and gives
// what was seen there and what came out of the other.
func (f folder) onTerminal(columns uint16, which string, environment []string, args ...string) (seen, other string) {
	f.t.Helper()
	screen, tty := openTerminal(f.t, columns)
	var rest strings.Builder
	cmd := exec.Command("leasestream", args...)
	cmd.Dir = f.dir
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stdout, cmd.Stderr = tty, &rest
	if which == "stderr" {
		cmd.Stdout, cmd.Stderr = &rest, tty
	}
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	tty.Close()
	output, _ := io.ReadAll(screen) // it ends with an error when the last writer has gone
	if err := cmd.Wait(); err != nil {
		f.t.Fatalf("%v: %v; %s%s", args, err, output, rest.String())
	}
	return string(output), rest.String()
}

func TestRun_BarOnTerminal(t *testing.T) {
	f := newFolder(t, squares)
	seen, stdout := f.onTerminal(100, "stderr", nil, "run", "pipeline.yaml", "--set", "n=4", "--name", "r", "--log-level", "info")
	if stdout != "14\n" {
		t.Errorf("standard output = %q, want the result alone", stdout)
	}
	for _, want := range []string{"r  [=", "6 of 6 events done", "worker started"} {
		if !strings.Contains(seen, want) {
			t.Errorf("terminal shows %q, want %q in it", seen, want)
		}
	}
}

func TestRun_LinesOnTerminalWithoutWidth(t *testing.T) {
	f := newFolder(t, squares)
	seen, _ := f.onTerminal(0, "stderr", nil, "run", "pipeline.yaml", "--set", "n=4", "--name", "r")
	if want := "leasestream: r: 6 of 6 events done"; !strings.Contains(seen, want) || strings.Contains(seen, "[=") {
		t.Errorf("terminal shows %q, want a line %q and no bar", seen, want)
	}
}

func TestShow_Colours(t *testing.T) {
	f := newFolder(t, squares)
	f.run("run", "pipeline.yaml", "--set", "n=1", "--name", "r")
	for _, test := range []struct {
		environment []string
		want        bool
	}{
		{nil, true},
		{[]string{"NO_COLOR=1"}, false},
		{[]string{"TERM=dumb"}, false},
	} {
		environment := append([]string{"NO_COLOR=", "TERM=xterm"}, test.environment...)
		seen, _ := f.onTerminal(80, "stdout", environment, "show", "r")
		if got := strings.Contains(seen, "\x1b[32mcompleted\x1b[0m"); got != test.want {
			t.Errorf("%v: terminal shows %q, want colours: %t", test.environment, seen, test.want)
		}
	}
	if _, stdout, _ := f.run("show", "r"); strings.Contains(stdout, "\x1b") {
		t.Errorf("a pipe gets %q, want no colours", stdout)
	}
}

// answer runs the command with a terminal as its standard input, on which something
// is typed.
func (f folder) answer(typed string, args ...string) (code int, stdout, stderr string) {
	f.t.Helper()
	screen, tty := openTerminal(f.t, 80)
	defer tty.Close()
	if _, err := screen.WriteString(typed); err != nil {
		f.t.Fatal(err)
	}
	var out, complaints strings.Builder
	cmd := exec.Command("leasestream", args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = f.dir, tty, &out, &complaints
	if err := cmd.Run(); err != nil {
		if _, exited := errors.AsType[*exec.ExitError](err); !exited {
			f.t.Fatal(err)
		}
	}
	return cmd.ProcessState.ExitCode(), out.String(), complaints.String()
}

// On a terminal, a purge of all that fits shows them and asks.
func TestPurge_AsksOnTerminal(t *testing.T) {
	f := newFolder(t, squares)
	for _, name := range []string{"r", "s"} {
		f.run("run", "pipeline.yaml", "--set", "n=1", "--name", name)
	}
	for _, test := range []struct {
		answer string
		code   int
		left   []string
	}{
		{"\n", 1, []string{"r", "s"}},
		{"n\n", 1, []string{"r", "s"}},
		{"yes please\n", 1, []string{"r", "s"}},
		{"Y\n", 0, nil},
		{"", 0, nil}, // there is nothing to ask for any more
	} {
		code, stdout, stderr := f.answer(test.answer, "purge", "--pipeline", "squares")
		if asked := strings.Contains(stderr, "Remove 2 runs for good: 0 payloads, "); code != test.code || asked != (test.answer != "") {
			t.Errorf("answer %q: exit code %d, want %d; %s%s", test.answer, code, test.code, stdout, stderr)
		}
		var names []string
		for _, run := range f.ls() {
			names = append(names, run.Name)
		}
		if !slices.Equal(names, test.left) {
			t.Errorf("answer %q leaves %q, want %q", test.answer, names, test.left)
		}
	}
}

// A question can be interrupted like all else.
func TestPurge_InterruptedWhileItAsks(t *testing.T) {
	f := newFolder(t, squares)
	f.run("run", "pipeline.yaml", "--set", "n=1", "--name", "r")
	_, tty := openTerminal(t, 80)
	defer tty.Close()
	p := &process{f: f, cmd: exec.Command("leasestream", "purge", "--pipeline", "squares")}
	p.cmd.Dir, p.cmd.Stdin = f.dir, tty
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(stderr)
	p.until("r: 0 payloads")
	p.signal(syscall.SIGINT)
	if code, _, said := p.wait(); code != 130 || len(f.ls()) != 1 {
		t.Errorf("interrupted: exit code %d, want 130 and the run left; %s", code, said)
	}
}
