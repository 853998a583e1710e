package doctor

import (
	"fmt"
	"net/http"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// dated is the store's time in an answer, and when it was asked and answered by
// ours.
type dated struct {
	sent, received time.Time
	date           store.Date
}

// Beyond refusedSkew a service refuses requests that are signed; wrongSkew is so
// much that the times of our own log are misleading.
const (
	wrongSkew   = time.Second
	refusedSkew = 15 * time.Minute
)

// clock compares the store's clock with ours. It does so with whatever was
// answered: a clock that is far off is why requests are refused.
func (e *examination) clock() {
	dates := e.dates
	if e.Answers != nil {
		dates = datesOf(e.Answers())
	}
	if len(dates) > 0 {
		e.tell(compare(dates))
	}
}

// datesOf are the times in the answers that have one; they are cut to seconds.
func datesOf(answers []Answer) []dated {
	var dates []dated
	for _, a := range answers {
		if date, err := http.ParseTime(a.Header.Get("Date")); err == nil {
			dates = append(dates, dated{a.Sent, a.Received, store.Date{Time: date, Resolution: time.Second}})
		}
	}
	return dates
}

// compare intersects what each answer says of the difference.
func compare(dates []dated) Finding {
	var low, high time.Duration
	for i, d := range dates {
		l, h := d.date.Time.Sub(d.received), d.date.Time.Add(d.date.Resolution).Sub(d.sent)
		if i == 0 || max(low, l) > min(high, h) { // the first, or a clock was set meanwhile
			low, high = l, h
			continue
		}
		low, high = max(low, l), min(high, h)
	}
	off := max(low, -high, 0)
	f := Finding{OK, "clock", fmt.Sprintf("the store's is ahead of this machine's by something from %v to %v", rounded(low), rounded(high)), ""}
	if dates[0].date.Resolution == 0 {
		f.Text = "the store goes by this machine's"
	}
	if off >= wrongSkew {
		f.Verdict = Warn
		f.Text = fmt.Sprintf("this machine is %v %s the store", off.Round(100*time.Millisecond), direction(low))
		f.Remedy = "set this machine's clock; runs go by the store's"
	}
	if off >= refusedSkew {
		f.Verdict, f.Remedy = Fail, "set this machine's clock: a service refuses requests that are 15 minutes off"
	}
	return f
}

func direction(low time.Duration) string {
	if low > 0 {
		return "behind"
	}
	return "ahead of"
}
