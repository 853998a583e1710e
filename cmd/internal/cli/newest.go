package cli

import (
	"iter"

	"github.com/leasestream/leasestream/processor"
)

// newestOf counts the runs of a listing that fit, and gives the one that was created
// last. Of a listing that breaks off it has what came before.
func newestOf(runs iter.Seq2[processor.RunInfo, error], fits func(processor.RunInfo) bool) (newest processor.RunInfo, n int, err error) {
	for info, err := range runs {
		if err != nil {
			return newest, n, err
		}
		if !fits(info) {
			continue
		}
		if n++; n == 1 || info.Created.After(newest.Created) {
			newest = info
		}
	}
	return newest, n, nil
}
