package rules

import (
	"errors"
	"fmt"

	"github.com/leasestream/leasestream/scope/store"
)

// Refuse returns the error of a request that is turned down with one of
// Azure's codes; detail says what exactly is wrong and may be empty.
func Refuse(code, detail string, args ...any) error {
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	return &store.Error{Code: code, Detail: detail, Sentinel: store.SentinelOf(code)}
}

// Fail names the request in err: a refusal gets op and name, any other error
// becomes one of unknown outcome. Nil stays nil.
func Fail(op, name string, err error) error {
	if err == nil {
		return nil
	}
	if refusal, ok := errors.AsType[*store.Error](err); ok {
		named := *refusal
		named.Op, named.Name = op, name
		return &named
	}
	return &store.Error{Op: op, Name: name, Err: err}
}
