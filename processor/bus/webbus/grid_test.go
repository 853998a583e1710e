package webbus_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/webbus"
)

const (
	gridJSON  = "application/json; charset=utf-8"
	cloudJSON = "application/cloudevents+json; charset=utf-8"
	batchJSON = "application/cloudevents-batch+json; charset=utf-8"
)

// documented reads a body as the documentation of Event Grid shows it, with the
// blob's name and content changed to those of a stream.
func documented(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// post posts with the token and returns the answer.
func post(b http.Handler, contentType, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/doorbells", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", contentType)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	return w
}

// looks are the doorbells that blobs of streams become.
func looks(streams ...string) []bus.Doorbell {
	var bells []bus.Doorbell
	for _, stream := range streams {
		bells = append(bells, bus.Doorbell{Stream: stream})
	}
	return bells
}

func TestBlobCreated_AsDocumented(t *testing.T) {
	for _, c := range []struct {
		body, contentType, etag string
	}{
		{"grid-blob-created.json", gridJSON, `"0x8D4BCC2E4835CD0"`},
		{"cloudevents-blob-created.json", cloudJSON, `"0x8D76C39E4407333"`},
		{"cloudevents-blob-created-batch.json", batchJSON, `"0x8D4BCC2E4835CD0"`},
		{"cloudevents-blob-created-batch.json", cloudJSON, `"0x8D4BCC2E4835CD0"`},
	} {
		t.Run(c.body, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []string
				own := false
				b := newBus(t, &webbus.Options{Own: func(etag string) bool {
					asked = append(asked, etag)
					return own
				}})
				ears := []*ear{listen(t, b, "Search"), listen(t, b, "Done"), listen(t, b)}
				for _, own = range []bool{true, false} {
					w := post(b, c.contentType, documented(t, c.body), "aeg-event-type", "Notification", "aeg-subscription-name", "LEASESTREAM")
					if w.Code != http.StatusNoContent || w.Body.Len() != 0 {
						t.Errorf("answer = %d %s, want 204", w.Code, w.Body)
					}
					synctest.Wait()
					var want []bus.Doorbell
					if !own {
						want = looks("order-42")
					}
					for _, e := range ears {
						if got := e.take(); !slices.Equal(got, want) {
							t.Errorf("heard %v, want %v, own = %v", got, want, own)
						}
					}
				}
				if want := []string{c.etag, c.etag}; !slices.Equal(asked, want) {
					t.Errorf("asked whether %q are own, want %q", asked, want)
				}
			})
		})
	}
}

// event is a BlobCreated in the Event Grid schema.
func event(subject, etag string) string {
	data, err := json.Marshal(map[string]any{
		"id": "1", "eventType": "Microsoft.Storage.BlobCreated", "subject": subject,
		"data": map[string]any{"api": "PutBlob", "eTag": etag},
	})
	if err != nil {
		panic(err)
	}
	return string(data)
}

func TestBlobCreated_OnlyStreams(t *testing.T) {
	const container = "/blobServices/default/containers/c/blobs/"
	for _, c := range []struct {
		subject string
		want    []bus.Doorbell
	}{
		{container + "streams/order-42.xml", looks("order-42")},
		{container + "streams/order-42/01.02.xml", looks("order-42/01.02")},
		{"/blobServices/default/containers/blobs/blobs/streams/a.xml", looks("a")},
		{"/blobServices/default/containers/c/blobs/streams/blobs/a.xml", looks("blobs/a")},
		{container + "streams/order-42.json", nil},
		{container + "streams/.xml", nil},
		{container + "streams.xml", nil},
		{container + "streams/", nil},
		{container + "Streams/order-42.xml", nil},
		{container + "archive/order-42~k3v9x2.xml", nil},
		{container + "old/streams/order-42.xml", nil},
		{container + "payload/k3v9x2/01.xml", nil},
		{"/blobServices/default/containers/c/streams/order-42.xml", nil},
		{"/blobServices/default/containers/c", nil},
		{"streams/order-42.xml", nil},
		{"", nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBus(t, nil)
			e := listen(t, b, "Search")
			if w := post(b, gridJSON, "["+event(c.subject, "0x1")+"]"); w.Code != http.StatusNoContent {
				t.Errorf("answer for %q = %d %s, want 204", c.subject, w.Code, w.Body)
			}
			synctest.Wait()
			if got := e.take(); !slices.Equal(got, c.want) {
				t.Errorf("heard %v for %q, want %v", got, c.subject, c.want)
			}
		})
	}
}

// Other events of the account are taken, or they would be sent again for a day.
func TestOtherEvents_AreIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t, nil)
		e := listen(t, b, "Search")
		body := strings.ReplaceAll(documented(t, "grid-blob-created.json"), "BlobCreated", "BlobDeleted")
		if w := post(b, gridJSON, body); w.Code != http.StatusNoContent {
			t.Errorf("answer = %d %s, want 204", w.Code, w.Body)
		}
		synctest.Wait()
		if got := e.take(); got != nil {
			t.Errorf("heard %v, want nothing", got)
		}
	})
}

const streamSubject = "/blobServices/default/containers/c/blobs/streams/order-42.xml"

// A burst rings at once and once more when it is over.
func TestBlobCreated_Burst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t, &webbus.Options{Quiet: time.Second})
		e := listen(t, b, "Search")
		for i := range 1000 {
			if w := post(b, gridJSON, event(streamSubject, fmt.Sprint(i))); w.Code != http.StatusNoContent {
				t.Fatalf("answer = %d %s, want 204", w.Code, w.Body)
			}
		}
		synctest.Wait()
		if got, want := e.take(), looks("order-42"); !slices.Equal(got, want) {
			t.Errorf("heard %v at once, want %v", got, want)
		}
		time.Sleep(time.Hour)
		if got, want := e.take(), looks("order-42"); !slices.Equal(got, want) {
			t.Errorf("heard %v afterwards, want %v", got, want)
		}
	})
}

// One request may bring the whole burst.
func TestBlobCreated_Batch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t, nil)
		e := listen(t, b, "Search")
		var events []string
		for i := range 1000 {
			events = append(events, event(streamSubject, fmt.Sprint(i)))
		}
		events = append(events, event(strings.Replace(streamSubject, "42", "43", 1), "1"))
		post(b, gridJSON, "["+strings.Join(events, ",")+"]")
		time.Sleep(time.Hour)
		if got, want := e.take(), looks("order-42", "order-43", "order-42"); !slices.Equal(got, want) {
			t.Errorf("heard %v, want %v", got, want)
		}
	})
}

// What goes on for long rings once per quiet time, and what follows after a
// quiet time rings at once again.
func TestBlobCreated_Stream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t, &webbus.Options{Quiet: 2 * time.Second})
		e := listen(t, b, "Search")
		for range 999 {
			post(b, gridJSON, event(streamSubject, "1"))
			time.Sleep(10 * time.Millisecond)
		}
		if got := len(e.take()); got != 5 {
			t.Errorf("heard %d doorbells in just under 10 s, want 5", got)
		}
		time.Sleep(time.Minute)
		if got := len(e.take()); got != 1 {
			t.Errorf("heard %d doorbells when it was over, want 1", got)
		}
		post(b, gridJSON, event(streamSubject, "1"))
		synctest.Wait()
		if got := len(e.take()); got != 1 {
			t.Errorf("heard %d doorbells after a quiet time, want 1", got)
		}
	})
}

// A closed bus tells nothing more, also of what it kept back.
func TestBlobCreated_Close(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t, nil)
		e := listen(t, b, "Search")
		for range 3 {
			post(b, gridJSON, event(streamSubject, "1"))
		}
		synctest.Wait()
		if err := b.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
		time.Sleep(time.Hour)
		if got := len(e.take()); got != 1 {
			t.Errorf("heard %d doorbells, want 1", got)
		}
		if w := post(b, gridJSON, event(streamSubject, "1")); w.Code != http.StatusServiceUnavailable {
			t.Errorf("answer of a closed bus = %d %s, want 503", w.Code, w.Body)
		}
	})
}

func TestHandshake_EventGridSchema(t *testing.T) {
	b := newBus(t, nil)
	w := post(b, gridJSON, documented(t, "grid-validation.json"), "aeg-event-type", "SubscriptionValidation")
	var answer struct {
		ValidationResponse string `json:"validationResponse"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("answer %s: %v", w.Body, err)
	}
	if !strings.Contains(w.Body.String(), `"validationResponse"`) || answer.ValidationResponse != "512d38b6-c7b8-40c8-89fe-f46f9e9622b6" {
		t.Errorf("answer = %s, want the code as validationResponse", w.Body)
	}
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("answer = %d %s, want 200 application/json", w.Code, w.Header().Get("Content-Type"))
	}
}

// The handshake of CloudEvents has no token, and lets nobody in.
func TestHandshake_CloudEvents(t *testing.T) {
	b := newBus(t, nil)
	for _, c := range []struct{ origin, want string }{
		{"eventgrid.azure.net", "eventgrid.azure.net"},
		{"eventemitter.example.com:8443", "eventemitter.example.com:8443"},
		{"", ""},
		{"*", ""},
		{"a b", ""},
		{"<script>", ""},
		{strings.Repeat("a", 256), ""},
	} {
		r := httptest.NewRequest(http.MethodOptions, "/doorbells", nil)
		r.Header.Set("WebHook-Request-Origin", c.origin)
		r.Header.Set("WebHook-Request-Rate", "120")
		r.Header.Set("WebHook-Request-Callback", "https://example.com/confirm?id=12345&key=secret")
		w := httptest.NewRecorder()
		b.ServeHTTP(w, r)
		if got := w.Header().Get("WebHook-Allowed-Origin"); w.Code != http.StatusOK || got != c.want {
			t.Errorf("answer to origin %q = %d, allowed origin %q, want 200, %q", c.origin, w.Code, got, c.want)
		}
		if got := w.Header().Get("WebHook-Allowed-Rate"); (got == "*") != (c.want != "") {
			t.Errorf("allowed rate for origin %q = %q", c.origin, got)
		}
		if got := w.Header().Get("Allow"); got != "OPTIONS, POST" {
			t.Errorf("Allow = %q, want OPTIONS, POST", got)
		}
	}
}
