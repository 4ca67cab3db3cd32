package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/deck"
)

// A round of blackjack after the other is dealt until the cut card comes out, and then the shoe is
// shuffled with a cut card drawn from the same range. The proof of the shoe has each cut that its
// seed draws.
func TestCutCard(t *testing.T) {
	s := start(t, setup{})
	ask := func(path, body string) shoeState {
		t.Helper()
		return s.mustShoe(t, post(t, path, body))
	}
	made := ask("/shoes", `{"deck":"standard52","decks":2,"cut":[60,75],"client_seed":"Ines"}`)
	at := made.path()
	cut := func(a shoeState) uint64 {
		t.Helper()
		require.Truef(t, a.Cut != nil && a.AtCut != nil && *a.Cut >= 60 && *a.Cut <= 75,
			"version %d has no cut card from 60 to 75: %+v", a.Version, a)
		return *a.Cut
	}
	for range 3 {
		first := s.mustShoe(t, get(t, at))
		if *first.AtCut {
			t.Error("the cut card is reached before a card was drawn")
		}
		ask(at+"/draw", `{"to":"burn"}`)
		for drawn := uint64(1); drawn < cut(first); {
			drawn += 5
			if round := ask(at+"/draw", `{"count":5}`); cut(round) != cut(first) || *round.AtCut != (drawn >= cut(first)) {
				t.Errorf("after %d cards: %d %v, want %d", drawn, *round.Cut, *round.AtCut, cut(first))
			}
		}
		back := ask(at+"/return", `{"put":"top"}`)
		assert.True(t, *back.AtCut, "the cut card is back in the deck with the cards that were returned")
		cut(ask(at+"/reshuffle", `{"cards":"all"}`))
	}
	assert.EqualValues(t, 103, *ask(at+"/reshuffle", `{"cards":"all","cut":103}`).Cut, "the cut")
	ask(at+"/draw", `{"count":4}`)
	if got := s.send(t, post(t, at+"/reshuffle", `{}`)); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "past the end of these 100 cards") {
		t.Errorf("a cut card where no card lies: %d %s", got.status, got.body)
	}
	if fits := ask(at+"/reshuffle", `{"cut":50}`); *fits.Cut != 50 || *fits.AtCut {
		t.Errorf("the cut card lies behind %d of 100 cards, want 50", *fits.Cut)
	}
	piled := ask(at+"/draw", `{"count":50,"to":"discard"}`)
	again := ask(at+"/piles/discard/shuffle", `{}`)
	assert.Truef(t, *piled.AtCut && *again.AtCut && *again.Cut == 50, "the cut card after a shuffle of a pile: %+v", again)
	ask(at+"/draw", `{"count":49}`)
	one := ask(at+"/reshuffle", `{}`)
	assert.Truef(t, one.Cut == nil && one.AtCut == nil, "one card has a cut card: %+v", one)
	ask(at+"/close", `{}`)
	verifyCuts(t, s, at)
}

// verifyCuts verifies the proof of a closed shoe, and that all records of a shuffled deck of two
// cards and more have a cut.
func verifyCuts(t *testing.T, s *service, at string) {
	t.Helper()
	decks, err := deck.Builtin()
	require.NoError(t, err)
	proof := readBody(t, s.do(get(t, at+"/proof")))
	result := prooffile.VerifyShoe(prooffile.Split(proof), &prooffile.Given{Decks: decks})
	assert.Truef(t, result.Failed() == nil && result.Closed, "the proof does not verify: %+v", result.Steps)
	cuts := 0
	for _, line := range prooffile.Split(proof) {
		var file struct{ Record string }
		require.NoError(t, json.Unmarshal(line, &file))
		r, err := audit.ParseRecord([]byte(file.Record))
		require.NoError(t, err)
		if r.Cut == nil {
			continue
		}
		cuts++
	}
	assert.Equal(t, 6, cuts)
}
