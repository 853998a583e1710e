package wire

import (
	"net/http"
	"time"

	"github.com/leasestream/leasestream/scope/store/azurestore"
)

// azure are the options of a container in Azure.
func (o *StoreOptions) azure() *azurestore.Options {
	if o.Observe == nil {
		return nil
	}
	return &azurestore.Options{Transport: &observer{o.Observe, &http.Client{CheckRedirect: stay}}}
}

// stay makes an answer of a redirection: followed, it would send a write again.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// observer sends requests and shows what is answered.
type observer struct {
	seen   func(sent, received time.Time, header http.Header)
	client *http.Client
}

func (o *observer) Do(r *http.Request) (*http.Response, error) {
	sent := time.Now()
	answer, err := o.client.Do(r)
	if err == nil {
		o.seen(sent, time.Now(), answer.Header)
	}
	return answer, err
}
