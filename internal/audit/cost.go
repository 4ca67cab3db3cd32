package audit

import (
	"fmt"
	"math"
	"math/bits"

	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// Steps of a replay, in keystream blocks: on the machine that they were measured on, encrypting one
// takes 12 ns, and the others as many times that.
const (
	shuffleSteps  = 60 // to begin a shuffle
	keySteps      = 10 // to expand a key
	positionSteps = 20 // to draw a position, swap it, and hash its digits; to look it up in a map
)

// MaxCost is the most that a verifier has to replay, in steps: docs/spec.md, "Cost". [Verify]
// replays nothing above it, and the service makes no such record.
const MaxCost = 1 << 30

// CostError is for a record whose replay takes more than [MaxCost] steps.
type CostError uint64

// Error implements error.
func (e CostError) Error() string {
	return fmt.Sprintf("replaying it takes %d steps; verifiers replay up to 1,073,741,824", uint64(e))
}

// Cost estimates the steps of 12 ns that [Verify] takes to replay the statement, which must be
// well-formed. A shuffle expands all keys and encrypts a block under each for every word of the
// keystream; it lays out all places, or looks up a few. Without a seed, Cost assumes one of the
// length that the statement needs.
func (s *Statement) Cost() uint64 {
	keys := uint64(len(s.Seed) / rng.BlockSize)
	if s.Seed == nil {
		keys = uint64(rng.Blocks(s.Size, s.Draw))
	}
	places, drawn := s.Size, s.Algorithm.Integers(s.Size, s.Draw)
	if shuffle.Few(s.Algorithm, s.Size, s.Draw) {
		places = times(positionSteps, s.Draw)
	}
	// As many bounds share a word as have a product of at most 2⁵⁶.
	shared := max(1, 56/uint64(max(1, bits.Len64(s.Size))))
	words := drawn/shared + 1
	keystream := times(keys, keySteps+words)
	return times(s.Repeat, add(add(shuffleSteps, keystream), add(times(positionSteps, drawn), places)))
}

// times and add stop at the largest number: a forged record may claim any.
func times(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high > 0 {
		return math.MaxUint64
	}
	return low
}

func add(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry > 0 {
		return math.MaxUint64
	}
	return sum
}
