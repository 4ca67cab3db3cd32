package prooffile_test

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
)

// A hand may be a whole answer, an array of cards or one card.
func TestParseHand(t *testing.T) {
	list, hands := dealtShoes(t)
	b := list[1]
	cards := hands[b.name][:5]
	one, err := json.Marshal(cards[0])
	require.NoError(t, err)
	array := handText(t, cards)
	for name, v := range map[string]struct {
		text string
		n    int
	}{
		"an array":     {array, 5},
		"white space":  {strings.ReplaceAll(array, ",", " ,\n"), 5},
		"a draw":       {`{"audit_id":"x","log_index":3,"cards":` + array + `,"status":"open"}`, 5},
		"a list":       {`{"shoe_id":"x","version":2,"cards":` + array + "}\n", 5},
		"one card":     {string(one), 1},
		"a database":   {strings.Replace(array, `"card":`, `"instance":1.0,"card":`, 1), 5},
		"with details": {strings.Replace(string(one), `"code"`, `"instance":1,"name":"x","code"`, 1), 1},
	} {
		g := shoeGiven(t, b, v.text)
		if r := check([][]byte{b.files()[0].Text()}, g); r.Failed() != nil || r.Proven != v.n || r.Others != 0 {
			t.Errorf("%s: %+v", name, r.Steps)
		}
	}
}

func TestInvalidHandsAreRejected(t *testing.T) {
	list, hands := dealtShoes(t)
	card := strings.Trim(handText(t, hands[list[1].name][:1]), "[]")
	salt := hands[list[1].name][0].Salt
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

// A hand is unchecked if something that it takes is missing.
func TestUncheckedHands(t *testing.T) {
	list, hands := dealtShoes(t)
	every, plain, open := list[1], list[4], list[2]
	without := slices.Clone(hands[every.name][:2])
	without[1].Salt, without[1].Path = "", nil
	items := shoeGiven(t, open, handText(t, hands[open.name]))
	for name, v := range map[string]struct {
		r    *prooffile.Result
		want string
	}{
		"no salt and path":      {check([][]byte{every.files()[0].Text()}, shoeGiven(t, every, handText(t, without))), "ask for it with proof=true"},
		"of another shoe":       {check([][]byte{every.files()[0].Text()}, shoeGiven(t, every, handText(t, hands[open.name]))), "no card of the hand was sealed by this record"},
		"of another whole shoe": {check(textsOf(every.files()), shoeGiven(t, every, handText(t, append(without[:1:1], hands[plain.name][3])))), "1 card of the hand, sealed by no record of this shoe"},
		"of a draw":             {check([][]byte{every.files()[1].Text()}, shoeGiven(t, every, handText(t, hands[every.name]))), "give the proof of the record that sealed_by names"},
	} {
		if step := v.r.Unchecked(); v.r.Failed() != nil || step == nil || !strings.Contains(step.Detail+lastDetail(v.r), v.want) {
			t.Errorf("%s: %+v", name, v.r.Steps)
		}
	}
	// A hand needs no items and no seed.
	items.Items = nil
	if r := check([][]byte{open.files()[0].Text()}, items); r.Failed() != nil || r.Unchecked() != nil || r.Proven != 2 {
		t.Errorf("%+v", r.Steps)
	}
	// Of a hand of two sealings, one record proves its part.
	if r := check([][]byte{every.files()[0].Text()}, shoeGiven(t, every, handText(t, hands[every.name]))); r.Proven != 5 || r.Others != 2 {
		t.Errorf("%+v", r.Steps)
	}
}

func lastDetail(r *prooffile.Result) string {
	for _, s := range r.Steps {
		if s.Name == prooffile.StepHand {
			return s.Detail
		}
	}
	return ""
}

// What is public before the close proves the drawn cards and no others: no known salt and path
// proves a card at another position, and no record or file contains a salt.
func TestUndrawnCardsCannotBeProven(t *testing.T) {
	list, hands := dealtShoes(t)
	b := list[2]
	root := b.records[0].Root
	var public strings.Builder
	for _, text := range textsOf(b.files()) {
		public.Write(text)
	}
	hand := hands[b.name]
	public.WriteString(handText(t, hand))
	for position := range uint64(5) {
		drawn := position < 2
		salt := b.sealed[1].Open(position).Salt
		assert.Equalf(t, drawn, strings.Contains(public.String(), hex.EncodeToString(salt[:])),
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
			for _, text := range b.texts {
				proven = proven || o.Check(position, 5, []byte(text), *root) == nil
			}
		}
		assert.Equalf(t, drawn, proven, "position %d is proven", position)
	}
}

// Any text is rejected as a hand or compared with the sealed cards.
func FuzzParseHand(f *testing.F) {
	list, hands := dealtShoes(f)
	for _, b := range list {
		f.Add([]byte(handText(f, hands[b.name])))
		f.Add([]byte(`{"cards":` + handText(f, hands[b.name][:1]) + "}"))
	}
	b := list[1]
	text := b.files()[0].Text()
	_, key := logKey(f, origin, 1)
	f.Fuzz(func(t *testing.T, hand []byte) {
		h, err := prooffile.ParseHand(hand)
		if err != nil {
			return
		}
		r := prooffile.VerifyHand([][]byte{text}, &prooffile.Given{Key: key, Hand: h})
		if r.Failed() == nil && r.Unchecked() == nil && r.Proven == 0 {
			t.Errorf("%q is compared with nothing: %+v", hand, r.Steps)
		}
	})
}
