package prooffile_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/rng"
	"riffle/internal/shoe"
)

// Each record of a shoe can be checked alone, and a shoe without its items except for the cards
// themselves.
func TestShoesInParts(t *testing.T) {
	for _, v := range readVectors(t, "shoes") {
		if v.Verdict == isFalse || v.Summary != nil {
			continue
		}
		for i, file := range filesOf(t, v.Proof) {
			r := prooffile.VerifyRecord(file, &prooffile.Given{Key: v.Key})
			assert.Truef(t, r.Failed() == nil && (r.Unchecked() != nil) == r.HeldBack(), "%s, %d: %+v", v.Name, i, r.Steps)
		}
		c := prooffile.Verify([]byte(v.Proof), keyed(v.Key))
		assert.NotEqual(t, prooffile.VerdictFalse, c.Verdict, "%s: %+v", v.Name, c.Steps)
	}
}

// A draw at random is from all cards of a place, not from the first of them.
func TestRandomDrawTakesFromAllCards(t *testing.T) {
	v := named(t, "shoes", "items, open") // of whose five cards two were drawn
	for _, size := range []uint64{2, 3, 4} {
		var files []*prooffile.File
		for _, part := range filesOf(t, v.Proof) {
			file, err := prooffile.Parse(part)
			require.NoError(t, err)
			files = append(files, file)
		}
		draw := files[2]
		record, err := audit.ParseRecord(draw.Record)
		require.NoError(t, err)
		record.Statement.Size, record.Statement.Seed = size, draw.Seed
		record.Commitment = record.Statement.Commitment()
		keys, err := rng.Keys(draw.Seed, record.Commitment, "")
		require.NoError(t, err)
		source, err := rng.NewReference(keys, 0)
		require.NoError(t, err)
		record.Cards = shoe.List([]shoe.Ref{{Seal: 1, Position: 2 + source.Descend(size)[0]}})
		draw.Record = record.Append(nil)
		relogged(t, files)
		r := prooffile.Verify([]byte(joined(files)), keyed(v.Key)).Steps
		if failed := r.Failed(); (failed == nil) != (size == 3) || failed != nil && failed.Name != prooffile.StepMoves {
			t.Errorf("of %d: %+v", size, r)
		}
	}
}
