package shuffle_test

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"riffle/internal/fairness"
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

// plan returns the label that the seeds of the run are derived from, by how much it multiplies the
// samples, and its significance level.
func plan(t *testing.T) (label string, samples func(int) int, alpha float64) {
	if !*fresh && *repeat == "" {
		return "fixed", func(n int) int { return n / thin }, confidence
	}
	label = *repeat
	if label == "" {
		label = rand.Text()
	}
	t.Logf("to repeat this run: -label %s", label)
	return label, func(n int) int { return n * freshSamples }, freshConfidence
}

// A subject is a shuffler.
type subject struct {
	name  string
	meter func(n int) *fairness.Meter // of its whole orders; nil if it only draws
	draws []statistic
	make  func(t testing.TB, label string) shuffler
}

// wholes are the sizes of whole orders, and how many are measured.
var wholes = []struct{ n, samples int }{{3, 20_000}, {4, 20_000}, {5, 20_000}, {6, 40_000}, {7, 100_000}, {52, 200_000}, {136, 10_000}}

// findings are what all statistics say of a subject.
func (s *subject) findings(t testing.TB, label string, samples func(int) int) (found []fairness.Finding) {
	for _, whole := range wholes {
		if s.meter == nil {
			break
		}
		m := s.meter(whole.n)
		each(s.make(t, fmt.Sprint(label, whole.n)), whole.n, whole.n, samples(whole.samples), m.Add)
		for _, f := range m.Findings() {
			f.Name = fmt.Sprintf("%s, %s of %d", s.name, f.Name, whole.n)
			found = append(found, f)
		}
	}
	for _, st := range s.draws {
		found = append(found, fairness.Finding{Name: s.name + ", " + st.name, P: st.p(s.make(t, label+st.name), samples(st.samples))})
	}
	return found
}

// drawFunc returns the first m of a new order of a, with the integers of a stream.
type drawFunc func(s *rng.Stream, a []uint8, m int) []uint8

// onStreams calls draw with the streams of k keys in turn, and with each one for the given number
// of shuffles.
func onStreams(t testing.TB, k int, label string, shuffles uint64, draw drawFunc) shuffler {
	s, r := testStream(t, k, label), uint64(0)
	return func(a []uint8, m int) []uint8 {
		s.Seek(r / shuffles)
		r++
		return draw(s, a, m)
	}
}

// ordering is an algorithm for onStreams.
func ordering(alg shuffle.Algorithm) drawFunc {
	return func(s *rng.Stream, a []uint8, m int) []uint8 { return shuffle.Order(alg, a, m, s) }
}

// byName makes all shuffles from one seed, as a request with repeat does.
func byName(alg shuffle.Algorithm) subject {
	make := func(t testing.TB, label string) shuffler { return onStreams(t, 2, label+string(alg), 1, ordering(alg)) }
	if alg == shuffle.AlgorithmSattolo {
		return subject{string(alg), fairness.NewCyclicMeter, nil, make}
	}
	return subject{string(alg), fairness.NewMeter, drawSuite, make}
}

// consecutiveSeeds makes one shuffle from each seed, the seeds counting up so that they differ as
// little as possible.
func consecutiveSeeds() subject {
	return subject{"fisher-yates, seed after seed", fairness.NewMeter, drawSuite, func(t testing.TB, label string) shuffler {
		commitment, number := sha256.Sum256([]byte(label)), uint64(0)
		seed := make(rng.Seed, rng.BlockSize)
		return func(a []uint8, m int) []uint8 {
			number++
			binary.BigEndian.PutUint64(seed[rng.BlockSize-8:], number)
			keys, err := rng.Keys(seed, commitment, "")
			require.NoError(t, err)
			s, err := rng.NewStream(keys)
			require.NoError(t, err)
			return shuffle.Order(shuffle.AlgorithmFisherYates, a, m, s)
		}
	}}
}

func sparse() subject {
	return subject{"sparse", nil, drawSuite, func(t testing.TB, label string) shuffler {
		return onStreams(t, 2, label+"sparse", 1, func(s *rng.Stream, a []uint8, m int) []uint8 {
			out := make([]uint8, 0, m)
			for _, i := range shuffle.Sparse(uint64(len(a)), uint64(m), s) {
				out = append(out, a[i])
			}
			return out
		})
	}}
}

// smallWords makes integers from words of nine bits, with rejection. A mutant shows that its bias
// without rejection is caught.
func smallWords() subject {
	rejecting := func(word func() uint64, b uint64) uint64 {
		for {
			scaled := word() * b
			if scaled%(1<<wordBits) >= (1<<wordBits)%b {
				return scaled >> wordBits
			}
		}
	}
	return subject{"fisher-yates from 9-bit words", fairness.NewMeter, drawSuite, fromWords(shuffle.AlgorithmFisherYates, rejecting)}
}

func TestStatisticsOfFairShufflers(t *testing.T) {
	label, samples, alpha := plan(t)
	subjects := []subject{consecutiveSeeds(), sparse(), smallWords()}
	for _, alg := range shuffle.Algorithms() {
		subjects = append(subjects, byName(alg))
	}
	var mu sync.Mutex
	var findings []fairness.Finding
	t.Run("subjects", func(t *testing.T) {
		for _, sub := range subjects {
			t.Run(sub.name, func(t *testing.T) {
				t.Parallel()
				found := sub.findings(t, label, samples)
				mu.Lock()
				defer mu.Unlock()
				findings = append(findings, found...)
			})
		}
	})
	for _, f := range fairness.Caught(findings, alpha) {
		t.Errorf("%v, significant among %d at %g", f, len(findings), alpha)
	}
	least := slices.MinFunc(findings, func(a, b fairness.Finding) int { return cmp.Compare(a.P, b.P) })
	t.Logf("the least of %d p-values: %v", len(findings), least)
}
