package webbus

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The types of the events that Event Grid sends for a storage account.
const (
	validationType = "Microsoft.EventGrid.SubscriptionValidationEvent"
	blobType       = "Microsoft.Storage.BlobCreated"
)

// validationCode is what the handshake wants back.
func validationCode(e message) (string, error) {
	var data struct {
		Code string `json:"validationCode"`
	}
	if err := json.Unmarshal(e.Data, &data); err != nil || data.Code == "" {
		return "", fmt.Errorf("%w: a validation without validationCode", errEvent)
	}
	return data.Code, nil
}

// changedStream returns the stream whose blob was written, and the ETag; "" for
// other blobs.
func changedStream(e message) (stream, etag string, err error) {
	var data struct {
		ETag string `json:"eTag"`
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return "", "", fmt.Errorf("%w: data of a blob", errEvent)
	}
	return streamOf(blobOf(e.Subject)), quoted(data.ETag), nil
}

// blobOf takes the name of the blob out of a subject. Event Grid writes it with
// and without the first slash.
func blobOf(subject string) string {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(subject, "/"), "blobServices/default/containers/")
	if !ok {
		return ""
	}
	_, rest, _ = strings.Cut(rest, "/") // after the container
	blob, ok := strings.CutPrefix(rest, "blobs/")
	if !ok {
		return ""
	}
	return blob
}

func streamOf(blob string) string {
	name, ok := strings.CutPrefix(blob, "streams/")
	if !ok {
		return ""
	}
	name, ok = strings.CutSuffix(name, ".xml")
	if !ok {
		return ""
	}
	return name
}

// quoted puts the quotes around an ETag that some events leave out.
func quoted(etag string) string {
	if etag == "" || strings.HasPrefix(etag, `"`) {
		return etag
	}
	return `"` + etag + `"`
}
