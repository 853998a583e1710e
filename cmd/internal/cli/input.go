package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
)

// input is the message that a run begins with, as flags give it.
type input struct {
	text string
	set  pairs
}

func (in *input) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&in.text, "input", "", "the message the run begins with: `JSON`, @FILE, or - for standard input")
	cmd.Flags().Var(&in.set, "set", "set a key of the message to a value, taken as JSON if it is, else as text; may be repeated")
}

// read gives the input; nil if there is none.
func (in *input) read(a *app) (json.RawMessage, error) {
	message, err := a.readJSON("--input", in.text)
	if err != nil || len(in.set) == 0 {
		return message, err
	}
	members := map[string]json.RawMessage{}
	if message != nil {
		if err := json.Unmarshal(message, &members); err != nil || members == nil {
			return nil, usagef("--set needs an --input that is a JSON object, not %.40s", message)
		}
	}
	for key, value := range in.set {
		if members[key], err = asJSON(value); err != nil {
			return nil, err
		}
	}
	return marshal(members)
}

// asJSON takes a text as JSON if it is, else as a string: n=3 is a number,
// root=/x a string, and n='"3"' a string again.
func asJSON(text string) (json.RawMessage, error) {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
	}
	return marshal(text)
}

// maxInput is how much is read of an input, in bytes: without its white space, which
// is not kept, it may be small enough for a payload.
const maxInput = 4 * processor.MaxPayload

// readJSON reads the JSON that a flag gives, by itself, as @FILE, or as - on
// standard input; nil for an empty flag.
func (a *app) readJSON(flag, text string) (json.RawMessage, error) {
	data := []byte(text)
	file, isFile := strings.CutPrefix(text, "@")
	if text == "-" {
		file, isFile = text, true
	}
	switch {
	case text == "":
		return nil, nil
	case isFile:
		var err error
		if data, err = a.readFile(file, maxInput); err != nil {
			return nil, &exitError{codeUsage, fmt.Errorf("%s: %w", flag, err)}
		}
	}
	return compact(flag, data)
}

func compact(flag string, data []byte) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return nil, usagef("%s is not JSON: %w", flag, err)
	}
	return b.Bytes(), nil
}
