package cli

import (
	"bytes"
	"testing"
)

func TestPrintable(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"plain Žluťoučký", "plain Žluťoučký"},
		{"a\tb\r\nc", "a b  c"},
		{"\x1b[31mred", "\ufffd[31mred"},
		{"\u009b31m", "\ufffd31m"},
	} {
		if got := printable(test.text); got != test.want {
			t.Errorf("printable(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func TestRedact(t *testing.T) {
	environment := map[string]string{
		"AZURE_STORAGE_KEY":               "a2V5a2V5a2V5",
		"AZURE_STORAGE_CONNECTION_STRING": "AccountName=a;AccountKey=b3RoZXJrZXk=;EndpointSuffix=x",
	}
	a := &app{
		storeURL: "https://a.blob.core.windows.net/c?sv=2024&sig=c2lnbmF0dXJl%2Bx",
		getenv:   func(name string) string { return environment[name] },
	}
	for _, test := range []struct{ text, want string }{
		{"nothing of the kind", "nothing of the kind"},
		{"GET " + a.storeURL + " failed", "GET https://a.blob.core.windows.net/c?sv=2024&sig=… failed"},
		{"decoded c2lnbmF0dXJl+x.", "decoded …."},
		{"the key a2V5a2V5a2V5.", "the key …."},
		{"the key b3RoZXJrZXk=.", "the key …."},
		{"AccountName=q;AccountKey=c2VjcmV0;x", "AccountName=q;AccountKey=…;x"},
		{"another ?SIG=abc&x=1", "another ?SIG=…&x=1"},
		{"at https://me:pass@host/c", "at https://me:…@host/c"},
	} {
		if got := a.redact(test.text); got != test.want {
			t.Errorf("redact(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func TestErrorWriter(t *testing.T) {
	var out bytes.Buffer
	e := &errorWriter{redact: func(string) string { return "…" }, w: &out}
	if n, err := e.Write([]byte("secret")); n != 6 || err != nil || out.String() != "…" {
		t.Errorf("Write() = %d, %v and wrote %q, want 6, nil and …", n, err, out.String())
	}
}
