package webbus

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/membus"
)

// Options of a bus; nil means the defaults.
type Options struct {
	// Peers returns the http or https URLs at which live workers take doorbells
	// that can do something about this one: that serve its step, and may touch its
	// stream; all live workers if it has no step. It is called in each Ring, once
	// for each stream and step, and should answer from memory. nil: Ring reaches
	// nobody.
	Peers func(ctx context.Context, bell bus.Doorbell) ([]string, error)
	// Own tells that this process itself wrote the blob with an ETag, so that what
	// the storage account says of it is no news. The ETag is in quotes, as the store
	// has it. nil: nothing is known to be own.
	Own func(etag string) bool
	// Source is the source of the CloudEvents that Ring posts, a URI reference that
	// tells workers apart in logs; "" means "leasestream".
	Source string
	// Timeout bounds a whole call of Ring; 0 means 2 s.
	Timeout time.Duration
	// Parallel is how many posts of one Ring are under way at a time; 0 means 8.
	Parallel int
	// Quiet is the least time between two doorbells for one stream because of its
	// blob; 0 means 1 s.
	Quiet time.Duration
	// Transport makes the posts; nil means one of the bus's own.
	Transport http.RoundTripper
}

func (o *Options) orDefaults() Options {
	var all Options
	if o != nil {
		all = *o
	}
	if all.Source == "" {
		all.Source = "leasestream"
	}
	if all.Timeout <= 0 {
		all.Timeout = 2 * time.Second
	}
	if all.Parallel <= 0 {
		all.Parallel = 8
	}
	if all.Quiet <= 0 {
		all.Quiet = time.Second
	}
	if all.Transport == nil {
		all.Transport = ownTransport()
	}
	return all
}

// ownTransport has connections of its own, for Close to close.
func ownTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	return t.Clone()
}

// Bus is a bus over HTTP.
type Bus struct {
	token  string
	hash   [sha256.Size]byte // of the token
	o      Options
	client *http.Client
	local  *membus.Bus // those that listen here
	blobs  *quieter
	closed chan struct{}
	once   sync.Once // closes closed
}

var (
	_ bus.Bus      = (*Bus)(nil)
	_ http.Handler = (*Bus)(nil)
)

// New makes a bus for a token, which all workers and Event Grid share.
func New(token string, o *Options) (*Bus, error) {
	if token == "" || strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return nil, errors.New("the token of the web bus must be one or more visible ASCII characters without spaces")
	}
	all := o.orDefaults()
	b := &Bus{
		token: token, hash: sha256.Sum256([]byte(token)), o: all,
		client: &http.Client{
			Transport: all.Transport,
			// A redirect would carry the token to wherever it points.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		local: membus.New(), closed: make(chan struct{}),
	}
	b.blobs = newQuieter(all.Quiet, b.look)
	return b, nil
}

// Listen calls f for what others ring here: each doorbell of one of the steps,
// and each without a step. It ends with ctx or when the bus is closed.
func (b *Bus) Listen(ctx context.Context, steps []string, f func(bus.Doorbell)) error {
	return b.local.Listen(ctx, steps, f)
}

// Close ends all listening. The handler then answers 503.
func (b *Bus) Close() error {
	b.once.Do(func() { close(b.closed) })
	b.blobs.close()
	b.client.CloseIdleConnections()
	return b.local.Close()
}

func (b *Bus) isClosed() bool {
	select {
	case <-b.closed:
		return true
	default:
		return false
	}
}

// look rings, here, that a stream has changed.
func (b *Bus) look(stream string) { b.hear(bus.Doorbell{Stream: stream}) }

// hear passes doorbells to those that listen here. That the bus was closed under
// it is no loss: nobody listens then.
func (b *Bus) hear(bells ...bus.Doorbell) {
	_ = b.local.Ring(context.Background(), bells...)
}

// authorized compares hashes, so that not even the length of the token shows in
// the time it takes.
func (b *Bus) authorized(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	hash := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(hash[:], b.hash[:]) == 1
}
