package azurestore_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// blobAnswer answers with a blob that others have written.
func blobAnswer(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("ETag", `"0x1"`)
	h.Set("Content-Length", "7")
	h.Set("Content-Type", "text/xml")
	h.Set("Last-Modified", "Mon, 30 Nov 2026 07:15:00 GMT")
	h.Set("X-Ms-Creation-Time", "Sun, 29 Nov 2026 07:15:00 GMT")
	h.Set("X-Ms-Lease-State", "leased")
	h.Set("X-Ms-Lease-Duration", "infinite")
	h.Set("X-Ms-Meta-Status", "100%")
	h.Set("X-Ms-Meta-Pipeline", "caf%C3%A9%20%26%20more")
	io.WriteString(w, "content")
}

func wantInfo(now time.Time) store.Info {
	return store.Info{
		Name:         "a",
		ETag:         `"0x1"`,
		Size:         7,
		ContentType:  "text/xml",
		Metadata:     map[string]string{"status": "100%", "pipeline": "café & more"},
		Created:      time.Date(2026, 11, 29, 7, 15, 0, 0, time.UTC),
		LastModified: time.Date(2026, 11, 30, 7, 15, 0, 0, time.UTC),
		Lease:        store.LeaseInfo{State: store.LeaseLeased, Infinite: true},
		Date:         store.Date{Time: now.UTC(), Resolution: time.Second},
	}
}

func checkInfo(t *testing.T, call string, got, want store.Info) {
	t.Helper()
	if !maps.Equal(got.Metadata, want.Metadata) {
		t.Errorf("%s: metadata %q, want %q", call, got.Metadata, want.Metadata)
	}
	got.Metadata, want.Metadata = nil, nil
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s = %s, want %s", call, g, w)
	}
}

func TestStore_ReadsAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := serve(t, blobAnswer)
		object, err := s.Get(t.Context(), "a", nil)
		if err != nil {
			t.Fatal(err)
		}
		checkInfo(t, "Get()", object.Info, wantInfo(time.Now()))
		if string(object.Body) != "content" {
			t.Errorf("Get() = %q, want %q", object.Body, "content")
		}
		info, err := s.Stat(t.Context(), "a", nil)
		if err != nil {
			t.Fatal(err)
		}
		checkInfo(t, "Stat()", *info, wantInfo(time.Now()))
	})
}

// A listing writes ETags without quotes and metadata names as they were given.
const page = `<?xml version="1.0" encoding="utf-8"?>
<EnumerationResults><Blobs><Blob><Name>%s</Name><Properties>
<Creation-Time>Sun, 29 Nov 2026 07:15:00 GMT</Creation-Time><Last-Modified>Mon, 30 Nov 2026 07:15:00 GMT</Last-Modified>
<Etag>0x1</Etag><Content-Length>7</Content-Length><Content-Type>text/xml</Content-Type>
<LeaseStatus>locked</LeaseStatus><LeaseState>leased</LeaseState><LeaseDuration>infinite</LeaseDuration>
</Properties><Metadata><Status>100%%</Status><pipeline>caf%%C3%%A9%%20%%26%%20more</pipeline></Metadata></Blob></Blobs>
<NextMarker>%s</NextMarker></EnumerationResults>`

// listAnswer lists a and b on two pages.
func listAnswer(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Query().Get("marker") {
	case "":
		fmt.Fprintf(w, page, "a", "2!next")
	case "2!next":
		fmt.Fprintf(w, page, "b", "")
	default:
		http.Error(w, "wrong marker", http.StatusBadRequest)
	}
}

func TestStore_ListPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, svc := serve(t, listAnswer)
		var names []string
		for info, err := range s.List(t.Context(), "streams/") {
			if err != nil {
				t.Fatal(err)
			}
			want := wantInfo(time.Now())
			want.Name = info.Name
			checkInfo(t, "List()", *info, want)
			names = append(names, info.Name)
			time.Sleep(time.Second)
		}
		if want := []string{"a", "b"}; !slices.Equal(names, want) {
			t.Errorf("List() yields %q, want %q", names, want)
		}
		for _, r := range svc.sent() {
			if q := r.URL.Query(); q.Get("prefix") != "streams/" || q.Get("include") != "metadata" {
				t.Errorf("List() asks for %q", q)
			}
		}
	})
}

func TestStore_ListStops(t *testing.T) {
	s, svc := serve(t, listAnswer)
	for range s.List(t.Context(), "") {
		break
	}
	if n := len(svc.sent()); n != 1 {
		t.Errorf("a loop over List that breaks makes %d requests, want 1", n)
	}
}

func TestStore_Unchanged(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"with its code": status(http.StatusNotModified, "ConditionNotMet"),
		"without":       status(http.StatusNotModified, ""),
	} {
		s, _ := serve(t, answer)
		c := &store.Conditions{IfNoneMatch: `"1"`}
		_, errGet := s.Get(t.Context(), "a", c)
		_, errStat := s.Stat(t.Context(), "a", c)
		for _, err := range []error{errGet, errStat} {
			if !errors.Is(err, store.ErrConditionNotMet) || store.Code(err) != "ConditionNotMet" {
				t.Errorf("304 %s = %v, want %v", name, err, store.ErrConditionNotMet)
			}
		}
	}
}

func TestStore_GetDamaged(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"cut off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "8")
			io.WriteString(w, "content")
		},
		"without length": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "content") },
	} {
		s, _ := serve(t, answer)
		object, err := s.Get(t.Context(), "a", nil)
		if object != nil {
			t.Errorf("Get() of an answer that is %s = %q", name, object.Body)
		}
		wantUnknown(t, "get of an answer that is "+name, err)
	}
}

func TestStore_GetTooLarge(t *testing.T) {
	s, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "268435457") })
	if _, err := s.Get(t.Context(), "a", nil); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("Get() = %v, want %v", err, store.ErrTooLarge)
	}
}

func TestStore_StatContainerJudgesDates(t *testing.T) {
	s, _ := serve(t, blobAnswer)
	modified := wantInfo(time.Now()).LastModified
	if _, err := s.Stat(t.Context(), "", &store.Conditions{IfUnmodifiedSince: modified}); err != nil {
		t.Errorf("Stat() if unmodified = %v", err)
	}
	_, err := s.Stat(t.Context(), "", &store.Conditions{IfModifiedSince: modified})
	if !errors.Is(err, store.ErrConditionNotMet) {
		t.Errorf("Stat() if modified = %v, want %v", err, store.ErrConditionNotMet)
	}
}

func TestStore_LeaseResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"0x1"`)
			w.Header().Set("Last-Modified", "Mon, 30 Nov 2026 07:15:00 GMT")
			w.Header().Set("X-Ms-Lease-Time", "12")
			w.Header().Set("X-Ms-Lease-Id", "AAAAAAAA-0000-4000-8000-00000000000A")
			succeed(w, r)
		})
		got, err := s.Lease(t.Context(), "a", &store.LeaseRequest{Action: store.LeaseBreak})
		want := store.LeaseResult{
			ID:           idA,
			ETag:         `"0x1"`,
			LastModified: wantInfo(time.Now()).LastModified,
			Remaining:    12 * time.Second,
			Date:         wantInfo(time.Now()).Date,
		}
		if err != nil || *got != want {
			t.Errorf("Lease() = %+v, %v, want %+v", got, err, want)
		}
	})
}
