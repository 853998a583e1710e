package dashboard

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// Auth lets a request in, in the name of who it is from, or answers it itself and
// returns false. The name stands as by in what the request changes.
type Auth func(w http.ResponseWriter, r *http.Request) (by string, ok bool)

// Token is the Auth of a dashboard whose users share one secret of at least 16
// characters; all of them act in the name of by. A browser shows the secret once,
// as ?token= at the dashboard's first page, and is sent on to the same page with
// a cookie and without the secret in its address. Programs send it as
// "Authorization: Bearer".
//
// The cookie lasts until the browser is closed, or the token is another one. It
// does not contain the token.
func Token(token, by string) Auth {
	if len(token) < minToken {
		panic("dashboard: a token needs at least 16 characters")
	}
	t := &tokenAuth{by: by, token: digest(token, "token"), cookie: digest(token, "cookie")}
	// Cookies are shared by all ports of a host, and dashboards on it must not
	// throw each other's out.
	t.name = "leasestream-" + digest(token, "name")[:8]
	return t.authenticate
}

const minToken = 16

// digest derives a value that tells nothing about the token. All have the same
// length, so that comparing them takes the same time.
func digest(token, use string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("leasestream dashboard " + use))
	return hex.EncodeToString(mac.Sum(nil))
}

type tokenAuth struct {
	by     string
	name   string // of the cookie
	token  string // digest of the token
	cookie string // value of the cookie
}

func (t *tokenAuth) authenticate(w http.ResponseWriter, r *http.Request) (string, bool) {
	switch {
	case t.hasCookie(r) && !r.URL.Query().Has("token"):
		return t.by, true
	case t.isToken(bearer(r)):
		return t.by, true
	case t.isSignIn(r) && t.isToken(r.URL.Query().Get("token")):
		t.signIn(w, r)
	default:
		http.Error(w, "Open the URL with ?token= that leasestream serve printed, or send the token as Authorization: Bearer.", http.StatusUnauthorized)
	}
	return "", false
}

func bearer(r *http.Request) string {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return ""
	}
	return token
}

func (t *tokenAuth) isToken(given string) bool {
	return hmac.Equal([]byte(digest(given, "token")), []byte(t.token))
}

func (t *tokenAuth) hasCookie(r *http.Request) bool {
	cookie, err := r.Cookie(t.name)
	return err == nil && hmac.Equal([]byte(cookie.Value), []byte(t.cookie))
}

// isSignIn is true for the first page of the dashboard. A cookie set there without
// a path is for all below it, wherever the dashboard is mounted.
func (t *tokenAuth) isSignIn(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/")
}

func (t *tokenAuth) signIn(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{
		Name: t.name, Value: t.cookie, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	})
	query := r.URL.Query()
	query.Del("token")
	target := "./"
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	http.Redirect(w, r, target, http.StatusSeeOther)
}

// whoKey is what the name of who is let in has in the context.
type whoKey struct{}

func whoOf(ctx context.Context) string {
	who, _ := ctx.Value(whoKey{}).(string)
	return who
}

// policy is the Content-Security-Policy: what the dashboard itself serves, and
// nothing inline.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard lets nothing through but what auth lets in, and no write of a page from
// elsewhere.
func guard(auth Auth, next http.Handler) http.Handler {
	next = http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		// Nothing goes to other sites. With no-referrer our own forms would come with
		// "Origin: null", and look like those of others where there is no TLS.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		by, ok := auth(w, r)
		if !ok {
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), whoKey{}, by)))
	})
}
