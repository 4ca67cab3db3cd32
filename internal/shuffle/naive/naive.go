// Package naive holds the shuffle that everyone writes first, to show what is wrong with it.
//
// Going through the places and swapping each with any place draws with replacement. It looks uniform, and each of its
// n^n runs is; but n! orders would have to share them evenly, and for n > 2 n! does not divide n^n: n-1 divides n! and has no
// factor in common with n. So some orders come more often than others, whatever the source of integers. Three cards
// show it: 27 runs for 6 orders, of which three get 5 runs and three get 4.
//
// It is here for tests and for demonstrations of its bias. A lint rule keeps it out of everything that deals.
package naive

// A Source returns a uniform integer below n.
type Source interface {
	Uint64n(n uint64) uint64
}

// Shuffle swaps every position of a with any position, its own among them. It is biased for more than two elements.
func Shuffle[T any](a []T, src Source) {
	for i := range a {
		j := src.Uint64n(uint64(len(a)))
		a[i], a[j] = a[j], a[i]
	}
}
