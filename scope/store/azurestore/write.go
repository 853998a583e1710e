package azurestore

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/internal/rules"
)

// Put implements [store.Store].
func (s *Store) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	written, err := s.put(ctx, name, body, o)
	if err != nil {
		return nil, s.fail("put", name, err)
	}
	return written, nil
}

func (s *Store) put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	o, err := rules.NormalizePut(name, int64(len(body)), o, MaxBody)
	if err != nil {
		return nil, err
	}
	lent := lend(body)
	defer lent.takeBack()
	answer, err := s.send(once(ctx, allow(s.timeout, int64(len(body)))), func(ctx context.Context) error {
		_, err := s.container.NewBlockBlobClient(name).Upload(ctx, lent, &blockblob.UploadOptions{
			AccessConditions: access(&o.Conditions),
			HTTPHeaders:      &blob.HTTPHeaders{BlobContentType: &o.ContentType},
			Metadata:         encodeMetadata(o.Metadata),
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	written := info(name, answer.Header)
	written.Size, written.ContentType = int64(len(body)), o.ContentType
	return &written, nil
}

// Delete implements [store.Store].
func (s *Store) Delete(ctx context.Context, name string, c *store.Conditions) error {
	conditions, err := rules.NormalizeConditions(name, c, rules.ForWrite)
	if err == nil {
		err = rules.CheckTarget(name)
	}
	if err == nil {
		_, err = s.send(once(ctx, s.timeout), func(ctx context.Context) error {
			return s.remove(ctx, name, access(&conditions))
		})
	}
	return s.fail("delete", name, err)
}

func (s *Store) remove(ctx context.Context, name string, c *blob.AccessConditions) error {
	if name == "" {
		_, err := s.container.Delete(ctx, &container.DeleteOptions{AccessConditions: &container.AccessConditions{
			LeaseAccessConditions:    c.LeaseAccessConditions,
			ModifiedAccessConditions: c.ModifiedAccessConditions,
		}})
		return err
	}
	_, err := s.container.NewBlobClient(name).Delete(ctx, &blob.DeleteOptions{AccessConditions: c})
	return err
}

// lentBody is a body for as long as the call runs to which it was passed. The
// transport may go on reading after a call that was given up, when the bytes are
// the caller's again.
type lentBody struct {
	mu   sync.Mutex    // guards body; held while bytes are copied
	body *bytes.Reader // nil once it was taken back
}

func lend(body []byte) *lentBody { return &lentBody{body: bytes.NewReader(body)} }

func (l *lentBody) takeBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.body = nil
}

func (l *lentBody) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.body == nil {
		return 0, io.ErrClosedPipe
	}
	return l.body.Read(p)
}

func (l *lentBody) Seek(offset int64, whence int) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.body == nil {
		return 0, io.ErrClosedPipe
	}
	return l.body.Seek(offset, whence)
}

// Close does nothing: takeBack ends the loan.
func (l *lentBody) Close() error { return nil }
