package webbus

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/leasestream/leasestream/processor/bus"
)

// maxBody is how long a request may be, in bytes: Event Grid sends a megabyte at
// most, and a little around it.
const maxBody = 2 << 20

const methods = "OPTIONS, POST"

// ServeHTTP takes events: 204 when they were taken, with whatever became of them;
// 401 without the token; 405, 413, 415 or 400 for what cannot be events.
func (b *Bus) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodOptions:
		consent(w, r)
	case http.MethodPost:
		b.take(w, r)
	default:
		w.Header().Set("Allow", methods)
		http.Error(w, "doorbells are posted here", http.StatusMethodNotAllowed)
	}
}

// consent answers the handshake of CloudEvents webhooks. It lets anybody try: the
// events themselves need the token.
func consent(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", methods)
	if origin := r.Header.Get("WebHook-Request-Origin"); isHostName(origin) {
		w.Header().Set("WebHook-Allowed-Origin", origin)
		w.Header().Set("WebHook-Allowed-Rate", "*")
	}
	w.WriteHeader(http.StatusOK)
}

// isHostName keeps what is given back to a stranger to what an origin can be.
func isHostName(s string) bool {
	strange := func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune(".-:", c))
	}
	return s != "" && len(s) <= 255 && !strings.ContainsFunc(s, strange)
}

func (b *Bus) take(w http.ResponseWriter, r *http.Request) {
	if !b.authorized(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the token is missing or wrong", http.StatusUnauthorized)
		return
	}
	if b.isClosed() {
		http.Error(w, errClosed.Error(), http.StatusServiceUnavailable)
		return
	}
	events, err := read(http.MaxBytesReader(w, r.Body, maxBody), r.Header)
	if err == nil {
		err = b.act(w, events)
	}
	if err != nil {
		fail(w, err)
	}
}

func fail(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		status = http.StatusRequestEntityTooLarge
	} else if errors.Is(err, errMediaType) {
		status = http.StatusUnsupportedMediaType
	}
	http.Error(w, err.Error(), status)
}

// act does what the events say, and answers. With an error it has done nothing.
func (b *Bus) act(w http.ResponseWriter, events []message) error {
	var bells []bus.Doorbell
	var streams []string
	for _, e := range events {
		switch e.Type {
		case validationType:
			return validate(w, e)
		case blobType:
			stream, etag, err := changedStream(e)
			if err != nil {
				return err
			}
			if stream != "" && !b.own(etag) {
				streams = append(streams, stream)
			}
		case EventType:
			var bell bus.Doorbell
			if err := json.Unmarshal(e.Data, &bell); err != nil || bell.Stream == "" {
				return fmt.Errorf("%w: data of a doorbell", errEvent)
			}
			bells = append(bells, bell)
		}
	}
	b.hear(bells...)
	for _, stream := range streams {
		b.blobs.changed(stream)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (b *Bus) own(etag string) bool {
	return etag != "" && b.o.Own != nil && b.o.Own(etag)
}

// validate answers the handshake of the Event Grid schema, which wants exactly
// 200 and knows the answer by its name.
func validate(w http.ResponseWriter, e message) error {
	code, err := validationCode(e)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(map[string]string{"validationResponse": code})
}
