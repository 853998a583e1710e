package eventstream

import "math/bits"

// bitset is a set of event positions. A summary word tells which 64 words hold
// anything, so that walking a sparse set of 100,000 events costs nothing.
type bitset struct {
	words   []uint64
	summary []uint64
	n       int
}

func (b *bitset) add(i int) {
	w := i >> 6
	for len(b.words) <= w {
		b.words = append(b.words, 0)
	}
	for len(b.summary) <= w>>6 {
		b.summary = append(b.summary, 0)
	}
	if bit := uint64(1) << (i & 63); b.words[w]&bit == 0 {
		b.words[w] |= bit
		b.summary[w>>6] |= 1 << (w & 63)
		b.n++
	}
}

func (b *bitset) remove(i int) {
	w := i >> 6
	if w >= len(b.words) {
		return
	}
	if bit := uint64(1) << (i & 63); b.words[w]&bit != 0 {
		b.words[w] &^= bit
		b.n--
		if b.words[w] == 0 {
			b.summary[w>>6] &^= 1 << (w & 63)
		}
	}
}

// next returns the smallest member that is at least i, or -1.
func (b *bitset) next(i int) int {
	w := i >> 6
	if w >= len(b.words) {
		return -1
	}
	if rest := b.words[w] >> (i & 63); rest != 0 {
		return i + bits.TrailingZeros64(rest)
	}
	w++
	for s := w >> 6; s < len(b.summary); s++ {
		word := b.summary[s]
		if s == w>>6 {
			word = word >> (w & 63) << (w & 63)
		}
		if word != 0 {
			w = s<<6 + bits.TrailingZeros64(word)
			return w<<6 + bits.TrailingZeros64(b.words[w])
		}
	}
	return -1
}
