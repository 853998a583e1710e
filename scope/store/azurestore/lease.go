package azurestore

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/internal/rules"
)

// Lease implements [store.Store]. The service does not keep Holders.
func (s *Store) Lease(ctx context.Context, name string, r *store.LeaseRequest) (*store.LeaseResult, error) {
	request, err := rules.NormalizeLease(name, r)
	var answer *http.Response
	if err == nil {
		answer, err = s.send(once(ctx, s.timeout), func(ctx context.Context) error {
			if name == "" {
				return s.leaseContainer(ctx, request)
			}
			return s.leaseBlob(ctx, name, request)
		})
	}
	if err != nil {
		return nil, s.fail(string(r.Action), name, err)
	}
	return leaseResult(answer.Header), nil
}

func leaseResult(h http.Header) *store.LeaseResult {
	remaining, _ := strconv.Atoi(h.Get("x-ms-lease-time"))
	return &store.LeaseResult{
		ID:           strings.ToLower(h.Get("x-ms-lease-id")),
		ETag:         h.Get("ETag"),
		LastModified: headerTime(h, "Last-Modified"),
		Remaining:    time.Duration(remaining) * time.Second,
		Date:         date(h),
	}
}

// leaseBlob uses a lease client for one request. The SDK's client is bound to an
// ID, and two acquires of one client would both succeed.
func (s *Store) leaseBlob(ctx context.Context, name string, r *store.LeaseRequest) error {
	c, err := lease.NewBlobClient(s.container.NewBlobClient(name), &lease.BlobClientOptions{LeaseID: given(r.ID)})
	if err != nil {
		return err
	}
	when := modified(&r.Conditions)
	switch r.Action {
	case store.LeaseAcquire:
		_, err = c.AcquireLease(ctx, seconds(r.Duration), &lease.BlobAcquireOptions{ModifiedAccessConditions: when})
	case store.LeaseRenew:
		_, err = c.RenewLease(ctx, &lease.BlobRenewOptions{ModifiedAccessConditions: when})
	case store.LeaseChange:
		_, err = c.ChangeLease(ctx, r.NewID, &lease.BlobChangeOptions{ModifiedAccessConditions: when})
	case store.LeaseRelease:
		_, err = c.ReleaseLease(ctx, &lease.BlobReleaseOptions{ModifiedAccessConditions: when})
	case store.LeaseBreak:
		_, err = c.BreakLease(ctx, &lease.BlobBreakOptions{BreakPeriod: new(seconds(r.BreakPeriod)), ModifiedAccessConditions: when})
	}
	return err
}

func (s *Store) leaseContainer(ctx context.Context, r *store.LeaseRequest) error {
	c, err := lease.NewContainerClient(s.container, &lease.ContainerClientOptions{LeaseID: given(r.ID)})
	if err != nil {
		return err
	}
	when := modified(&r.Conditions)
	switch r.Action {
	case store.LeaseAcquire:
		_, err = c.AcquireLease(ctx, seconds(r.Duration), &lease.ContainerAcquireOptions{ModifiedAccessConditions: when})
	case store.LeaseRenew:
		_, err = c.RenewLease(ctx, &lease.ContainerRenewOptions{ModifiedAccessConditions: when})
	case store.LeaseChange:
		_, err = c.ChangeLease(ctx, r.NewID, &lease.ContainerChangeOptions{ModifiedAccessConditions: when})
	case store.LeaseRelease:
		_, err = c.ReleaseLease(ctx, &lease.ContainerReleaseOptions{ModifiedAccessConditions: when})
	case store.LeaseBreak:
		_, err = c.BreakLease(ctx, &lease.ContainerBreakOptions{BreakPeriod: new(seconds(r.BreakPeriod)), ModifiedAccessConditions: when})
	}
	return err
}

// seconds is a duration or a break period for the SDK, which knows -1 as the
// infinite one and as the natural one, as the store does.
func seconds(d time.Duration) int32 {
	if d < 0 {
		return -1
	}
	return int32(d / time.Second)
}
