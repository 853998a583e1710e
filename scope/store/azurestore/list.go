package azurestore

import (
	"context"
	"iter"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/leasestream/leasestream/scope/store"
)

// List implements [store.Store].
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[*store.Info, error] {
	return func(yield func(*store.Info, error) bool) {
		pager := s.container.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{
			Include: container.ListBlobsInclude{Metadata: true},
			Prefix:  given(prefix),
		})
		for pager.More() {
			page, err := s.page(ctx, pager)
			if err != nil {
				yield(nil, s.fail("list", prefix, err))
				return
			}
			for _, found := range page {
				if !yield(found, nil) {
					return
				}
			}
		}
	}
}

func (s *Store) page(ctx context.Context, p *runtime.Pager[container.ListBlobsFlatResponse]) ([]*store.Info, error) {
	var page container.ListBlobsFlatResponse
	answer, err := s.send(s.reading(ctx, store.Conditions{}, 0), func(ctx context.Context) (err error) {
		page, err = p.NextPage(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	infos := make([]*store.Info, len(page.Segment.BlobItems))
	for i, item := range page.Segment.BlobItems {
		infos[i] = listed(item, date(answer.Header))
	}
	return infos, nil
}
