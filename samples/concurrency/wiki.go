package main

import (
	"context"

	"github.com/leasestream/leasestream/scope/store"
)

const (
	page           = "page.txt"
	wholeContainer = "" // the name that stands for it

	// The lease IDs are given here. A program of your own takes a fresh one for
	// each lease.
	adasLease = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
	bobsLease = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb"
)

// wiki is a store with one page, which Ada and Bob change.
type wiki struct{ st store.Store }

// read returns the text of the page and the ETag of this version of it.
func (w wiki) read(ctx context.Context, c store.Conditions) (text, etag string, err error) {
	object, err := w.st.Get(ctx, page, &c)
	if err != nil {
		return "", "", err
	}
	return string(object.Body), object.ETag, nil
}

func (w wiki) save(ctx context.Context, text string, c store.Conditions) error {
	_, err := w.st.Put(ctx, page, []byte(text), &store.PutOptions{Conditions: c})
	return err
}

func (w wiki) acquire(ctx context.Context, name, id string) error {
	_, err := w.st.Lease(ctx, name, &store.LeaseRequest{Action: store.LeaseAcquire, ID: id, Duration: store.MinLease})
	return err
}

func (w wiki) release(ctx context.Context, name, id string) error {
	_, err := w.st.Lease(ctx, name, &store.LeaseRequest{Action: store.LeaseRelease, ID: id})
	return err
}

// drop deletes the container.
func (w wiki) drop(ctx context.Context, c store.Conditions) error {
	return w.st.Delete(ctx, wholeContainer, &c)
}

// show tells what has become of the page.
func (w wiki) show(ctx context.Context, r *report) {
	text, _, err := w.read(ctx, store.Conditions{})
	r.accepted("The page is now", text, err)
}
