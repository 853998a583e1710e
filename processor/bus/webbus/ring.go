package webbus

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/leasestream/leasestream/processor/bus"
)

// EventType is the type of a CloudEvent whose data is a doorbell, as JSON.
const EventType = "com.github.leasestream.doorbell"

// maxBatch is how many doorbells one request carries: far less than the handler
// takes.
const maxBatch = 500

var errClosed = errors.New("the bus is closed")

// Ring posts the doorbells to workers that serve their steps, within
// Options.Timeout in all. Those for one step are dealt out among its workers, at
// random, so that many doorbells wake many workers. Nothing is tried twice; the
// error joins what went wrong with each worker.
func (b *Bus) Ring(ctx context.Context, bells ...bus.Doorbell) error {
	if b.isClosed() {
		return errClosed
	}
	if b.o.Peers == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, b.o.Timeout)
	defer cancel()
	letters, err := b.address(ctx, bells)
	return errors.Join(err, b.post(ctx, letters))
}

// letters are what each worker gets :: URL → doorbells
type letters map[string][]bus.Doorbell

func (b *Bus) address(ctx context.Context, bells []bus.Doorbell) (letters, error) {
	alike := map[bus.Doorbell][]bus.Doorbell{} // :: stream and step → doorbells
	for _, bell := range bells {
		key := bus.Doorbell{Stream: bell.Stream, Step: bell.Step}
		alike[key] = append(alike[key], bell)
	}
	all := letters{}
	var errs []error
	for key, bells := range alike {
		peers, err := b.o.Peers(ctx, bells[0])
		if err != nil {
			errs = append(errs, fmt.Errorf("find workers to ring for step %q: %w", key.Step, err))
			continue
		}
		all.add(key.Step, peers, bells)
	}
	return all, errors.Join(errs...)
}

// add deals out the doorbells for one step of one stream.
func (l letters) add(step string, peers []string, bells []bus.Doorbell) {
	if step == "" {
		for _, peer := range peers {
			l[peer] = append(l[peer], bells...)
		}
		return
	}
	if len(peers) == 0 {
		return
	}
	first := mathrand.IntN(len(peers))
	for i, bell := range bells {
		peer := peers[(first+i)%len(peers)]
		l[peer] = append(l[peer], bell)
	}
}

// post sends everything, a few requests at a time.
func (b *Bus) post(ctx context.Context, all letters) error {
	var (
		mu    sync.Mutex // guards errs
		errs  []error
		wg    sync.WaitGroup
		slots = make(chan struct{}, b.o.Parallel)
	)
	for peer, bells := range all {
		for batch := range slices.Chunk(bells, maxBatch) {
			slots <- struct{}{}
			wg.Go(func() {
				err := b.send(ctx, peer, batch)
				<-slots
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			})
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// send posts one batch. Its errors name the host alone: a URL may hold more than
// is good for a log.
func (b *Bus) send(ctx context.Context, peer string, bells []bus.Doorbell) error {
	r, err := b.request(ctx, peer, bells)
	if err != nil {
		return err
	}
	res, err := b.client.Do(r)
	if urlErr, ok := errors.AsType[*url.Error](err); ok {
		err = urlErr.Err
	}
	if err != nil {
		return fmt.Errorf("ring %s: %w", r.URL.Host, err)
	}
	defer res.Body.Close()
	// Read what little there is, so that the connection can be used again.
	_, _ = io.CopyN(io.Discard, res.Body, 4<<10)
	switch {
	case res.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("ring %s: %s; do all workers have the same token?", r.URL.Host, res.Status)
	case res.StatusCode < 200 || res.StatusCode > 299:
		return fmt.Errorf("ring %s: %s", r.URL.Host, res.Status)
	}
	return nil
}

func (b *Bus) request(ctx context.Context, peer string, bells []bus.Doorbell) (*http.Request, error) {
	u, err := url.Parse(peer)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("ring: the URL of a worker is not of the form http[s]://HOST[:PORT]/PATH")
	}
	body, err := b.encode(bells)
	if err != nil {
		return nil, fmt.Errorf("ring %s: %w", u.Host, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ring %s: %w", u.Host, err)
	}
	r.Header.Set("Authorization", "Bearer "+b.token)
	r.Header.Set("Content-Type", event.ApplicationCloudEventsBatchJSON)
	return r, nil
}

// encode writes doorbells as a batch of CloudEvents.
func (b *Bus) encode(bells []bus.Doorbell) ([]byte, error) {
	events := make([]event.Event, len(bells))
	for i, bell := range bells {
		e := event.New()
		e.SetID(rand.Text())
		e.SetType(EventType)
		e.SetSource(b.o.Source)
		if err := e.SetData(event.ApplicationJSON, bell); err != nil {
			return nil, err
		}
		if err := e.Validate(); err != nil {
			return nil, err
		}
		events[i] = e
	}
	return json.Marshal(events)
}
