package wire

import (
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
const busForms = NoBus + " or nats://HOST:PORT"

// CheckBus says what is wrong with a bus URL, without repeating it, or nil.
func CheckBus(busURL string) error {
	if busURL == NoBus || isNATS(busURL) {
		return nil
	}
	return errors.New("unknown bus: want " + busForms)
}

func isNATS(busURL string) bool {
	scheme, rest, _ := strings.Cut(busURL, "://")
	return (scheme == "nats" || scheme == "tls") && rest != ""
}

// OpenBus opens the bus with this URL — none, or nats://[USER:PASSWORD@]HOST:PORT,
// or tls:// in place of nats://, several with commas between — for the workers of
// a store; nil for none. Workers of other stores do not hear it. No error shows a
// secret of the URLs.
func OpenBus(busURL, storeURL string) (bus.Bus, error) {
	if err := CheckBus(busURL); err != nil || busURL == NoBus {
		return nil, err
	}
	b, err := natsbus.Connect(busURL, &natsbus.Options{Prefix: busPrefix(storeURL)})
	if err != nil {
		return nil, err
	}
	return b, nil
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
