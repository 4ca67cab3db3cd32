package audit_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// expensive are statements of every kind that takes long, by what takes the time.
var expensive = map[string]audit.Statement{
	"keystream under many keys": {Algorithm: shuffle.AlgorithmFisherYates, Size: 1<<53 - 1, Draw: 1024, Repeat: 20},
	"keys":                      {Algorithm: shuffle.AlgorithmFisherYates, Size: 1<<53 - 1, Draw: 1, Repeat: 100_000},
	"few of many":               {Algorithm: shuffle.AlgorithmFisherYates, Size: 1<<53 - 1, Draw: 200_000, Repeat: 1},
	"decks":                     {Algorithm: shuffle.AlgorithmFisherYates, Size: 52, Draw: 52, Repeat: 10_000},
	"a long list":               {Algorithm: shuffle.AlgorithmFisherYates, Size: 300_000, Draw: 300_000, Repeat: 1},
	"all for a few":             {Algorithm: shuffle.AlgorithmDurstenfeld, Size: 1_000_000, Draw: 1, Repeat: 1},
	"all for a few, long seed":  {Algorithm: shuffle.AlgorithmInsideOut, Size: 100_000, Draw: 1024, Repeat: 1},
	"moving up":                 {Algorithm: shuffle.AlgorithmStrikeOut, Size: 4096, Draw: 4096, Repeat: 50},
	"a tree":                    {Algorithm: shuffle.AlgorithmStrikeOut, Size: 300_000, Draw: 300_000, Repeat: 1},
	"laying out":                {Algorithm: shuffle.AlgorithmSattolo, Size: 1_000_000, Draw: 0, Repeat: 10},
}

// recordOf returns the record of a statement, with a seed of the length that it needs.
func recordOf(t testing.TB, s audit.Statement) ([]byte, rng.Seed) {
	t.Helper()
	r := fixedRecord(t)
	s.Input, s.Seed = audit.RangeInput, testSeed(rng.Blocks(s.Size, s.Draw))
	r.Statement = s
	return []byte(committed(r)), s.Seed
}

// BenchmarkStep reports the nanoseconds of a step, by what it is a step of. The cost of a record says
// how long its replay takes if these figures are of one order of magnitude.
func BenchmarkStep(b *testing.B) {
	for name, s := range expensive {
		record, seed := recordOf(b, s)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				v := audit.Verify(record, seed, 0)
				require.Truef(b, v.OK, "%+v", v)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(s.Cost()), "ns/step")
		})
	}
}

func TestCostOfForgedRecordsDoesNotOverflow(t *testing.T) {
	for _, s := range []audit.Statement{
		{Algorithm: shuffle.AlgorithmDurstenfeld, Size: audit.MaxSize, Draw: 1024, Repeat: math.MaxUint64},
		{Algorithm: shuffle.AlgorithmFisherYates, Size: audit.MaxSize, Draw: audit.MaxSize, Repeat: 1 << 40},
	} {
		cost := s.Cost()
		assert.Truef(t, cost == math.MaxUint64, "%+v costs %d", s, cost)
	}
}

// The formula of docs/spec.md gives the costs of its table, and nothing above the bound is replayed.
func TestCostOfTheSpecification(t *testing.T) {
	for want, s := range map[uint64]audit.Statement{
		1184:               {Algorithm: shuffle.AlgorithmFisherYates, Size: 52, Draw: 52, Repeat: 1},
		273:                {Algorithm: shuffle.AlgorithmFisherYates, Size: 1_000_000, Draw: 5, Repeat: 1},
		430_001_420:        {Algorithm: shuffle.AlgorithmInsideOut, Size: 1_000_000, Draw: 1, Repeat: 20},
		10_000_710:         {Algorithm: shuffle.AlgorithmSattolo, Size: 1_000_000, Repeat: 10},
		684547143360315316: {Algorithm: shuffle.AlgorithmFisherYates, Size: 5, Repeat: audit.MaxSize},
	} {
		assert.Equalf(t, want, s.Cost(), "%+v costs", s)
		if want <= audit.MaxCost {
			continue
		}
		record, seed := recordOf(t, s)
		v := audit.Verify(record, seed, 0)
		if v.OK || uint64(v.TooCostly) != want || v.Steps[len(v.Steps)-1].Name != "order" {
			t.Errorf("%+v: %+v", s, v)
		}
	}
}
