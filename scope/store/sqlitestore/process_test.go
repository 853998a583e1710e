package sqlitestore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

// The tests of this file run this test binary again as other processes. Such a
// process finds its role and its arguments in the environment.
const roleVar = "SQLITESTORE_TEST_ROLE"

// roles of a process; each gets the store's path.
var roles = map[string]func(path string) error{
	"increment":       func(path string) error { return incrementMany(path, byETag) },
	"increment-lease": func(path string) error { return incrementMany(path, byLease) },
	"create":          createAndPut,
	"put-forever":     putForever,
	"put-pieces":      putPiecesForever,
	"acquire":         acquireFixed,
	"play":            playGames,
	"die-in-group":    dieInGroup,
	"write-long":      writeLong,
}

func TestMain(m *testing.M) {
	role, path, ok := strings.Cut(os.Getenv(roleVar), ":")
	if !ok {
		os.Exit(m.Run())
	}
	if err := roles[role](path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// process is a running role. It waits for its start until the test says go.
type process struct {
	*exec.Cmd
	in     io.WriteCloser // its standard input; closed to let it go
	out    *bufio.Scanner
	stderr strings.Builder
}

func prepare(t *testing.T, role, path string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.CommandContext(t.Context(), exe)}
	p.Env = append(os.Environ(), roleVar+"="+role+":"+path)
	p.Stderr = &p.stderr
	return p
}

func (p *process) begin(t *testing.T) {
	t.Helper()
	in, inErr := p.StdinPipe()
	out, outErr := p.StdoutPipe()
	if err := errors.Join(inErr, outErr, p.Start()); err != nil {
		t.Fatal(err)
	}
	p.in, p.out = in, bufio.NewScanner(out)
}

func start(t *testing.T, role, path string) *process {
	t.Helper()
	p := prepare(t, role, path)
	p.begin(t)
	return p
}

// startAll starts n processes, lets them go at once, and waits for all.
func startAll(t *testing.T, n int, role, path string) {
	t.Helper()
	all := make([]*process, n)
	for i := range all {
		all[i] = start(t, role, path)
	}
	for _, p := range all {
		p.in.Close()
	}
	for i, p := range all {
		if err := p.Wait(); err != nil {
			t.Errorf("%s no. %d: %v\n%s", role, i, err, p.stderr.String())
		}
	}
}

// awaitStart returns when the test says go.
func awaitStart() { io.Copy(io.Discard, os.Stdin) }

const increments = 20

func incrementMany(path string, increment func(context.Context, store.Store) error) error {
	awaitStart()
	s, err := sqlitestore.Open(path, nil)
	if err != nil {
		return err
	}
	for done := 0; done < increments; {
		switch err := increment(context.Background(), s); {
		case err == nil:
			done++
		case !errors.Is(err, store.ErrConditionNotMet) && !errors.Is(err, store.ErrLeaseHeld):
			return errors.Join(err, s.Close())
		}
	}
	return s.Close()
}

// byETag adds one to the number in the blob n if nobody else does.
func byETag(ctx context.Context, s store.Store) error {
	object, err := s.Get(ctx, "n", nil)
	if err != nil {
		return err
	}
	return putNext(ctx, s, object, store.Conditions{IfMatch: object.ETag})
}

// byLease does so under a lease and without looking at the ETag.
func byLease(ctx context.Context, s store.Store) error {
	id := uuid.NewString()
	_, err := s.Lease(ctx, "n", &store.LeaseRequest{Action: store.LeaseAcquire, ID: id, Duration: store.MinLease})
	if err != nil {
		return err
	}
	object, err := s.Get(ctx, "n", nil)
	if err != nil {
		return err
	}
	if err := putNext(ctx, s, object, store.Conditions{LeaseID: id}); err != nil {
		return err
	}
	_, err = s.Lease(ctx, "n", &store.LeaseRequest{Action: store.LeaseRelease, ID: id})
	return err
}

func putNext(ctx context.Context, s store.Store, object *store.Object, c store.Conditions) error {
	n, err := strconv.Atoi(string(object.Body))
	if err != nil {
		return err
	}
	_, err = s.Put(ctx, "n", []byte(strconv.Itoa(n+1)), &store.PutOptions{Conditions: c})
	return err
}

func TestProcesses_NoUpdateIsLost(t *testing.T) {
	const processes = 4
	for _, role := range []string{"increment", "increment-lease"} {
		path := filepath.Join(t.TempDir(), "store.db")
		s := create(t, path)
		put(t, s, "n", "0")
		startAll(t, processes, role, path)
		if got, want := body(t, s, "n"), strconv.Itoa(processes*increments); got != want {
			t.Errorf("%s: %d processes with %d increments make %s, want %s", role, processes, increments, got, want)
		}
	}
}

func createAndPut(path string) error {
	awaitStart()
	s, err := sqlitestore.Open(path, nil)
	if err != nil {
		return err
	}
	ctx := context.Background()
	err = s.Create(ctx)
	if err == nil {
		_, err = s.Put(ctx, strconv.Itoa(os.Getpid()), nil, nil)
	}
	return errors.Join(err, s.Close())
}

func TestProcesses_CreateAtOnce(t *testing.T) {
	const processes = 20
	path := filepath.Join(t.TempDir(), "store.db")
	startAll(t, processes, "create", path)
	if got := blobs(t, open(t, path, &sqlitestore.Options{MustExist: true})); got != processes {
		t.Errorf("%d processes left %d blobs", processes, got)
	}
}

// blobs counts them.
func blobs(t *testing.T, s store.Store) (n int) {
	t.Helper()
	for _, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// putForever puts blobs of every size and tells each one that was acknowledged.
func putForever(path string) error {
	s, err := sqlitestore.Open(path, nil)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		name := fmt.Sprintf("%d-%d", os.Getpid(), i)
		if _, err := s.Put(context.Background(), name, killedBody(name), nil); err != nil {
			return err
		}
		fmt.Println(name)
	}
}

// killedBody is of a size that depends on the name, up to 200 KB.
func killedBody(name string) []byte {
	var n int
	for _, c := range name {
		n = n*31 + int(c)
	}
	return []byte(strings.Repeat(name+"\n", n%20_000/2+1))
}

func TestProcesses_Killed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	if err := create(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	var acknowledged []string
	for kill := range 8 {
		p := start(t, "put-forever", path)
		for range 5 + 7*kill {
			if !p.out.Scan() {
				t.Fatalf("the process ended by itself: %s", p.stderr.String())
			}
			acknowledged = append(acknowledged, p.out.Text())
		}
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for p.out.Scan() {
			acknowledged = append(acknowledged, p.out.Text())
		}
		p.Wait() // its error is the kill
	}
	s := open(t, path, &sqlitestore.Options{MustExist: true})
	for _, name := range acknowledged {
		if got := body(t, s, name); got != string(killedBody(name)) {
			t.Errorf("blob %s has %d bytes, want the %d that were acknowledged", name, len(got), len(killedBody(name)))
		}
	}
	for info, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if got := body(t, s, info.Name); got != string(killedBody(info.Name)) {
			t.Errorf("blob %s is neither absent nor whole", info.Name)
		}
	}
}

// putPiecesForever puts version after version of one body in pieces, from the one that is
// there on, and tells each one that was acknowledged.
func putPiecesForever(path string) error {
	s, err := sqlitestore.Open(path, nil)
	if err != nil {
		return err
	}
	_, had, err := s.GetPieces(context.Background(), "a", nil, nil)
	if err != nil {
		return err
	}
	for n := killedVersion(had) + 1; ; n++ {
		if _, had, err = s.PutPieces(context.Background(), "a", killedPieces(n), had, nil); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// killedVersion is the version of a body of killedPieces.
func killedVersion(b *store.Body) (n int) {
	fmt.Sscan(b.Pieces[0], &n)
	return n
}

// killedPieces are those of a version, of which six have changed since the one before.
func killedPieces(n int) []string {
	pieces := []string{fmt.Sprintf("%d is the version\n", n)}
	for i := range 20 {
		pieces = append(pieces, fmt.Sprintf("%d in %d\n", i, (n+i)/4)+lines(20_000+i))
	}
	return pieces
}

func TestProcesses_KilledWithPieces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := create(t, path)
	had := putPieces(t, s, "a", killedPieces(0), nil)
	for kill := range 8 {
		acknowledged := 0
		p := start(t, "put-pieces", path)
		for range 3 + 3*kill {
			if !p.out.Scan() {
				t.Fatalf("the process ended by itself: %s", p.stderr.String())
			}
			acknowledged, _ = strconv.Atoi(p.out.Text())
			had = getPieces(t, s, "a", had)
			if !slices.Equal(had.Pieces, killedPieces(killedVersion(had))) {
				t.Fatalf("GetPieces() = a mixture of version %d and others", killedVersion(had))
			}
		}
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for p.out.Scan() {
			acknowledged, _ = strconv.Atoi(p.out.Text())
		}
		p.Wait() // its error is the kill
		had = getPieces(t, s, "a", had)
		if got := killedVersion(had); got != acknowledged && got != acknowledged+1 {
			t.Errorf("version %d is left, want %d, which was acknowledged, or the next", got, acknowledged)
		}
		wantPieces(t, s, "a", killedPieces(killedVersion(had)), had)
		sqlitestore.CheckPieces(t, s)
	}
}

const fixedID = "0f8fad5b-d9cb-469f-a165-70867728950e"

// acquireFixed takes an infinite lease and dies without closing the store.
func acquireFixed(path string) error {
	s, err := sqlitestore.Open(path, nil)
	if err != nil {
		return err
	}
	holder := &store.Holder{Host: "here", PID: os.Getpid()}
	r := &store.LeaseRequest{Action: store.LeaseAcquire, ID: fixedID, Duration: store.LeaseInfinite, Holder: holder}
	_, err = s.Lease(context.Background(), "a", r)
	return err
}

func TestProcesses_LeaseOutlivesItsHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := create(t, path)
	put(t, s, "a", "")
	p := start(t, "acquire", path)
	if err := p.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, p.stderr.String())
	}
	info, err := s.Stat(t.Context(), "a", &store.Conditions{LeaseID: fixedID})
	if err != nil {
		t.Fatalf("Stat() under the lease = %v", err)
	}
	if h := info.Lease.Holder; h == nil || h.PID != p.Process.Pid {
		t.Errorf("holder = %+v, want process %d", h, p.Process.Pid)
	}
	_, err = s.Put(t.Context(), "a", nil, nil)
	if !errors.Is(err, store.ErrLeaseMissing) {
		t.Errorf("Put() without the lease = %v, want %v", err, store.ErrLeaseMissing)
	}
}

// writeLong says that it is in the middle of a write, and stays there until the test
// says go.
func writeLong(path string) error {
	s, err := sqlitestore.Open(path, nil)
	if err != nil {
		return err
	}
	err = sqlitestore.Write(context.Background(), s, func() {
		fmt.Println("writing")
		awaitStart()
	})
	return errors.Join(err, s.Close())
}
