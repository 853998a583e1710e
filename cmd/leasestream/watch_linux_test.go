package main

import (
	"bufio"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

// display is what a terminal shows after what was written to it: the few control
// sequences that watch uses, and no more.
type display struct {
	lines  []string // of any number: nothing scrolls
	row    int
	column int // in characters
	hidden bool
}

var control = regexp.MustCompile(`^\x1b\[(\??[0-9]*)([A-Za-z])`)

// write takes text in. It reports what it does not know.
func (d *display) write(t *testing.T, text string) {
	t.Helper()
	for text != "" {
		if found := control.FindStringSubmatch(text); found != nil {
			d.control(t, found[1], found[2])
			text = text[len(found[0]):]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		d.put(r)
	}
}

func (d *display) put(r rune) {
	for len(d.lines) <= d.row {
		d.lines = append(d.lines, "")
	}
	switch r {
	case '\r':
		d.column = 0
	case '\n':
		d.row++
	default:
		line := []rune(d.lines[d.row])
		d.lines[d.row] = string(append(line[:d.column:d.column], append([]rune{r}, line[min(d.column+1, len(line)):]...)...))
		d.column++
	}
}

func (d *display) control(t *testing.T, argument, command string) {
	t.Helper()
	switch argument + command {
	case "?25l":
		d.hidden = true
		return
	case "?25h":
		d.hidden = false
		return
	}
	switch command {
	case "F":
		n, err := strconv.Atoi(argument)
		if d.row -= n; err != nil || d.row < 0 {
			t.Fatalf("the cursor goes up by %q, above what was drawn", argument)
		}
		d.column = 0
	case "K":
		if d.row < len(d.lines) {
			d.lines[d.row] = string([]rune(d.lines[d.row])[:d.column])
		}
	case "J":
		d.lines = d.lines[:min(len(d.lines), d.row)]
	case "m":
	default:
		t.Fatalf("terminal gets the control sequence %q%s", argument, command)
	}
}

func (d *display) text() string { return strings.TrimRight(strings.Join(d.lines, "\n"), "\n") }

const watched = `
name: watched
steps:
  - name: Six
    jq: '[range(6)]'
    split: {to: Work, join: Sum}
  - name: Work
    exec: [sh, -c, 'if [ $0 = 2 ]; then echo no such city >&2; exit 1; fi; while [ ! -e gate ]; do sleep 0.02; done', '{{.Input}}']
    output: text
    retry: {attempts: 1}
  - name: Sum
    jq: 'null'
`

// watching runs watch on a terminal beside a worker that works on the run, and
// returns the process and its screen.
func (f folder) watching(columns uint16) (cmd *exec.Cmd, screen *bufio.Reader) {
	f.t.Helper()
	file, tty := openTerminal(f.t, columns)
	f.t.Setenv("TERM", "xterm")
	cmd = exec.Command("leasestream", "watch", "r")
	cmd.Dir = f.dir
	cmd.Stdout, cmd.Stderr = tty, tty
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	tooLate := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() }) // ends what the test reads
	f.t.Cleanup(func() { tooLate.Stop(); cmd.Process.Kill() })
	tty.Close()
	return cmd, bufio.NewReader(file)
}

// until shows what is written until, after a drawing, the display has the text;
// without a text, all there is.
func (d *display) until(t *testing.T, screen *bufio.Reader, text string) {
	t.Helper()
	for text == "" || !strings.Contains(d.text(), text) {
		part, err := screen.ReadString('J') // with which a drawing ends
		d.write(t, part)
		if err != nil && text == "" {
			return
		}
		if err != nil {
			t.Fatalf("display never had %q, but\n%s", text, d.text())
		}
	}
}

func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	_ = cmd.Wait() // the exit code says it
	return cmd.ProcessState.ExitCode()
}

func TestWatch_TreeInPlace(t *testing.T) {
	f := newFolder(t, watched)
	f.run("start", "pipeline.yaml", "--name", "r")
	cmd, screen := f.watching(80)
	var d display
	d.until(t, screen, "00 Six init")
	worker := f.start("run", "pipeline.yaml", "--name", "r", "--workers", "8")
	d.until(t, screen, "01.00 … 06.00 5 × Work inprocess")
	d.until(t, screen, "03.00 Work aborted (failures 1): exit status 1: no such city")
	if !d.hidden {
		t.Error("the cursor is shown while the tree is drawn")
	}
	f.write("gate", "")
	d.until(t, screen, "")
	if code := exitCode(t, cmd); code != 3 || d.hidden {
		t.Errorf("watch = %d, with the cursor hidden: %t, want 3, false", code, d.hidden)
	}
	worker.wait()
	head, rest, _ := strings.Cut(d.text(), "\n")
	if want := "r  completed with errors  8 of 8 events done  pipeline watched  run "; !strings.HasPrefix(head, want) {
		t.Errorf("display has the head %q, want %q", head, want)
	}
	want := `  00 Six completed with errors (6 of 6 branches done, 1 failed)
    01.00 … 06.00 5 × Work completed
    03.00 Work aborted (failures 1): exit status 1: no such city
  01 Sum completed
leasestream: run "r" completed with errors; see leasestream show r`
	if rest != want {
		t.Errorf("display has\n%s, want\n%s", rest, want)
	}
}

// An interrupt ends watch, and nothing else, and leaves the terminal in order. In
// a narrow one no line wraps.
func TestWatch_InterruptedInANarrowTerminal(t *testing.T) {
	f := newFolder(t, watched)
	f.run("start", "pipeline.yaml", "--name", "r")
	cmd, screen := f.watching(24)
	var d display
	d.until(t, screen, "00 Six init")
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	d.until(t, screen, "")
	if code := exitCode(t, cmd); code != 130 || d.hidden || d.column != 0 {
		t.Errorf("watch = %d, with the cursor hidden: %t, in column %d, want 130, false, 0", code, d.hidden, d.column)
	}
	if want := "r  inprocess  0 of 1 e…\n  00 Six init"; d.text() != want {
		t.Errorf("display has\n%s, want\n%s", d.text(), want)
	}
	if list := f.ls(); len(list) != 1 || list[0].Status != "inprocess" {
		t.Errorf("ls = %+v, want the run as it was", list)
	}
}
