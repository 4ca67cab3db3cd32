package fairness_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/fairness"
)

var update = flag.Bool("update", false, "write the vectors that the tests build")

// vectorsFile has orders, as how to make them, and what the statistics of this package find in them. The
// laboratory in the browser has to find the same.
const vectorsFile = "../../testdata/fairness.json"

// A vector is one measurement.
type vector struct {
	Shuffle  string    `json:"shuffle"` // one of those below
	N        int       `json:"n"`
	Runs     int       `json:"runs"`
	Findings []finding `json:"findings"`
	Cyclic   []finding `json:"cyclic,omitempty"` // compared with single cycles
}

// A finding is a fairness.Finding. An infinite chi-square is "Infinity".
type finding struct {
	Name     string  `json:"name"`
	Runs     int     `json:"runs"`
	Needed   int     `json:"needed"`
	X        any     `json:"x,omitempty"`
	Freedom  int     `json:"freedom,omitempty"`
	P        float64 `json:"p"`
	Mean     float64 `json:"mean,omitempty"`
	Expected float64 `json:"expected,omitempty"`
}

// xorshift is a small generator (Marsaglia, "Xorshift RNGs", 2003), so that other languages make the same
// orders.
func xorshift(state uint32) func(n int) int {
	return func(n int) int {
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		return int(state % uint32(n))
	}
}

// vectorShuffle returns a shuffle by name. The shuffle "few" begins every run with one of 500
// seeds.
func vectorShuffle(name string) shuffler {
	below, run := xorshift(2463534242), uint32(0)
	switch name {
	case "sattolo":
		return func(a []uint8) { sattolo(a, below) }
	case "any-place":
		return func(a []uint8) { anyPlace(a, below) }
	case "few":
		return func(a []uint8) {
			run++
			fisherYates(a, xorshift(run%500+1))
		}
	}
	return func(a []uint8) { fisherYates(a, below) }
}

func findingsOf(findings []fairness.Finding) (list []finding) {
	for _, f := range findings {
		v := finding{Name: f.Name, Runs: f.Runs, Needed: f.Needed, X: f.X, Freedom: f.Freedom, P: f.P, Mean: f.Mean, Expected: f.Expected}
		switch {
		case f.Name == "repeats":
			v.X = nil
		case math.IsInf(f.X, 1):
			v.X = "Infinity"
		}
		list = append(list, v)
	}
	return list
}

// TestVectors measures what the vectors say how to make. With -update it writes what it finds.
func TestVectors(t *testing.T) {
	file, err := os.ReadFile(vectorsFile)
	require.NoError(t, err)
	var want, got []vector
	require.NoError(t, json.Unmarshal(file, &want))
	require.Len(t, want, 19)
	var text bytes.Buffer
	for i, v := range want {
		v.Findings = findingsOf(measure(fairness.NewMeter(v.N), v.Runs, vectorShuffle(v.Shuffle)).Findings())
		if v.N > 2 {
			v.Cyclic = findingsOf(measure(fairness.NewCyclicMeter(v.N), v.Runs, vectorShuffle(v.Shuffle)).Findings())
		}
		line, err := json.Marshal(v)
		require.NoError(t, err)
		fmt.Fprintf(&text, "%s%s", map[bool]string{true: "[\n", false: ",\n"}[i == 0], line)
	}
	text.WriteString("\n]\n")
	if *update {
		require.NoError(t, os.WriteFile(vectorsFile, text.Bytes(), 0o644))
		return
	}
	require.NoError(t, json.Unmarshal(text.Bytes(), &got))
	assert.Equalf(t, rounded(want), rounded(got), "%s differs from what this test measures: run it with -update", vectorsFile)
}

// rounded returns vectors with ten digits, since processors that fuse multiplications differ in the last.
func rounded(vectors []vector) string {
	var text bytes.Buffer
	for _, v := range vectors {
		fmt.Fprintln(&text, v.Shuffle, v.N, v.Runs)
		for _, f := range append(v.Findings, v.Cyclic...) {
			fmt.Fprintf(&text, "%s %d %d %d %.10v %.10v %.10v %.10v\n", f.Name, f.Runs, f.Needed, f.Freedom, f.X, f.P, f.Mean, f.Expected)
		}
	}
	return text.String()
}
