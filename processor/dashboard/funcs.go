package dashboard

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// funcs are what templates can call.
func (d *renderer) funcs(prefix string) template.FuncMap {
	return template.FuncMap{
		"link":  func(parts ...string) string { return link(prefix, parts...) },
		"asset": func(name string) string { return prefix + "/assets/" + name + "?v=" + d.assets[name].hash },
		"query": func(pairs ...string) string { return withQuery("", pairs...) },
		"hash":  func(definition string) string { return strings.TrimPrefix(definition, hashPrefix) },
		"time":  shownTime, "stamp": stamp, "span": shownSpan, "since": func(from, to time.Time) string { return shownSpan(to.Sub(from)) },
		"count": shownCount, "plural": plural, "short": shortened, "bytes": shownBytes,
		"dict": dict,
	}
}

// link is a path of the dashboard, each part of it escaped.
func link(prefix string, parts ...string) string {
	var b strings.Builder
	b.WriteString(prefix)
	for _, part := range parts {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(part))
	}
	if len(parts) == 0 {
		b.WriteByte('/')
	}
	return b.String()
}

// withQuery adds a query, given as key and value by turns, to a path.
func withQuery(path string, pairs ...string) string {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// dict lets a template give several values to another one.
func dict(pairs ...any) map[string]any {
	values := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		values[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return values
}

// stamp is a time as the title of a page shows it, exact and in UTC.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000 UTC") }

// shownTime is an element with a time in UTC, which the script makes local.
func shownTime(t time.Time) template.HTML {
	if t.IsZero() {
		return `<span class="none">–</span>`
	}
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`,
		t.UTC().Format("2006-01-02T15:04:05.000Z"), stamp(t), t.UTC().Format("2006-01-02 15:04:05Z")))
}

// shownSpan is a duration in at most two units. What clocks that disagree made
// negative is nothing.
func shownSpan(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d %02d h", int(d.Hours())/24, int(d.Hours())%24)
}

// shownCount is a number with all its digits, in groups.
func shownCount(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// plural is a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		return shownCount(n) + " " + noun + "es"
	}
	return shownCount(n) + " " + noun + "s"
}

func shownBytes(n int64) string {
	switch {
	case n < 1<<10:
		return plural(int(n), "byte")
	case n < 1<<20:
		return strconv.FormatFloat(float64(n)/(1<<10), 'f', 1, 64) + " KiB"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
}

// shortened is the begin of a text that is shown in a line.
func shortened(limit int, text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	for i := range text {
		if limit--; limit < 0 {
			return text[:i] + "…"
		}
	}
	return text
}
