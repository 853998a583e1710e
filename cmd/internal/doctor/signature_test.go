package doctor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/cmd/internal/doctor"
)

func TestSignature(t *testing.T) {
	now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		query string
		want  []string // begins of the findings
	}{
		{"sr=c&sp=racwdl&se=2027-11-30T08:00:00Z", []string{"ok it holds until 2027-11-30T08:00:00Z", "ok its permissions (sp=racwdl) suffice"}},
		{"?sr=c&sp=rwdl&se=2026-12-31", []string{"ok it holds", "ok its permissions"}},
		{"ss=bf&srt=sco&sp=rwdl&se=2027-01-01T00:00Z", []string{"ok it holds", "ok its permissions"}},
		{"sr=c&sp=rwdl&se=2026-12-01T08:00:00Z", []string{"warn it expires in 24h0m0s, at 2026-12-01T08:00:00Z; make a new one before", "ok"}},
		{"sr=c&sp=rwdl&se=2026-11-30T07:59:59Z", []string{"fail it expired at 2026-11-30T07:59:59Z; make a new one", "ok"}},
		{"sr=c&sp=rwdl&st=2026-11-30T09:00:00Z&se=2027-01-01", []string{"fail it holds only from 2026-11-30T09:00:00Z", "ok it holds", "ok"}},
		{"sr=c&sp=rl&se=2027-01-01", []string{"ok it holds", "fail its permissions (sp=rl) lack w (starting runs, working on them, and leases), d (deleting"}},
		{"sr=c&se=2027-01-01", []string{"ok it holds", "fail its permissions (sp=) lack r (reading"}},
		{"sr=b&sp=rwdl&se=2027-01-01", []string{"ok it holds", "fail it is of one blob or folder (sr=b); make one of the whole container (sr=c)", "ok"}},
		{"ss=q&srt=sco&sp=rwdl&se=2027-01-01", []string{"ok it holds", "fail it is not for blobs (ss=q)", "ok"}},
		{"ss=b&srt=o&sp=rwdl&se=2027-01-01", []string{"ok it holds", "fail it is not for containers and objects (srt=o)", "ok"}},
		{"sp=rwdl&se=2027-01-01", []string{"ok it holds", "warn it does not say what it is of", "ok"}},
		{"sr=c&si=nightly", []string{`ok its end is in the access policy "nightly"`}},
		{"sr=c&sp=rwdl&se=tomorrow", []string{"fail it has no end that can be read", "ok"}},
		{"sr=c&sp=%zz", []string{"fail it is not one"}},
	} {
		const secret = "c2VjcmV0"
		findings := doctor.Signature(test.query+"&sig="+secret, now)
		ok := len(findings) == len(test.want)
		for i, f := range findings {
			line := string(f.Verdict) + " " + f.Text + "; " + f.Remedy
			ok = ok && strings.HasPrefix(line, test.want[i])
			if strings.Contains(line, secret) || f.Check != "signature" {
				t.Errorf("Signature(%q) gives %+v, want no secret and the check signature", test.query, f)
			}
		}
		if !ok {
			t.Errorf("Signature(%q) = %q, want %q", test.query, findings, test.want)
		}
	}
}
