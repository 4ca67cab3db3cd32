package shuffle_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"riffle/internal/fairness"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
	"riffle/internal/shuffle/naive"
)

// The mutants are mistakes that were made in real shufflers, or are easy to make. A suite has to
// catch each of them, and each statistic of this package has to catch at least one.

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
func fromIntegers(order func(a []uint8, src naive.Source)) func(testing.TB, string) shuffler {
	return inTurn(1, func(s *rng.Stream, a []uint8, m int) []uint8 {
		order(a, s)
		return a[:m]
	})
}

// modulo and product are integers without rejection.
func modulo(word func() uint64, b uint64) uint64  { return word() % b }
func product(word func() uint64, b uint64) uint64 { return word() * b >> wordBits }

var mutants = []subject{
	{"every position with any position", ownSuite, fromIntegers(func(a []uint8, src naive.Source) {
		naive.Shuffle(a, src)
	})},
	{"two random places swapped, 100 times", ownSuite, fromIntegers(func(a []uint8, src naive.Source) {
		for range 100 {
			i, j := src.Uint64n(uint64(len(a))), src.Uint64n(uint64(len(a)))
			a[i], a[j] = a[j], a[i]
		}
	})},
	{"modulo", ownSuite, fromWords(shuffle.AlgorithmFisherYates, modulo)},
	{"multiplication without rejection", ownSuite, fromWords(shuffle.AlgorithmFisherYates, product)},
	{"a seed of 32 bits", []statistic{million}, func(t testing.TB, label string) shuffler {
		seeds := testStream(t, 1, label)
		generator := &rand.PCG{}
		src := &single{below: rand.New(generator).Uint64N}
		return func(a []uint8, m int) []uint8 {
			generator.Seed(seeds.Uint64()>>32, 0)
			return shuffle.Order(shuffle.AlgorithmFisherYates, a, m, src)
		}
	}},
	{"every stream used twice", ownSuite, inTurn(2, ordering(shuffle.AlgorithmFisherYates))},
	{"sattolo, every stream used twice", cycleSuite, inTurn(2, ordering(shuffle.AlgorithmSattolo))},
	{"sattolo from 9-bit words, without rejection", cycleSuite, fromWords(shuffle.AlgorithmSattolo, product)},
	{"sattolo that lets cards stay", cycleSuite, inTurn(1, ordering(shuffle.AlgorithmFisherYates))},
}

func TestStatisticsCatchMutants(t *testing.T) {
	if thin > 1 {
		t.Skip("needs all samples, and has no concurrency")
	}
	label, _, _ := plan(t)
	var mu sync.Mutex
	caughtBy := map[string]int{}
	t.Run("mutants", func(t *testing.T) {
		for _, mutant := range mutants {
			t.Run(mutant.name, func(t *testing.T) {
				t.Parallel()
				var findings []fairness.Finding
				for _, st := range mutant.suite {
					findings = append(findings, fairness.Finding{Name: st.name, P: st.p(mutant.make(t, label+st.name), st.samples)})
				}
				caught := fairness.Caught(findings, freshConfidence)
				assert.NotEmptyf(t, caught, "not caught: %v", findings)
				t.Logf("caught by %d of %d statistics: %v", len(caught), len(findings), caught)
				mu.Lock()
				defer mu.Unlock()
				for _, f := range caught {
					caughtBy[f.Name]++
				}
			})
		}
	})
	for _, st := range slices.Concat(ownSuite, cycleSuite) {
		assert.Truef(t, caughtBy[st.name] != 0, "%s: catches no mutant", st.name)
	}
}
