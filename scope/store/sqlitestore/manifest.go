package sqlitestore

import (
	"encoding/binary"
	"errors"
	"strconv"
)

// manifest is what a body in pieces is made of, one behind the other. No key is in it
// twice.
type manifest []entry

// entry is one piece of a body.
type entry struct {
	key  int64  // of its row; 0: it has none
	size int64  // bytes
	text string // of one that has no row
}

// minRow is the least piece in bytes that has a row: to look for a smaller one takes
// longer than to read it on the way.
const minRow = 512

var errManifest = errors.New("damaged list of pieces")

// appendTo appends the manifest to dst as it is stored: for each piece its key and its
// size, and the text of one that has no row, and a CRC behind the last.
func (m manifest) appendTo(dst []byte) []byte {
	start := len(dst)
	for _, e := range m {
		dst = binary.AppendUvarint(dst, uint64(e.key))
		dst = binary.AppendUvarint(dst, uint64(e.size))
		dst = append(dst, e.text...)
	}
	return append(dst[:start], check(dst[start:])...)
}

// parseManifest reads the manifest of a body of this size.
func parseManifest(data []byte, size int64) (manifest, error) {
	if !isChecked(data) {
		return nil, errManifest
	}
	end := len(data) - crcSize
	var m manifest
	for rest := string(data[:end]); rest != ""; {
		e, n := parseEntry(rest, size)
		if n == 0 {
			return nil, errManifest
		}
		m, rest, size = append(m, e), rest[n:], size-e.size
	}
	if size != 0 {
		return nil, errManifest
	}
	return m, nil
}

// parseEntry reads the entry at the start of text, of a piece of at most so many bytes,
// and tells its length; 0 if there is none.
func parseEntry(text string, most int64) (e entry, n int) {
	key, n := uvarint(text)
	size, k := uvarint(text[n:])
	e, n = entry{key: key, size: size}, n+k
	switch {
	case key < 0 || k == 0 || size < 0 || size > most:
		return entry{}, 0
	case key != 0:
		return e, n
	case size > int64(len(text)-n):
		return entry{}, 0
	}
	e.text = text[n : n+int(size)]
	return e, n + int(size)
}

// uvarint reads a number and tells its length; a negative one if it is none that fits.
func uvarint(text string) (number int64, n int) {
	head := text[:min(len(text), binary.MaxVarintLen64)]
	u, n := binary.Uvarint([]byte(head))
	if n <= 0 {
		return -1, 0
	}
	return int64(u), n
}

// keys are those of the entries.
func (m manifest) keys() []int64 {
	keys := make([]int64, len(m))
	for i, e := range m {
		keys[i] = e.key
	}
	return keys
}

// places finds keys among others.
type places struct {
	keys  []int64
	byKey map[int64]int // made when it is needed
}

// find returns the place of a key; -1 if it is not there. Mostly it is at the place
// where it was in the body before.
func (p *places) find(key int64, before int) int {
	if before < len(p.keys) && p.keys[before] == key {
		return before
	}
	if p.byKey == nil {
		p.byKey = make(map[int64]int, len(p.keys))
		for i, k := range p.keys {
			p.byKey[k] = i
		}
	}
	if i, ok := p.byKey[key]; ok {
		return i
	}
	return -1
}

// keyList is the form in which a statement takes any number of keys.
func keyList(keys []int64) string {
	list := []byte{'['}
	for i, key := range keys {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, key, 10)
	}
	return string(append(list, ']'))
}
