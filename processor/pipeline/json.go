package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

var null = json.RawMessage("null")

// decode reads JSON with its numbers as they are written.
func decode(data json.RawMessage) (any, error) {
	if len(data) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// encode writes JSON on one line, without escapes that are for HTML.
func encode(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// outputs read what a program has printed, by the name of the form.
var outputs = map[string]func(stdout []byte) (json.RawMessage, error){
	"json":    readJSON,
	"outcome": readJSON,
	"lines":   readLines,
	"ndjson":  readValues,
	"text":    readText,
}

// readJSON takes one JSON value, or nothing for null.
func readJSON(stdout []byte) (json.RawMessage, error) {
	if err := checkText(stdout); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(stdout)) == 0 {
		return null, nil
	}
	var out bytes.Buffer
	if err := json.Compact(&out, stdout); err != nil {
		return nil, fmt.Errorf("output is not one JSON value: %w: %.80q", err, stdout)
	}
	return out.Bytes(), nil
}

// readLines takes lines that end in LF or CRLF; the last one need not.
func readLines(stdout []byte) (json.RawMessage, error) {
	if err := checkText(stdout); err != nil {
		return nil, err
	}
	lines := []string{}
	for line := range strings.Lines(string(stdout)) {
		line = strings.TrimSuffix(line, "\n")
		lines = append(lines, strings.TrimSuffix(line, "\r"))
	}
	return encode(lines)
}

// readValues takes any number of JSON values, as a rule one a line.
func readValues(stdout []byte) (json.RawMessage, error) {
	if err := checkText(stdout); err != nil {
		return nil, err
	}
	values := []json.RawMessage{}
	for d := json.NewDecoder(bytes.NewReader(stdout)); ; {
		var value json.RawMessage
		err := d.Decode(&value)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			rest := stdout[min(d.InputOffset(), int64(len(stdout))):]
			return nil, fmt.Errorf("output is not JSON after %d values: %w: %.80q", len(values), err, bytes.TrimSpace(rest))
		}
		values = append(values, value)
	}
	return encode(values)
}

func readText(stdout []byte) (json.RawMessage, error) {
	if err := checkText(stdout); err != nil {
		return nil, err
	}
	return encode(string(stdout))
}

// checkText refuses what is not UTF-8: it could not be stored as it is.
func checkText(stdout []byte) error {
	if utf8.Valid(stdout) {
		return nil
	}
	offset := 0
	for utf8.FullRune(stdout[offset:]) {
		c, size := utf8.DecodeRune(stdout[offset:])
		if c == utf8.RuneError && size == 1 {
			break
		}
		offset += size
	}
	return fmt.Errorf("output is not UTF-8 at byte %d: %.20q", offset, stdout[offset:])
}

// elements are the branches of a split: the elements of an array, or batches of
// them.
func elements(output json.RawMessage, batch int) ([]json.RawMessage, error) {
	if !bytes.HasPrefix(output, []byte("[")) {
		return nil, fmt.Errorf("a split needs an array of messages, and the output is %.80q", output)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(output, &items); err != nil || batch == 0 {
		return items, err
	}
	return batches(items, batch), nil
}

func batches(items []json.RawMessage, size int) []json.RawMessage {
	var all []json.RawMessage
	for len(items) > 0 {
		n := min(size, len(items))
		parts := make([][]byte, n)
		for i, item := range items[:n] {
			parts[i] = item
		}
		all = append(all, fmt.Appendf(nil, "[%s]", bytes.Join(parts, []byte(","))))
		items = items[n:]
	}
	return all
}
