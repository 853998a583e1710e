package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/cmd/internal/cli"
	"github.com/leasestream/leasestream/internal/azurite"
)

// TestRun_Account checks that what concerns all containers of an account reaches
// all of them, and refuses as long as there is a worker in any.
func TestRun_Account(t *testing.T) {
	server := azurite.Start(t)
	first, second := server.Container(), server.Container()
	line := func(want int, url, args string) (stdout, stderr string) {
		t.Helper()
		var out, err bytes.Buffer
		code := cli.Run(t.Context(), append(strings.Fields(args), "--store", url), strings.NewReader(""), &out, &err,
			func(string) string { return "" })
		if code != want {
			t.Errorf("%s = %d, %s, want %d", args, code, err.String(), want)
		}
		return out.String(), err.String()
	}
	line(0, first, "blob put b")
	line(0, first, "lease acquire b --duration infinite")
	line(0, first, "lease acquire --container --duration infinite")
	line(0, second, "blob put workers/w")
	line(0, second, "lease acquire workers/w --duration 60s")

	for _, want := range []string{
		"test-1     (container)  leased  infinite  -        -\n",
		"test-1     b            leased  infinite  -        -\n",
		"test-2     workers/w    leased  fixed     -        -\n",
	} {
		if out, _ := line(0, first, "lease ls --account"); !strings.Contains(out, want) {
			t.Errorf("lease ls --account = %s, want %q in it", out, want)
		}
	}
	if out, _ := line(0, first, "lease ls"); strings.Contains(out, "workers/w") {
		t.Errorf("lease ls = %s, want one container", out)
	}
	const dry = "3 leases would be broken\ntest-1/(container)\ntest-1/b\ntest-2/workers/w\n"
	if out, _ := line(0, first, "lease break --all --account --dry-run"); out != dry {
		t.Errorf("lease break --all --account --dry-run = %q, want %q", out, dry)
	}
	if _, err := line(1, first, "lease break --all --account"); !strings.Contains(err, `1 worker lives in container "test-2": w;`) {
		t.Errorf("lease break --all --account: %s, want the worker that lives", err)
	}
	line(0, second, "pause --all")
	if out, _ := line(0, first, "lease break --all --account"); out != "3 leases broken\n" {
		t.Errorf("lease break --all --account = %q, want 3 broken", out)
	}
	if out, _ := line(0, first, "lease ls --account --format json"); strings.Contains(out, `"locked"`) {
		t.Errorf("lease ls --account = %s, want none locked", out)
	}
}
