package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// marshal gives compact JSON that keeps <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// writeJSON writes one value on a line of its own.
func writeJSON(w io.Writer, v any) error {
	line, err := marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// object is JSON whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements [json.Marshaler].
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := marshal(m.value)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", m.name, err)
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// jsonArray writes an array with one element a line, so that it can be read by
// machines and by grep.
type jsonArray struct {
	w *bufio.Writer
	n int
}

func newJSONArray(w io.Writer) *jsonArray { return &jsonArray{w: bufio.NewWriter(w)} }

func (a *jsonArray) add(v any) error {
	element, err := marshal(v)
	if err != nil {
		return err
	}
	separator := "[\n"
	if a.n > 0 {
		separator = ",\n"
	}
	a.n++
	a.w.WriteString(separator)
	_, err = a.w.Write(element)
	return err
}

// end closes the array and writes what follows it.
func (a *jsonArray) end(after string) error {
	if a.n == 0 {
		a.w.WriteByte('[')
	} else {
		a.w.WriteByte('\n')
	}
	a.w.WriteString("]" + after + "\n")
	return a.w.Flush()
}

// table aligns columns that are parted by tabs.
func table(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 8, 2, ' ', 0) }

// shownTime is a time as it is shown; "" for none.
func shownTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// dash stands for an empty cell of a table, in which columns must not vanish.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
