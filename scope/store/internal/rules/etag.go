package rules

import (
	"fmt"
	"math/rand/v2"
)

// ETag makes the n-th ETag of a store. The number alone keeps it from coming
// again; the random part does so where two stores count alike, such as a file
// and its restored backup.
func ETag(n uint64) string { return fmt.Sprintf("\"0x%X%016X\"", n, rand.Uint64()) }
