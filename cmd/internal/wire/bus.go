package wire

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/natsbus"
)

// NoBus is the bus of whoever wants none.
const NoBus = "none"

// busForms are what a bus URL may look like, for errors.
const busForms = NoBus + ", nats://HOST:PORT or http://HOST[:PORT][/PATH]"

// BusOptions are how a bus is opened; nil means the defaults.
type BusOptions struct {
	// Store is the URL of the store whose workers are rung. Those of other stores
	// on the same NATS server do not hear it.
	Store string
	// Listen is the address at which doorbells are taken over HTTP, if it is not
	// the one in the bus URL: behind a balancer, for one.
	Listen string
	// Mute: no doorbells are taken, only rung.
	Mute bool
	// Token is what all who ring over HTTP share.
	Token string
	// Peers and Own are those of webbus.Options.
	Peers func(ctx context.Context, bell bus.Doorbell) ([]string, error)
	Own   func(etag string) bool
}

// Bus is an open bus.
type Bus struct {
	bus.Bus
	// URL is where this process takes doorbells over HTTP; "" if it takes none.
	URL string
}

// CheckBus says what is wrong with a bus URL, without repeating it, or nil.
func CheckBus(busURL string) error {
	switch {
	case busURL == NoBus || isNATS(busURL):
		return nil
	case IsWebBus(busURL):
		_, err := parseWebBus(busURL)
		return err
	}
	return errors.New("unknown bus: want " + busForms)
}

func isNATS(busURL string) bool {
	scheme, rest, _ := strings.Cut(busURL, "://")
	return (scheme == "nats" || scheme == "tls") && rest != ""
}

// OpenBus opens the bus with this URL; nil for none. No error shows a secret of
// the URL.
//
// nats://[USER:PASSWORD@]HOST:PORT, or tls:// in place of nats://, several with
// commas between, is a server that carries the doorbells.
//
// http://HOST[:PORT][/PATH] is where other workers and Azure Event Grid reach this
// one. It listens there, at a free port if there is none in the URL, unless
// Options.Listen says otherwise, as it must for https://, which something before
// this process has to end.
func OpenBus(busURL string, o *BusOptions) (*Bus, error) {
	if err := CheckBus(busURL); err != nil || busURL == NoBus {
		return nil, err
	}
	if o == nil {
		o = &BusOptions{}
	}
	if IsWebBus(busURL) {
		return openWebBus(busURL, o)
	}
	b, err := natsbus.Connect(busURL, &natsbus.Options{Prefix: busPrefix(o.Store)})
	if err != nil {
		return nil, err
	}
	return &Bus{Bus: b}, nil
}

// RedactBus returns a bus URL as it may be printed: without user and password.
func RedactBus(busURL string) string {
	if CheckBus(busURL) != nil {
		return "…"
	}
	servers := strings.Split(busURL, ",")
	for i, server := range servers {
		u, err := url.Parse(server)
		switch {
		case err != nil:
			servers[i] = "…"
		case u.User != nil:
			servers[i] = u.Scheme + "://…@" + u.Host + u.Path
		}
	}
	return strings.Join(servers, ",")
}

// busPrefix keeps stores on one server apart. It does not tell what they are.
func busPrefix(storeURL string) string {
	hash := sha256.Sum256([]byte(storeIdentity(storeURL)))
	return fmt.Sprintf("leasestream.%x", hash[:12])
}

// storeIdentity is the same for all workers of a store, whatever their
// credentials.
func storeIdentity(storeURL string) string {
	if isAzure(storeURL) {
		if u, err := url.Parse(storeURL); err == nil {
			return strings.ToLower(u.Host) + strings.TrimSuffix(u.Path, "/")
		}
	}
	path, ok := strings.CutPrefix(storeURL, "sqlite:")
	if !ok {
		return rand.Text() // in memory: nobody else has it
	}
	host, _ := os.Hostname() // without it, equal paths on two hosts share doorbells, which harms nothing
	return host + ":" + realPath(path)
}

// realPath is the path of a file that may not be there yet, without links.
func realPath(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(absolute))
	if err != nil {
		return absolute
	}
	return filepath.Join(folder, filepath.Base(absolute))
}
