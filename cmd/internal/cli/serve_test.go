package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/cmd/internal/cli"
)

// serving is a serve command that runs.
type serving struct {
	t      *testing.T
	url    string
	stderr *bytes.Buffer // to be read after stop
	cancel context.CancelFunc
	code   chan int
}

// serve starts leasestream serve at a free port.
func serve(t *testing.T, args ...string) *serving {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, stdout := io.Pipe()
	s := &serving{t: t, stderr: &bytes.Buffer{}, cancel: cancel, code: make(chan int, 1)}
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--store", "sqlite:" + filepath.Join(t.TempDir(), "s.db")}, args...)
	go func() { // until the test stops it
		s.code <- cli.Run(ctx, args, strings.NewReader(""), stdout, s.stderr, func(string) string { return "" })
		stdout.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("serve printed no URL but ended with %d: %s", <-s.code, s.stderr)
	}
	s.url = strings.TrimSpace(line)
	return s
}

func (s *serving) stop() {
	s.t.Helper()
	s.cancel()
	if code := <-s.code; code != 0 {
		s.t.Errorf("serve ended with %d: %s", code, s.stderr)
	}
}

func (s *serving) get(client *http.Client, url string) int {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), "GET", url, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

func TestServe(t *testing.T) {
	s := serve(t, writePipeline(t))
	base, token, ok := strings.Cut(s.url, "?token=")
	if !ok || !strings.HasPrefix(base, "http://127.0.0.1:") || len(token) < 16 {
		t.Errorf("serve prints %q, want a URL of loopback with a token", s.url)
	}
	noRedirects := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if got := s.get(noRedirects, base); got != http.StatusUnauthorized {
		t.Errorf("GET without the token = %d, want 401", got)
	}
	if got := s.get(noRedirects, s.url); got != http.StatusSeeOther {
		t.Errorf("GET with the token = %d, want 303", got)
	}
	// A page that is open must not keep the command from ending.
	request, err := http.NewRequestWithContext(t.Context(), "GET", base+"live/runs", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET /live/runs = %v, %v, want 200", response, err)
	}
	defer response.Body.Close()
	s.stop()
	if _, err := io.ReadAll(response.Body); err != nil {
		t.Errorf("the event stream ended with %v", err)
	}
	if strings.Contains(s.stderr.String(), token) {
		t.Errorf("the log has the token: %s", s.stderr)
	}
}

func TestServe_TokenFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	s := serve(t, "--token-file", file)
	token, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token file is %v, %v, want it for nobody else to read", info.Mode(), err)
	}
	if strings.Contains(s.url, "token") {
		t.Errorf("serve prints %q, want no token", s.url)
	}
	s.stop()
	again := serve(t, "--token-file", file)
	if got := again.get(http.DefaultClient, again.url); got != http.StatusUnauthorized {
		t.Errorf("GET without the token = %d, want 401", got)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if got := again.get(client, again.url+"?token="+strings.TrimSpace(string(token))); got != http.StatusSeeOther {
		t.Errorf("GET with the token of the file = %d, want 303", got)
	}
	again.stop()
}

func TestServe_TLS(t *testing.T) {
	cert, key, pool := writeCertificate(t)
	s := serve(t, "--tls-cert", cert, "--tls-key", key)
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if got := s.get(client, s.url); got != http.StatusSeeOther || !strings.HasPrefix(s.url, "https://") {
		t.Errorf("GET %s = %d, want 303", s.url, got)
	}
	client.CloseIdleConnections()
	s.stop()
}

// writeCertificate makes a certificate for loopback, which itself vouches for.
func writeCertificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, bytes []byte) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", pkcs8), pool
}

func TestServe_Usage(t *testing.T) {
	short := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(short, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"serve", "--tls-cert", "c.pem"}, "give both --tls-cert and --tls-key"},
		{[]string{"serve", "--tls-cert", "none.pem", "--tls-key", "none.pem"}, "no such file"},
		{[]string{"serve", "--token-file", short}, "want 16 or more"},
		{[]string{"serve", "none.yaml"}, "no such file"},
	} {
		code, stdout, stderr := run(t, t.Context(), nil, test.args...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("%q = %d, %q, %q, want 2 and %q", test.args, code, stdout, stderr, test.want)
		}
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	code, _, stderr := run(t, t.Context(), nil, "serve", "--listen", busy.Addr().String())
	if code != 1 || !strings.Contains(stderr, "address already in use") {
		t.Errorf("serve at an address in use = %d, %q, want 1 and that it is in use", code, stderr)
	}
}

// Metrics are beside the dashboard, at an address of their own that needs no token.
func TestServe_Metrics(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	s := serve(t, "--metrics", address)
	if got := s.get(http.DefaultClient, "http://"+address+"/metrics"); got != http.StatusOK {
		t.Errorf("GET /metrics = %d, want 200", got)
	}
	s.stop()
}
