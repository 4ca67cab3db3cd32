package prooffile_test

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/rng"
)

func TestInvalidHandsAreRejected(t *testing.T) {
	hand := named(t, "shoes", "every change").Hand
	var cards []wireCard
	require.NoError(t, json.Unmarshal([]byte(hand), &cards))
	card, salt := compactJSON(t, cards[0]), cards[0].Salt
	change := func(old, new string) string { return substitute(t, old, new)(card) }
	for _, v := range []struct{ text, reason string }{
		{"", "not JSON"},
		{"1", "neither"},
		{"[]", "a hand of 0 cards"},
		{`{"cards":[]}`, "a hand of 0 cards"},
		{`{"cards":{}}`, "not a JSON array"},
		{`{}`, "position"},
		{`[1]`, "card 0, from 0"},
		{"[" + strings.Repeat(card+",", 4096) + card + "]", "a hand of 4097 cards"},
		{change(`"position":0`, `"position":0,"position":0`), "there twice"},
		{change(`"position":0`, `"position":-1`), "position"},
		{change(`"position":0`, `"position":0.5`), "position"},
		{change(`"position":0`, `"position":"0"`), "position"},
		{change(`"position":0,`, ``), "position"},
		{change(`"position":0`, `"position":9007199254740992`), "position"},
		{change(`"card":`, `"card":1.5,"x":`), "its card"},
		{change(`"sealed_by":"`, `"sealed_by":"{`), "sealed_by"},
		{change(`"code":"`, `"code":"\u0041\n`), "its code"},
		{change(`"code":"`, `"code":"","x":"`), "its code"},
		{change(`"code":"`, `"x":"`), "either a code or an item"},
		{change(`"code":"`, `"item":1,"code":"`), "either a code or an item"},
		{change(salt, strings.ToUpper(salt)), "its salt"},
		{change(salt, salt[2:]), "its salt"},
		{change(salt, ""), "its salt"},
		{change(`"salt"`, `"x"`), "both salt and path"},
		{change(`"path"`, `"x"`), "both salt and path"},
		{change(`"path":["`, `"path":["0`), "a hash of its path"},
		{change(`"path":["`, `"path":[`+strings.Repeat(`"",`, 64)+`"`), "both salt and path"},
	} {
		if _, err := prooffile.ParseHand([]byte(v.text)); err == nil || !strings.Contains(err.Error(), v.reason) {
			t.Errorf("%.300s: %v, want %s", v.text, err, v.reason)
		}
	}
}

// A wireCard is a card as the service answers it.
type wireCard struct {
	Card     uint64          `json:"card"`
	Code     string          `json:"code,omitempty"`
	Item     json.RawMessage `json:"item,omitempty"`
	Position uint64          `json:"position"`
	SealedBy string          `json:"sealed_by"`
	Salt     string          `json:"salt,omitempty"`
	Path     *[]string       `json:"path,omitempty"`
}

// What is public before the close proves the drawn cards and no others: no known salt and path
// proves a card at another position, and no record or file contains a salt.
func TestUndrawnCardsCannotBeProven(t *testing.T) {
	v := named(t, "shoes", "items, open")
	file, err := prooffile.Parse(filesOf(t, v.Proof)[0])
	require.NoError(t, err)
	record, err := audit.ParseRecord(file.Record)
	require.NoError(t, err)
	seed := rng.Seed(arbitrary("items, open seed", rng.BlockSize)) // with which the vector was made
	replay := audit.Verify(file.Record, seed, 1<<20)
	require.True(t, replay.OK)
	var items []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(v.Items), &items))
	var sealed [][]byte
	for _, number := range replay.Orders[0] {
		sealed = append(sealed, items[number])
	}
	tree := audit.Seal(seed, record.Commitment, sealed)
	require.Equal(t, *record.Root, tree.Root())
	var hand []wireCard
	require.NoError(t, json.Unmarshal([]byte(v.Hand), &hand))
	for position := range uint64(5) {
		drawn := position < 2
		salt := tree.Open(position).Salt
		assert.Equalf(t, drawn, strings.Contains(v.Proof+v.Hand, hex.EncodeToString(salt[:])),
			"the salt of position %d is public: want", position)
		proven := false
		for _, known := range hand {
			o := &audit.Opening{}
			hash := func(text string) (h tlog.Hash) {
				raw, err := hex.DecodeString(text)
				require.NoError(t, err)
				return tlog.Hash(raw)
			}
			o.Salt = audit.Salt(hash(known.Salt))
			for _, text := range *known.Path {
				o.Path = append(o.Path, hash(text))
			}
			for _, text := range items {
				proven = proven || o.Check(position, 5, text, *record.Root) == nil
			}
		}
		assert.Equalf(t, drawn, proven, "position %d is proven", position)
	}
}

// Any text is rejected as a hand or compared with the sealed cards.
func FuzzParseHand(f *testing.F) {
	for _, v := range readVectors(f, "shoes") {
		f.Add([]byte(v.Hand))
		f.Add([]byte(`{"cards":` + v.Hand + "}"))
	}
	v := named(f, "shoes", "every change")
	text := filesOf(f, v.Proof)[0]
	f.Fuzz(func(t *testing.T, hand []byte) {
		h, err := prooffile.ParseHand(hand)
		if err != nil {
			return
		}
		r := prooffile.VerifyRecord(text, &prooffile.Given{Key: v.Key, Hand: h})
		if r.Failed() == nil && r.Unchecked() == nil && r.Proven == 0 {
			t.Errorf("%q is compared with nothing: %+v", hand, r.Steps)
		}
	})
}
