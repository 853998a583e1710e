package rules_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/leasestream/leasestream/scope/store/internal/rules"
)

func TestParseID(t *testing.T) {
	const want = "0f8fad5b-d9cb-469f-a165-70867728950e"
	for _, s := range []string{
		want,
		"0F8FAD5B-D9CB-469F-A165-70867728950E",
		" 0f8fad5b-d9cb-469f-a165-70867728950e\t",
		"0f8fad5bd9cb469fa16570867728950e",
		"{0f8fad5b-d9cb-469f-a165-70867728950e}",
		"(0F8FAD5B-d9cb-469f-a165-70867728950e)",
		"{0xf8fad5b,0xd9cb,0x469f,{0xa1,0x65,0x70,0x86,0x77,0x28,0x95,0xe}}",
	} {
		if got, ok := rules.ParseID(s); got != want || !ok {
			t.Errorf("ParseID(%q) = %q, %t, want %q", s, got, ok, want)
		}
	}
	for _, s := range []string{
		"", "hello", "0f8fad5b", "0f8fad5b-d9cb-469f-a165-70867728950", "0f8fad5b-d9cb-469f-a165-70867728950e0",
		"0f8fad5b+d9cb-469f-a165-70867728950e", "0f8fad5bd-9cb-469f-a165-70867728950e", "gf8fad5b-d9cb-469f-a165-70867728950e",
		"[0f8fad5b-d9cb-469f-a165-70867728950e]", "{0f8fad5b-d9cb-469f-a165-70867728950e)", "{0f8fad5bd9cb469fa16570867728950e}",
		"urn:uuid:0f8fad5b-d9cb-469f-a165-70867728950e",
		"{0x0f8fad5b,0xd9cb,0x469f,{0xa1,0x65,0x70,0x86,0x77,0x28,0x95}}",
		"{0x10f8fad5b,0xd9cb,0x469f,{0xa1,0x65,0x70,0x86,0x77,0x28,0x95,0x0e}}",
		"{0x0f8fad5b,0xd9cb,0x469f,0xa1,{0x65,0x70,0x86,0x77,0x28,0x95,0x0e}}",
		"{0x,0xd9cb,0x469f,{0xa1,0x65,0x70,0x86,0x77,0x28,0x95,0x0e}}",
		"{0x0f8fad5b,d9cb,0x469f,{0xa1,0x65,0x70,0x86,0x77,0x28,0x95,0x0e}}",
	} {
		if got, ok := rules.ParseID(s); ok {
			t.Errorf("ParseID(%q) = %q, want it refused", s, got)
		}
	}
}

// FuzzParseID holds that what is read is canonical, reads as itself, and is what
// another reader makes of the forms that both know.
func FuzzParseID(f *testing.F) {
	f.Add("0f8fad5b-d9cb-469f-a165-70867728950e")
	f.Add("{0xf8fad5b,0xd9cb,0x469f,{0xa1,0x65,0x70,0x86,0x77,0x28,0x95,0xe}}")
	f.Add("({0f8fad5bd9cb469fa16570867728950e")
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := rules.ParseID(s)
		if !ok {
			if err := uuid.Validate(s); err == nil && len(s) == 36 {
				t.Errorf("ParseID(%q) refuses a GUID", s)
			}
			return
		}
		if again, ok := rules.ParseID(got); !ok || again != got || len(got) != 36 {
			t.Errorf("ParseID(%q) = %q, which reads as %q", s, got, again)
		}
		if u, err := uuid.Parse(s); err == nil && u.String() != got {
			t.Errorf("ParseID(%q) = %q, want %q", s, got, u)
		}
	})
}
