package audit_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/rng"
	"riffle/internal/shoe"
)

// The service draws cuts from the stream, and verifiers with the reference. Both reach the whole
// range, ends included, about equally often.
func TestDrawCut(t *testing.T) {
	for _, c := range []shoe.Cut{{From: 1, To: 2}, {From: 7, To: 11}, {From: 220, To: 250}, {From: 1, To: 4095}} {
		n := c.To - c.From + 1
		const each = 40
		drawn := make([]int, n)
		for i := range each * n {
			seed := make(rng.Seed, 2*rng.BlockSize)
			seed[0], seed[1], seed[2], seed[3] = byte(i), byte(i>>8), byte(i>>16), 1
			keys, err := rng.Keys(seed, audit.Commitment{}, "")
			require.NoError(t, err)
			stream, err := rng.NewStream(keys)
			require.NoError(t, err)
			stream.Seek(audit.CutStream)
			at := audit.DrawCut(&c, stream)
			reference, err := rng.NewReference(keys, 1)
			require.NoError(t, err)
			want := audit.DrawCut(&c, reference)
			require.Truef(t, at == want && at >= c.From && at <= c.To, "the cut from %d to %d is %d, want %d", c.From, c.To, at, want)
			drawn[at-c.From]++
		}
		square := 0.0 // chi-square, of n-1 degrees of freedom
		for _, count := range drawn {
			square += float64((count-each)*(count-each)) / each
		}
		limit := float64(n-1) + 5*math.Sqrt(2*float64(n-1))
		assert.Truef(t, square <= limit, "from %d to %d: chi-square is %.1f, above %.1f: %v", c.From, c.To, square, limit, drawn)
	}
}
