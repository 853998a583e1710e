package doctor

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// needed are the letters that a signature must have, and what fails without.
var needed = []struct{ letter, operations string }{
	{"r", "reading runs, and so every edit"},
	{"w", "starting runs, working on them, and leases"},
	{"l", "polls and listings"},
	{"d", "deleting: purge, the archive, and workers that sign off"},
}

// soon is how long before its end a signature is worth a warning.
const soon = 7 * 24 * time.Hour

// Signature says what a shared access signature, the query of a URL, does not
// allow, at a time. No finding shows the signature itself.
func Signature(query string, now time.Time) []Finding {
	values, err := url.ParseQuery(strings.TrimPrefix(query, "?"))
	if err != nil {
		return []Finding{{Fail, "signature", "it is not one", "make a new one"}}
	}
	s := signature{values: values}
	s.span(now)
	s.reach()
	s.letters()
	return s.findings
}

type signature struct {
	values   url.Values
	findings []Finding
}

func (s *signature) tell(v Verdict, text, remedy string) {
	s.findings = append(s.findings, Finding{v, "signature", text, remedy})
}

// policy is the stored access policy that may say what the signature does not.
func (s *signature) policy() string { return s.values.Get("si") }

// span checks from when and until when it holds.
func (s *signature) span(now time.Time) {
	if start, err := parseTime(s.values.Get("st")); err == nil && start.After(now) {
		s.tell(Fail, "it holds only from "+start.UTC().Format(time.RFC3339), "wait, check this machine's clock, or make one without a start")
	}
	end, err := parseTime(s.values.Get("se"))
	left := end.Sub(now).Round(time.Minute)
	switch {
	case err != nil && s.policy() != "":
		s.tell(OK, fmt.Sprintf("its end is in the access policy %q", s.policy()), "")
	case err != nil:
		s.tell(Fail, "it has no end that can be read", "make a new one")
	case left <= 0:
		s.tell(Fail, "it expired at "+end.UTC().Format(time.RFC3339), "make a new one")
	case left < soon:
		s.tell(Warn, fmt.Sprintf("it expires in %v, at %s", left, end.UTC().Format(time.RFC3339)), "make a new one before")
	default:
		s.tell(OK, fmt.Sprintf("it holds until %s", end.UTC().Format(time.RFC3339)), "")
	}
}

// timeForms are those that a signature may have its times in.
var timeForms = []string{time.RFC3339, "2006-01-02T15:04Z", "2006-01-02"}

func parseTime(text string) (t time.Time, err error) {
	for _, form := range timeForms {
		if t, err = time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	return t, err
}

// reach checks what it is a signature of: a container, or an account's blobs.
func (s *signature) reach() {
	resource, services, types := s.values.Get("sr"), s.values.Get("ss"), s.values.Get("srt")
	switch {
	case resource != "" && resource != "c":
		s.tell(Fail, fmt.Sprintf("it is of one blob or folder (sr=%s)", resource), "make one of the whole container (sr=c)")
	case resource == "" && services == "" && types == "":
		s.tell(Warn, "it does not say what it is of", "make one of the container (sr=c)")
	case resource == "" && !strings.Contains(services, "b"):
		s.tell(Fail, fmt.Sprintf("it is not for blobs (ss=%s)", services), "make one with ss=b")
	case resource == "" && !(strings.Contains(types, "c") && strings.Contains(types, "o")):
		s.tell(Fail, fmt.Sprintf("it is not for containers and objects (srt=%s): listings or edits fail", types), "make one with srt=co")
	}
}

func (s *signature) letters() {
	given, said := s.values.Get("sp"), s.values.Has("sp")
	if !said && s.policy() != "" {
		return
	}
	var missing []string
	for _, n := range needed {
		if !strings.Contains(given, n.letter) {
			missing = append(missing, fmt.Sprintf("%s (%s)", n.letter, n.operations))
		}
	}
	if len(missing) > 0 {
		s.tell(Fail, fmt.Sprintf("its permissions (sp=%s) lack %s", given, strings.Join(missing, ", ")), "make one with sp=rwdl")
		return
	}
	s.tell(OK, fmt.Sprintf("its permissions (sp=%s) suffice", given), "")
}
