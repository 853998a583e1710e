package azurestore

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/internal/rules"
)

// fail makes the error of a call. Nil stays nil.
func (s *Store) fail(op, name string, err error) error {
	if _, ok := errors.AsType[*store.Error](err); ok || err == nil {
		return rules.Fail(op, name, err)
	}
	e := &store.Error{Op: op, Name: name, Err: &discreet{text(err), err}}
	if answer, ok := errors.AsType[*azcore.ResponseError](err); ok {
		e.Code = code(answer)
		e.RequestID = requestID(answer)
		e.Sentinel = sentinel(answer.StatusCode, e.Code)
	} else if denied, ok := errors.AsType[*signInError](err); ok && denied.refused() {
		e.Sentinel = store.ErrUnauthorized
		e.Detail = strings.Join(strings.Fields(text(err)), " ") + "; " // on one line
	}
	if e.Sentinel == store.ErrUnauthorized {
		e.Detail += s.hint
	}
	return e
}

// code is the service's error code. A HEAD that finds the blob unchanged has
// none.
func code(answer *azcore.ResponseError) string {
	if answer.ErrorCode == "" && answer.StatusCode == http.StatusNotModified {
		return string(bloberror.ConditionNotMet)
	}
	return answer.ErrorCode
}

func requestID(answer *azcore.ResponseError) string {
	if answer.RawResponse == nil {
		return ""
	}
	return answer.RawResponse.Header.Get("x-ms-request-id")
}

// sentinel tells what an answer means, or nil if the request may have been
// carried out: the service gave up on it or someone on the way answered.
func sentinel(status int, code string) error {
	known := store.SentinelOf(code)
	switch {
	case known == store.ErrThrottled || status == http.StatusTooManyRequests:
		return store.ErrThrottled
	case status == http.StatusNotModified:
		return store.ErrConditionNotMet
	case status < 400 || status >= 500 || status == http.StatusRequestTimeout:
		return nil
	case known != nil:
		return known
	}
	return sentinelOfStatus(status)
}

// sentinelOfStatus is for a refusal with a code that is unknown here.
func sentinelOfStatus(status int) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return store.ErrUnauthorized
	case http.StatusPreconditionFailed:
		return store.ErrConditionNotMet
	case http.StatusRequestEntityTooLarge:
		return store.ErrTooLarge
	}
	return store.ErrInvalid
}

// discreet is an error that shows a text without secrets in place of its own:
// those of net/http have the URL in them with its signature, and the service's
// answers to a wrong signature repeat it. errors.Is and errors.As see the error
// beneath. It has no Unwrap, so that nobody prints that one by walking the chain.
type discreet struct {
	text string
	err  error
}

func (d *discreet) Error() string        { return d.text }
func (d *discreet) Is(target error) bool { return errors.Is(d.err, target) }
func (d *discreet) As(target any) bool   { return errors.As(d.err, target) }

// text says what went wrong without a URL or what an answer holds.
func text(err error) string {
	if answer, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return fmt.Sprintf("HTTP %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	if sent, ok := errors.AsType[*url.Error](err); ok {
		return text(sent.Err)
	}
	return err.Error()
}
