package plan

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/deck"
	"riffle/internal/shuffle"
)

func newRules(t *testing.T) *Rules {
	t.Helper()
	decks, err := deck.Builtin()
	require.NoError(t, err)
	return &Rules{Decks: decks, Limits: Limits{Items: 1_000_000, Results: 10_000_000}}
}

func ptr(n uint64) *uint64 { return &n }

func items(n uint64) *Items { return &Items{Count: n, Digest: sha256.Sum256([]byte("[]"))} }

// commit returns the record of a commitment to a request.
func commit(t *testing.T, rules *Rules, r *Request) *audit.Record {
	t.Helper()
	p, err := rules.Check(r, nil)
	require.NoError(t, err)
	return &audit.Record{ID: uuid.UUID{7}, Kind: audit.KindCommitment, Statement: p.Statement, Parameters: p.Parameters}
}

// checkRefused checks that an error blames one member of a request.
func checkRefused(t *testing.T, name string, err error, pointer, detail string) {
	t.Helper()
	var invalid *Invalid
	assert.Truef(t, errors.As(err, &invalid) && invalid.Pointer == pointer && strings.Contains(invalid.Detail, detail),
		"%s: %v, want %s: ... %s ...", name, err, pointer, detail)
}

func TestCheckMakesTheStatement(t *testing.T) {
	rules := newRules(t)
	for name, v := range map[string]struct {
		request Request
		want    audit.Statement
		copies  uint64
	}{
		"items": {
			Request{Items: items(3), Reference: "table 7"},
			audit.Statement{Algorithm: "fisher-yates", Size: 3, Draw: 3, Repeat: 1, Input: audit.ItemsInput(sha256.Sum256([]byte("[]"))), Reference: "table 7"},
			0,
		},
		"no items": {
			Request{Items: items(0)},
			audit.Statement{Algorithm: "fisher-yates", Repeat: 1, Input: audit.ItemsInput(sha256.Sum256([]byte("[]")))},
			0,
		},
		"size": {
			Request{Size: ptr(1 << 40), Draw: ptr(5), Repeat: ptr(3), Hands: []uint64{2, 3}},
			audit.Statement{Algorithm: "fisher-yates", Size: 1 << 40, Draw: 5, Repeat: 3, Input: "range", Hands: []uint64{2, 3}},
			0,
		},
		"decks": {
			Request{Deck: "standard52", Decks: ptr(2), Algorithm: "sattolo"},
			audit.Statement{Algorithm: "sattolo", Size: 104, Draw: 104, Repeat: 1},
			2,
		},
		"preset": {
			Request{Deck: "standard52", Preset: "bridge"},
			audit.Statement{Algorithm: "fisher-yates", Size: 52, Draw: 52, Repeat: 1, Hands: []uint64{13, 13, 13, 13}},
			1,
		},
	} {
		p, err := rules.Check(&v.request, nil)
		require.NoError(t, err, name)
		if v.copies > 0 {
			v.want.Input = audit.DeckInput("standard52", v.copies, p.Deck.Codes())
		}
		assert.Truef(t, reflect.DeepEqual(p.Statement, v.want) && p.Copies == v.copies && (p.Deck != nil) == (v.copies > 0),
			"%s: %+v of %d copies of %v, want %+v of %d", name, p.Statement, p.Copies, p.Deck, v.want, v.copies)
	}
}

func TestCheckRefuses(t *testing.T) {
	rules := newRules(t)
	const huge = 1 << 63
	for _, v := range []struct {
		name, pointer, detail string
		request               Request
	}{
		{"nothing to shuffle", "", "exactly one of", Request{}},
		{"items and deck", "", "exactly one of", Request{Items: items(2), Deck: "standard52"}},
		{"items and size", "", "exactly one of", Request{Items: items(2), Size: ptr(2)}},
		{"unknown deck", "/deck", "no deck type", Request{Deck: "standard53"}},
		{"unknown algorithm", "/algorithm", "no algorithm", Request{Size: ptr(2), Algorithm: "bogo"}},
		{"naive", "/algorithm", "no algorithm", Request{Size: ptr(2), Algorithm: "naive"}},
		{"sattolo of one", "/algorithm", "at least two items", Request{Size: ptr(1), Algorithm: "sattolo"}},
		{"draw above size", "/draw", "from 0 to 5", Request{Size: ptr(5), Draw: ptr(6)}},
		{"too many items", "/items", "at most 1000000", Request{Items: items(1_000_001)}},
		{"size without draw", "/size", "set draw to the number", Request{Size: ptr(1_000_001)}},
		{"draw above limit", "/draw", "at most 1000000", Request{Size: ptr(huge >> 11), Draw: ptr(1_000_001)}},
		{"size above 2^53-1", "/size", "from 0 to 9007199254740991; got 9007199254740992", Request{Size: ptr(1 << 53), Draw: ptr(1)}},
		{"sattolo of a long range", "/algorithm", "can stop early", Request{Size: ptr(1_000_001), Draw: ptr(1), Algorithm: "sattolo"}},
		{"no copies", "/decks", "from 1 to 19230", Request{Deck: "standard52", Decks: ptr(0)}},
		{"too many copies", "/decks", "from 1 to 19230", Request{Deck: "standard52", Decks: ptr(19231)}},
		{"copies that overflow", "/decks", "from 1 to 19230", Request{Deck: "standard52", Decks: ptr(huge)}},
		{"decks of items", "/decks", "name one in deck", Request{Items: items(2), Decks: ptr(2)}},
		{"parameters of items", "/parameters", "name one in deck", Request{Items: items(2), Parameters: map[string]int{"players": 4}}},
		{"unknown parameter", "/parameters/cards", "", Request{Deck: "undercover", Parameters: map[string]int{"cards": 4}}},
		{"unknown parameter to escape", "/parameters/a~1b~0c", "", Request{Deck: "undercover", Parameters: map[string]int{"a/b~c": 4}}},
		{"parameter out of range", "/parameters/players", "4 to 16", Request{Deck: "undercover", Parameters: map[string]int{"players": 17}}},
		{"no repeat", "/repeat", "from 1 to 9007199254740991; got 0", Request{Size: ptr(2), Repeat: ptr(0)}},
		{"repeat above limit", "/repeat", "at most 10000000", Request{Size: ptr(1000), Repeat: ptr(10_001)}},
		{"repeat that overflows", "/repeat", "at most 10000000", Request{Size: ptr(4), Repeat: ptr(huge)}},
		{"repeat that no verifier replays", "/repeat", "repeat must be at most 49 here; got 200", Request{Size: ptr(1_000_000), Draw: ptr(1), Repeat: ptr(200), Algorithm: "durstenfeld"}},
		{"repeat of nothing", "/repeat", "must be 1 if nothing is drawn; got 2", Request{Size: ptr(5), Draw: ptr(0), Repeat: ptr(2)}},
		{"hands above the deck", "/hands", "more than the 52 drawn", Request{Deck: "standard52", Hands: []uint64{27, 26}}},
		{"hands that overflow", "/hands", "more than the 52 drawn", Request{Deck: "standard52", Hands: []uint64{huge, huge}}},
		{"hands that overflow together", "/hands", "more than the 52 drawn", Request{Deck: "standard52", Hands: []uint64{1, math.MaxUint64}}},
		{"hands above the draw", "/hands", "more than the 12 drawn", Request{Deck: "standard52", Draw: ptr(12), Hands: []uint64{13}}},
		{"empty hand", "/hands/1", "from 1 to 9007199254740991; got 0", Request{Size: ptr(5), Hands: []uint64{1, 0}}},
		{"too many hands", "/hands", "at most 1000", Request{Size: ptr(5000), Hands: slices.Repeat([]uint64{1}, 1001)}},
		{"unknown preset", "/hands", "", Request{Deck: "standard52", Preset: "poker"}},
		{"preset of items", "/hands", "only with deck", Request{Items: items(52), Preset: "bridge"}},
		{"preset above the draw", "/hands", "more than the 51 drawn", Request{Deck: "standard52", Draw: ptr(51), Preset: "bridge"}},
		{"unique without a reference", "/unique_reference", "requires a reference", Request{Size: ptr(5), UniqueReference: true}},
	} {
		p, err := rules.Check(&v.request, nil)
		checkRefused(t, v.name, err, v.pointer, v.detail)
		assert.Nilf(t, p, "%s: a plan and an error: %+v", v.name, p)
	}
}

func TestCheckAcceptsWhatIsAtTheLimit(t *testing.T) {
	rules := newRules(t)
	for name, r := range map[string]*Request{
		"items":               {Items: items(1_000_000)},
		"size":                {Size: ptr(1_000_000)},
		"size with draw":      {Size: ptr(audit.MaxSize), Draw: ptr(1_000_000)},
		"copies":              {Deck: "standard52", Decks: ptr(19_230)},
		"repeat":              {Size: ptr(1000), Repeat: ptr(10_000)},
		"repeat of draws":     {Size: ptr(1 << 40), Draw: ptr(1), Repeat: ptr(9_586_980)},
		"repeat through all":  {Size: ptr(1_000_000), Draw: ptr(1), Repeat: ptr(49), Algorithm: "durstenfeld"},
		"hands":               {Size: ptr(1000), Hands: slices.Repeat([]uint64{1}, 1000)},
		"sattolo of two":      {Size: ptr(2), Algorithm: "sattolo"},
		"unique reference":    {Size: ptr(2), Reference: "one", UniqueReference: true},
		"hands of everything": {Deck: "standard52", Hands: []uint64{26, 26}},
	} {
		_, err := rules.Check(r, nil)
		assert.NoError(t, err, name)
	}
}

func TestUseOfACommitmentLeavesOutWhatWasCommittedTo(t *testing.T) {
	rules := newRules(t)
	for name, r := range map[string]*Request{
		"deck":       {Deck: "standard52", Decks: ptr(2), Draw: ptr(50), Repeat: ptr(2), Hands: []uint64{5}, Reference: "mine"},
		"preset":     {Deck: "standard52", Preset: "bridge", Algorithm: "durstenfeld"},
		"parameters": {Deck: "undercover", Parameters: map[string]int{"players": 7}, Reference: "one", UniqueReference: true},
		"items":      {Items: items(60), Algorithm: "sattolo", Repeat: ptr(3)},
		"size":       {Size: ptr(1 << 40), Draw: ptr(3)},
	} {
		c := commit(t, rules, r)
		use := &Request{CommitmentID: c.ID, ClientSeed: "late", Items: r.Items, UniqueReference: r.UniqueReference}
		before := *use
		p, err := rules.Check(use, c)
		require.NoError(t, err, name)
		assert.Equal(t, c.Statement, p.Statement, name)
		assert.Equal(t, c.Parameters, p.Parameters, name)
		assert.Equalf(t, "late", p.Request.ClientSeed, "%s: the request is %+v", name, p.Request)
		assert.Equalf(t, r.Reference, p.Request.Reference, "%s: the request is %+v", name, p.Request)
		assert.Equalf(t, before, *use, "%s: the caller's request was changed to %+v", name, use)
		whole := *r
		whole.CommitmentID, whole.ClientSeed = c.ID, "late"
		p, err = rules.Check(&whole, c)
		assert.Truef(t, err == nil && reflect.DeepEqual(p.Statement, c.Statement), "%s, with all members sent again: %+v, %v", name, p, err)
	}
}

func TestUseOfACommitmentRefusesWhatDiffers(t *testing.T) {
	rules := newRules(t)
	against := func(committed *Request) func(pointer string, r Request) {
		c := commit(t, rules, committed)
		return func(pointer string, r Request) {
			t.Helper()
			r.CommitmentID = c.ID
			if r.ClientSeed == "" && pointer != "/client_seed" {
				r.ClientSeed = "x"
			}
			_, err := rules.Check(&r, c)
			checkRefused(t, fmt.Sprintf("%+v", r), err, pointer, "")
		}
	}
	ofDeck := against(&Request{Deck: "standard52", Decks: ptr(2), Draw: ptr(50), Repeat: ptr(2), Hands: []uint64{5}, Reference: "mine"})
	ofDeck("/client_seed", Request{})
	ofDeck("/deck", Request{Deck: "standard54"})
	ofDeck("/deck", Request{Deck: "standard54", Decks: ptr(2)})
	ofDeck("/decks", Request{Deck: "standard52", Decks: ptr(1)})
	ofDeck("/items", Request{Items: items(104)})
	ofDeck("/size", Request{Size: ptr(104)})
	ofDeck("/algorithm", Request{Algorithm: "sattolo"})
	ofDeck("/draw", Request{Draw: ptr(51)})
	ofDeck("/repeat", Request{Repeat: ptr(1)})
	ofDeck("/hands", Request{Hands: []uint64{5, 5}})
	ofDeck("/reference", Request{Reference: "yours"})
	ofItems := against(&Request{Items: items(60)})
	ofItems("/items", Request{})
	ofItems("/items", Request{Items: items(59)})
	ofItems("/items", Request{Items: &Items{Count: 60}})
	ofItems("/size", Request{Size: ptr(60)})
	ofItems("/unique_reference", Request{Items: items(60), UniqueReference: true})
	ofParameters := against(&Request{Deck: "undercover", Parameters: map[string]int{"players": 7}})
	ofParameters("/parameters", Request{Deck: "undercover", Parameters: map[string]int{"players": 8}})
}

func TestDeckOfARecordHasTheCardsOfThatTime(t *testing.T) {
	rules := newRules(t)
	for _, r := range []*Request{
		{Deck: "standard52"},
		{Deck: "mahjong136", Decks: ptr(3)},
		{Deck: "undercover", Parameters: map[string]int{"players": 7}},
	} {
		p, err := rules.Check(r, nil)
		require.NoError(t, err)
		for range 2 { // the input line of a shared deck is cached
			record := &audit.Record{Statement: p.Statement, Parameters: p.Parameters}
			cards, err := rules.DeckOf(record)
			assert.Truef(t, err == nil && slices.Equal(cards.Codes(), p.Deck.Codes()), "%s: %v, %v", r.Deck, cards, err)
		}
	}
	for _, input := range []string{audit.RangeInput, audit.ItemsInput([sha256.Size]byte{})} {
		cards, err := rules.DeckOf(&audit.Record{Statement: audit.Statement{Input: input}})
		assert.Truef(t, cards == nil && err == nil, "%s has the cards %v, %v", input, cards, err)
	}
}

// deckFile is a deck type of two cards, without the second card's code.
const deckFile = `{
  "type": "mine", "name": {"en": "Mine", "zh": "我的"}, "family": "french", "size": 2,
  "cards": [
    {"code": "X", "name": {"en": "X", "zh": "X"}, "glyph": "x", "attributes": {}},
    {"code": %q, "name": {"en": "Other", "zh": "其他"}, "glyph": "o", "attributes": {}}
  ]
}`

func TestDeckOfARecordOfAChangedTypeIsAnError(t *testing.T) {
	with := func(code string) *Rules {
		rules := newRules(t)
		file := fmt.Sprintf(deckFile, code)
		require.NoError(t, rules.Decks.Load(fstest.MapFS{"mine.json": {Data: []byte(file)}}))
		return rules
	}
	before := with("A")
	c := commit(t, before, &Request{Deck: "mine"})
	for name, rules := range map[string]*Rules{"other cards": with("B"), "no such deck": newRules(t)} {
		var changed *DeckChangedError
		if _, err := rules.DeckOf(c); !errors.As(err, &changed) || changed.AuditID != c.ID || changed.Type != "mine" {
			t.Errorf("%s: %v", name, err)
		}
		_, err := rules.Check(&Request{CommitmentID: c.ID, ClientSeed: "x"}, c)
		checkRefused(t, "a commitment with "+name, err, "/deck", "")
	}
	cards, err := before.DeckOf(c)
	assert.Truef(t, err == nil && slices.Equal(cards.Codes(), []string{"X", "A"}), "the deck is %v, %v", cards, err)
}

func TestElementsAreThoseInMemory(t *testing.T) {
	for _, v := range []struct {
		statement audit.Statement
		want      uint64
	}{
		{audit.Statement{Algorithm: shuffle.AlgorithmFisherYates, Size: 1 << 40, Draw: 7, Input: audit.RangeInput}, 7},
		{audit.Statement{Algorithm: shuffle.AlgorithmFisherYates, Size: 100, Draw: 100, Input: audit.RangeInput}, 100},
		{audit.Statement{Algorithm: shuffle.AlgorithmSattolo, Size: 100_000, Draw: 7, Input: audit.RangeInput}, 100_000},
		{audit.Statement{Algorithm: shuffle.AlgorithmFisherYates, Size: 100_000, Draw: 7, Input: audit.ItemsInput([sha256.Size]byte{})}, 100_000},
	} {
		assert.Equalf(t, v.want, Elements(&v.statement), "%+v", v.statement)
	}
}
