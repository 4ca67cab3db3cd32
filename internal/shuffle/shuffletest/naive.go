// Package shuffletest holds the shuffle that everyone writes first, to show that it is biased.
//
// [Shuffle] swaps each place with any place. All of its n^n runs are equally likely, but n! does
// not divide n^n for n > 2, as n-1 divides n! and has no factor in common with n. So the runs
// cannot be shared evenly among the n! orders, and some orders are more likely than others,
// whatever the source of integers. Three cards have 27 runs for 6 orders: three orders get 5 runs
// and three get 4.
//
// The package is for tests and demonstrations. A lint rule keeps it out of everything that deals.
package shuffletest

// A Source returns a uniform integer below n.
type Source interface {
	Uint64n(n uint64) uint64
}

// Shuffle swaps every place of a with any place, itself included. It is biased for more than two
// elements.
func Shuffle[T any](a []T, src Source) {
	for i := range a {
		j := src.Uint64n(uint64(len(a)))
		a[i], a[j] = a[j], a[i]
	}
}
