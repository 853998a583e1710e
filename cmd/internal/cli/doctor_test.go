package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/internal/azurite"
)

type finding struct{ Check, Verdict, Text, Remedy string }

// doctorOf runs doctor on a store and gives its findings by check; those of one
// check are joined.
func doctorOf(t *testing.T, environment map[string]string, url string) (code int, found map[string]finding) {
	t.Helper()
	code, stdout, stderr := runEnvironment(t, environment, "doctor", "--format", "json", "--store", url)
	var list []finding
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || stderr != "" {
		t.Fatalf("doctor = %d, %s, %s, %v", code, stdout, stderr, err)
	}
	if strings.Contains(stdout, "c2VjcmV0") {
		t.Errorf("doctor shows a secret: %s", stdout)
	}
	found = map[string]finding{}
	for _, f := range list {
		before := found[f.Check]
		if before.Verdict == "fail" {
			f.Verdict = "fail"
		}
		f.Text, f.Remedy = before.Text+f.Text, before.Remedy+f.Remedy
		found[f.Check] = f
	}
	return code, found
}

func TestDoctor_Healthy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.db")
	for _, test := range []struct {
		name, url string
		checks    []string
		service   string
	}{
		{"sqlite", "sqlite:" + file, []string{"fsync", "file", "disk"}, ""},
		{"Azurite", azurite.Start(t).Container(), []string{"service"}, "Azurite"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if code, _, stderr := runEnvironment(t, nil, "blob", "put", "b", "--store", test.url); code != 0 {
				t.Fatal(stderr)
			}
			code, found := doctorOf(t, nil, test.url)
			for _, check := range append(test.checks, "version", "store", "container", "write", "read", "lease", "delete", "latency", "clock") {
				if f := found[check]; f.Verdict != "ok" && f.Verdict != "warn" {
					t.Errorf("%s: %+v, want ok", check, f)
				}
			}
			if code != 0 || !strings.Contains(found["service"].Text, test.service) {
				t.Errorf("doctor = %d, service %q, want 0, %q", code, found["service"].Text, test.service)
			}
			if _, stdout, _ := runEnvironment(t, nil, "blob", "ls", "--format", "json", "--store", test.url); strings.Count(stdout, `"name"`) != 1 {
				t.Errorf("doctor left something behind: %s", stdout)
			}
		})
	}
}

func TestDoctor_Text(t *testing.T) {
	code, stdout, stderr := run(t, t.Context(), nil, "doctor")
	if code != 1 || stderr != "" || !strings.Contains(stdout, "\nfail  store      ") || !strings.Contains(stdout, "creates it") {
		t.Errorf("doctor = %d, %s, %s, want 1, a line for the missing file, and what to do", code, stdout, stderr)
	}
	for line := range strings.Lines(stdout) {
		if !strings.HasPrefix(line, "ok    ") && !strings.HasPrefix(line, "fail  ") {
			t.Errorf("line %q, want a verdict first", line)
		}
	}
}

// fakeAzure answers each request by status, with its clock off.
func fakeAzure(t *testing.T, off time.Duration, status func(*http.Request) (int, string)) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat))
		w.Header().Set("Server", "Windows-Azure-Blob/1.0 Microsoft-HTTPAPI/2.0")
		w.Header().Set("x-ms-version", r.Header.Get("x-ms-version"))
		code, reason := status(r)
		if code >= 400 {
			w.Header().Set("x-ms-error-code", reason)
			w.WriteHeader(code)
			return
		}
		w.Header().Set("ETag", `"0x1"`)
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		w.WriteHeader(code)
		if r.URL.Query().Get("comp") == "list" {
			w.Write([]byte(`<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs/><NextMarker/></EnumerationResults>`))
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/devstoreaccount1/orders"
}

// What a service refuses, how far its clock is off and what a signature lacks are
// all found, each with a remedy.
func TestDoctor_Sick(t *testing.T) {
	const signature = "?sv=2024-11-04&sr=c&sp=rl&se=2020-01-01T00:00:00Z&sig=c2VjcmV0c2VjcmV0"
	denied := func(*http.Request) (int, string) { return http.StatusForbidden, "AuthorizationPermissionMismatch" }
	for _, test := range []struct {
		name    string
		off     time.Duration
		status  func(*http.Request) (int, string)
		query   string
		want    map[string]string // :: check → part of a finding that failed
		service string
	}{
		{"everything denied", 0, denied, signature, map[string]string{
			"signature": "expired", "list": "AuthorizationPermissionMismatch",
		}, "Azure Blob Storage"},
		{"clock", -20 * time.Minute, denied, "", map[string]string{
			"clock": "ahead of the store", "list": "AuthorizationPermissionMismatch",
		}, "Azure Blob Storage"},
		{"no container", 0, func(*http.Request) (int, string) { return http.StatusNotFound, "ContainerNotFound" }, "", map[string]string{
			"container": "ContainerNotFound",
		}, "Azure Blob Storage"},
		{"reading only", 0, func(r *http.Request) (int, string) {
			if r.Method == http.MethodPut || r.Method == http.MethodDelete {
				return denied(r)
			}
			return http.StatusOK, ""
		}, signature, map[string]string{"signature": "lack w (starting runs", "write": "AuthorizationPermissionMismatch"}, "Azure Blob Storage"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, found := doctorOf(t, nil, fakeAzure(t, test.off, test.status)+test.query)
			if code != 1 || !strings.Contains(found["service"].Text, test.service) {
				t.Errorf("doctor = %d, service %q, want 1, %q", code, found["service"].Text, test.service)
			}
			for check, want := range test.want {
				if f := found[check]; f.Verdict != "fail" || !strings.Contains(f.Text, want) || f.Remedy == "" {
					t.Errorf("%s: %+v, want fail, %q and a remedy", check, f, want)
				}
			}
		})
	}
}

// A signature may be in the connection string.
func TestDoctor_ConnectionString(t *testing.T) {
	url := fakeAzure(t, 0, func(*http.Request) (int, string) { return http.StatusForbidden, "AuthenticationFailed" })
	endpoint := strings.TrimSuffix(url, "/orders")
	_, found := doctorOf(t, map[string]string{
		"AZURE_STORAGE_CONNECTION_STRING": "BlobEndpoint=" + endpoint + ";SharedAccessSignature=ss=q&srt=o&sp=r&se=2030-01-01&sig=c2VjcmV0c2VjcmV0",
	}, url)
	if f := found["signature"]; f.Verdict != "fail" || !strings.Contains(f.Text, "not for blobs (ss=q)") {
		t.Errorf("signature: %+v, want that it is not for blobs", f)
	}
	if !strings.Contains(found["store"].Text, "with AZURE_STORAGE_CONNECTION_STRING") {
		t.Errorf("store: %+v, want where the credentials come from", found["store"])
	}
}
