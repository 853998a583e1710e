package dashboard

import (
	"context"
	"errors"
	"net/http"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/xpath"
)

var (
	// errReadOnly: an action was asked of a dashboard that takes none.
	errReadOnly = errors.New("this dashboard is read-only")
	// errInput: a form was filled in with what cannot be meant.
	errInput = errors.New("invalid input")
	// errNoDefinition: no run, and nothing in the store, is of that definition.
	errNoDefinition = errors.New("no such pipeline")
	// errNoPage: the address is none of a page.
	errNoPage = errors.New("no such page")
)

// statuses are what errors mean to a browser; others are errors of the store.
var statuses = []struct {
	code int
	errs []error
}{
	{http.StatusForbidden, []error{errReadOnly}},
	{http.StatusNotFound, []error{errNoPage, processor.ErrNoRun, processor.ErrNoEvent, errNoDefinition, processor.ErrDefinition, processor.ErrNoLog, processor.ErrNoWorker, processor.ErrName, processor.ErrPayload}},
	{http.StatusBadRequest, []error{errInput, processor.ErrPipeline, xpath.ErrSyntax, xpath.ErrUnsupported, xpath.ErrVariable}},
	{http.StatusConflict, []error{
		processor.ErrConflict, processor.ErrOpen, eventstream.ErrFinal, eventstream.ErrStatus, eventstream.ErrSuperseded,
		eventstream.ErrNothingToReopen, store.ErrNotFound, store.ErrLeaseNotPresent, store.ErrLeaseHeld,
	}},
	{http.StatusUnprocessableEntity, []error{eventstream.ErrMalformed, store.ErrDamaged, xpath.ErrBudget}},
}

func statusOf(err error) int {
	for _, s := range statuses {
		for _, is := range s.errs {
			if errors.Is(err, is) {
				return s.code
			}
		}
	}
	return http.StatusBadGateway
}

// failed is what the page of an error shows.
type failed struct {
	Status int
	Text   string
	Advice string // what to do about it; may be empty
}

// failure is the page of an error.
func (d *Dashboard) failure(r *http.Request, err error) *view {
	status := statusOf(err)
	if status >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		d.log.WarnContext(r.Context(), "dashboard", "path", r.URL.Path, "err", err)
	}
	return &view{
		status: status, template: "failure", Title: http.StatusText(status),
		Body: failed{Status: status, Text: err.Error(), Advice: adviceOf(err)},
	}
}

// adviceOf is what can be done about an error of the store; other errors say it
// themselves.
func adviceOf(err error) string {
	if _, ok := errors.AsType[*store.Error](err); !ok {
		return ""
	}
	return scope.Advice(err)
}
