package pipeline

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// newItemFile passes over a byte order mark.
func newItemFile(name string, file io.Reader, limit int) *itemFile {
	text := bufio.NewReaderSize(file, 64<<10)
	if mark, _ := text.Peek(3); string(mark) == "\ufeff" {
		_, _ = text.Discard(3)
	}
	return &itemFile{name, text, limit}
}

// ndjsonItems are the JSON values of a file, one a line; blank lines are passed
// over.
func ndjsonItems(f *itemFile) itemSeq {
	return func(yield func(any, error) bool) {
		lines := bufio.NewScanner(f.text)
		lines.Buffer(nil, f.limit)
		line := 0
		for lines.Scan() {
			line++
			text := bytes.TrimSpace(lines.Bytes())
			if len(text) == 0 {
				continue
			}
			item, err := compactItem(text)
			if err != nil {
				yield(nil, f.wrong(line, "%w: %.80q", err, text))
				return
			}
			if !yield(item, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, f.broken(line+1, err))
		}
	}
}

// broken tells an item that is too long from a file that cannot be read on.
func (f *itemFile) broken(line int, err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return f.wrong(line, "the item is longer than %d bytes", f.limit)
	}
	return fmt.Errorf("%s:%d: %w", f.name, line, err)
}

// compactItem is one JSON value without white space.
func compactItem(text []byte) (json.RawMessage, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("not UTF-8")
	}
	var item bytes.Buffer
	if err := json.Compact(&item, text); err != nil {
		return nil, fmt.Errorf("not one JSON value: %w", err)
	}
	return item.Bytes(), nil
}

// ration fails a reader that takes more for one item than an item may have: what is
// not closed would take the rest of the file, however large, into memory.
type ration struct {
	r           io.Reader
	limit, left int
}

// readAhead is how much a reader may have taken beyond the item.
const readAhead = 64 << 10

func (f *itemFile) rationed() *ration {
	limit := f.limit + readAhead
	return &ration{f.text, limit, limit}
}

// renew begins another item.
func (r *ration) renew() { r.left = r.limit }

// Read reads as long as the ration lasts.
func (r *ration) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, bufio.ErrTooLong
	}
	n, err := r.r.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}

// arrayItems are the elements of a file that is one JSON array.
func arrayItems(f *itemFile) itemSeq {
	return func(yield func(any, error) bool) {
		text := f.rationed()
		lines := &lineCounter{r: text}
		d := json.NewDecoder(lines)
		fail := func(what string, err error) { yield(nil, f.inArray(lines, d, what, err)) }
		if open, err := d.Token(); err != nil || open != json.Delim('[') {
			fail("the file is not a JSON array", err)
			return
		}
		for n := 1; d.More(); n++ {
			var item json.RawMessage
			if err := d.Decode(&item); err != nil {
				fail(fmt.Sprintf("element %d", n), err)
				return
			}
			compact, err := compactItem(item)
			if err != nil {
				fail(fmt.Sprintf("element %d", n), err)
				return
			}
			lines.forget(d.InputOffset())
			text.renew()
			if !yield(compact, nil) {
				return
			}
		}
		if _, err := d.Token(); err != nil {
			fail("the array is not closed", err)
			return
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			fail("there is more after the array", nil)
		}
	}
}

// inArray is an error at the place up to which the array was read. One of the file
// itself may pass.
func (f *itemFile) inArray(lines *lineCounter, d *json.Decoder, what string, err error) error {
	line := lines.at(d.InputOffset())
	if lines.err != nil {
		return f.broken(line, lines.err)
	}
	if err == nil {
		return f.wrong(line, "%s", what)
	}
	return f.wrong(line, "%s: %w", what, err)
}

// lineCounter remembers where the lines end of which a decoder may still have to
// give the number.
type lineCounter struct {
	r      io.Reader
	read   int64
	passed int     // lines that end before those
	ends   []int64 // offsets of line ends
	err    error   // of the file
}

// Read notes the line ends that it passes on.
func (c *lineCounter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			c.ends = append(c.ends, c.read+int64(i))
		}
	}
	c.read += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// at is the number of the line that an offset is in.
func (c *lineCounter) at(offset int64) int {
	n, _ := slices.BinarySearch(c.ends, offset)
	return c.passed + n + 1
}

// forget drops what ends before an offset.
func (c *lineCounter) forget(offset int64) {
	n, _ := slices.BinarySearch(c.ends, offset)
	c.passed += n
	c.ends = append(c.ends[:0], c.ends[n:]...)
}

// csvItems are the rows of a CSV file as objects of texts, by the names in its
// first row. Quoted fields may have line breaks.
func csvItems(f *itemFile) itemSeq {
	return func(yield func(any, error) bool) {
		text := f.rationed()
		lines := &lineCounter{r: text}
		rows := csv.NewReader(lines)
		rows.ReuseRecord = true
		names, err := f.header(rows)
		if err != nil {
			yield(nil, err)
			return
		}
		for {
			lines.forget(rows.InputOffset())
			text.renew()
			line := lines.at(rows.InputOffset())
			row, err := rows.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			var item json.RawMessage
			if err == nil {
				item, err = f.rowItem(rows, names, row)
			} else {
				err = f.inCSV(err, line, len(names), len(row))
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// header is the first row, as JSON.
func (f *itemFile) header(rows *csv.Reader) ([]json.RawMessage, error) {
	row, err := rows.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, f.wrong(1, "the file is empty; a CSV file begins with a row of names")
	case err != nil:
		return nil, f.inCSV(err, 1, 0, 0)
	}
	names := make([]json.RawMessage, len(row))
	taken := make(map[string]bool, len(row))
	for i, name := range row {
		switch {
		case name == "":
			return nil, f.wrong(1, "column %d has no name", i+1)
		case taken[name]:
			return nil, f.wrong(1, "two columns have the name %q", name)
		case !utf8.ValidString(name):
			return nil, f.wrong(1, "the name of column %d is not UTF-8", i+1)
		}
		taken[name] = true
		if names[i], err = encode(name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func (f *itemFile) rowItem(rows *csv.Reader, names []json.RawMessage, row []string) (json.RawMessage, error) {
	item := []byte{'{'}
	for i, text := range row {
		if !utf8.ValidString(text) {
			line, _ := rows.FieldPos(i)
			return nil, f.wrong(line, "column %s is not UTF-8", names[i])
		}
		value, err := encode(text)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			item = append(item, ',')
		}
		item = append(append(append(item, names[i]...), ':'), value...)
	}
	return append(item, '}'), nil
}

// inCSV gives an error of the reader, in the row that begins in a line, the form that
// all have here.
func (f *itemFile) inCSV(err error, line, names, fields int) error {
	e, ok := errors.AsType[*csv.ParseError](err)
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return f.wrong(line, "the row is longer than %d bytes; it may have a quote that is not closed", f.limit)
	case !ok:
		return f.broken(line, err)
	case errors.Is(err, csv.ErrFieldCount):
		return f.wrong(e.StartLine, "the row has %d fields, the first one has %d names", fields, names)
	}
	return f.wrong(e.Line, "column %d: %w", e.Column, e.Err)
}
