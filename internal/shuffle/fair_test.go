package shuffle_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// The statistics run on fixed seeds, so that their verdict is reproducible. With -fresh they take
// new seeds and more samples:
//
//	go test ./internal/shuffle -run Statistics -fresh -v -timeout 1h
var (
	fresh  = flag.Bool("fresh", false, "run the statistics on fresh seeds and more samples")
	repeat = flag.String("label", "", "repeat the -fresh run that printed this label")
)

const (
	confidence      = 0.01 // 99%, over all p-values of the run
	freshConfidence = 1e-6
	freshSamples    = 10
)

// plan returns the label that the seeds of the run are derived from, its number of samples and its
// significance level.
func plan(t *testing.T) (label string, samples func(statistic) int, alpha float64) {
	if !*fresh && *repeat == "" {
		return "fixed", func(st statistic) int { return st.samples / thin }, confidence
	}
	label = *repeat
	if label == "" {
		label = rand.Text()
	}
	t.Logf("to repeat this run: -label %s", label)
	return label, func(st statistic) int { return st.samples * freshSamples }, freshConfidence
}

// A subject is a shuffler and the statistics that it has to pass.
type subject struct {
	name  string
	suite []statistic
	make  func(t testing.TB, label string) shuffler
}

// byName makes all shuffles from one seed, as a request with repeat does.
func byName(alg shuffle.Algorithm, suite []statistic) subject {
	return subject{string(alg), suite, func(t testing.TB, label string) shuffler {
		s, r := testStream(t, 2, label+string(alg)), uint64(0)
		return func(a []uint8, m int) []uint8 {
			s.Seek(r)
			r++
			return shuffle.Order(alg, a, m, s)
		}
	}}
}

// consecutiveSeeds makes one shuffle from each seed, the seeds counting up so that they differ as
// little as possible.
func consecutiveSeeds() subject {
	return subject{"fisher-yates, seed after seed", suite, func(t testing.TB, label string) shuffler {
		commitment, number := sha256.Sum256([]byte(label)), uint64(0)
		seed := make(rng.Seed, rng.BlockSize)
		return func(a []uint8, m int) []uint8 {
			number++
			binary.BigEndian.PutUint64(seed[rng.BlockSize-8:], number)
			keys, err := rng.Keys(seed, commitment, "")
			if err != nil {
				t.Fatal(err)
			}
			s, err := rng.NewStream(keys)
			if err != nil {
				t.Fatal(err)
			}
			return shuffle.Order(shuffle.AlgorithmFisherYates, a, m, s)
		}
	}}
}

func sparse() subject {
	return subject{"sparse", drawSuite, func(t testing.TB, label string) shuffler {
		s, r := testStream(t, 2, label+"sparse"), uint64(0)
		return func(a []uint8, m int) []uint8 {
			s.Seek(r)
			r++
			out := make([]uint8, 0, m)
			for _, i := range shuffle.Sparse(uint64(len(a)), uint64(m), s) {
				out = append(out, a[i])
			}
			return out
		}
	}}
}

// smallWords makes integers from words of nine bits, with rejection. A mutant shows that its bias
// without rejection is caught.
func smallWords() subject {
	return subject{"fisher-yates from 9-bit words", quickSuite, func(t testing.TB, label string) shuffler {
		return fromWords(t, label, func(word func() uint64, b uint64) uint64 {
			for {
				product := word() * b
				if product%(1<<wordBits) >= (1<<wordBits)%b {
					return product >> wordBits
				}
			}
		})
	}}
}

func TestStatisticsOfFairShufflers(t *testing.T) {
	label, samples, alpha := plan(t)
	subjects := []subject{
		byName(shuffle.AlgorithmFisherYates, suite),
		byName(shuffle.AlgorithmDurstenfeld, suite),
		byName(shuffle.AlgorithmInsideOut, suite),
		byName(shuffle.AlgorithmStrikeOut, suite),
		byName(shuffle.AlgorithmSattolo, cycleSuite),
		consecutiveSeeds(),
		sparse(),
		smallWords(),
	}
	var mu sync.Mutex
	var findings []finding
	t.Run("subjects", func(t *testing.T) {
		for _, sub := range subjects {
			t.Run(sub.name, func(t *testing.T) {
				t.Parallel()
				for _, st := range sub.suite {
					f := finding{sub.name + ", " + st.name, st.p(sub.make(t, label+st.name), samples(st))}
					mu.Lock()
					findings = append(findings, f)
					mu.Unlock()
				}
			})
		}
	})
	for _, f := range holm(findings, alpha) {
		t.Errorf("%v, significant among %d at %g", f, len(findings), alpha)
	}
	t.Logf("the least of %d p-values: %v", len(findings), findings[0])
}

func TestStatisticsOfSattoloAreOfSingleCycles(t *testing.T) {
	s := testStream(t, 2, "single cycles")
	for _, n := range []int{2, 3, 4, 5, 6, 7, 52, 136, 255} {
		for r := range uint64(2000 / thin) {
			s.Seek(r)
			order := shuffle.Order(shuffle.AlgorithmSattolo, pack(n), n, s)
			if cycles(order) != 1 || fixedPoints(order) != 0 {
				t.Fatalf("%d is no single cycle", order)
			}
		}
	}
}

// TestLaws compares the laws with published moments and with all orders of seven.
func TestLaws(t *testing.T) {
	for _, v := range []struct {
		name           string
		law            []float64
		mean, variance float64
	}{
		{"fixed points", fixedPointLaw(52), 1, 1},
		{"cycles", cycleLaw(52), 4.538, 2.912},
		{"rising sequences", risingSequenceLaw(52), 26.5, 4.417},
		{"inversions", inversionLaw(52), 663, 63.36 * 63.36},
		{"hearts in a hand", hypergeometric(52, 13, 13), 13. / 4, 13 * 1. / 4 * 3. / 4 * 39 / 51},
	} {
		sum := 0.0
		for _, p := range v.law {
			sum += p
		}
		mean, variance, _ := moments(v.law)
		if math.Abs(sum-1) > 1e-12 || math.Abs(mean-v.mean) > 1e-3*v.mean || math.Abs(variance-v.variance) > 1e-3*v.variance {
			t.Errorf("%s: sum %v, mean %v, variance %v, want 1, %v, %v", v.name, sum, mean, variance, v.mean, v.variance)
		}
	}
	for _, v := range []struct {
		name  string
		value func([]uint8) int
		law   []float64
	}{
		{"fixed points", fixedPoints, fixedPointLaw(7)},
		{"cycles", cycles, cycleLaw(7)},
		{"rising sequences", risingSequences, risingSequenceLaw(7)},
		{"inversions", inversions, inversionLaw(7)},
		{"below 3 in the first 4", func(order []uint8) int { return below(3)(order[:4]) }, hypergeometric(7, 3, 4)},
	} {
		seen := make([]int, len(v.law))
		ranks := map[int]bool{}
		permute(pack(7), 0, func(order []uint8) {
			seen[v.value(order)]++
			ranks[rank(order)] = true
		})
		for value, c := range seen {
			if want := v.law[value] * 5040; math.Abs(float64(c)-want) > 1e-9 {
				t.Errorf("%s: %d of the orders of seven have %d, want %v", v.name, c, value, want)
			}
		}
		if len(ranks) != 5040 {
			t.Errorf("%d ranks of 5040 orders", len(ranks))
		}
	}
}

// permute visits every order of a[from:].
func permute(a []uint8, from int, visit func([]uint8)) {
	if from == len(a) {
		visit(a)
		return
	}
	for i := from; i < len(a); i++ {
		a[from], a[i] = a[i], a[from]
		permute(a, from+1, visit)
		a[from], a[i] = a[i], a[from]
	}
}

func TestHolm(t *testing.T) {
	findings := []finding{{"a", 0.04}, {"b", 0.001}, {"c", 0.011}, {"d", 0.03}}
	var names []string
	for _, f := range holm(findings, 0.05) {
		names = append(names, f.of)
	}
	// 0.001 <= 0.05/4 and 0.011 <= 0.05/3, but 0.03 > 0.05/2, and nothing after it counts.
	if !slices.Equal(names, []string{"b", "c"}) {
		t.Errorf("significant: %v, want b and c", names)
	}
	if got := fmt.Sprint(holm([]finding{{"a", 0.01}, {"b", 0.04}}, 0.05)); got != "[a: p = 0.01 b: p = 0.04]" {
		t.Errorf("significant: %v, want both", got)
	}
}
