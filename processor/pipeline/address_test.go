package pipeline_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/leasestream/leasestream/processor/pipeline"
)

// What a message puts into a URL stays the part of it that the file says.
func TestHTTP_URL(t *testing.T) {
	for _, c := range []struct{ url, input, want string }{
		{`http://example.com`, ``, `http://example.com`},
		{`http://example.com/a%20b/?c=%26d`, ``, `http://example.com/a%20b/?c=%26d`},
		{`http://example.com/{{.Input.city}}`, `{"city":"Ústí nad Labem"}`, `http://example.com/%C3%9Ast%C3%AD%20nad%20Labem`},
		{`http://example.com/{{.Input}}/x?y={{.Input}}`, `"a/b?c=d&e+f#g%"`, `http://example.com/a%2Fb%3Fc%3Dd%26e%2Bf%23g%25/x?y=a%2Fb%3Fc%3Dd%26e%2Bf%23g%25`},
		{`http://example.com?n={{.Input}}`, `12345678901234567890`, `http://example.com?n=12345678901234567890`},
		{`http://example.com/?q={{.Input}}`, `[1]`, `http://example.com/?q=%5B1%5D`},
		{`http://example.com/?q={{.Input}}`, `null`, `http://example.com/?q=null`},
		{`http://example.com/?q={{.Input}}`, `".."`, `http://example.com/?q=..`},
		{`http://example.com/?q={{urlquery .Input}}`, `"a b&"`, `http://example.com/?q=a+b%26`},
		{`http://example.com/?q={{.Input | urlquery}}`, `"a b&"`, `http://example.com/?q=a+b%26`},
		{`http://example.com/?{{range $i, $e := .Input}}{{if $i}}&{{end}}q={{$e}}{{else}}none{{end}}`, `["a&","b"]`, `http://example.com/?q=a%26&q=b`},
		{`http://example.com/{{with .Input}}{{$x := .a}}{{$x}}{{end}}`, `{"a":"/"}`, `http://example.com/%2F`},
		{`http://example.com/{{block "b" .Input}}{{.}}{{end}}`, `"/"`, `http://example.com/%2F`},
		{`http://example.com/{{.Stream}}/{{.Run}}/{{.Event}}/{{.Attempt}}?k={{.Key}}`, ``, `http://example.com/order-42/k3v9x2/01.00/2?k=k3v9x2%2F01.00`},
		{`{{.Input}}`, `"https://example.com:8080/a/b?c=d"`, `https://example.com:8080/a/b?c=d`},
		{`http://{{.Input.host}}/{{.Input.path}}`, `{"host":"example.com","path":"a/b"}`, `http://example.com/a/b`},
		{`http{{if .Input}}s{{end}}://example.com`, `true`, `https://example.com`},
		{`http://example.com{{.Input}}`, `"/a"`, `http://example.com/a`},

		{`http://example.com/{{.Input.city}}`, `{}`, `abort: pipeline.yaml:4:17: url at <.Input.city>: map has no entry for key "city"`},
		{`http://example.com/{{.Input.city}}`, `"x"`, `abort: pipeline.yaml:4:17: url at <.Input.city>: can't evaluate field city`},
		{`http://example.com/a/{{.Input}}/b`, `".."`, `abort: pipeline.yaml:4:17: url: want http://HOST/PATH or https://HOST/PATH, without ".." in the path`},
		{`http://example.com/a/{{.Input}}`, `"../../b"`, `abort: pipeline.yaml:4:17: url: want http://HOST/PATH or https://HOST/PATH, without ".." in the path`},
		{`http://example.com/{{.Input}}.`, `"."`, `abort: pipeline.yaml:4:17: url: want http://HOST/PATH or https://HOST/PATH, without ".." in the path`},
		{`http://example.com/{{.Input}}/`, `"."`, `abort: pipeline.yaml:4:17: url: want http://HOST/PATH or https://HOST/PATH, without "." in the path`},
		{`{{.Input}}`, `"ftp://example.com/"`, `abort: pipeline.yaml:4:17: url: want http://HOST/PATH or https://HOST/PATH`},
		{`{{.Input}}`, `"file:///etc/passwd"`, `abort: pipeline.yaml:4:17: url: want http://HOST/PATH or https://HOST/PATH`},
		{`{{.Input}}`, `"http:///a"`, `abort: pipeline.yaml:4:17: url: want http://HOST/PATH or https://HOST/PATH`},
		{`{{.Input}}`, `"http://user:secret/x@example.com/"`, `abort: pipeline.yaml:4:17: url: want http://HOST/PATH or https://HOST/PATH`},
		{`{{.Input}}`, `"http://example.com/\n"`, `abort: pipeline.yaml:4:17: url: want http://HOST/PATH or https://HOST/PATH`},
		{`{{.Input}}`, `"http://example.com/?a=b c"`, `abort: pipeline.yaml:4:17: url: want http://HOST/PATH or https://HOST/PATH, with %20 for a space`},
	} {
		t.Run(c.url+" "+c.input, func(t *testing.T) {
			var got string
			o := &pipeline.Options{Transport: inProcess(func(_ http.ResponseWriter, r *http.Request) { got = r.URL.String() })}
			outcome, err := handle(t, posting(strings.ReplaceAll(c.url, `"`, `\"`), ""), task("A", c.input), o)
			if strings.HasPrefix(c.want, "abort: ") {
				check(t, outcome, err, c.want)
				if strings.Contains(reasonOf(outcome), "secret") {
					t.Errorf("reason = %q tells a secret", reasonOf(outcome))
				}
				return
			}
			check(t, outcome, err, complete("null"))
			if got != c.want {
				t.Errorf("URL = %s, want %s", got, c.want)
			}
		})
	}
}

// No message makes another host, another folder or another value of the query.
func FuzzHTTP_URL(f *testing.F) {
	for _, s := range []string{"Brno", "a b", "../x", "..", ".", "", "@evil.example/", "\\", "?c=d&c=e#", "%2e%2e", "%", "é\x00\r\n"} {
		f.Add(s)
	}
	var got *url.URL
	o := &pipeline.Options{Transport: inProcess(func(_ http.ResponseWriter, r *http.Request) { got = r.URL })}
	pl, err := pipeline.Parse([]byte(posting("http://example.com/a/{{.Input}}/b?c={{.Input}}", "")), o)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		input, err := json.Marshal(s)
		if err != nil || !utf8.ValidString(s) {
			return
		}
		got = nil
		outcome, err := pl.Step("A").Handler(t.Context(), task("A", string(input)))
		switch {
		case err != nil:
			t.Fatalf("handler = %v for %q", err, s)
		case got == nil && strings.Contains(s, ".") && reasonOf(outcome) != "":
		case got == nil || got.Host != "example.com" || got.Path != "/a/"+s+"/b" || got.Query().Get("c") != s || len(got.Query()) != 1:
			t.Errorf("URL = %v, %s for %q", got, reasonOf(outcome), s)
		}
	})
}

// User info is sent as servers expect it, and stays out of errors with the query.
func TestHTTP_UserInfo(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		http.Error(w, r.URL.String()+" "+user+" "+password, 404)
	})
	withUser := strings.Replace(server, "://", "://ann:p%40ss@", 1) + "/a%2Fb?city=Brno"
	got, err := handle(t, posting(withUser, ""), task("A", "1"), nil)
	check(t, got, err, "abort: POST "+server+"/a%2Fb?…: 404 Not Found: /a%2Fb?city=Brno ann p@ss")
}

func TestHTTP_LongURLInErrors(t *testing.T) {
	o := &pipeline.Options{Transport: inProcess(answering(404, nil, "no"))}
	got, err := handle(t, posting("http://example.com/{{.Input}}", ""), task("A", `"`+strings.Repeat("x", 5000)+`"`), o)
	check(t, got, err, "abort: POST http://example.com/"+strings.Repeat("x", 200-len("http://example.com/"))+": 404 Not Found: no")
}
