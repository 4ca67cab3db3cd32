package deckofcards

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// #35, #130, #134: a card could be added to a pile only when the deck had no other copy of it. Here
// each drawn copy can be added once.
func TestIssue35PilesOfSeveralDecks(t *testing.T) {
	s := newSite(t)
	id := s.get(t, "/api/deck/new/?cards=AS,KH,AS&deck_count=2").DeckID // AS KH AS AS KH AS
	s.get(t, "/api/deck/%s/draw/?count=3", id)
	if r := s.get(t, "/api/deck/%s/pile/a/add/?cards=AS,KH,KH", id); r.Piles["a"].Remaining != 2 || r.Remaining != 3 {
		t.Errorf("%+v", r)
	}
	if r := s.get(t, "/api/deck/%s/pile/b/add/?cards=AS", id); r.Piles["a"].Remaining != 2 || r.Piles["b"].Remaining != 1 { // the other copy, which is dealt
		t.Errorf("%+v", r)
	}
	if r := s.get(t, "/api/deck/%s/pile/c/add/?cards=AS", id); r.Piles["a"].Remaining != 1 || r.Piles["c"].Remaining != 1 { // none is dealt: from a pile
		t.Errorf("%+v", r)
	}
	s.get(t, "/api/deck/%s/draw/?count=2", id)
	r := s.get(t, "/api/deck/%s/return/?cards=KH,AS,AS", id)
	assert.Equalf(t, 3, r.Remaining, "%+v", r)
	r = s.get(t, "/api/deck/%s/draw/?count=3", id)
	assert.Equalf(t, []string{"AS", "KH", "AS"}, r.codes(), "%+v", r)
	two := s.get(t, "/api/deck/new/draw/?deck_count=2&count=104")
	if r := s.get(t, "/api/deck/%s/return/", two.DeckID); r.Remaining != 104 { // there it was 52
		t.Errorf("%+v", r)
	}
	r = s.get(t, "/api/deck/%s/draw/?count=104", two.DeckID)
	assert.Equal(t, slices.Concat(sorted[:52], sorted[:52]), r.codes())
}

// #127, #135: cards can be drawn from the bottom of the deck, and at random.
func TestIssue127DeckEnds(t *testing.T) {
	s := newSite(t)
	made := s.get(t, "/api/deck/new/")
	if r := s.get(t, "/api/deck/%s/draw/bottom/?count=3", made.DeckID); !slices.Equal(r.codes(), []string{"KH", "QH", "JH"}) || r.Remaining != 49 {
		t.Errorf("%+v", r)
	}
	r := s.get(t, "/api/deck/%s/draw/random/?count=40", made.DeckID)
	codes := r.codes()
	assert.Truef(t, !slices.Equal(codes, sorted[:40]) && len(codes) == 40 && r.Remaining == 9, "%+v", r)
	r = s.get(t, "/api/deck/%s/draw/random/?count=10", made.DeckID)
	assert.Truef(t, !r.Success && len(r.Cards) == 9 && r.Error == "Not enough cards remaining to draw 10 additional", "%+v", r)
}
