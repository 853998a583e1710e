package azurestore

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/internal/rules"
)

// metadataPrefix begins the headers of metadata; net/http changes their case.
const metadataPrefix = "X-Ms-Meta-"

// info reads what the headers of an answer tell of a blob or the container.
func info(name string, h http.Header) store.Info {
	size, _ := strconv.ParseInt(h.Get("Content-Length"), 10, 64)
	return store.Info{
		Name:         name,
		ETag:         h.Get("ETag"),
		Size:         size,
		ContentType:  h.Get("Content-Type"),
		Metadata:     metadata(h),
		Created:      headerTime(h, "x-ms-creation-time"),
		LastModified: headerTime(h, "Last-Modified"),
		Lease:        leaseInfo(h.Get("x-ms-lease-state"), h.Get("x-ms-lease-duration")),
		Date:         date(h),
	}
}

// date is the service's clock, which it tells to the second.
func date(h http.Header) store.Date {
	return store.Date{Time: headerTime(h, "Date"), Resolution: time.Second}
}

// headerTime is the time in a header; zero if there is none.
func headerTime(h http.Header, key string) time.Time {
	t, err := http.ParseTime(h.Get(key))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

func leaseInfo(state, duration string) store.LeaseInfo {
	return store.LeaseInfo{State: store.LeaseState(state), Infinite: duration == "infinite"}
}

func metadata(h http.Header) map[string]string {
	m := map[string]string{}
	for key := range h {
		if name, ok := strings.CutPrefix(key, metadataPrefix); ok {
			m[strings.ToLower(name)] = decodeValue(h.Get(key))
		}
	}
	return m
}

// encodeMetadata brings metadata into the form of the wire.
func encodeMetadata(m map[string]string) map[string]*string {
	encoded := make(map[string]*string, len(m))
	for name, value := range m {
		encoded[name] = new(rules.EncodeValue(value))
	}
	return encoded
}

// decodeValue reads a metadata value; one that others wrote may not be encoded.
func decodeValue(value string) string {
	if decoded, err := url.PathUnescape(value); err == nil {
		return decoded
	}
	return value
}

// listed reads an entry of a listing.
func listed(item *container.BlobItem, d store.Date) *store.Info {
	p := item.Properties
	m := make(map[string]string, len(item.Metadata))
	for name, value := range item.Metadata {
		m[strings.ToLower(name)] = decodeValue(or(value))
	}
	return &store.Info{
		Name:         or(item.Name),
		ETag:         quote(string(or(p.ETag))),
		Size:         or(p.ContentLength),
		ContentType:  or(p.ContentType),
		Metadata:     m,
		Created:      or(p.CreationTime).UTC(),
		LastModified: or(p.LastModified).UTC(),
		Lease:        leaseInfo(string(or(p.LeaseState)), string(or(p.LeaseDuration))),
		Date:         d,
	}
}

// quote puts the quotes around an ETag that a listing leaves out.
func quote(etag string) string {
	if etag == "" || strings.HasPrefix(etag, `"`) {
		return etag
	}
	return `"` + etag + `"`
}

// or is what p points to; the zero value if it is nil.
func or[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}

// access is c in the SDK's terms.
func access(c *store.Conditions) *blob.AccessConditions {
	return &blob.AccessConditions{
		LeaseAccessConditions:    &blob.LeaseAccessConditions{LeaseID: given(c.LeaseID)},
		ModifiedAccessConditions: modified(c),
	}
}

func modified(c *store.Conditions) *blob.ModifiedAccessConditions {
	return &blob.ModifiedAccessConditions{
		IfMatch:           given(azcore.ETag(c.IfMatch)),
		IfNoneMatch:       given(azcore.ETag(c.IfNoneMatch)),
		IfModifiedSince:   given(c.IfModifiedSince),
		IfUnmodifiedSince: given(c.IfUnmodifiedSince),
	}
}

// given points to v; nil if it is the zero value.
func given[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}
