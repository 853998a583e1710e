package cli

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/pipeline"
)

// place is where a line goes in an argument.
const place = "{}"

// policy is the value of a flag that takes a failure policy; "" is all.
type policy string

func (p *policy) String() string { return string(*p) }
func (p *policy) Type() string   { return "POLICY" }

func (p *policy) Set(text string) error {
	_, err := eventstream.ParsePolicy(text)
	*p = policy(text)
	return err
}

// eachFile is the pipeline of each, as a file would have it: the lines, the
// command for each, and what became of them.
const eachFile = `name: each
steps:
  - name: Lines
    jq: .
    split: {to: Each, join: Done, policy: %s}
  - name: Each
    exec: %s
    output: text
    retry: {attempts: 1}
  - name: Done
    jq: .results
`

// eachRetry is for lines whose worker died: no fault of theirs, as a rule.
var eachRetry = processor.Retry{Attempts: 10, Backoff: 100 * time.Millisecond, Max: time.Second}

// eachPipeline makes the pipeline of a command, which is the same whenever the
// command is.
func eachPipeline(words []string, policy string, o pipeline.Options) (*processor.Pipeline, error) {
	if err := checkCommand(words); err != nil {
		return nil, err
	}
	source, err := eachSource(words, policy)
	if err != nil {
		return nil, err
	}
	o.Name = "each"
	pl, err := pipeline.Parse(source, &o)
	if err != nil {
		return nil, &exitError{codeUsage, err}
	}
	steps := slices.Clone(pl.Steps())
	for i := range steps {
		if steps[i].Name == "Each" {
			steps[i].Handler, steps[i].Retry = onlyOnce(steps[i].Handler), eachRetry
		}
	}
	return processor.NewPipeline(pl.Name(), &processor.Definition{Source: source}, steps...)
}

// checkCommand spares a run in which every line would fail.
func checkCommand(words []string) error {
	for _, word := range words {
		if !utf8.ValidString(word) {
			return usagef("argument %q is not UTF-8", word)
		}
	}
	if strings.Contains(words[0], place) {
		return nil
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return &exitError{codeUsage, err}
	}
	return nil
}

func eachSource(words []string, policy string) ([]byte, error) {
	if !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(word, place) }) {
		words = append(slices.Clone(words), place)
	}
	templates := make([]string, len(words))
	for i, word := range words {
		templates[i] = wordTemplate(word)
	}
	list, err := marshal(templates) // JSON is YAML, too
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, eachFile, strconv.Quote(policy), list), nil
}

// wordTemplate is the template of an argument. Text that could be taken for one
// itself, or has characters that a file cannot have, is put into quotes.
func wordTemplate(word string) string {
	if !strings.ContainsFunc(word, func(r rune) bool { return r == '{' || !unicode.IsPrint(r) }) {
		return word
	}
	parts := strings.Split(word, place)
	for i, part := range parts {
		if part != "" {
			parts[i] = "{{" + strconv.Quote(part) + "}}"
		}
	}
	return strings.Join(parts, "{{.Input}}")
}

// onlyOnce makes a failure final, since a command may not be fit to be repeated;
// only if its worker dies, it runs again.
func onlyOnce(h processor.Handler) processor.Handler {
	return func(ctx context.Context, t *processor.Task) (processor.Outcome, error) {
		out, err := h(ctx, t)
		if err == nil || ctx.Err() != nil {
			return out, err
		}
		return out, &processor.FinalError{Err: err}
	}
}

// inputHash is that of an input, which is compact, as a run keeps it.
func inputHash(input json.RawMessage) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(input)) }
