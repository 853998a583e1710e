package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/leasestream/leasestream/scope/store"
)

// report prints what was done, what the documentation of Azure says about it, and
// what the store answered.
type report struct {
	out io.Writer
	err error // the answers that are not as documented
}

func (r *report) title(text string) { fmt.Fprintf(r.out, "\n%s\n", text) }

// accepted is for a request that is documented to succeed.
func (r *report) accepted(doing, documented string, err error) {
	r.line(doing, documented, err)
	if err != nil {
		r.err = errors.Join(r.err, fmt.Errorf("%s: %w, documented is success", doing, err))
	}
}

// refused is for a request that is documented to fail with a code.
func (r *report) refused(doing, documented, code string, err error) {
	r.line(doing, documented, err)
	switch {
	case err == nil:
		r.err = errors.Join(r.err, fmt.Errorf("%s: success, documented is %s", doing, code))
	case store.Code(err) != code:
		r.err = errors.Join(r.err, fmt.Errorf("%s: %w, documented is %s", doing, err, code))
	}
}

func (r *report) line(doing, documented string, err error) {
	answer := "ok"
	if err != nil {
		answer = cmp.Or(store.Code(err), err.Error())
	}
	fmt.Fprintf(r.out, "  %-39s %-36s %s\n", doing, documented, answer)
}
