package azurite_test

import (
	"net/http"
	"testing"

	"github.com/leasestream/leasestream/internal/azurite"
)

func TestStart(t *testing.T) {
	var endpoint string
	t.Run("answers while the test runs", func(t *testing.T) {
		server := azurite.Start(t)
		endpoint = server.Endpoint()
		resp, err := http.Get(server.Container())
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if a, b := server.Container(), server.Container(); a == b {
			t.Errorf("Container() = %s twice", a)
		}
	})
	if _, err := http.Get(endpoint); err == nil {
		t.Errorf("%s still answers after its test", endpoint)
	}
}
