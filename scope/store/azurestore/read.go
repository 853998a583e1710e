package azurestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/internal/rules"
)

// Get implements [store.Store].
func (s *Store) Get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	object, err := s.get(ctx, name, c)
	if err != nil {
		return nil, s.fail("get", name, err)
	}
	return object, nil
}

func (s *Store) get(ctx context.Context, name string, c *store.Conditions) (*store.Object, error) {
	conditions, err := rules.NormalizeConditions(name, c, rules.ForRead)
	if err == nil {
		err = rules.CheckName(name)
	}
	if err != nil {
		return nil, err
	}
	answer, err := s.send(s.reading(ctx, conditions, MaxBody), func(ctx context.Context) error {
		o := &blob.DownloadStreamOptions{AccessConditions: access(&conditions)}
		_, err := s.container.NewBlobClient(name).DownloadStream(ctx, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	body, err := readBody(answer)
	if err != nil {
		return nil, err
	}
	return &store.Object{Info: info(name, answer.Header), Body: body}, nil
}

// readBody reads what a download answers, whole or not at all. The SDK passes an
// unchanged blob off as a download without content.
func readBody(answer *http.Response) ([]byte, error) {
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotModified {
		return nil, runtime.NewResponseErrorWithErrorCode(answer, string(bloberror.ConditionNotMet))
	}
	if answer.ContentLength > MaxBody {
		detail := fmt.Sprintf("%d bytes, %d are read at most", answer.ContentLength, int64(MaxBody))
		return nil, &store.Error{Sentinel: store.ErrTooLarge, Detail: detail}
	}
	if answer.ContentLength < 0 {
		return nil, errors.New("the answer does not tell its length")
	}
	body := make([]byte, answer.ContentLength)
	_, err := io.ReadFull(answer.Body, body)
	return body, err
}

// Stat implements [store.Store].
func (s *Store) Stat(ctx context.Context, name string, c *store.Conditions) (*store.Info, error) {
	found, err := s.stat(ctx, name, c)
	if err != nil {
		return nil, s.fail("stat", name, err)
	}
	return found, nil
}

func (s *Store) stat(ctx context.Context, name string, c *store.Conditions) (*store.Info, error) {
	conditions, err := rules.NormalizeConditions(name, c, rules.ForRead)
	if err == nil {
		err = rules.CheckTarget(name)
	}
	if err != nil {
		return nil, err
	}
	answer, err := s.send(s.reading(ctx, conditions, 0), func(ctx context.Context) error {
		if name == "" {
			return s.statContainer(ctx, &conditions)
		}
		o := &blob.GetPropertiesOptions{AccessConditions: access(&conditions)}
		_, err := s.container.NewBlobClient(name).GetProperties(ctx, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	found := info(name, answer.Header)
	if name == "" {
		err = datesMet(&found, conditions)
	}
	return &found, err
}

func (s *Store) statContainer(ctx context.Context, c *store.Conditions) error {
	_, err := s.container.GetProperties(ctx, &container.GetPropertiesOptions{
		LeaseAccessConditions: access(c).LeaseAccessConditions,
	})
	return err
}

// datesMet judges the dates of a Stat of the container, which the service does
// not take.
func datesMet(found *store.Info, c store.Conditions) error {
	c.LeaseID = ""
	seen := &rules.Blob{Modified: found.LastModified}
	return seen.Read(found.Name, &c, found.Date.Time)
}
