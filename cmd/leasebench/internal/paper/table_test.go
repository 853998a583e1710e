package paper_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/paper"
)

// longMode is the environment variable that lets the table take minutes.
const longMode = "LEASESTREAM_LONG"

// size is what the table has rows of.
type size struct{ workers, branches []int }

// TestTable prints the table of azure.md; a small one unless it may take long.
func TestTable(t *testing.T) {
	s := size{[]int{1, 2}, []int{50, 100}}
	if os.Getenv(longMode) != "" {
		s = size{[]int{1, 3, 10, 30, 100}, []int{100, 1_000, 10_000, 100_000}}
	}
	var last []paper.Result // of one N
	var table, knees strings.Builder
	for _, n := range s.branches {
		last = nil
		for _, w := range s.workers {
			began := time.Now()
			r := measure(t, paper.Assumed(), w, n)
			last = append(last, r)
			fmt.Fprintln(&table, row(r, ""))
			t.Logf("%d branches, %d workers: %d requests over a limit, computed in %v",
				n, w, r.Bill.Throttled, time.Since(began).Round(time.Millisecond))
			runtime.GC()
		}
		fmt.Fprintf(&knees, "| %d | %d |\n", n, paper.Knee(last))
	}
	for _, r := range last {
		fmt.Fprintln(&table, row(r.Extrapolate(10), " (extrapolated)"))
	}
	t.Logf("\n| N | workers | wall | jobs/s | requests/job | $ per million jobs |\n"+
		"|--:|--:|--:|--:|--:|--:|\n%s\n| N | knee |\n|--:|--:|\n%s", &table, &knees)
}

func row(r paper.Result, note string) string {
	return fmt.Sprintf("| %d%s | %d | %.2f s | %.0f | %.3f | %.3f |", r.N, note, r.Workers, r.Wall.Seconds(),
		r.JobsPerSecond(), float64(r.Bill.Requests())/float64(r.N), r.CostPerMillion(paper.Assumed()))
}

func TestKnee(t *testing.T) {
	for _, test := range []struct {
		walls []time.Duration // of 1, 10, 100 workers
		want  int
	}{
		{[]time.Duration{100, 10, 1}, 100},
		{[]time.Duration{100, 20, 5}, 10}, // 5 times as fast, then 4 times
		{[]time.Duration{100, 21, 1}, 1},
		{[]time.Duration{100, 100, 100}, 1},
	} {
		var rs []paper.Result
		for i, wall := range test.walls {
			rs = append(rs, paper.Result{Workers: []int{1, 10, 100}[i], N: 1000, Wall: wall * time.Second})
		}
		if got := paper.Knee(rs); got != test.want {
			t.Errorf("Knee(%v) = %d, want %d", test.walls, got, test.want)
		}
	}
}

func TestResult_Extrapolate(t *testing.T) {
	r := paper.Result{Workers: 3, N: 100, Wall: 2 * time.Second, Bill: paper.Bill{Writes: 1, Reads: 2, Others: 3, Free: 4, Throttled: 5}}
	want := paper.Result{Workers: 3, N: 1_000, Wall: 20 * time.Second, Bill: paper.Bill{Writes: 10, Reads: 20, Others: 30, Free: 40, Throttled: 50}}
	if got := r.Extrapolate(10); got != want {
		t.Errorf("Extrapolate(10) = %+v, want %+v", got, want)
	}
}
