package cli

import (
	"testing"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

func TestPeriod_Set(t *testing.T) {
	for _, test := range []struct {
		of      period
		text    string
		want    time.Duration
		wantErr bool
	}{
		{leasePeriod(), "15s", 15 * time.Second, false},
		{leasePeriod(), "1m", time.Minute, false},
		{leasePeriod(), "infinite", store.LeaseInfinite, false},
		{leasePeriod(), "-1s", 0, true},
		{leasePeriod(), "-1ns", 0, true},
		{leasePeriod(), "15", 0, true},
		{leasePeriod(), "", 0, true},
		{breakPeriod(), "0s", 0, false},
		{breakPeriod(), "7s", 7 * time.Second, false},
		{breakPeriod(), "infinite", 0, true},
		{breakPeriod(), "", 0, true},
	} {
		p := test.of
		err := p.Set(test.text)
		if (err != nil) != test.wantErr || err == nil && p.value != test.want {
			t.Errorf("Set(%q) = %v, %v, want %v, error %t", test.text, p.value, err, test.want, test.wantErr)
		}
	}
}

func TestPeriod_String(t *testing.T) {
	for _, test := range []struct {
		p    period
		want string
	}{
		{leasePeriod(), "15s"},
		{period{store.LeaseInfinite, "infinite", store.LeaseInfinite}, "infinite"},
		{breakPeriod(), ""},
	} {
		if got := test.p.String(); got != test.want {
			t.Errorf("String() = %q, want %q", got, test.want)
		}
	}
}

func TestAge_Set(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"0s": 0, "12h": 12 * time.Hour, "720h": 30 * day, "30d": 30 * day, "0d": 0, "1d12h": 36 * time.Hour, "65535d": 65535 * day,
	} {
		var d age
		if err := d.Set(text); err != nil || d.value != want {
			t.Errorf("Set(%q) = %v, %v, want %v", text, d.value, err, want)
		}
	}
	for _, text := range []string{"", "d", "30", "-1h", "-1d", "1d-2h", "1d-48h", "1.5d", "d1h", "1dd", "65536d", "+1d"} {
		var d age
		if err := d.Set(text); err == nil {
			t.Errorf("Set(%q) = %v, want an error", text, d.value)
		}
	}
}

func TestEnvironmentName(t *testing.T) {
	if got, want := environmentName("if-none-match"), "LEASESTREAM_IF_NONE_MATCH"; got != want {
		t.Errorf("environmentName() = %q, want %q", got, want)
	}
}
