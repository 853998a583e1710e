// Package measure holds what all benchmarks of leasebench share: medians, the
// cost of a function, the memory of a process, and the time that the disk takes
// to make a write durable, without which no figure of a store means much.
package measure

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"time"
)

// Median is the middle of the values, the mean of the middle two, or 0 for none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// Medians is a round made of the medians of others: each float64 field of the
// struct T is the median of that field. All other fields are those of the last
// round. There must be one.
func Medians[T any](rounds []T) T {
	median := rounds[len(rounds)-1]
	fields := reflect.ValueOf(&median).Elem()
	for i := range fields.NumField() {
		if fields.Field(i).Kind() != reflect.Float64 {
			continue
		}
		var values []float64
		for _, r := range rounds {
			values = append(values, reflect.ValueOf(r).Field(i).Float())
		}
		fields.Field(i).SetFloat(Median(values))
	}
	return median
}

// Percentile is the value that the part p of the sorted values does not exceed;
// the zero value for none.
func Percentile[T cmp.Ordered](sorted []T, p float64) T {
	if len(sorted) == 0 {
		var zero T
		return zero
	}
	i := int(math.Ceil(p*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// Ratio is a/b to four digits, or 0 if b is.
func Ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return Short(a / b)
}

// Short is v to four digits: more of them are noise.
func Short(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	scale := math.Pow(10, 4-math.Ceil(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

// Milliseconds is a duration as it stands in reports.
func Milliseconds(d time.Duration) float64 { return Short(float64(d) / float64(time.Millisecond)) }
