package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// readLines reads standard input. The end of the last line may be missing.
func (a *app) readLines() ([]string, error) {
	data, err := a.readFile("-", processor.MaxPayload)
	if err != nil {
		return nil, err
	}
	lines := []string{}
	for line := range strings.Lines(string(data)) {
		if !utf8.ValidString(line) {
			return nil, usagef("line %d of standard input is not UTF-8", len(lines)+1)
		}
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines, nil
}

// lineResult is what became of a line.
type lineResult struct {
	Status string          `json:"status"`
	Output json.RawMessage `json:"output"`
	Error  string          `json:"error"`
}

func (r lineResult) ok() bool { return r.Status == eventstream.Completed.String() }

func (r lineResult) json(line string) object {
	o := object{{"input", line}, {"status", r.Status}}
	if r.ok() {
		return append(o, member{"output", r.Output})
	}
	return append(o, member{"error", r.Error})
}

// text is the output as the command wrote it. A person who has completed the
// line instead of the command may have given any JSON, or nothing.
func (r lineResult) text() string {
	var text string
	if len(r.Output) > 0 && json.Unmarshal(r.Output, &text) != nil { // null leaves it empty
		text = string(r.Output) + "\n"
	}
	return text
}

// showEach writes what became of the lines of a run that completed, and gives the
// exit code.
func (a *app) showEach(end *processor.End, lines []string, format choice) error {
	ended := endError(end)
	if end.Status != eventstream.Completed {
		return ended
	}
	var results []lineResult
	if err := json.Unmarshal(end.Output, &results); err != nil || len(results) != len(lines) {
		return fmt.Errorf("run %q has %d results for %d lines; see leasestream show %s", end.Name, len(results), len(lines), end.Name)
	}
	show := a.showOutputs
	if format.value == "json" {
		show = a.showResults
	}
	return errors.Join(show(lines, results), ended)
}

func (a *app) showResults(lines []string, results []lineResult) error {
	w := bufio.NewWriter(a.stdout)
	for i, r := range results {
		if err := writeJSON(w, r.json(lines[i])); err != nil {
			return err
		}
	}
	return w.Flush()
}

// maxLine is how much of a line stands before its error, in characters: enough to
// find it by.
const maxLine = 200

// showOutputs writes outputs as the commands wrote them, and errors to standard
// error.
func (a *app) showOutputs(lines []string, results []lineResult) error {
	w := bufio.NewWriter(a.stdout)
	for i, r := range results {
		if !r.ok() {
			a.complain(fmt.Errorf("%q: %s: %s", firstOf(lines[i], maxLine), r.Status, r.Error))
			continue
		}
		if _, err := w.WriteString(r.text()); err != nil {
			return err
		}
	}
	return w.Flush()
}
