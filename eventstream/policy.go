package eventstream

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ErrPolicy is matched when a failure policy cannot be read.
var ErrPolicy = errors.New("invalid failure policy")

// Policy says what failed branches do to their split. The zero Policy is all:
// wait for every branch, and let the aggregator see each result or error.
type Policy struct {
	kind    policyKind
	percent bool
	n       int32
}

type policyKind uint8

const (
	policyAll policyKind = iota
	policyFailFast
	policyFirst
	policyTolerate
)

// FailFast is the policy in which the first failed branch cancels the others
// and aborts the splitter.
var FailFast = Policy{kind: policyFailFast}

// First is the policy in which n successes, at least 1, are enough: the rest is
// canceled and the aggregator runs.
func First(n int) Policy { return Policy{kind: policyFirst, n: clamp(n)} }

// Tolerate is the policy in which one failure more than n acts like FailFast.
func Tolerate(n int) Policy { return Policy{kind: policyTolerate, n: clamp(n)} }

// ToleratePercent is Tolerate with n in percent of the split's branches, rounded
// down.
func ToleratePercent(n int) Policy {
	return Policy{kind: policyTolerate, percent: true, n: clamp(n)}
}

// clamp keeps a number that is out of bounds so: Split refuses it.
func clamp(n int) int32 { return int32(max(-1, min(n, math.MaxInt32))) }

// ParsePolicy reads all, failfast, first:N, tolerate:N or tolerate:N%; "" is
// all.
func ParsePolicy(s string) (Policy, error) {
	name, arg, hasArg := strings.Cut(s, ":")
	number, percent := strings.CutSuffix(arg, "%")
	n, err := strconv.ParseInt(number, 10, 32)
	counted := hasArg && err == nil
	switch {
	case s == "" || s == "all":
		return Policy{}, nil
	case s == "failfast":
		return FailFast, nil
	case name == "first" && counted && n >= 1 && !percent:
		return First(int(n)), nil
	case name == "tolerate" && counted && n >= 0 && (!percent || n <= 100):
		return Policy{policyTolerate, percent, int32(n)}, nil
	}
	return Policy{}, fmt.Errorf("%w %q: want all, failfast, first:N, tolerate:N or tolerate:N%%", ErrPolicy, s)
}

// String is the policy as it is written in the document.
func (p Policy) String() string {
	percent := ""
	if p.percent {
		percent = "%"
	}
	switch p.kind {
	case policyFailFast:
		return "failfast"
	case policyFirst:
		return fmt.Sprintf("first:%d", p.n)
	case policyTolerate:
		return fmt.Sprintf("tolerate:%d%s", p.n, percent)
	}
	return "all"
}

// Decides reports whether a split with so many branches, of which some have
// ended well and some badly, need not wait for the rest.
func (p Policy) Decides(branches, ok, failed int) bool {
	return p.judge(tally{branches: int64(branches), ok: int64(ok), failed: int64(failed)}) != undecided
}

// verdict is what a policy says of a split at a moment.
type verdict uint8

const (
	undecided verdict = iota
	decidedFailed
	decidedMet
)

func (p Policy) judge(t tally) verdict {
	n := int64(p.n)
	switch p.kind {
	case policyFailFast:
		if t.failed > 0 {
			return decidedFailed
		}
	case policyFirst:
		switch {
		case t.ok >= n:
			return decidedMet
		case t.branches-t.failed < n:
			return decidedFailed
		}
	case policyTolerate:
		if p.percent {
			n = t.branches * n / 100
		}
		if t.failed > n {
			return decidedFailed
		}
	}
	return undecided
}
