package wire

import (
	"net/url"
	"strings"
)

// FileOf is the file of a local store; "" for other stores.
func FileOf(storeURL string) string {
	path, _ := strings.CutPrefix(storeURL, "sqlite:")
	if path == storeURL {
		return ""
	}
	return path
}

// SignatureOf is the shared access signature in the URL of a container, which is a
// secret; "" if there is none.
func SignatureOf(storeURL string) string {
	u, err := url.Parse(storeURL)
	if err != nil || !isAzure(storeURL) {
		return ""
	}
	return u.RawQuery
}

// InAzure reports whether a store is a container in Azure or in its emulator.
func InAzure(storeURL string) bool { return isAzure(storeURL) }
