package azurestore_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/scope/store/azurestore"
)

const (
	accountURL  = "https://orders.blob.core.windows.net/runs"
	emulatorURL = "http://127.0.0.1:10000/devstoreaccount1/runs"
	secretKey   = "SEVSRSBJUyBBIEtFWQ=="
)

// environment sets the variables that hold credentials; "" unsets.
func environment(t *testing.T, connectionString, key string) {
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", connectionString)
	t.Setenv("AZURE_STORAGE_KEY", key)
}

func TestOpen_WrongURL(t *testing.T) {
	environment(t, "", secretKey)
	for _, test := range []struct{ url, want string }{
		{"", "does not begin with https://"},
		{"orders", "does not begin with https://"},
		{"ftp://orders.blob.core.windows.net/runs", "does not begin with https://"},
		{"https:///runs", "does not begin with https://"},
		{"https://orders.blob.core.windows.net", "its path is neither"},
		{"https://orders.blob.core.windows.net/", "its path is neither"},
		{"https://orders.blob.core.windows.net/a/b/c", "its path is neither"},
		{"https://orders.blob.core.windows.net/runs/streams.xml", "its path is neither"},
		{"http://127.0.0.1:10000/runs", "its path is neither"},
		{"http://localhost:10000/runs", "its path is neither"},
		{"https://orders.blob.core.windows.net/Runs", `"Runs" is no name of a container`},
		{"https://orders.blob.core.windows.net/a--b", `"a--b" is no name of a container`},
		{"https://orders.blob.core.windows.net/ab", `"ab" is no name of a container`},
		{"https://orders.blob.core.windows.net/" + strings.Repeat("a", 64), "is no name of a container"},
		{"https://orders.blob.core.windows.net/" + strings.Repeat("a-", 31) + "bc", "is no name of a container"},
		{"https://me:" + secretKey + "@orders.blob.core.windows.net/runs", "user name"},
		{accountURL + "#" + secretKey, "fragment"},
		{accountURL + "?" + secretKey, "not a shared access signature"},
		{accountURL + "?sv=2024-11-04&sig=%zz" + secretKey, "not a shared access signature"},
		{"https://orders.blob.core.windows.net/%zz?sig=" + secretKey, "not a URL"},
	} {
		_, err := azurestore.Open(test.url, nil)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Open(%q) = %v, want an error with %q", test.url, err, test.want)
		}
		if err != nil && !strings.Contains(err.Error(), emulatorURL[:20]) {
			t.Errorf("Open(%q) = %v, want an example", test.url, err)
		}
		if err != nil && strings.Contains(err.Error(), secretKey) {
			t.Errorf("Open(%q) shows a secret: %v", test.url, err)
		}
	}
}

func TestOpen_Credentials(t *testing.T) {
	const connection = "DefaultEndpointsProtocol=https;AccountName=orders;AccountKey=" + secretKey + ";EndpointSuffix=core.windows.net"
	const signed = "BlobEndpoint=https://orders.blob.core.windows.net/;SharedAccessSignature=?sv=2024-11-04&sig=abc"
	for _, test := range []struct {
		name, url, connection, key string
		want                       string // in the Authorization or the query
	}{
		{"signature in the URL", accountURL + "?sig=abc", connection, secretKey, "sig=abc"},
		{"connection string", accountURL, connection, "bm90IHRoaXM=", "SharedKey orders:"},
		{"connection string with a signature", accountURL, signed, "", "sig=abc"},
		{"key", accountURL, "", secretKey, "SharedKey orders:"},
		{"emulator", emulatorURL, "", "", "SharedKey devstoreaccount1:"},
		{"emulator by name", "http://localhost:10000/devstoreaccount1/runs/", "", "", "SharedKey devstoreaccount1:"},
		{"emulator by IPv6", "http://[::1]:10000/devstoreaccount1/runs", "", "", "SharedKey devstoreaccount1:"},
		{"emulator beside an account", emulatorURL, connection, secretKey, "SharedKey devstoreaccount1:"},
		{"emulator's connection string", emulatorURL, "UseDevelopmentStorage=true", "", "SharedKey devstoreaccount1:"},
		{"another account on an emulator", "http://azurite:10000/orders/runs", connection, "", "SharedKey orders:"},
	} {
		t.Run(test.name, func(t *testing.T) {
			environment(t, test.connection, test.key)
			svc := &service{answer: succeed}
			s := open(t, test.url, &azurestore.Options{Transport: svc})
			if _, err := s.Stat(t.Context(), "a", nil); err != nil {
				t.Fatal(err)
			}
			r := svc.sent()[0]
			if got := r.Header.Get("Authorization") + r.URL.RawQuery; !strings.Contains(got, test.want) {
				t.Errorf("the request is signed by %q, want %q", got, test.want)
			}
		})
	}
}

func TestOpen_NeedsNothingAtFirst(t *testing.T) {
	environment(t, "", "")
	for _, url := range []string{
		accountURL,
		accountURL + "/",
		"https://orders.blob.core.windows.net/" + strings.Repeat("a", 63),
		"https://orders.blob.core.windows.net/$root",
	} {
		open(t, url, nil)
	}
}

func TestOpen_WrongCredentials(t *testing.T) {
	for _, test := range []struct{ name, connection, key, want string }{
		{"another account", "AccountName=invoices;AccountKey=" + secretKey, "", `is of account "invoices" and the store URL of account "orders"`},
		{"no account", "AccountKey=" + secretKey, "", "has no account"},
		{"no key", "AccountName=orders;Secret=" + secretKey, "", "has no account with a key"},
		{"no connection string", secretKey, "", "has no account"},
		{"broken endpoint", "BlobEndpoint=https://%zz" + secretKey + ";SharedAccessSignature=sig=a", "", "has no account"},
		{"key that is none", "", secretKey + "!", `the key of account "orders" is not base64`},
	} {
		t.Run(test.name, func(t *testing.T) {
			environment(t, test.connection, test.key)
			_, err := azurestore.Open(accountURL, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Open() = %v, want an error with %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), secretKey) {
				t.Errorf("Open() shows the secret: %v", err)
			}
		})
	}
}

func TestOpen_LoginNeedsTLS(t *testing.T) {
	environment(t, "", "")
	_, err := azurestore.Open("http://orders.blob.core.windows.net/runs", nil)
	if err == nil || !strings.Contains(err.Error(), "needs https://") || !strings.Contains(err.Error(), "AZURE_STORAGE_KEY") {
		t.Errorf("Open() over http:// with no key = %v, want what to do", err)
	}
}

func TestOpen_WrongKeyIsNamed(t *testing.T) {
	environment(t, "", secretKey)
	s := open(t, accountURL, &azurestore.Options{Transport: &service{answer: status(http.StatusForbidden, "AuthenticationFailed")}})
	_, err := s.Stat(t.Context(), "", nil)
	if err == nil || !strings.Contains(err.Error(), `is the key in AZURE_STORAGE_KEY that of account "orders"`) {
		t.Errorf("Stat() = %v, want where the key comes from", err)
	}
	if err != nil && strings.Contains(printed(err), secretKey) {
		t.Errorf("Stat() shows the key: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	for _, url := range []string{accountURL, emulatorURL, "", "https://", "http://[::1/runs", accountURL + "?x=%", accountURL + "#"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		s, err := azurestore.Open(url+"?sv=2024-11-04&sig="+testSignature, nil)
		switch {
		case err == nil:
			s.Close()
		case strings.Contains(err.Error(), testSignature):
			t.Errorf("Open() shows the signature: %v", err)
		}
	})
}
