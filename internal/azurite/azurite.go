// Package azurite starts Azurite, the emulator of Azure Storage, for tests. It is
// the pinned release of package-lock.json beside this file, run as it comes: in
// memory, without flags that make it more lenient.
//
// Tests that need it never skip themselves: where it is not installed they fail,
// and say how to install it.
package azurite

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Install is the command that installs Azurite, to be run in the root of the
// module.
const Install = "npm ci --prefix internal/azurite"

// Server is a running Azurite.
type Server struct {
	endpoint   string // http://127.0.0.1:PORT
	containers atomic.Int64
}

// Start starts an Azurite that lives until the end of the test, on a port of its
// own, and returns when it listens. The test fails if it cannot.
func Start(t testing.TB) *Server {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(root, "internal", "azurite")
	if err := installed(folder); err != nil {
		t.Fatalf("%v: run %q in %s", err, Install, root)
	}
	p, err := launch(folder, t.TempDir())
	if err != nil {
		t.Fatalf("start Azurite: %v", err)
	}
	t.Cleanup(p.stop)
	return &Server{endpoint: p.endpoint}
}

// Endpoint is the address of the blob service, http://127.0.0.1:PORT.
func (s *Server) Endpoint() string { return s.endpoint }

// Container returns the URL of a container that no one has used. It is not
// created.
func (s *Server) Container() string {
	return fmt.Sprintf("%s/devstoreaccount1/test-%d", s.endpoint, s.containers.Add(1))
}

// installed checks that the pinned release is there.
func installed(folder string) error {
	var want struct{ Dependencies map[string]string }
	var got struct{ Version string }
	if err := readJSON(filepath.Join(folder, "package.json"), &want); err != nil {
		return err
	}
	err := readJSON(filepath.Join(folder, "node_modules", "azurite", "package.json"), &got)
	switch pinned := want.Dependencies["azurite"]; {
	case err != nil:
		return fmt.Errorf("the tests need Azurite, which is not installed (%w)", err)
	case got.Version != pinned:
		return fmt.Errorf("the tests need Azurite %s, and %s is installed", pinned, got.Version)
	}
	return nil
}

func readJSON(file string, v any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// moduleRoot is the nearest folder upwards with a go.mod; tests run in the folder
// of their package.
func moduleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			return "", fmt.Errorf("no go.mod in %s or above", start)
		}
	}
}

// process is Azurite as a child process.
type process struct {
	endpoint string
	cmd      *exec.Cmd
	stdin    io.Closer // its end is the end of the process: watch.js
	output   sync.WaitGroup
}

// launch runs Azurite in the folder dir until stop, and returns when it listens.
func launch(folder, dir string) (*process, error) {
	p := &process{cmd: exec.Command("node",
		"--require", filepath.Join(folder, "watch.js"),
		filepath.Join(folder, "node_modules", "azurite", "dist", "src", "blob", "main.js"),
		"--blobPort", "0", "--inMemoryPersistence", "--disableTelemetry")}
	p.cmd.Dir = dir
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.stdin = stdin
	output, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stderr = p.cmd.Stdout
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(output)
	if p.endpoint, err = listening(lines); err != nil {
		p.stop()
		return nil, err
	}
	// Ends with the output of the process; stop waits for it.
	p.output.Go(func() { io.Copy(io.Discard, lines) })
	return p, nil
}

// listening reads what Azurite prints until it tells its address.
func listening(output *bufio.Reader) (endpoint string, err error) {
	var said strings.Builder
	for {
		line, err := output.ReadString('\n')
		if _, url, ok := strings.Cut(line, "successfully listens on "); ok {
			return strings.TrimSpace(url), nil
		}
		said.WriteString(line)
		if err != nil {
			return "", fmt.Errorf("it ended before it listened:\n%s", said.String())
		}
	}
}

// stop ends the process and waits until it is gone. There is nothing to save, so
// it is not asked to finish.
func (p *process) stop() {
	p.stdin.Close()
	p.cmd.Process.Kill()
	p.output.Wait()
	p.cmd.Wait()
}
