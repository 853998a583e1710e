package azurestore

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/leasestream/leasestream/scope/store"
)

// MaxBody is the largest body that is written or read, in bytes: what the SDK
// sends as one request. A larger one is refused with store.ErrTooLarge.
const MaxBody = blockblob.MaxUploadBlobBytes

// Store is one container of a storage account. Make one with [Open].
type Store struct {
	container *container.Client
	timeout   time.Duration
	hint      string // what an operator should look at if access is denied
	idle      func() // closes idle connections
}

var _ store.Store = (*Store)(nil)

// Options of a store; nil means the defaults.
type Options struct {
	// Credential signs in where the URL has no shared access signature; nil means
	// the search that the package comment describes.
	Credential azcore.TokenCredential
	// Timeout is how long one try of a request may take, beside a second for each
	// MiB of its body; 0 means 30 s. A request that was given up may still have
	// been carried out.
	Timeout time.Duration
	// Transport sends the requests; nil means a pool of connections that Close
	// closes.
	Transport policy.Transporter
}

func (o *Options) timeout() time.Duration {
	if o.Timeout == 0 {
		return 30 * time.Second
	}
	return o.Timeout
}

// Open opens the container with this URL. It sends nothing: whether the container
// is there and the credentials are right shows with the first request.
func Open(containerURL string, o *Options) (*Store, error) {
	a, err := parseAddress(containerURL)
	if err != nil {
		return nil, err
	}
	if o == nil {
		o = &Options{}
	}
	transport, idle := o.transport()
	client, hint, err := connect(a, o.Credential, clientOptions(transport))
	if err != nil {
		return nil, err
	}
	return &Store{container: client, timeout: o.timeout(), hint: hint, idle: idle}, nil
}

// Close closes the idle connections.
func (s *Store) Close() error {
	s.idle()
	return nil
}

// Create implements [store.Store].
func (s *Store) Create(ctx context.Context) error {
	_, err := s.send(once(ctx, s.timeout), func(ctx context.Context) error {
		_, err := s.container.Create(ctx, nil)
		return err
	})
	if bloberror.HasCode(err, bloberror.ContainerAlreadyExists) {
		return nil
	}
	return s.fail("create", "", err)
}
