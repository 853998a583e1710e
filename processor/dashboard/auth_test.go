package dashboard_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/processor/dashboard"
)

// everything are requests to all that the dashboard answers.
var everything = []struct{ method, path string }{
	{"GET", "/"}, {"GET", "/runs/shop-1"}, {"GET", "/runs/shop-1/timeline"}, {"GET", "/runs/shop-1/events"},
	{"GET", "/runs/shop-1/events/00"}, {"GET", "/runs/shop-1/query?xpath=./Event"}, {"GET", "/runs/shop-1/xml"},
	{"GET", "/runs/shop-1/json"}, {"GET", "/runs/shop-1/download/xml"}, {"GET", "/runs/shop-1/download/input?event=00"},
	{"GET", "/runs/shop-1/do/cancel"}, {"GET", "/bulk/cancel"}, {"GET", "/pipelines"}, {"GET", "/workers"},
	{"GET", "/workers/pause"}, {"GET", "/leases"}, {"GET", "/leases/break?blob=workers/w"},
	{"GET", "/live/runs"}, {"GET", "/live/run?of=shop-1"}, {"GET", "/assets/app.css"}, {"GET", "/assets/app.js"},
	{"GET", "/nosuch"}, {"HEAD", "/"}, {"OPTIONS", "/"},
	{"POST", "/runs/shop-1/do/cancel"}, {"POST", "/bulk/cancel"}, {"POST", "/leases/break"}, {"POST", "/workers/pause"},
	{"GET", "/workers/slots?id=w"}, {"GET", "/runs/shop-1/limit"},
	{"POST", "/pipelines/00/start"}, {"POST", "/workers/slots"}, {"POST", "/runs/shop-1/limit"},
}

func TestToken_NothingWithout(t *testing.T) {
	w := newWorld(t, dashboard.Options{Title: "sqlite:orders.db"})
	w.start("shop-1", 2)
	for _, headers := range [][]string{
		nil,
		{"Authorization", "Bearer wrong-" + token},
		{"Authorization", token},
		{"Cookie", "leasestream=" + token},
	} {
		for _, e := range everything {
			for _, path := range []string{e.path, addQuery(e.path, "token", "x"+token)} {
				a := w.send(e.method, path, url.Values{}, headers...)
				if a.StatusCode != http.StatusUnauthorized {
					t.Errorf("%s %s with %q = %d, want 401", e.method, path, headers, a.StatusCode)
				}
				if strings.Contains(a.body, "shop-1") || strings.Contains(a.body, "orders.db") {
					t.Errorf("%s %s with %q tells what there is", e.method, path, headers)
				}
			}
		}
	}
	if s, _ := w.stream("shop-1").Status(); s.Final() {
		t.Errorf("the run is %v, want it untouched", s)
	}
}

func addQuery(path, key, value string) string {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	return path + separator + key + "=" + url.QueryEscape(value)
}

func TestToken_SignIn(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	a := w.send("GET", "/?token="+token+"&state=running", nil)
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/?state=running" {
		t.Fatalf("GET /?token= = %d to %q, want 303 to the same page without the token", a.StatusCode, a.Header.Get("Location"))
	}
	cookies := a.Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode || cookies[0].Secure || strings.Contains(cookies[0].Value, token) {
		t.Fatalf("cookies = %v, want one, HttpOnly, SameSite=Strict and without the token", cookies)
	}
	cookie := cookies[0].Name + "=" + cookies[0].Value
	if a := w.send("GET", "/", nil, "Cookie", cookie); a.StatusCode != http.StatusOK {
		t.Errorf("GET / with the cookie = %d, want 200", a.StatusCode)
	}
	if a := w.send("GET", "/?token="+token, nil, "Cookie", cookie); a.StatusCode != http.StatusSeeOther {
		t.Errorf("GET /?token= with the cookie = %d, want 303: the token must not stay in the address", a.StatusCode)
	}
	if a := w.send("GET", "/", nil, "Cookie", cookie+"0"); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("GET / with another cookie = %d, want 401", a.StatusCode)
	}
	// Only the first page signs in, so that the cookie is for all of them.
	if a := w.send("GET", "/runs/x?token="+token, nil); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("GET /runs/x?token= = %d, want 401", a.StatusCode)
	}
	if strings.Contains(w.log.String(), token) {
		t.Errorf("the log has the token: %s", w.log)
	}
}

func TestToken_SecureWithTLS(t *testing.T) {
	auth := dashboard.Token(token, "operator")
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/flows/?token="+token, nil)
	r.TLS = &tls.ConnectionState{}
	recorder := httptest.NewRecorder()
	if _, ok := auth(recorder, r); ok {
		t.Fatal("a request to sign in was let in, want it redirected")
	}
	cookies := recorder.Result().Cookies()
	if len(cookies) != 1 || !cookies[0].Secure || cookies[0].Path != "" {
		t.Errorf("cookies = %v, want one that is Secure and for the paths below this one", cookies)
	}
	if to := recorder.Result().Header.Get("Location"); to != "/flows/" {
		t.Errorf("Location = %q, want /flows/", to)
	}
}

func TestToken_TwoDashboards(t *testing.T) {
	names := map[string]bool{}
	for _, secret := range []string{token, "another " + token} {
		recorder := httptest.NewRecorder()
		dashboard.Token(secret, "")(recorder, httptest.NewRequestWithContext(t.Context(), "GET", "/?token="+url.QueryEscape(secret), nil))
		names[recorder.Result().Cookies()[0].Name] = true
	}
	if len(names) != 2 {
		t.Errorf("cookies are named %v, want a name for each token: ports share cookies", names)
	}
}

func TestToken_TooShort(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Token(short) returned, want a panic")
		}
	}()
	dashboard.Token("short", "")
}

func TestGuard_Headers(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	for _, a := range []answer{w.get("/"), w.get("/assets/app.js"), w.get("/nosuch"), w.send("GET", "/", nil)} {
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "X-Frame-Options": "DENY",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("%d: %s = %q, want %q", a.StatusCode, name, got, want)
			}
		}
		csp := strings.Split(a.Header.Get("Content-Security-Policy"), "; ")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "form-action 'self'"} {
			if !slices.Contains(csp, want) {
				t.Errorf("%d: Content-Security-Policy = %q, want %s", a.StatusCode, csp, want)
			}
		}
	}
}

func TestPages_NothingInline(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.start("shop-1", 2)
	for _, e := range everything {
		if e.method != "GET" || strings.HasPrefix(e.path, "/live") || strings.Contains(e.path, "download") || strings.Contains(e.path, "assets") {
			continue
		}
		body := w.get(e.path).body
		for _, inline := range []string{"<style", " style=", "<script>", " onclick=", " onload=", "javascript:", "http://", "https://"} {
			if strings.Contains(strings.ReplaceAll(body, "http://www.w3.org", ""), inline) {
				t.Errorf("%s has %q, which the policy forbids or which loads from elsewhere", e.path, inline)
			}
		}
	}
}

func TestCrossOrigin(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.start("shop-1", 2)
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Origin", "https://evil.example"},
		{"Origin", "null"},
	} {
		for _, e := range everything {
			if e.method != "POST" {
				continue
			}
			if a := w.do("POST", e.path, url.Values{}, headers...); a.StatusCode != http.StatusForbidden {
				t.Errorf("POST %s with %q = %d, want 403", e.path, headers, a.StatusCode)
			}
		}
	}
	if s, _ := w.stream("shop-1").Status(); s.Final() {
		t.Errorf("the run is %v, want it untouched", s)
	}
	if a := w.do("POST", "/runs/shop-1/do/cancel", url.Values{}, "Sec-Fetch-Site", "same-origin"); a.StatusCode != http.StatusSeeOther {
		t.Errorf("POST from our own page = %d, want 303", a.StatusCode)
	}
}

func TestReadOnly(t *testing.T) {
	w := newWorld(t, dashboard.Options{ReadOnly: true})
	w.start("shop-1", 2)
	for _, e := range everything {
		switch {
		case e.method == "POST":
			if a := w.do("POST", e.path, url.Values{}); a.StatusCode != http.StatusForbidden {
				t.Errorf("POST %s = %d, want 403", e.path, a.StatusCode)
			}
		case e.method == "GET" && !strings.HasPrefix(e.path, "/live"):
			for _, offer := range []string{`method="post"`, "/do/", "/bulk/", "/break", "/slots", "/limit"} {
				if body := w.get(e.path).body; strings.Contains(body, offer) {
					t.Errorf("%s offers %q", e.path, offer)
				}
			}
		}
	}
	if s, _ := w.stream("shop-1").Status(); s.Final() {
		t.Errorf("the run is %v, want it untouched", s)
	}
	if !strings.Contains(w.page("/"), "Read-only") {
		t.Error("the page does not say that it is read-only")
	}
}

// A server with users of its own brings its own Auth, whose name is kept with
// what is done.
func TestAuth_OfTheServer(t *testing.T) {
	w := newWorld(t, dashboard.Options{})
	w.start("shop-1", 2)
	board := dashboard.New(w.p, func(_ http.ResponseWriter, r *http.Request) (string, bool) {
		user, _, ok := r.BasicAuth()
		return user, ok
	}, &dashboard.Options{Prefix: "/flows"})
	defer board.Close()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/flows/runs/shop-1/do/cancel", strings.NewReader("reason=too+many"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth("ada", "")
	recorder := httptest.NewRecorder()
	board.ServeHTTP(recorder, r)
	if recorder.Code != http.StatusSeeOther || recorder.Header().Get("Location") != "/flows/runs/shop-1?done=cancel" {
		t.Errorf("POST = %d to %q, want 303 to the run", recorder.Code, recorder.Header().Get("Location"))
	}
	root := w.stream("shop-1").Root()
	if got := root.Attr("by") + ": " + root.Msg(); got != "ada: too many" {
		t.Errorf("it was canceled by %q, want ada: too many", got)
	}
}
