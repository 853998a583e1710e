package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/cmd/internal/wire"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/dashboard"
)

// serving is what the dashboard is served with: the flags of serve.
type serving struct {
	address   string
	tokenFile string
	readOnly  bool
	cert, key string
	dir       string
	noCreate  bool
}

func (a *app) newServe() *cobra.Command {
	var s serving
	cmd := &cobra.Command{
		Use:   "serve [FILE...]",
		Short: "Show the runs in a browser, and steer them from there",
		Long: `Serve a dashboard of the store until a signal comes, and print its URL. Runs of
the given pipeline files, and of those that were started before, can be started
from it; workers elsewhere do their work.

The URL has a random token, without which nothing is answered. Whoever has it can
do all that the pages offer, unless --read-only is given. With --token-file the
token is the one in the file, which is made if it is missing, and is not printed.`,
		Example: `  leasestream serve
  leasestream serve pipeline.yaml --token-file ~/.leasestream-token
  leasestream serve --listen 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem --read-only`,
	}
	flags := cmd.Flags()
	flags.StringVar(&s.address, "listen", "127.0.0.1:8484", "`ADDRESS` to listen at; port 0 takes a free one")
	flags.StringVar(&s.tokenFile, "token-file", "", "`FILE` with the token, at least 16 characters")
	flags.BoolVar(&s.readOnly, "read-only", false, "offer no actions, and refuse all")
	flags.StringVar(&s.cert, "tls-cert", "", "`FILE` with the certificate to serve TLS with")
	flags.StringVar(&s.key, "tls-key", "", "`FILE` with the key of the certificate")
	addDir(cmd, &s.dir)
	addNoCreate(cmd, &s.noCreate)
	a.addMetrics(cmd)
	cmd.RunE = a.do(func(ctx context.Context, files []string) error { return s.run(ctx, a, files) })
	return cmd
}

func (s *serving) run(ctx context.Context, a *app, files []string) error {
	if err := a.shared(); err != nil {
		return err
	}
	pipelines := make([]*processor.Pipeline, len(files))
	for i, file := range files {
		var err error
		if pipelines[i], err = a.loadPipeline(file, s.dir, a.stderr); err != nil {
			return err
		}
	}
	token, err := s.token()
	if err != nil {
		return err
	}
	server, listener, err := s.listen(ctx)
	if err != nil {
		return err
	}
	return errors.Join(a.withWork(ctx, s.noCreate, a.stderr, func(p *processor.Processor) error {
		board := dashboard.New(p, dashboard.Token(token, "dashboard"), &dashboard.Options{
			Title: wire.Redact(a.storeURL), ReadOnly: s.readOnly, Pipelines: pipelines,
			Load: loadStored, Describe: drawStored, Logger: a.logger(a.stderr),
		})
		server.Handler = board
		if _, err := fmt.Fprintln(a.stdout, s.url(listener.Addr(), token)); err != nil {
			return err
		}
		return serveUntil(ctx, server, listener, board)
	}), ignoreClosed(listener.Close()))
}

// listen begins to listen before the store is opened, so that an address in use is
// told at once.
func (s *serving) listen(ctx context.Context) (*http.Server, net.Listener, error) {
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	switch {
	case (s.cert == "") != (s.key == ""):
		return nil, nil, usagef("give both --tls-cert and --tls-key, or neither")
	case s.cert != "":
		pair, err := tls.LoadX509KeyPair(s.cert, s.key)
		if err != nil {
			return nil, nil, usagef("certificate: %w", err)
		}
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.address)
	return server, listener, err
}

// url is what a browser is to be pointed at.
func (s *serving) url(address net.Addr, token string) string {
	scheme := "http"
	if s.cert != "" {
		scheme = "https"
	}
	url := fmt.Sprintf("%s://%s/", scheme, reachable(address))
	if s.tokenFile == "" {
		url += "?token=" + token
	}
	return url
}

// reachable is an address as one would type it: a listener of all addresses is
// reached at this machine's own.
func reachable(address net.Addr) string {
	tcp, ok := address.(*net.TCPAddr)
	if ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return address.String()
}

// serveUntil serves until ctx ends, and then lets requests finish. Event streams
// would never, so they are ended first.
func serveUntil(ctx context.Context, server *http.Server, listener net.Listener, board *dashboard.Dashboard) error {
	served := make(chan error, 1)
	go func() { // until the server is closed, below
		served <- serve(server, listener)
	}()
	select {
	case err := <-served:
		return errors.Join(err, board.Close())
	case <-ctx.Done():
	}
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := board.Close()
	if server.Shutdown(shutdown) != nil {
		err = errors.Join(err, server.Close())
	}
	return errors.Join(err, ignoreClosed(<-served))
}

func serve(server *http.Server, listener net.Listener) error {
	if server.TLSConfig != nil {
		return server.ServeTLS(listener, "", "")
	}
	return server.Serve(listener)
}

// ignoreClosed takes the error of something that was closed on purpose for none.
func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
