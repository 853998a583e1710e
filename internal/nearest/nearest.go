// Package nearest finds the name that was probably meant by one that is not known.
package nearest

import "strings"

// maxName is the length of the longest name that is compared, in bytes, since the
// work grows with the square of it.
const maxName = 100

// Of returns the known name that differs from name by the fewest slips, if they are
// few enough to be slips: letters changed, added, left out or swapped with their
// neighbour, in any case. "" if there is none.
func Of(name string, known []string) string {
	if len(name) > maxName {
		return ""
	}
	best, fewest := "", min(2, len(name)/2)+1
	for _, k := range known {
		if n := slips(strings.ToLower(name), strings.ToLower(k), fewest); n < fewest {
			best, fewest = k, n
		}
	}
	return best
}

// slips counts the letters that must be changed, added, left out or swapped with
// their neighbour to make b of a; limit stands for any number that reaches it.
func slips(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if max(len(x)-len(y), len(y)-len(x)) >= limit {
		return limit
	}
	// rows[i][j] is the answer for the first i letters of a and j of b.
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			changed := rows[i-1][j-1]
			if x[i-1] != y[j-1] {
				changed++
			}
			rows[i][j] = min(changed, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return min(limit, rows[len(x)][len(y)])
}
