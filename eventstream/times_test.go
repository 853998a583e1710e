package eventstream_test

import (
	"errors"
	"testing"
	"time"

	"github.com/leasestream/leasestream/eventstream"
)

func TestParseTime(t *testing.T) {
	at := func(ns int) time.Time { return time.Date(2013, 6, 9, 8, 15, 0, ns, time.UTC) }
	for text, want := range map[string]time.Time{
		"2013-06-09T08:15:00.000Z":          at(0),
		"2013-06-09T08:15:00Z":              at(0),
		"2013-06-09T08:15:00.1234567Z":      at(123456700),
		"2013-06-09T10:15:00.120+02:00":     at(120e6),
		"6/9/2013 8:15:00 AM":               at(0),
		"06/09/2013 08:15:00":               at(0),
		"6/9/2013 8:15:00\u202fAM":          at(0),
		"12/31/2013 11:59:59 PM":            time.Date(2013, 12, 31, 23, 59, 59, 0, time.UTC),
		"6/9/2013 12:00:01 AM":              time.Date(2013, 6, 9, 0, 0, 1, 0, time.UTC),
		"0000-01-01T00:00:00Z":              time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC),
		"9999-12-31T23:59:59.999Z":          time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC),
		"2013-06-09T08:15:00.999999999999Z": at(999999999),
	} {
		got, err := eventstream.ParseTime(text)
		if err != nil || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("ParseTime(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "now", "2013-06-09", "2013-06-09 08:15:00Z", "2013-13-09T08:15:00Z", "9.6.2013 8:15:00", "9/31/2013 8:15:00 AM", "8:15:00",
		"0000-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", " 2013-06-09T08:15:00Z",
	} {
		if got, err := eventstream.ParseTime(text); !errors.Is(err, eventstream.ErrTime) {
			t.Errorf("ParseTime(%q) = %v, %v, want ErrTime", text, got, err)
		}
	}
}

func TestFormatTime(t *testing.T) {
	zone := time.FixedZone("", 3600)
	for _, test := range []struct {
		t    time.Time
		want string
	}{
		{time.Date(2026, 11, 30, 8, 33, 51, 120e6, zone), "2026-11-30T07:33:51.120Z"},
		{time.Date(2026, 11, 30, 7, 33, 51, 999999, time.UTC), "2026-11-30T07:33:51.000Z"},
	} {
		if got := eventstream.FormatTime(test.t); got != test.want {
			t.Errorf("FormatTime(%v) = %q, want %q", test.t, got, test.want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "1h30m": 90 * time.Minute, "500ms": 500 * time.Millisecond, "0": 0, "0s": 0, "+5s": 5 * time.Second,
		"00:00:30": 30 * time.Second, "1.02:03:04.5": 26*time.Hour + 3*time.Minute + 4500*time.Millisecond, "23:59:59": 24*time.Hour - time.Second,
		"00:00:00.0000001": 100 * time.Nanosecond,
		"PT30S":            30 * time.Second, "PT0.001S": time.Millisecond, "P1DT2H3M4.5S": 26*time.Hour + 3*time.Minute + 4500*time.Millisecond,
		"P2D": 48 * time.Hour, "PT1H": time.Hour, "PT90M": 90 * time.Minute,
	} {
		if got, err := eventstream.ParseDuration(text); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "30", "-30s", "soon", "P", "PT", "P1DT", "P1M", "P1Y", "PT-1S", "-PT1S", "24:00:00", "00:60:00", "00:00:60", "1:2:3", "00:30",
		"P999999999999D", "99999999.00:00:00", "PT9999999999999999999S", "PT9999999999H",
	} {
		if got, err := eventstream.ParseDuration(text); !errors.Is(err, eventstream.ErrTime) {
			t.Errorf("ParseDuration(%q) = %v, %v, want ErrTime", text, got, err)
		}
	}
}
