package cli

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/spf13/pflag"

	"github.com/leasestream/leasestream/cmd/internal/wire"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/bus"
)

// busFlags say what rings for new work.
type busFlags struct {
	url       string
	listen    string
	tokenFile string
	token     string // what was in the file
}

func (b *busFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&b.url, "bus", wire.NoBus, "`URL` of what rings for new work: none; nats://HOST:PORT, a server; or http://HOST[:PORT][/PATH], where other workers reach this one")
	flags.StringVar(&b.listen, "bus-listen", "", "`ADDRESS` at which a bus over HTTP listens (default host and port of its URL, a free port if that has none)")
	flags.StringVar(&b.tokenFile, "bus-token-file", "", "`FILE` with the token that all who ring over HTTP share")
}

// minToken is how many characters a token has at least: fewer could be guessed.
const minToken = 16

// maxToken is the largest file with a token, in bytes.
const maxToken = 4 << 10

// readToken reads the token that a bus over HTTP needs.
func (b *busFlags) readToken() error {
	if !wire.IsWebBus(b.url) {
		return nil
	}
	if b.tokenFile == "" {
		return usagef("a bus over HTTP needs a token that all who ring share: write 32 random characters into a file and name it by --bus-token-file")
	}
	var err error
	b.token, err = tokenIn("--bus-token-file", b.tokenFile)
	return err
}

// tokenIn reads the token in the file that a flag names.
func tokenIn(flag, file string) (string, error) {
	data, err := readAtMost(file, maxToken)
	if err != nil {
		return "", &exitError{codeUsage, fmt.Errorf("%s: %w", flag, err)}
	}
	token := strings.TrimSpace(string(data))
	if len(token) < minToken {
		return "", usagef("%s: the token in %s has %d characters; want %d or more", flag, file, len(token), minToken)
	}
	return token, nil
}

// open opens the bus; nil for none. mute: it only rings.
func (b *busFlags) open(storeURL string, mute bool, l *link) (*wire.Bus, error) {
	if err := b.readToken(); err != nil {
		return nil, err
	}
	return wire.OpenBus(b.url, &wire.BusOptions{
		Store: storeURL, Listen: b.listen, Mute: mute, Token: b.token, Peers: l.peers, Own: l.own,
	})
}

// link leads from a bus to the processor that uses it, which is made after it.
type link struct {
	bus bus.Bus // nil for none
	to  atomic.Pointer[processor.Processor]
}

func (l *link) peers(ctx context.Context, bell bus.Doorbell) ([]string, error) {
	if p := l.to.Load(); p != nil {
		return p.Peers(ctx, bell)
	}
	return nil, nil
}

func (l *link) own(etag string) bool {
	p := l.to.Load()
	return p != nil && p.Wrote(etag)
}
