package shuffle_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"riffle/internal/fairness"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
	"riffle/internal/shuffle/shuffletest"
)

// The mutants are mistakes that were made in real shufflers, or are easy to make. The statistics of
// draws have to catch each of them, and each of these statistics has to catch at least one. Package
// fairness tests the statistics of whole orders in the same way.

// wordBits is a word size at which bias is large enough to measure. With 64 bits a missing
// rejection shifts an order's probability by at most one part in 2⁵⁶, which no number of shuffles
// shows; package rng proves that case by exhaustion.
const wordBits = 9

// single is a source that returns one integer for each call.
type single struct {
	below func(b uint64) uint64
	one   [1]uint64
}

func (s *single) Descend(from uint64) []uint64 {
	s.one[0] = s.below(from)
	return s.one[:]
}

func (s *single) Ascend(from, _ uint64) []uint64 { return s.Descend(from) }

func (s *single) Uint64n(n uint64) uint64 { return s.below(n) }

// integerFunc returns an integer below b from small words.
type integerFunc func(word func() uint64, b uint64) uint64

// fromWords is an algorithm with integers made from small words.
func fromWords(alg shuffle.Algorithm, integer integerFunc) func(testing.TB, string) shuffler {
	return inTurn(1, func(s *rng.Stream, a []uint8, m int) []uint8 {
		word := func() uint64 { return s.Uint64() >> (64 - wordBits) }
		return shuffle.Order(alg, a, m, &single{below: func(b uint64) uint64 { return integer(word, b) }})
	})
}

// inTurn makes shufflers of [onStreams] with the streams of one key.
func inTurn(shuffles uint64, draw drawFunc) func(testing.TB, string) shuffler {
	return func(t testing.TB, label string) shuffler { return onStreams(t, 1, label, shuffles, draw) }
}

// fromIntegers is a wrong algorithm over correct integers.
func fromIntegers(order func(a []uint8, src shuffletest.Source)) func(testing.TB, string) shuffler {
	return inTurn(1, func(s *rng.Stream, a []uint8, m int) []uint8 {
		order(a, s)
		return a[:m]
	})
}

// modulo and product are integers without rejection.
func modulo(word func() uint64, b uint64) uint64  { return word() % b }
func product(word func() uint64, b uint64) uint64 { return word() * b >> wordBits }

var mutants = []subject{
	{"every position with any position", nil, drawSuite, fromIntegers(func(a []uint8, src shuffletest.Source) {
		shuffletest.Shuffle(a, src)
	})},
	{"two random places swapped, 100 times", nil, drawSuite, fromIntegers(func(a []uint8, src shuffletest.Source) {
		for range 100 {
			i, j := src.Uint64n(uint64(len(a))), src.Uint64n(uint64(len(a)))
			a[i], a[j] = a[j], a[i]
		}
	})},
	{"modulo", nil, drawSuite, fromWords(shuffle.AlgorithmFisherYates, modulo)},
	{"multiplication without rejection", nil, drawSuite, fromWords(shuffle.AlgorithmFisherYates, product)},
}

func TestStatisticsCatchMutants(t *testing.T) {
	if thin > 1 {
		t.Skip("needs all samples, and has no concurrency")
	}
	label, _, _ := plan(t)
	caughtBy := ""
	for _, mutant := range mutants {
		caught := fairness.Caught(mutant.findings(t, label, func(n int) int { return n }), freshConfidence)
		assert.NotEmptyf(t, caught, "%s is not caught", mutant.name)
		caughtBy += fmt.Sprintln(caught)
	}
	for _, st := range drawSuite {
		assert.Containsf(t, caughtBy, st.name, "%s: catches no mutant", st.name)
	}
}
