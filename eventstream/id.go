package eventstream

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrID is matched by errors about an id that is not of the form thread.step, or
// that the stream does not have.
var ErrID = errors.New("invalid event id")

// RootID is the id of the first event of a run: the empty thread, step 0.
const RootID = "00"

// maxDepth is how many dots an id may have.
const maxDepth = 64

// maxDigits keeps every number of an id within an int32.
const maxDigits = 9

// CheckID returns nil if id is decimal numbers of at least two digits each,
// joined by dots, no number wider than needed, at most 64 dots; else an error
// that matches ErrID.
func CheckID(id string) error {
	depth := 0
	for rest, more := id, true; more; depth++ {
		var part string
		if part, rest, more = strings.Cut(rest, "."); !validNumber(part) {
			return fmt.Errorf("%w %q: want numbers of two or more digits joined by dots, such as 01.00", ErrID, id)
		}
	}
	if depth > maxDepth+1 {
		return fmt.Errorf("%w %q: deeper than %d", ErrID, id, maxDepth)
	}
	return nil
}

func validNumber(s string) bool {
	if len(s) < 2 || len(s) > maxDigits || len(s) > 2 && s[0] == '0' {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// SplitID cuts a valid id into its thread, which is empty for the root thread,
// and the number of its step.
func SplitID(id string) (thread string, step int) {
	dot := strings.LastIndexByte(id, '.')
	return id[:max(dot, 0)], number(id[dot+1:])
}

// JoinID is the id of a step of a thread. It is also the name of a thread's
// branch: JoinID("01", 2) is event 01.02 and, as a thread, 01.02.*.
func JoinID(thread string, step int) string {
	var buf [64]byte
	return string(appendID(buf[:0], thread, step))
}

func appendID(id []byte, thread string, step int) []byte {
	if thread != "" {
		id = append(append(id, thread...), '.')
	}
	if step < 10 {
		id = append(id, '0')
	}
	return strconv.AppendInt(id, int64(step), 10)
}

// firstID is the id of the first event of a branch of t.
func firstID(t *thread, branch int) string {
	var buf [64]byte
	return string(append(appendID(buf[:0], t.name, branch), ".00"...))
}

// ParseThread reads a thread as users write it: 01.* for the thread of event
// 01.00, * for the root thread.
func ParseThread(s string) (thread string, ok bool) {
	if s == "*" {
		return "", true
	}
	thread, ok = strings.CutSuffix(s, ".*")
	return thread, ok && CheckID(thread) == nil
}

// CompareIDs orders ids and threads number by number: 100.00 after 99.00, and
// a shorter id before those that begin with it.
func CompareIDs(a, b string) int {
	for a != "" && b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// number reads digits that validNumber accepted.
func number(s string) int {
	n := 0
	for i := range len(s) {
		n = n*10 + int(s[i]-'0')
	}
	return n
}

// inThread reports whether thread is inside of within: the same or below it.
func inThread(thread, within string) bool {
	return within == "" || thread == within ||
		strings.HasPrefix(thread, within) && thread[len(within)] == '.'
}
