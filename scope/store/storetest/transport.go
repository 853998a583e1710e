package storetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// Transport is an http.RoundTripper over another one whose requests meet mishaps
// when its hook says so. It works in a testing/synctest bubble if the one beneath
// does.
type Transport struct {
	journey
	under http.RoundTripper
	delay time.Duration
	late  sync.WaitGroup // requests that are still to arrive
}

// NewTransport puts mishaps over a round tripper. Late requests arrive after the
// delay. A nil hook makes a mere counter.
func NewTransport(under http.RoundTripper, delay time.Duration, hook HTTPHook) *Transport {
	return &Transport{journey: journey{hook: hook}, under: under, delay: delay}
}

// Wait returns when all requests that are late have arrived and been carried out.
func (t *Transport) Wait() { t.late.Wait() }

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	switch m := t.begin(r); m {
	case None:
		return t.under.RoundTrip(r)
	case Reset:
		return nil, errors.Join(syscall.ECONNRESET, closeBody(r))
	case Busy:
		if err := closeBody(r); err != nil {
			return nil, err
		}
		return parse(busy, r)
	case Late:
		return t.sendLate(r)
	default:
		return t.spoil(r, m)
	}
}

func closeBody(r *http.Request) error {
	if r.Body == nil {
		return nil
	}
	return r.Body.Close()
}

// spoil has the request carried out, whatever becomes of its context, and loses
// the answer.
func (t *Transport) spoil(r *http.Request, m Mishap) (*http.Response, error) {
	sent, err := detached(r)
	if err != nil {
		return nil, err
	}
	answer, body, err := receive(t.under, sent)
	if err != nil {
		return nil, err
	}
	switch {
	case m == Unavailable:
		return parse(unavailable, r)
	case m == Stall:
		<-r.Context().Done()
		return nil, r.Context().Err()
	case m == CutAnswer && len(body) > 0:
		half := io.MultiReader(bytes.NewReader(body[:len(body)/2]), brokenOff{})
		answer.Body, answer.Request = io.NopCloser(half), r
		return answer, nil
	}
	return nil, syscall.ECONNRESET
}

// brokenOff is where a connection ends.
type brokenOff struct{}

func (brokenOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// sendLate sends the request after the delay, and gives it up no later than its
// caller does: then it still arrives.
func (t *Transport) sendLate(r *http.Request) (*http.Response, error) {
	sent, err := detached(r)
	if err != nil {
		return nil, err
	}
	var answer *http.Response
	answered := make(chan struct{})
	t.late.Go(func() { // ends with the answer
		defer close(answered)
		time.Sleep(t.delay)
		var body []byte
		if answer, body, err = receive(t.under, sent); err == nil {
			answer.Body, answer.Request = io.NopCloser(bytes.NewReader(body)), r
		}
	})
	select {
	case <-answered:
	case <-r.Context().Done():
	}
	if gaveUp := r.Context().Err(); gaveUp != nil {
		return nil, gaveUp
	}
	return answer, err
}

// detached is a request with its body in memory and a context that does not end.
func detached(r *http.Request) (*http.Request, error) {
	sent := r.Clone(context.WithoutCancel(r.Context()))
	if r.Body == nil {
		return sent, nil
	}
	body, err := io.ReadAll(r.Body)
	sent.Body = io.NopCloser(bytes.NewReader(body))
	return sent, errors.Join(err, r.Body.Close())
}

// receive sends a request and reads its answer whole.
func receive(under http.RoundTripper, r *http.Request) (*http.Response, []byte, error) {
	answer, err := under.RoundTrip(r)
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(answer.Body)
	return answer, body, errors.Join(err, answer.Body.Close())
}
