package scope

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

func TestTurn_Ahead(t *testing.T) {
	for _, test := range []struct {
		commits string // newest first
		want    int
	}{
		{"", first},
		{"a:1:100 b:2:100", first},
		{"me:7:100", 0},
		{"me:7:100 a:1:100 b:2:99", 2},
		{"a:1:100 me:7:100 b:2:98", 1},
		{"a:1:100 b:2:98 me:7:90", 0},
		{"me:7:100 a:1:98 b:2:97", 1},
		{"a:1:103 me:7:100 b:2:100", 0},
		{"nonsense me:7:100 a:1:100 b::", 1},
	} {
		turn := newTurn(t)
		info := &store.Info{Metadata: map[string]string{commitsKey: test.commits}}
		if got := turn.ahead(info); got != test.want {
			t.Errorf("ahead(%q) = %d, want %d", test.commits, got, test.want)
		}
	}
}

func newTurn(t *testing.T) *turn {
	s := New(memstore.New(nil), &Options{Writer: "me"})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &turn{s: s}
}

func TestTurn_Come(t *testing.T) {
	const ms = time.Millisecond
	type look struct {
		after   time.Duration // since the look before
		free    bool
		commits string
		etag    string
		now     bool
		longest time.Duration // pause that may follow
	}
	const next, second, last = "a:1:100 me:7:100", "me:7:100 a:1:100", "me:7:100 a:1:100 b:2:100 c:3:100 d:4:100 e:5:100"
	for _, test := range []struct {
		name  string
		looks []look
	}{
		{"it is ours", []look{{0, false, next, "1", false, ms}, {ms, true, next, "2", true, 0}}},
		{"others do not know of it", []look{{0, false, "a:1:100", "1", false, ms / 2}, {ms, true, "a:1:100", "2", true, 0}}},
		{"others go first", []look{{0, false, second, "1", false, 5 * ms}, {ms, true, second, "2", false, 2 * ms}, {2 * ms, false, second, "2", false, 5 * ms}}},
		{"others do not come", []look{{0, true, second, "1", false, 2 * ms}, {2 * ms, true, second, "1", true, 0}}},
		{"they go first again", []look{{0, true, second, "1", false, 2 * ms}, {2 * ms, false, second, "1", false, 5 * ms}, {ms, true, second, "2", false, 2 * ms}}},
		{"many are ahead", []look{{0, true, last, "1", false, 5 * ms}}},
		{"nothing moves", []look{{0, false, next, "1", false, ms}, {99 * ms, false, next, "1", false, ms}, {2 * ms, false, next, "1", false, 5 * ms}, {ms, false, next, "2", false, ms}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				turn := newTurn(t)
				for i, l := range test.looks {
					time.Sleep(l.after)
					info := &store.Info{ETag: l.etag, Metadata: map[string]string{commitsKey: l.commits}}
					now, again := turn.come(info, l.free)
					if now != l.now || !now && again.max != l.longest {
						t.Errorf("look %d: come() = %v, pause to %v, want %v, %v", i, now, again.max, l.now, l.longest)
					}
				}
			})
		})
	}
}

// Whoever finds a stream as it was time and again is alone with it, unless others have
// written a short while ago: then they only had no chance.
func TestLine_AdjustHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTurn(t).s
		maxHold := s.set.maxHold
		l := &line{s: s, doc: &document{etag: "1"}}
		for _, step := range []struct {
			after    time.Duration
			etag     string // of the blob
			want     time.Duration
			comeBack bool // at once
		}{
			{0, "1", maxHold, false},
			{0, "1", 2 * maxHold, false},
			{0, "1", 4 * maxHold, false},
			{0, "1", longHold * maxHold, false},
			{0, "1", longHold * maxHold, false},
			{0, "2", maxHold, true},
			{time.Millisecond, "2", maxHold, true},
			{manyTurns * maxHold, "2", 2 * maxHold, false},
		} {
			time.Sleep(step.after)
			l.adjustHold(&tenure{l: l, lease: &Lease{}, etag: step.etag})
			l.doc.etag, l.released = step.etag, time.Now()
			if got := l.hold; got != step.want {
				t.Errorf("ETag %s: the lease is kept for %v, want %v", step.etag, got, step.want)
			}
			if got := l.comesBack(); got != step.comeBack {
				t.Errorf("ETag %s: comesBack() = %v, want %v", step.etag, got, step.comeBack)
			}
		}
		l.adjustHold(&tenure{l: l, lease: &Lease{}, etag: "3"})
		time.Sleep(manyTurns * s.set.poll.max)
		if l.comesBack() {
			t.Error("comesBack() after a while = true, want false")
		}
	})
}
