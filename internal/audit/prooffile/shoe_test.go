package prooffile_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/shoe"
)

// shoeGiven has the texts that a shoe's files are checked against.
func shoeGiven(t testing.TB, b *dealtShoe, hand string) *prooffile.Given {
	t.Helper()
	_, key := logKey(t, origin, 1)
	var items *string
	if b.input.items != "" {
		items = &b.input.items
	}
	g := given(t, key, items, nil)
	if hand != "" {
		g.Hand = parseHand(t, hand)
	}
	return g
}

// check picks the verifier as the command does.
func check(texts [][]byte, g *prooffile.Given) *prooffile.Result {
	switch {
	case len(texts) > 1:
		return prooffile.VerifyShoe(texts, g)
	case g.Hand != nil:
		return prooffile.VerifyHand(texts, g)
	default:
		return prooffile.VerifyRecord(texts[0], g)
	}
}

// A shoe verifies as a whole, with the hand that was drawn from it, and each of its records alone.
func TestShoesVerify(t *testing.T) {
	list, hands := dealtShoes(t)
	for _, b := range list {
		hand := handText(t, hands[b.name])
		for _, h := range []string{"", hand} {
			r := prooffile.VerifyShoe(textsOf(b.files()), shoeGiven(t, b, h))
			if r.Failed() != nil || r.Closed != isClosed(b) || (r.Unchecked() == nil) != (isClosed(b) || h != "") {
				t.Errorf("%s, hand %v: %+v", b.name, h != "", r.Steps)
			}
			assert.Equalf(t, isClosed(b), r.Sealed(),
				"%s: the roots are compared: %v: %+v", b.name, r.Sealed(), r.Steps)
			if h != "" && r.Proven != len(hands[b.name]) {
				t.Errorf("%s: %d of the hand: %+v", b.name, r.Proven, r.Steps)
			}
		}
		for i, f := range b.files() {
			g := shoeGiven(t, b, hand)
			if i > 0 {
				g.Items = nil
			}
			r := check([][]byte{f.Text()}, g)
			proven := 0
			for _, c := range hands[b.name] {
				if c.SealedBy == b.records[i].ID.String() {
					proven++
				}
			}
			if r.Failed() != nil || (r.Unchecked() == nil) != (proven == len(hands[b.name])) || r.Proven != proven || r.Others != 0 && r.Others+proven != len(hands[b.name]) {
				t.Errorf("%s %d: %d of the hand, %d: %+v", b.name, i, proven, r.Proven, r.Steps)
			}
			g.Hand = nil
			r = check([][]byte{f.Text()}, g)
			if held := b.seeds[i] != nil && f.Seed == nil; r.Failed() != nil || (r.Unchecked() == nil) == held || r.HeldBack() != held {
				t.Errorf("%s %d, held back %v: %+v", b.name, i, held, r.Steps)
			}
		}
	}
}

func TestShoeWithoutItemsAndWithOthers(t *testing.T) {
	list, _ := dealtShoes(t)
	b := list[3]
	g := shoeGiven(t, b, "")
	g.Items = nil
	r := prooffile.VerifyShoe(textsOf(b.files()), g)
	if r.Failed() != nil || r.Unchecked() != nil || r.Sealed() || !r.Closed {
		t.Errorf("%+v", r.Steps)
	}
	other := strings.Replace(values, "1.0", "1.00", 1)
	g = given(t, g.Key, &other, nil)
	if r := prooffile.VerifyShoe(textsOf(b.files()), g); r.Failed() == nil || r.Failed().Name != prooffile.StepItems {
		t.Errorf("%+v", r.Steps)
	}
}

// A draw at random is from all cards of a place, not from the first of them.
func TestRandomDrawTakesFromAllCards(t *testing.T) {
	for _, size := range []uint64{2, 3, 4} {
		list, _ := dealtShoes(t)
		b := list[2]
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
		r := prooffile.VerifyShoe(textsOf(b.files()), shoeGiven(t, b, ""))
		if failed := r.Failed(); (failed == nil) != (size == 3) || failed != nil && failed.Name != prooffile.StepMoves {
			t.Errorf("of %d: %+v", size, r.Steps)
		}
	}
}

func TestShoeWithAnyByteChangedFails(t *testing.T) {
	t.Parallel()
	list, _ := dealtShoes(t)
	for _, b := range list {
		texts := textsOf(b.files())
		whole := string(bytes.Join(texts, nil))
		g := shoeGiven(t, b, "")
		step := 1
		if len(texts) > 4 {
			step = 97
		}
		for i := 0; i < len(whole); i += step {
			for _, change := range []byte{1, 0x20, 0x80} {
				text := []byte(whole)
				text[i] ^= change
				if r := prooffile.VerifyShoe(prooffile.Split(text), g); r.Failed() == nil && !r.Has(prooffile.StepProof, prooffile.Unchecked) {
					t.Fatalf("%s: byte %d as %q, and no step fails: %+v\n%s", b.name, i, text[i], r.Steps, text)
				}
			}
		}
	}
}
