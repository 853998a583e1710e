package cli_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/cmd/internal/cli"
	"github.com/leasestream/leasestream/internal/azurite"
)

// TestRun_Stores checks that commands say the same on every store, storage error
// codes above all.
func TestRun_Stores(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { testStore(t, "sqlite:"+filepath.Join(t.TempDir(), "s.db")) })
	t.Run("Azurite", func(t *testing.T) { testStore(t, azurite.Start(t).Container()) })
}

func testStore(t *testing.T, url string) {
	const id, other = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	for _, test := range []struct {
		line         string
		code         int
		wantOut, err string // the errors of a command are compared up to their end in part
	}{
		{"blob get b", 1, "", "(ContainerNotFound"},
		{"ls", 1, "", "(ContainerNotFound"},
		{"blob put b", 0, `"0x`, ""},
		{"blob get b", 0, "content", ""},
		{"blob get x", 1, "", "(BlobNotFound"},
		{"blob stat x", 1, "", "(BlobNotFound"},
		{"blob rm x", 1, "", "(BlobNotFound"},
		{"lease acquire x", 1, "", "(BlobNotFound"},
		{"blob put b --if-none-match *", 1, "", "(BlobAlreadyExists"},
		{"blob put b --if-match 0x1", 1, "", "(ConditionNotMet"},
		{"lease acquire b --duration infinite --id " + id, 0, id, ""},
		{"lease acquire b", 1, "", "(LeaseAlreadyPresent"},
		{"lease show b --format json", 0, `{"state":"leased","status":"locked","duration":"infinite",`, ""},
		{"lease ls --format json", 0, `{"name":"b","state":"leased","status":"locked","duration":"infinite",`, ""},
		{"blob put b", 1, "", "(LeaseIdMissing"},
		{"blob rm b", 1, "", "(LeaseIdMissing"},
		{"blob put b --lease-id " + other, 1, "", "(LeaseIdMismatchWithBlobOperation"},
		{"blob put b --metadata k=Ž --lease-id " + id, 0, `"0x`, ""},
		{"blob stat b --format json", 0, `"metadata":{"k":"Ž"}`, ""},
		{"lease renew b --id " + other, 1, "", "(LeaseIdMismatchWithLeaseOperation"},
		{"lease change b --to " + other + " --id " + id, 0, other, ""},
		{"lease break b", 0, "0", ""},
		{"lease show b --format json", 0, `{"state":"broken","status":"unlocked","duration":"",`, ""},
		{"lease release b --id " + other, 0, "", ""},
		{"lease break b", 1, "", "(LeaseNotPresentWithLeaseOperation"},
		{"lease acquire --container --duration 60s", 0, "-", ""},
		{"lease break --container --period 0s", 0, "0", ""},
		{"blob ls --format json", 0, `"name":"b"`, ""},
		{"blob rm b", 0, "", ""},
		{"blob ls --format json", 0, "[]", ""},
		{"ls --format json", 0, "[]", ""},
		{"show r", 1, "", `no such run: "r"`},
	} {
		var stdout, stderr bytes.Buffer
		args := append(strings.Fields(test.line), "--store", url)
		code := cli.Run(t.Context(), args, strings.NewReader("content"), &stdout, &stderr, func(string) string { return "" })
		if code != test.code || !strings.Contains(stdout.String(), test.wantOut) || !strings.Contains(stderr.String(), test.err) {
			t.Errorf("%s: exit code %d, %q, %q, want %d, %q, %q", test.line,
				code, stdout.String(), stderr.String(), test.code, test.wantOut, test.err)
		}
		if (test.code == 0) != (stderr.Len() == 0) || test.code != 0 && stdout.Len() > 0 {
			t.Errorf("%s: exit code %d with %q and %q: an error belongs on standard error, a result on standard output",
				test.line, code, stdout.String(), stderr.String())
		}
	}
	testRun(t, url)
}

// testRun checks that a run ends with its result.
func testRun(t *testing.T, url string) {
	var stdout, stderr bytes.Buffer
	args := []string{"run", writePipeline(t), "--input", `{"n": 1.50}`, "--store", url}
	code := cli.Run(t.Context(), args, strings.NewReader(""), &stdout, &stderr, func(string) string { return "" })
	if code != 0 || stdout.String() != "{\"n\":1.50}\n" {
		t.Errorf("run = %d, %q, %q, want 0 and its input", code, stdout.String(), stderr.String())
	}
}
