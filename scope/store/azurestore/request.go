package azurestore

import (
	"context"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/leasestream/leasestream/scope/store"
)

// apiVersion is the version of the service's interface that requests name. The
// SDK's own is ahead of what emulators accept.
const apiVersion = "2024-11-04"

// clientOptions of the SDK. Requests are sent once unless their context says
// otherwise (reading).
func clientOptions(transport policy.Transporter) *container.ClientOptions {
	o := &container.ClientOptions{}
	o.Transport = transport
	o.Retry.MaxRetries = -1
	o.Telemetry.ApplicationID = "leasestream"
	o.PerCallPolicies = []policy.Policy{versionPolicy{}} // before the policy that signs
	return o
}

// versionPolicy names the API version.
type versionPolicy struct{}

// Do overwrites the SDK's version. It writes the key as the SDK does, since Set
// would spell it differently and so make a second header of it.
func (versionPolicy) Do(req *policy.Request) (*http.Response, error) {
	const key = "x-ms-version"
	req.Raw().Header[key] = []string{apiVersion}
	return req.Next()
}

// transport returns what sends the requests, and a function that closes its idle
// connections.
func (o *Options) transport() (policy.Transporter, func()) {
	if o.Transport != nil {
		return o.Transport, func() {}
	}
	pool := http.DefaultTransport.(*http.Transport).Clone()
	pool.MaxIdleConns, pool.MaxIdleConnsPerHost = 0, 64 // one host, many workers
	pool.ResponseHeaderTimeout = o.timeout()
	pool.DisableCompression = true // a blob's own encoding is left alone
	return &http.Client{Transport: pool, CheckRedirect: stay}, pool.CloseIdleConnections
}

// stay makes an error of a redirection, which would send a write again.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// send makes a request and returns its answer.
func (s *Store) send(ctx context.Context, request func(context.Context) error) (*http.Response, error) {
	var answer *http.Response
	err := request(policy.WithCaptureResponse(ctx, &answer))
	return answer, err
}

// once makes requests go out once, for at most d.
func once(ctx context.Context, d time.Duration) context.Context {
	return policy.WithRetryOptions(ctx, policy.RetryOptions{MaxRetries: -1, TryTimeout: d})
}

// reading is the context of a read of up to size bytes. It is repeated if it
// fails, unless it has conditions.
func (s *Store) reading(ctx context.Context, c store.Conditions, size int64) context.Context {
	d := allow(s.timeout, size)
	if c != (store.Conditions{}) {
		return once(ctx, d)
	}
	return policy.WithRetryOptions(ctx, policy.RetryOptions{MaxRetries: 3, TryTimeout: d})
}

// allow adds a second for each MiB to d.
func allow(d time.Duration, size int64) time.Duration {
	return d + time.Duration(size>>20)*time.Second
}
