package pipeline_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/leasestream/leasestream/processor/pipeline"
)

func TestHTTP_Headers(t *testing.T) {
	t.Setenv("API_TOKEN", "s3cr3t/abc==")
	t.Setenv("BASIC", "Basic dXNlcjpwYXNz")
	t.Setenv("BROKEN", "s3cr3t\n")
	t.Setenv("EMPTY", "")
	for _, c := range []struct{ headers, input, name, want string }{
		{`X-City: "{{.Input.city}}"`, `{"city":"Brno, Ústí"}`, "X-City", "Brno, Ústí"},
		{`Idempotency-Key: "{{.Key}}"`, ``, "Idempotency-Key", "k3v9x2/01.00"},
		{`x-number: 2`, ``, "X-Number", "2"},
		{`X-Bool: true`, ``, "X-Bool", "true"},
		{`User-Agent: me`, ``, "User-Agent", "me"},
		{`Accept: "*/*"`, ``, "User-Agent", "leasestream"},
		{`Authorization: {env: API_TOKEN}`, ``, "Authorization", "s3cr3t/abc=="},
		{`Authorization: {env: API_TOKEN, prefix: "Bearer "}`, ``, "Authorization", "Bearer s3cr3t/abc=="},
		{`Authorization: {prefix: "", env: BASIC}`, ``, "Authorization", "Basic dXNlcjpwYXNz"},

		{`X-City: "{{.Input.city}}"`, `{}`, "", `abort: pipeline.yaml:4:58: header X-City at <.Input.city>: map has no entry for key "city"`},
		{`X-City: "{{.Input}}"`, `"a\r\nX-Admin: 1"`, "", `abort: pipeline.yaml:4:58: header X-City: a header cannot carry a line break or control character`},
		{`Authorization: {env: NO_SUCH_VARIABLE}`, ``, "", `abort: pipeline.yaml:4:65: header Authorization: variable NO_SUCH_VARIABLE is not set in the environment of the worker`},
		{`Authorization: {env: EMPTY}`, ``, "", `abort: pipeline.yaml:4:65: header Authorization: variable EMPTY is not set in the environment of the worker`},
		{`Authorization: {env: BROKEN}`, ``, "", `abort: pipeline.yaml:4:65: header Authorization: variable BROKEN: a header cannot carry a line break or control character`},
	} {
		t.Run(c.headers+" "+c.input, func(t *testing.T) {
			var got http.Header
			o := &pipeline.Options{Transport: inProcess(func(_ http.ResponseWriter, r *http.Request) { got = r.Header })}
			outcome, err := handle(t, posting("http://example.com/", ", headers: {"+c.headers+"}"), task("A", c.input), o)
			if c.name == "" {
				check(t, outcome, err, c.want)
				return
			}
			check(t, outcome, err, complete("null"))
			if got.Get(c.name) != c.want {
				t.Errorf("%s = %q, want %q", c.name, got.Get(c.name), c.want)
			}
		})
	}
}

func TestHTTP_HeaderComesBeforeUserInfo(t *testing.T) {
	t.Setenv("API_TOKEN", "abc")
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Header.Get("Authorization")) })
	source := posting(strings.Replace(url, "://", "://ann:pass@", 1)+"/", ", headers: {Authorization: {env: API_TOKEN}}", "output: text")
	got, err := handle(t, source, task("A", "1"), nil)
	check(t, got, err, complete(`"abc"`))
}

// A template has no way to the environment.
func TestHTTP_NoEnvironmentInTemplates(t *testing.T) {
	for _, text := range []string{`{{env \"HOME\"}}`, `{{.Env.HOME}}`, `{{getenv \"HOME\"}}`} {
		for _, source := range []string{posting("http://example.com/"+text, ""), posting("http://example.com/", `, headers: {X: "`+text+`"}`)} {
			if _, err := pipeline.Parse([]byte(source), nil); err == nil {
				t.Errorf("Parse accepts %s", text)
			}
		}
	}
}

// The server repeats what it was sent, and nothing of it is told: not in the
// reason, not in the log of a whole run, nowhere in the store.
func TestHTTP_SecretsAreHidden(t *testing.T) {
	t.Setenv("API_TOKEN", "Bearer s3cr3t/abc==")
	edge := strings.Repeat("x", 505)
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"refusal", 403, "bad token: Bearer s3cr3t/abc==", "403 Forbidden: bad token: [API_TOKEN]"},
		{"a part", 403, "bad token: s3cr3t/abc==.", "403 Forbidden: bad token: [API_TOKEN]."},
		{"JSON", 403, `{"token":"s3cr3t\/abc=="}`, `403 Forbidden: {"token":"[API_TOKEN]"}`},
		{"failure", 500, "bad token: Bearer s3cr3t/abc==", "500 Internal Server Error: bad token: [API_TOKEN]"},
		{"at the edge", 403, edge + "s3cr3t/abc==", "403 Forbidden: " + edge + "[API_TO"},
		{"no output", 200, "bad token: Bearer s3cr3t/abc==", "output cannot be read; it is not shown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
				o := &pipeline.Options{Transport: inProcess(answering(c.status, nil, c.body)), Logger: logger}
				source := posting("http://example.com/", ", headers: {Authorization: {env: API_TOKEN}}", "retry: {attempts: 1}")
				end, stored := runAlone(t, parse(t, source, o), logger)
				if want := "POST http://example.com/: " + c.want; !strings.HasPrefix(end.Msg, want) || !strings.Contains(stored, "POST http://example.com/: ") {
					t.Errorf("reason = %q, want %q, also on the stream", end.Msg, want)
				}
				if told := log.String() + stored; strings.Contains(told, "s3cr3t") {
					t.Errorf("a secret is told in %s", told)
				}
			})
		})
	}
}

// Also not by the connection that fails.
func TestHTTP_SecretsAreHiddenFromNetworkErrors(t *testing.T) {
	t.Setenv("API_TOKEN", "s3cr3t")
	_, err := handle(t, posting("http://127.0.0.1:1/", ", headers: {Authorization: {env: API_TOKEN}}"), task("A", "1"), nil)
	if err == nil || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("handler = %v, want an error without the secret", err)
	}
}
