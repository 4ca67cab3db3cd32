package prooffile_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/shoe"
)

// Each record of a shoe can be checked alone, and a shoe without its items except for the cards
// themselves.
func TestShoesInParts(t *testing.T) {
	for _, v := range readVectors(t, "shoes shoes") {
		for i, file := range prooffile.Split([]byte(v.Proofs)) {
			r := prooffile.VerifyRecord(file, given(t, v.Key, "", ""))
			assert.Truef(t, r.Failed() == nil && (r.Unchecked() != nil) == r.HeldBack(), "%s, %d: %+v", v.Name, i, r.Steps)
		}
		r := verifyFiles([]byte(v.Proofs), given(t, v.Key, "", ""))
		isClosed := v.Expect == verified
		assert.Truef(t, r.Failed() == nil && r.Closed == isClosed && (r.Unchecked() == nil) == isClosed, "%s: %+v", v.Name, r.Steps)
	}
}

// A draw at random is from all cards of a place, not from the first of them.
func TestRandomDrawTakesFromAllCards(t *testing.T) {
	for _, size := range []uint64{2, 3, 4} {
		b, _ := openShoe(t)
		b.records, b.seeds = b.records[:2], b.seeds[:2] // two of five were drawn
		record := b.change(audit.KindDraw)
		record.Version = 3
		seed := b.draws(record, size, 1)
		var refs []shoe.Ref
		for _, at := range b.positions(record, seed) {
			refs = append(refs, shoe.Ref{Seal: 1, Position: 2 + at})
		}
		record.From, record.Taken, record.Cards, record.To = shoe.Deck, shoe.Random, shoe.List(refs), shoe.Dealt
		b.records, b.seeds = append(b.records, record), append(b.seeds, seed)
		_, key := logKey(t, origin, 1)
		r := verifyFiles(bytes.Join(textsOf(b.files()), nil), given(t, key, fruit, ""))
		if failed := r.Failed(); (failed == nil) != (size == 3) || failed != nil && failed.Name != prooffile.StepMoves {
			t.Errorf("of %d: %+v", size, r.Steps)
		}
	}
}
