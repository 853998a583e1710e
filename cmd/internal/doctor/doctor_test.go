package doctor_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/cmd/internal/doctor"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

func Example() {
	ctx := context.Background()
	st := memstore.New(nil)
	if err := st.Create(ctx); err != nil {
		fmt.Println(err)
		return
	}
	err := doctor.Examine(ctx, &doctor.Patient{Store: st}, func(f doctor.Finding) {
		if f.Check != "latency" && f.Check != "fsync" {
			fmt.Println(f.Verdict, f.Check, f.Text)
		}
	})
	fmt.Println(err)
	// Output:
	// ok container there, and can be listed
	// ok write a blob was written
	// ok read it was read
	// ok lease acquired, kept others off, renewed and released
	// ok delete it was deleted
	// ok clock the store goes by this machine's
	// <nil>
}

func newStore(t *testing.T) *memstore.Store {
	t.Helper()
	st := memstore.New(nil)
	if err := st.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	return st
}

// examine returns the verdicts :: check → verdict and text.
func examine(t *testing.T, ctx context.Context, p *doctor.Patient) (map[string]string, error) {
	t.Helper()
	found := map[string]string{}
	err := doctor.Examine(ctx, p, func(f doctor.Finding) {
		found[f.Check] = strings.TrimSpace(found[f.Check] + "\n" + string(f.Verdict) + " " + f.Text + "; " + f.Remedy)
	})
	return found, err
}

func left(t *testing.T, st store.Store) int {
	t.Helper()
	n := 0
	for _, err := range st.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// Each right that is missing is found, and the blob does not stay.
func TestExamine_MissingRights(t *testing.T) {
	for _, test := range []struct {
		op, check, want string
		leaves          int
	}{
		{"put", "write", "fail put", 0},
		{"get", "read", "fail get", 0},
		{"acquire", "lease", "fail acquire", 0},
		{"renew", "lease", "fail renew", 0},
		{"release", "lease", "fail release", 0},
		{"stat", "latency", "fail stat", 0},
		{"list", "list", "fail list", 0},
		{"delete", "delete", "delete the blob doctor/", 1},
	} {
		t.Run(test.op, func(t *testing.T) {
			st := newStore(t)
			faults := storetest.NewFaults(st, func(c storetest.Call) (bool, error) {
				if c.Op == test.op {
					return false, &store.Error{Op: c.Op, Name: c.Name, Code: "AuthorizationPermissionMismatch", Sentinel: store.ErrUnauthorized}
				}
				return true, nil
			})
			found, err := examine(t, t.Context(), &doctor.Patient{Store: faults})
			if err != nil || !strings.HasPrefix(found[test.check], "fail") || !strings.Contains(found[test.check], test.want) {
				t.Errorf("%s: %q, %v, want %q", test.check, found[test.check], err, test.want)
			}
			if n := left(t, st); n != test.leaves {
				t.Errorf("%d blobs are left, want %d", n, test.leaves)
			}
		})
	}
}

// What keeps the store locked is no lack of rights.
func TestExamine_Locked(t *testing.T) {
	faults := storetest.NewFaults(newStore(t), func(c storetest.Call) (bool, error) {
		if c.Op == "put" {
			return false, &store.Error{Op: c.Op, Name: c.Name, Sentinel: store.ErrStoreLocked, Detail: "by process 4711"}
		}
		return true, nil
	})
	found, err := examine(t, t.Context(), &doctor.Patient{Store: faults})
	if err != nil || !strings.HasSuffix(strings.TrimRight(found["write"], "; "), "by process 4711") {
		t.Errorf("write: %q, %v, want no more than who has the lock", found["write"], err)
	}
}

// A store that forgets leases, or a proxy that strips them, is found out.
type forgetful struct{ store.Store }

func (f forgetful) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	if o == nil {
		return &store.Info{}, nil
	}
	return f.Store.Put(ctx, name, body, o)
}

func TestExamine_LeasesThatKeepNobodyOff(t *testing.T) {
	st := newStore(t)
	found, _ := examine(t, t.Context(), &doctor.Patient{Store: forgetful{st}})
	if !strings.Contains(found["lease"], "fail a write without the lease was not refused") {
		t.Errorf("lease: %q, want that the lease keeps nobody off", found["lease"])
	}
	if n := left(t, st); n != 0 {
		t.Errorf("%d blobs are left, want 0", n)
	}
}

// Broken off at any request, or with an answer that is lost, the examination
// leaves nothing behind.
func TestExamine_BrokenOff(t *testing.T) {
	total := storetest.NewFaults(newStore(t), nil)
	if _, err := examine(t, t.Context(), &doctor.Patient{Store: total}); err != nil {
		t.Fatal(err)
	}
	for n := range total.Total() - 1 { // the last one removes the blob
		for _, lost := range []bool{false, true} {
			st := newStore(t)
			ctx, stop := context.WithCancel(t.Context())
			faults := storetest.NewFaults(st, func(c storetest.Call) (bool, error) {
				if c.N != n+1 {
					return true, nil
				}
				stop()
				if lost {
					return true, context.Canceled
				}
				return true, nil
			})
			if _, err := examine(t, ctx, &doctor.Patient{Store: faults}); err == nil {
				t.Errorf("broken off at request %d: no error", n+1)
			}
			if left := left(t, st); left != 0 {
				t.Errorf("broken off at request %d, answer lost %t: %d blobs are left, want 0", n+1, lost, left)
			}
			stop()
		}
	}
}

func TestExamine_NoContainer(t *testing.T) {
	found, err := examine(t, t.Context(), &doctor.Patient{Store: memstore.New(nil), Missing: "make it"})
	if err != nil || !strings.HasPrefix(found["container"], "fail") || !strings.HasSuffix(found["container"], "; make it") || len(found) != 1 {
		t.Errorf("Examine() = %q, %v, want only that the container is missing", found, err)
	}
}

// The clocks are compared by all answers, whatever else was wrong with them.
func TestExamine_Clock(t *testing.T) {
	now := time.Date(2026, 11, 30, 8, 0, 0, 500e6, time.UTC)
	answer := func(off time.Duration) doctor.Answer {
		date := now.Add(off).Truncate(time.Second).Format(http.TimeFormat)
		return doctor.Answer{Sent: now, Received: now.Add(10 * time.Millisecond), Header: http.Header{"Date": {date}}}
	}
	for _, test := range []struct {
		answers []doctor.Answer
		want    string
	}{
		{nil, ""},
		{[]doctor.Answer{{Header: http.Header{}}}, ""},
		{[]doctor.Answer{answer(0)}, "ok the store's is ahead of this machine's by something from -510ms to 500ms"},
		{[]doctor.Answer{answer(0), answer(400 * time.Millisecond)}, "ok "},
		{[]doctor.Answer{answer(5 * time.Second)}, "warn this machine is 4.5s behind the store"},
		{[]doctor.Answer{answer(-5 * time.Second)}, "warn this machine is 4.5s ahead of the store"},
		{[]doctor.Answer{answer(-time.Hour)}, "fail this machine is 59m59.5s ahead of the store"},
		{[]doctor.Answer{answer(-time.Hour), answer(0)}, "ok "}, // set meanwhile
	} {
		p := &doctor.Patient{Store: memstore.New(nil), Answers: func() []doctor.Answer { return test.answers }}
		found, _ := examine(t, t.Context(), p)
		if !strings.HasPrefix(found["clock"], test.want) || test.want == "" && found["clock"] != "" {
			t.Errorf("clock: %q, want %q", found["clock"], test.want)
		}
	}
}

func TestExamine_Service(t *testing.T) {
	for _, test := range []struct{ server, want string }{
		{"Azurite-Blob/3.35.0", "ok Azurite, an emulator (Azurite-Blob/3.35.0), API version 2024-11-04"},
		{"Windows-Azure-Blob/1.0 Microsoft-HTTPAPI/2.0", "ok Azure Blob Storage (Windows-Azure-Blob/1.0"},
		{"nginx", "ok the service (nginx)"},
	} {
		header := http.Header{"Server": {test.server}}
		header.Set("x-ms-version", "2024-11-04")
		p := &doctor.Patient{Store: memstore.New(nil), Answers: func() []doctor.Answer { return []doctor.Answer{{Header: header}} }}
		found, _ := examine(t, t.Context(), p)
		if !strings.HasPrefix(found["service"], test.want) {
			t.Errorf("service: %q, want %q", found["service"], test.want)
		}
	}
}

func TestExamine_File(t *testing.T) {
	good := filepath.Join(t.TempDir(), "s.db")
	st, err := sqlitestore.Open(good, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	write := func(name, content string) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, test := range []struct{ file, want string }{
		{good, "ok " + good},
		{write("rollback.db", strings.Repeat("\x01", 100)), "not in WAL mode"},
		{write("short.db", "short"), "too short"},
		{filepath.Join(t.TempDir(), "missing.db"), "fail "},
	} {
		found, _ := examine(t, t.Context(), &doctor.Patient{Store: st, File: test.file})
		if !strings.Contains(found["file"], test.want) {
			t.Errorf("file: %q, want %q", found["file"], test.want)
		}
		if !strings.Contains(found["disk"], "file system") && !strings.Contains(found["disk"], "no such file") {
			t.Errorf("disk: %q, want the file system", found["disk"])
		}
	}
	if found, _ := examine(t, t.Context(), &doctor.Patient{Store: st, File: "/proc/self/status"}); runtime.GOOS == "linux" && !strings.Contains(found["disk"], "0x9fa0") {
		t.Errorf("disk: %q, want the number of a file system without a name here", found["disk"])
	}
}
