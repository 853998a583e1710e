package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leasestream/leasestream/processor"
)

const (
	// explanationSize is how much is read of an answer that is no output, in bytes:
	// enough to hide in it what has to be hidden, and for the connection to be used
	// again.
	explanationSize = 16 << 10
	// shownSize is how much of it an error shows, in bytes.
	shownSize = 512
)

// again are the statuses below 500 that further attempts may mend.
var again = []int{http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests}

// answer is what a server has answered.
type answer struct {
	url    *url.URL // of the request
	status int
	header http.Header
	body   []byte
}

func (a *answer) ok() bool { return a.status >= 200 && a.status < 300 }

// output is that of the step. An answer that is none gives an error in which the
// secrets of the request do not stand.
func (a *answer) output(read func(body []byte) (json.RawMessage, error), hidden secrets) (json.RawMessage, error) {
	if !a.ok() {
		return nil, a.refusal(hidden)
	}
	output, err := read(a.body)
	if text := string(a.body); err != nil && hidden.hide(text) != text {
		return nil, errors.New("output cannot be read; it is not shown, as it repeats a header from the environment")
	}
	return output, err
}

// refusal is the error that a status stands for.
func (a *answer) refusal(hidden secrets) error {
	status := strings.TrimSpace(fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)))
	if a.status >= 300 && a.status < 400 {
		return hopeless{fmt.Errorf("%s to %s: a redirect is not followed, since the message would go elsewhere; write the new URL", status, a.target())}
	}
	err := errors.New(status + a.explanation(hidden))
	if a.status >= 400 && a.status < 500 && !slices.Contains(again, a.status) {
		return hopeless{err}
	}
	if after := a.retryAfter(); after > 0 {
		return &processor.RetryAfterError{After: after, Err: err}
	}
	return err
}

// target is the host that a redirect names: its URL may hold secrets.
func (a *answer) target() string {
	location, err := url.Parse(a.header.Get("Location"))
	switch {
	case err != nil || *location == url.URL{}:
		return "no known place"
	case location.Host == "":
		return a.url.Host
	}
	return location.Host
}

// explanation is the beginning of the body as part of an error.
func (a *answer) explanation(hidden secrets) string {
	text := hidden.hide(strings.ToValidUTF8(string(a.body), "\ufffd"))
	text = strings.TrimSpace(strings.ToValidUTF8(text[:min(len(text), shownSize)], ""))
	if text == "" {
		return ""
	}
	return ": " + text
}

// retryAfter is the wait that the server asks for, or 0. A date counts from the
// server's own, whatever the worker's clock says.
func (a *answer) retryAfter() time.Duration {
	text := a.header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second
	}
	then, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(a.header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return then.Sub(now)
}
