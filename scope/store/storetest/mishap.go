package storetest

import (
	"bufio"
	"net/http"
	"strings"
	"sync/atomic"
)

// Mishap is what becomes of an HTTP request and of its answer on the way between
// a client and a service. [Transport] and [Proxy] make them happen.
type Mishap string

const (
	// None: the request is carried out and answered.
	None Mishap = ""
	// Reset: the connection is reset before the service has got the request.
	Reset Mishap = "reset"
	// Busy: the service asks to slow down, 503 ServerBusy, and does nothing.
	Busy Mishap = "busy"
	// Unavailable: the request is carried out, and someone on the way answers in
	// the service's place, 503 without a code.
	Unavailable Mishap = "unavailable"
	// NoAnswer: the request is carried out; the connection ends in place of the
	// answer.
	NoAnswer Mishap = "no answer"
	// CutAnswer: the request is carried out; the connection ends in the middle of
	// the answer.
	CutAnswer Mishap = "cut answer"
	// Stall: the request is carried out; no answer comes and the connection stays
	// open, until the client gives up.
	Stall Mishap = "stall"
	// Late: the request arrives after a delay, whether or not the client has given
	// up meanwhile.
	Late Mishap = "late"
)

// Mishaps returns all of them but None.
func Mishaps() []Mishap {
	return []Mishap{Reset, Busy, Unavailable, NoAnswer, CutAnswer, Stall, Late}
}

// CarriedOut reports whether the service gets the request, be it late.
func (m Mishap) CarriedOut() bool { return m != Reset && m != Busy }

// HTTPHook decides what becomes of a request, the nth from 1 on. It runs before
// the request is sent on, outside all locks, so it may wait and may use the
// service by another way. It must leave the body alone.
type HTTPHook func(n int, r *http.Request) Mishap

// Only makes a mishap of the nth request, and of no other.
func Only(n int, m Mishap) HTTPHook {
	return func(i int, _ *http.Request) Mishap {
		if i == n {
			return m
		}
		return None
	}
}

// journey counts requests and asks the hook about each.
type journey struct {
	hook  HTTPHook
	count atomic.Int64
}

// Requests returns how many requests there were, those included that the service
// did not get.
func (j *journey) Requests() int { return int(j.count.Load()) }

func (j *journey) begin(r *http.Request) Mishap {
	n := int(j.count.Add(1))
	if j.hook == nil {
		return None
	}
	return j.hook(n, r)
}

// The answers that are none of the service.
const (
	busy        = "HTTP/1.1 503 Service Unavailable\r\nx-ms-error-code: ServerBusy\r\nContent-Length: 0\r\n\r\n"
	unavailable = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
)

// parse makes an answer of its text.
func parse(answer string, r *http.Request) (*http.Response, error) {
	return http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), r)
}
