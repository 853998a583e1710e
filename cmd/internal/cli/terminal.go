package cli

import (
	"io"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/term"
)

// isTerminal tells whether a person looks at an output, or can answer at an input.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// drawable tells whether a bar can be drawn. A terminal of no width, as some
// services offer, would show nothing of it.
func drawable(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return err == nil && width > 0
}

// coloured tells whether output may have colours.
func (a *app) coloured() bool {
	return isTerminal(a.stdout) && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
}

// printable replaces control characters, since text that comes from a document
// or from a program could otherwise give orders to the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case unicode.IsControl(r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// errorWriter is standard error: shared by all that log and report, and without
// the secrets of the invocation.
type errorWriter struct {
	redact func(string) string

	mu sync.Mutex // guards the field below
	w  io.Writer
}

func (e *errorWriter) Write(p []byte) (int, error) {
	text := e.redact(string(p))
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, err := io.WriteString(e.w, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// secretForms are what secrets look like in a URL or a connection string.
var secretForms = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(sig=|AccountKey=|SharedAccessSignature=)[^&;\s"']+()`),
	regexp.MustCompile(`(://[^/\s:@]*:)[^/\s@]+(@)`),
}

// redact takes out of a text what nobody may read there: signatures, keys and
// passwords. The packages below do not write secrets; this is for what a user
// typed in a wrong place.
func (a *app) redact(text string) string {
	for _, secret := range a.secrets() {
		text = strings.ReplaceAll(text, secret, "…")
	}
	for _, form := range secretForms {
		text = form.ReplaceAllString(text, "${1}…${2}")
	}
	return text
}

// secrets are the values that are known to be secret.
func (a *app) secrets() []string {
	secrets := []string{a.getenv("AZURE_STORAGE_KEY")}
	for setting := range strings.SplitSeq(a.getenv("AZURE_STORAGE_CONNECTION_STRING"), ";") {
		if key, ok := strings.CutPrefix(setting, "AccountKey="); ok {
			secrets = append(secrets, key)
		}
	}
	if u, err := url.Parse(a.storeURL); err == nil {
		secrets = append(secrets, u.Query().Get("sig"))
	}
	secrets = append(secrets, a.bus.token)
	for server := range strings.SplitSeq(a.bus.url, ",") {
		if u, err := url.Parse(server); err == nil {
			secrets = append(secrets, busSecret(u.User))
		}
	}
	for _, signal := range []string{"", "TRACES_", "METRICS_"} {
		for header := range strings.SplitSeq(a.getenv("OTEL_EXPORTER_OTLP_"+signal+"HEADERS"), ",") {
			_, value, _ := strings.Cut(header, "=")
			secrets = append(secrets, strings.TrimSpace(value))
		}
	}
	// A shorter one would be found in innocent words.
	return slices.DeleteFunc(secrets, func(s string) bool { return len(s) < 8 })
}

// busSecret is the password, or the token, which stands alone.
func busSecret(u *url.Userinfo) string {
	if password, ok := u.Password(); ok {
		return password
	}
	return u.Username()
}
