package eventstream

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ErrTime is matched when a time or duration cannot be read.
var ErrTime = errors.New("invalid time")

// timeLayout is how a time is written: RFC 3339, UTC, milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

// readLayouts are the forms that are read: ours, RFC 3339, and what .NET's
// DateTime.ToString gave in the US and the invariant culture.
var readLayouts = []string{time.RFC3339Nano, "1/2/2006 3:04:05 PM", "1/2/2006 15:04:05"}

// FormatTime writes t as it stands in a document, in whole milliseconds.
func FormatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

// ParseTime reads RFC 3339 and what .NET wrote (6/9/2013 8:15:00 AM, taken as
// UTC).
func ParseTime(s string) (time.Time, error) {
	text := strings.ReplaceAll(s, "\u202f", " ") // newer .NET puts it before AM and PM
	for _, layout := range readLayouts {
		t, err := time.Parse(layout, text)
		// A zone can carry the first and last days out of what FormatTime can write.
		if err == nil && t.UTC().Year() >= 0 && t.UTC().Year() <= 9999 {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%w %q: want RFC 3339 such as 2026-11-30T07:33:51.120Z", ErrTime, s)
}

func formatOptional(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return FormatTime(t)
}

// parseOptional is zero for what is missing or cannot be read.
func parseOptional(s string) time.Time {
	if s == "" {
		return time.Time{}
	}
	t, err := ParseTime(s)
	if err != nil {
		return time.Time{}
	}
	return t
}

var (
	isoDuration = regexp.MustCompile(`^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$`)
	netDuration = regexp.MustCompile(`^(?:(\d+)\.)?([01]?\d|2[0-3]):([0-5]\d):([0-5]\d(?:\.\d+)?)$`)
)

// ParseDuration reads Go text (30s), .NET's TimeSpan (00:00:30, 1.00:00:00) and
// ISO 8601 with days and less (PT30S). Negative durations are refused.
func ParseDuration(s string) (time.Duration, error) {
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return d, nil
	}
	m := netDuration.FindStringSubmatch(s)
	if m == nil {
		m = isoDuration.FindStringSubmatch(s)
	}
	if m == nil || strings.HasSuffix(s, "P") || strings.HasSuffix(s, "T") {
		return 0, fmt.Errorf("%w: duration %q: want Go text such as 30s", ErrTime, s)
	}
	d, err := parseDHMS(m[1], m[2], m[3], m[4])
	if err != nil {
		return 0, fmt.Errorf("%w: duration %q is too long", ErrTime, s)
	}
	return d, nil
}

// parseDHMS adds up days, hours, minutes and seconds; each may be empty.
func parseDHMS(days, hours, minutes, seconds string) (time.Duration, error) {
	d, err := strconv.ParseUint(cmp.Or(days, "0"), 10, 32)
	if err != nil {
		return 0, err
	}
	h, err := strconv.ParseUint(cmp.Or(hours, "0"), 10, 32)
	if err != nil {
		return 0, err
	}
	return time.ParseDuration(fmt.Sprintf("%dh%sm%ss", 24*d+h, cmp.Or(minutes, "0"), cmp.Or(seconds, "0")))
}
