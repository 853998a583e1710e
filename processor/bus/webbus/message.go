package webbus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"

	"github.com/cloudevents/sdk-go/v2/event"
)

var (
	errMediaType = errors.New("want application/json or CloudEvents as JSON")
	errEvent     = errors.New("not an event")
)

// message is what matters of an event, in whichever schema it came.
type message struct {
	Type    string
	Subject string
	Data    []byte // JSON
}

// read reads the events of a request: one or many, CloudEvents in any of the
// three modes of its HTTP binding or events in the Event Grid schema. What the
// body is shows in itself: senders are careless with the content type.
func read(r io.Reader, h http.Header) ([]message, error) {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || !slices.Contains([]string{
		event.ApplicationJSON, event.ApplicationCloudEventsJSON, event.ApplicationCloudEventsBatchJSON,
	}, media) {
		return nil, errMediaType
	}
	body, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if media == event.ApplicationJSON && h.Get("Ce-Specversion") != "" {
		m, err := readBinary(h, body)
		return []message{m}, err
	}
	return readAll(body)
}

// readBinary reads a CloudEvent whose attributes are in the header.
func readBinary(h http.Header, body []byte) (message, error) {
	if h.Get("Ce-Specversion") != event.CloudEventsVersionV1 || h.Get("Ce-Id") == "" || h.Get("Ce-Source") == "" || h.Get("Ce-Type") == "" {
		return message{}, fmt.Errorf("%w: not a CloudEvent 1.0 in binary mode", errEvent)
	}
	return message{Type: h.Get("Ce-Type"), Subject: h.Get("Ce-Subject"), Data: body}, nil
}

// readAll reads one event or a list of them.
func readAll(body []byte) ([]message, error) {
	var raws []json.RawMessage
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) {
		raws = []json.RawMessage{body}
	} else if err := json.Unmarshal(body, &raws); err != nil {
		return nil, fmt.Errorf("%w: not JSON", errEvent)
	}
	messages := make([]message, len(raws))
	for i, raw := range raws {
		m, err := readOne(raw)
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
		messages[i] = m
	}
	return messages, nil
}

func readOne(raw []byte) (message, error) {
	var grid struct {
		EventType   string          `json:"eventType"`
		Subject     string          `json:"subject"`
		Data        json.RawMessage `json:"data"`
		SpecVersion string          `json:"specversion"`
	}
	if err := json.Unmarshal(raw, &grid); err != nil {
		return message{}, fmt.Errorf("%w: not a JSON object", errEvent)
	}
	if grid.SpecVersion != "" {
		return readCloudEvent(raw)
	}
	if grid.EventType == "" {
		return message{}, fmt.Errorf("%w: neither specversion nor eventType", errEvent)
	}
	return message{Type: grid.EventType, Subject: grid.Subject, Data: grid.Data}, nil
}

// readCloudEvent wants the required attributes and no more: Event Grid itself has
// sent a dataschema that the standard does not allow.
func readCloudEvent(raw []byte) (message, error) {
	var e event.Event
	if json.Unmarshal(raw, &e) != nil || e.ID() == "" || e.Source() == "" || e.Type() == "" {
		return message{}, fmt.Errorf("%w: not a CloudEvent", errEvent)
	}
	return message{Type: e.Type(), Subject: e.Subject(), Data: e.Data()}, nil
}
