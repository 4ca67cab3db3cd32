package prooffile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/rng"
	"riffle/internal/shoe"
)

// A shoeForgery changes the files of a valid shoe, or the hand.
type shoeForgery struct {
	name, of, step string
	files          func(files []*prooffile.File) []*prooffile.File // changes what the files say
	record         map[int]func(record string) string              // by version; also in the log
	seed           map[int]int                                     // changes a bit of a seed
	text           func(text string) string
	hand           func(hand []wireCard) []wireCard
	one            int // the version whose file is checked alone; 0 for all
	items          string
}

func (w *shoeForgery) forge(t testing.TB, b *dealtShoe, hand []wireCard) shoeVector {
	t.Helper()
	v := vectorOf(t, b, hand)
	right := v
	v.Name, v.Step, v.Expect, v.Orders = w.name, w.step, "", nil
	files := b.files()
	for version, change := range w.record {
		files[version-1].Record = []byte(change(string(files[version-1].Record)))
	}
	if w.record != nil {
		relogged(t, files)
	}
	for version, at := range w.seed {
		files[version-1].Seed = slices.Clone(files[version-1].Seed)
		files[version-1].Seed[at] ^= 1
	}
	if w.files != nil {
		files = w.files(files)
	}
	if w.one > 0 {
		files = files[w.one-1 : w.one]
	}
	v.Proofs = string(bytes.Join(textsOf(files), nil))
	if w.text != nil {
		v.Proofs = w.text(v.Proofs)
	}
	v.Hand = nil
	if w.hand != nil {
		text := handText(t, w.hand(slices.Clone(hand)))
		v.Hand = &text
	}
	if w.items != "" {
		v.Items = &w.items
	}
	if v.Proofs == right.Proofs && v.Items == right.Items && (v.Hand == nil || *v.Hand == *right.Hand) {
		t.Errorf("%s: nothing is wrong with it", w.name)
	}
	return v
}

// shoeForgeries break one rule each. Those that an operator could commit are signed with the right
// key.
func shoeForgeries(t testing.TB, by map[string]*dealtShoe) []shoeForgery {
	t.Helper()
	const (
		every  = "every change"
		worked = "worked"
		items  = "items"
	)
	sub := func(old, new string) func(string) string { return substitute(t, old, new) }
	at := func(version int, change func(string) string) map[int]func(string) string {
		return map[int]func(string) string{version: change}
	}
	otherRoot := func(record string) string {
		before, after, _ := strings.Cut(record, `"root":"`)
		return before + `"root":"` + strings.Repeat("0", 64) + after[64:]
	}
	otherC := func(record string) string {
		before, after, _ := strings.Cut(record, `"commitment":"`)
		return before + `"commitment":"` + strings.Repeat("0", 64) + after[64:]
	}
	card := func(change func(c *wireCard)) func([]wireCard) []wireCard {
		return func(hand []wireCard) []wireCard {
			path := slices.Clone(*hand[1].Path)
			hand[1].Path = &path
			change(&hand[1])
			return hand
		}
	}
	other := by[worked]
	list := []shoeForgery{
		{name: "a record of another log", of: worked, step: "proof", files: func(files []*prooffile.File) []*prooffile.File {
			thief, key := logKey(t, origin, 2)
			files[1].LogKey = key
			files[1].Inclusion = include(t, files[1].Record, 5, 11, thief)
			return files
		}},

		{name: "cards that are not in their one form", of: worked, step: "record", record: at(2, sub(`"1:0-1"`, `"1:0 1:1"`))},
		{name: "a draw of a card twice", of: worked, step: "record", record: at(2, sub(`"1:0-1"`, `"1:0 1:0"`))},
		{name: "a draw to the deck", of: worked, step: "record", record: at(2, sub(`"to":"dealt"`, `"to":"shoe","put":"top"`))},
		{name: "a shoe without its root", of: worked, step: "record", record: at(1, sub(`"root"`, `"other"`))},
		{name: "a reshuffle with parameters", of: every, step: "record", record: at(13, sub(`"input"`, `"parameters":{"players":7},"input"`))},
		{name: "a shoe with hands", of: worked, step: "record", record: at(1, sub(`"input"`, `"hands":[2],"input"`))},
		{name: "a draw from the top with a statement", of: worked, step: "record", record: at(2, sub(`"commitment"`, `"algorithm":"fisher-yates","size":5,"draw":2,"repeat":1,"input":"range","commitment"`))},
		{name: "a draw that has made version 1", of: worked, step: "record", record: at(2, sub(`"version":2`, `"version":1`))},
		{name: "a draw with a seed", of: worked, step: "record", files: func(files []*prooffile.File) []*prooffile.File {
			files[1].Seed = make(rng.Seed, rng.BlockSize)
			return files
		}},

		{name: "the first record left out", of: worked, step: "chain", files: func(files []*prooffile.File) []*prooffile.File { return files[1:] }},
		{name: "a record left out", of: every, step: "chain", files: func(files []*prooffile.File) []*prooffile.File { return slices.Delete(files, 5, 6) }},
		{name: "a draw left out, and the versions after it counted anew", of: every, step: "moves", files: func(files []*prooffile.File) []*prooffile.File {
			files = slices.Delete(files, 1, 2)
			for i, f := range files[1:] {
				f.Record = []byte(sub(fmt.Sprintf(`"version":%d,`, i+3), fmt.Sprintf(`"version":%d,`, i+2))(string(f.Record)))
			}
			relogged(t, files)
			return files
		}},
		{name: "a record of another shoe", of: every, step: "chain", files: func(files []*prooffile.File) []*prooffile.File {
			files[1] = other.files()[1]
			return files
		}},
		{name: "a draw that names another shoe", of: worked, step: "chain", record: at(2, sub(by[worked].records[0].ID.String(), by[every].records[0].ID.String()))},
		{name: "a change that is earlier in the log than the one before", of: worked, step: "chain", files: func(files []*prooffile.File) []*prooffile.File {
			signer, _ := logKey(t, origin, 1)
			files[2].Inclusion = include(t, files[2].Record, 4, 11, signer)
			return files
		}},
		{name: "a shuffle among the changes", of: worked, step: "chain", files: func(files []*prooffile.File) []*prooffile.File {
			_, shuffled, _ := build(t, plans()[0])
			signer, _ := logKey(t, origin, 1)
			shuffled.Inclusion = include(t, shuffled.Record, 5, 11, signer)
			files[1] = shuffled
			return files
		}},
		{name: "a draw with another commitment than the shoe", of: worked, step: "chain", record: at(2, otherC)},
		{name: "a close after the close", of: worked, step: "chain", record: map[int]func(string) string{
			2: closing, 3: func(r string) string { return r },
		}},
		{name: "an expiry after the expiry", of: worked, step: "chain", record: map[int]func(string) string{
			2: func(r string) string { return sub(`"close"`, `"expire"`)(closing(r)) },
			3: sub(`"kind":"close","spec"`, `"kind":"expire","spec"`),
		}},

		{name: "another seed of the shoe", of: worked, step: "commitment", seed: map[int]int{1: 0}},
		{name: "another seed of a shuffle of the deck", of: every, step: "commitment", seed: map[int]int{13: 31}},
		{name: "another seed of a draw at random", of: every, step: "commitment", seed: map[int]int{4: 7}},
		{name: "other items of a shoe", of: items, step: "items", items: strings.Replace(values, "true", "false", 1)},
		{name: "a record of a shoe that is not in the log", of: worked, step: "inclusion", files: func(files []*prooffile.File) []*prooffile.File {
			files[1].Record = []byte(sub(`"1:0-1"`, `"1:0-2"`)(string(files[1].Record)))
			return files
		}},
		{name: "a record of a shoe signed with another key", of: worked, step: "signature", files: func(files []*prooffile.File) []*prooffile.File {
			spoilSignature(t)(files[2])
			return files
		}},

		{name: "a draw from the top of other cards", of: worked, step: "moves", record: at(2, sub(`"1:0-1"`, `"1:1-2"`))},
		{name: "a draw from the top in another order", of: worked, step: "moves", record: at(2, sub(`"1:0-1"`, `"1:1-0"`))},
		{name: "a draw from the bottom, said to be from the top", of: every, step: "moves", record: at(3, sub(`"taken":"bottom"`, `"taken":"top"`))},
		{name: "a draw of cards that there are not", of: worked, step: "moves", record: at(2, sub(`"1:0-1"`, `"1:0-5"`))},
		{name: "a draw of cards of a sealing that there is not", of: worked, step: "moves", record: at(2, sub(`"1:0-1"`, `"2:0-1"`))},
		{name: "a draw from a pile that there is not", of: worked, step: "moves", record: at(2, sub(`"from":"shoe"`, `"from":"pile none"`))},
		{name: "a draw at random of another card", of: every, step: "moves", record: at(4, anotherCard)},
		{name: "a last draw at random of another card", of: "items, open", step: "moves", record: at(3, func(r string) string {
			was := by["items, open"].records[2].Cards
			for position := uint64(2); ; position++ {
				if other := shoe.List([]shoe.Ref{{Seal: 1, Position: position}}); !other.Equal(was) {
					return sub(`"`+was.String()+`"`, `"`+other.String()+`"`)(r)
				}
			}
		})},
		{name: "a card of the deck put on a pile as if it had been dealt", of: every, step: "moves", record: at(8, func(r string) string {
			before, after, _ := strings.Cut(r, `"cards":"`)
			_, after, _ = strings.Cut(after, `"`)
			return before + `"cards":"1:20"` + after
		})},
		{name: "a return of cards that lie on another pile", of: every, step: "moves", record: at(11, sub(`"from":"pile zoe"`, `"from":"pile discard"`))},
		{name: "a card returned to the other end of the deck", of: every, step: "root", record: at(11, sub(`"put":"bottom"`, `"put":"top"`))},
		{name: "a shuffle of another place", of: every, step: "moves", record: at(13, sub(`"from":"shoe"`, `"from":"pile nils"`))},
		{name: "a shuffle of all cards said to be of the deck", of: every, step: "moves", record: at(15, sub(`"from":"all"`, `"from":"shoe"`))},

		{name: "another root of the shoe", of: worked, step: "root", record: at(1, otherRoot)},
		{name: "another root of a shuffle of the deck", of: every, step: "root", record: at(13, otherRoot)},
		{name: "another root of a shuffle of no cards", of: items, step: "root", record: at(3, otherRoot)},
		{name: "another root of the shoe, its record alone", of: worked, step: "root", record: at(1, otherRoot), one: 1},

		{name: "a hand of the whole shoe with another code", of: every, step: "hand", hand: card(func(c *wireCard) { c.Code = otherCode(c.Code) })},
		{name: "a hand with another code", of: every, step: "hand", one: 1, hand: card(func(c *wireCard) { c.Code = otherCode(c.Code) })},
		{name: "a hand with another item", of: "items, open", step: "hand", one: 1, hand: card(func(c *wireCard) { c.Item = json.RawMessage(`"kiwi"`) })},
		{name: "a hand with another number", of: worked, step: "hand", one: 1, hand: card(func(c *wireCard) { c.Item = json.RawMessage(`4`) })},
		{name: "a hand with a number as a text", of: worked, step: "hand", one: 1, hand: card(func(c *wireCard) { c.Item = json.RawMessage(`"` + string(c.Item) + `"`) })},
		{name: "a hand with an item in place of a code", of: every, step: "hand", one: 1, hand: card(func(c *wireCard) { c.Item, c.Code = json.RawMessage(`"`+c.Code+`"`), "" })},
		{name: "a hand with a code in place of an item", of: worked, step: "hand", one: 1, hand: card(func(c *wireCard) { c.Code, c.Item = string(c.Item), nil })},
		{name: "a hand with another position", of: every, step: "hand", one: 1, hand: card(func(c *wireCard) { c.Position = 9 })},
		{name: "a hand with a position that there is not", of: worked, step: "hand", one: 1, hand: card(func(c *wireCard) { c.Position = 5 })},
		{name: "a hand with a position twice", of: every, step: "hand", one: 1, hand: func(hand []wireCard) []wireCard { return append(hand, hand[0]) }},
		{name: "a hand with another salt", of: every, step: "hand", one: 1, hand: card(func(c *wireCard) { c.Salt = strings.Repeat("0", 64) })},
		{name: "a hand with another path", of: every, step: "hand", one: 1, hand: card(func(c *wireCard) { (*c.Path)[3] = strings.Repeat("0", 64) })},
		{name: "a hand with a path too short", of: every, step: "hand", one: 1, hand: card(func(c *wireCard) { *c.Path = (*c.Path)[:len(*c.Path)-1] })},
		{name: "a hand with a path too long", of: every, step: "hand", one: 1, hand: card(func(c *wireCard) { *c.Path = append(*c.Path, (*c.Path)[0]) })},
		{name: "a hand with another number of the card", of: every, step: "hand", one: 1, hand: card(func(c *wireCard) { c.Card++ })},
		{name: "a hand sealed by another record", of: every, step: "hand", one: 13, hand: card(func(c *wireCard) { c.SealedBy = by[every].records[12].ID.String() })},
		{name: "a card that lay elsewhere in a shoe that was not shuffled", of: "not shuffled", step: "hand", one: 1, hand: func(hand []wireCard) []wireCard {
			hand[0].Position = 6
			return hand[:1]
		}},
		{name: "a drawn cut that is another", of: "cut cards", step: "order", record: at(1, anotherCut)},
		{name: "a drawn cut of a reshuffle that is another", of: "cut cards", step: "order", record: at(5, anotherCut)},
		{name: "a drawn cut that is another, its record alone", of: "cut cards", step: "order", record: at(6, anotherCut), one: 6},
		{name: "a drawn cut from another range", of: "cut cards", step: "order", record: at(1, sub(`"cut_range":[60,90]`, `"cut_range":[60,91]`))},
		{name: "a cut of 0", of: "cut cards", step: "record", record: at(4, sub(`"cut":50`, `"cut":0`))},
		{name: "a cut behind all cards", of: "cut cards", step: "record", record: at(4, sub(`"cut":50`, `"cut":99`))},
		{name: "a cut beyond its range", of: "cut cards", step: "record", record: at(6, sub(`"cut_range":[60,61]`, `"cut_range":[1,2]`))},
		{name: "a cut range without a cut", of: "cut cards", step: "record", record: at(4, sub(`"cut":50`, `"cut_range":[50,51]`))},
		{name: "a cut range that is reversed", of: "cut cards", step: "record", record: at(6, sub(`[60,61]`, `[61,60]`))},
		{name: "a cut range of three numbers", of: "cut cards", step: "record", record: at(6, sub(`[60,61]`, `[60,61,62]`))},
		{name: "a cut that is a text", of: "cut cards", step: "record", record: at(4, sub(`"cut":50`, `"cut":"50"`))},
		{name: "a cut of a draw", of: "cut cards", step: "record", record: at(3, sub(`"to"`, `"cut":50,"to"`))},
		{name: "a cut of a pile", of: "empty piles", step: "record", record: at(3, sub(`"root"`, `"cut":1,"root"`))},
		{name: "a cut of a shoe that was not shuffled", of: "not shuffled", step: "record", record: at(1, sub(`"commitment"`, `"cut":3,"commitment"`))},
		{name: "a draw of no cards", of: worked, step: "record", record: at(2, sub(`"cards":"1:0-1",`, ``))},
		{name: "a return of no cards", of: "empty piles", step: "record", record: at(5, sub(`"cards":"1:0",`, ``))},
		{name: "an add with an empty list of cards", of: "empty piles", step: "record", record: at(2, sub(`"to"`, `"cards":"","to"`))},
		{name: "a pile whose name is too long", of: "empty piles", step: "record", record: at(4, sub(`"pile n`, `"pile nn`))},
	}
	return list
}

// closing makes a close of a draw of the worked shoe.
func closing(record string) string {
	before, after, _ := strings.Cut(record, `,"from":`)
	_, after, _ = strings.Cut(after, `,"commitment":`)
	return strings.Replace(before, `"draw"`, `"close"`, 1) + `,"commitment":` + after
}

// anotherCard exchanges the first card of a record for another card in the deck.
func anotherCard(record string) string {
	r, err := audit.ParseRecord([]byte(record))
	if err != nil {
		return record
	}
	refs := r.Cards.Refs()
	was := r.Cards.String()
	taken := map[uint64]bool{}
	for _, ref := range refs {
		taken[ref.Position] = true
	}
	for refs[0].Position = 10; taken[refs[0].Position]; refs[0].Position++ {
	}
	var words []string
	for _, ref := range refs {
		words = append(words, fmt.Sprintf("%d:%d", ref.Seal, ref.Position))
	}
	return strings.Replace(record, was, strings.Join(words, " "), 1)
}

// anotherCut moves the cut card of a record to another place of its range.
func anotherCut(record string) string {
	r, err := audit.ParseRecord([]byte(record))
	if err != nil {
		return record
	}
	other := r.Cut.From
	if other == r.Cut.At {
		other = r.Cut.To
	}
	return strings.Replace(record, fmt.Sprintf(`"cut":%d,`, r.Cut.At), fmt.Sprintf(`"cut":%d,`, other), 1)
}

func otherCode(code string) string {
	if code == "AS" {
		return "KH"
	}
	return "AS"
}
