package storetest

import (
	"bytes"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

func putChecks() []check {
	return []check{
		{key: "put/what was put is what is read", run: putThenRead},
		{key: "put/overwrite leaves nothing of the old", run: putOverwrites},
		{key: "put/bodies of all sizes", run: putSizes},
		{key: "put/neither keeps nor hands out memory", run: putOwnership},
		{key: "put/names", run: putNames},
		{key: "put/names that are refused", run: refusedNames},
		{key: "put/content type that is refused", run: refusedContentType},
		{key: "put/date is the store's time", run: putDate},
	}
}

// mustPut puts a blob.
func mustPut(t *testing.T, s store.Store, name, body string, o *store.PutOptions) *store.Info {
	t.Helper()
	info, err := s.Put(t.Context(), name, []byte(body), o)
	if err != nil {
		t.Fatalf("Put(%q) = %v", name, err)
	}
	return info
}

func mustGet(t *testing.T, s store.Store, name string) *store.Object {
	t.Helper()
	object, err := s.Get(t.Context(), name, nil)
	if err != nil {
		t.Fatalf("Get(%q) = %v", name, err)
	}
	return object
}

func mustStat(t *testing.T, s store.Store, name string) *store.Info {
	t.Helper()
	info, err := s.Stat(t.Context(), name, nil)
	if err != nil {
		t.Fatalf("Stat(%q) = %v", name, err)
	}
	return info
}

func putThenRead(t *testing.T, s store.Store) {
	o := &store.PutOptions{Metadata: map[string]string{"status": "init"}, ContentType: "application/xml"}
	put := mustPut(t, s, "a/b.xml", "<a/>", o)
	got := mustGet(t, s, "a/b.xml")
	if string(got.Body) != "<a/>" || !maps.Equal(got.Metadata, o.Metadata) || got.ContentType != o.ContentType {
		t.Errorf("Get() = %q, %v, %q, want what was put", got.Body, got.Metadata, got.ContentType)
	}
	stat := mustStat(t, s, "a/b.xml")
	for from, info := range map[string]*store.Info{"Put": put, "Get": &got.Info, "Stat": stat} {
		sameBlob(t, from, info, put, 4)
	}
	if got.Lease.State != store.LeaseAvailable || stat.Lease.State != store.LeaseAvailable || stat.Created.IsZero() {
		t.Errorf("Get() and Stat() = %+v and %+v, want an available lease and a time of creation", got.Info, stat)
	}
	if plain := mustPut(t, s, "plain", "", nil); mustGet(t, s, plain.Name).ContentType != "application/octet-stream" {
		t.Errorf("the content type of a Put without one is not application/octet-stream")
	}
}

// sameBlob checks what tells a blob and its version.
func sameBlob(t *testing.T, from string, got, want *store.Info, size int64) {
	t.Helper()
	if got.Name != want.Name || got.ETag != want.ETag || !got.LastModified.Equal(want.LastModified) || got.Size != size {
		t.Errorf("%s() = %+v, want %+v with %d bytes", from, got, want, size)
	}
	if len(got.ETag) < 3 || !strings.HasPrefix(got.ETag, `"`) || !strings.HasSuffix(got.ETag, `"`) {
		t.Errorf("%s() = ETag %s, want one in quotes", from, got.ETag)
	}
	if got.LastModified.IsZero() {
		t.Errorf("%s() has no time of modification", from)
	}
}

func putOverwrites(t *testing.T, s store.Store) {
	first := mustPut(t, s, "a", "a longer body", &store.PutOptions{Metadata: map[string]string{"old": "1"}, ContentType: "text/plain"})
	second := mustPut(t, s, "a", "short", &store.PutOptions{Metadata: map[string]string{"new": "2"}})
	got := mustGet(t, s, "a")
	if string(got.Body) != "short" || !maps.Equal(got.Metadata, map[string]string{"new": "2"}) {
		t.Errorf("Get() = %q, %v, want the second body and metadata", got.Body, got.Metadata)
	}
	if got.ContentType != "application/octet-stream" {
		t.Errorf("content type = %q, want the default again", got.ContentType)
	}
	if second.ETag == first.ETag || second.LastModified.Before(first.LastModified) {
		t.Errorf("Put() over %+v = %+v, want another ETag and no earlier time", first, second)
	}
}

func putSizes(t *testing.T, s store.Store) {
	for _, size := range []int{0, 1, 4095, 4096, 8192, 250_000, 10 << 20} {
		body := bytes.Repeat([]byte{0, 1, 0xff, '\n'}, size/4+1)[:size]
		if _, err := s.Put(t.Context(), "sized", body, nil); err != nil {
			t.Fatalf("Put() of %d bytes = %v", size, err)
		}
		if got := mustGet(t, s, "sized"); !bytes.Equal(got.Body, body) || got.Size != int64(size) {
			t.Errorf("Get() = %d bytes and size %d, want the %d that were put", len(got.Body), got.Size, size)
		}
	}
	if _, err := s.Put(t.Context(), "nil", nil, nil); err != nil || len(mustGet(t, s, "nil").Body) != 0 {
		t.Errorf("Put() of a nil body = %v, want an empty blob", err)
	}
}

func putOwnership(t *testing.T, s store.Store) {
	body, metadata := []byte("mine"), map[string]string{"k": "mine"}
	if _, err := s.Put(t.Context(), "a", body, &store.PutOptions{Metadata: metadata}); err != nil {
		t.Fatal(err)
	}
	body[0], metadata["k"] = 'X', "changed"
	got := mustGet(t, s, "a")
	got.Body[0], got.Metadata["k"] = 'Y', "changed"
	if again := mustGet(t, s, "a"); string(again.Body) != "mine" || again.Metadata["k"] != "mine" {
		t.Errorf("Get() = %q, %v after the caller changed its own memory", again.Body, again.Metadata)
	}
}

func putNames(t *testing.T, s store.Store) {
	names := []string{
		"a", "streams/order-42.xml", "archive/a~k3v9x2/01.02.xml", "with space", "100%25 %", "question?hash#", "plus+and&=;,'\"!*()",
		"Brno/Žabovřesky", "東京", "🚀", "UPPER", "upper", "..a", "a..b", ".hidden", strings.Repeat("n", 1024),
	}
	for _, name := range names {
		mustPut(t, s, name, name, nil)
	}
	for _, name := range names {
		if got := mustGet(t, s, name); string(got.Body) != name || got.Name != name {
			t.Errorf("Get(%q) = %q named %q", name, got.Body, got.Name)
		}
		if err := s.Delete(t.Context(), name, nil); err != nil {
			t.Errorf("Delete(%q) = %v", name, err)
		}
	}
}

func refusedNames(t *testing.T, s store.Store) {
	ctx := t.Context()
	names := []string{"a/", "a.", ".", "..", "a/../b", "./a", "a/.", `a\b`, "a\x00", "a\nb", "\x7f", "\xff", strings.Repeat("n", 1025)}
	for _, name := range names {
		_, put := s.Put(ctx, name, nil, nil)
		_, get := s.Get(ctx, name, nil)
		_, stat := s.Stat(ctx, name, nil)
		_, lease := s.Lease(ctx, name, new(acquire(idA, store.MinLease)))
		remove := s.Delete(ctx, name, nil)
		for op, err := range map[string]error{"Put": put, "Get": get, "Stat": stat, "Lease": lease, "Delete": remove} {
			if got := code(err); got != "InvalidUri" {
				t.Errorf("%s(%q) = %s, want InvalidUri", op, name, got)
			}
		}
	}
	_, put := s.Put(ctx, "", nil, nil)
	_, get := s.Get(ctx, "", nil)
	if code(put) != "InvalidUri" || code(get) != "InvalidUri" {
		t.Errorf("Put and Get of the container = %v and %v, want InvalidUri", put, get)
	}
}

func refusedContentType(t *testing.T, s store.Store) {
	for _, ct := range []string{"text/plain\r\nX-Evil: 1", " text/plain", "text/plän"} {
		_, err := s.Put(t.Context(), "a", nil, &store.PutOptions{ContentType: ct})
		if got := code(err); got != "InvalidHeaderValue" {
			t.Errorf("Put() with content type %q = %s, want InvalidHeaderValue", ct, got)
		}
	}
}

// putDate allows a remote clock to be off by the slack.
func putDate(t *testing.T, s store.Store) {
	before := time.Now()
	mustPut(t, s, "a", "", nil)
	got := mustGet(t, s, "a")
	lease, err := s.Lease(t.Context(), "a", new(acquire(idA, store.MinLease)))
	if err != nil {
		t.Fatal(err)
	}
	after := time.Now()
	for from, d := range map[string]store.Date{"Get": got.Date, "Lease": lease.Date} {
		latest := d.Time.Add(d.Resolution)
		if d.Time.IsZero() || latest.Before(before.Add(-slack)) || d.Time.After(after.Add(slack)) {
			t.Errorf("%s() is dated %v + %v, want from %v to %v", from, d.Time, d.Resolution, before, after)
		}
		if store.IsLocal(s) && d.Resolution != 0 {
			t.Errorf("%s() of a local store has resolution %v, want 0", from, d.Resolution)
		}
	}
}
