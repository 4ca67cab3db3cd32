package prooffile_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/rng"
	"riffle/internal/shoe"
	"riffle/internal/shuffle"
)

// A dealtShoe is a shoe that a test deals from, without a service.
type dealtShoe struct {
	t       testing.TB
	name    string
	input   *plan    // what is in it
	texts   []string // what is sealed of each card, by its number
	ofCodes bool

	records []*audit.Record
	seeds   []rng.Seed // of each record; nil for none
	layout  *shoe.Layout
	orders  map[uint64][]uint64 // the card's number at each position, by the version of the sealing
	sealed  map[uint64]*audit.Sealed
	sealers map[uint64]*audit.Record
}

// newShoe makes the shoe of a plan, perhaps with a cut card. With a draw of 0 it is not shuffled.
func newShoe(t testing.TB, p *plan, cut ...shoe.Cut) *dealtShoe {
	t.Helper()
	inputOf(t, p)
	b := &dealtShoe{
		t: t, name: p.name, input: p, orders: map[uint64][]uint64{}, sealed: map[uint64]*audit.Sealed{}, sealers: map[uint64]*audit.Record{},
	}
	for i := range p.statement.Size {
		b.texts = append(b.texts, fmt.Sprint(i))
	}
	switch {
	case p.deck != "":
		codes := deckOf(t, p.deck, p.parameters).Codes()
		b.ofCodes = true
		for i := range b.texts {
			b.texts[i] = codes[i%len(codes)]
		}
	case p.items != "":
		var list []json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(compacted(t, p.items)), &list))
		for i := range b.texts {
			b.texts[i] = string(list[i])
		}
	}
	record, seed := recordOf(p.name, p.statement, p.clientSeed, p.parameters)
	record.Kind = audit.KindShoe
	b.layout = shoe.New(p.statement.Size, p.statement.Draw > 0)
	numbers := make([]uint64, p.statement.Size)
	for i := range numbers {
		numbers[i] = uint64(i)
	}
	b.orders[1] = numbers
	b.sealers[1] = record
	if p.statement.Draw > 0 {
		b.seal(record, seed, numbers)
		b.cut(record, seed, cut)
	}
	b.records, b.seeds = append(b.records, record), append(b.seeds, seed)
	return b
}

// compacted returns JSON without white space.
func compacted(t testing.TB, text string) string {
	t.Helper()
	value, err := json.Marshal(json.RawMessage(text))
	require.NoError(t, err)
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(value))
}

// positions returns the order that a record and its seed make.
func (b *dealtShoe) positions(record *audit.Record, seed rng.Seed) []uint64 {
	b.t.Helper()
	keys, err := rng.Keys(seed, record.Commitment, record.ClientSeed)
	require.NoError(b.t, err)
	source, err := rng.NewReference(keys, 0)
	require.NoError(b.t, err)
	s := &record.Statement
	return shuffle.Positions(s.Algorithm, s.Size, s.Draw, source, nil)
}

// seal seals cards, by their numbers, in the order that the record makes, as the version of the
// layout.
func (b *dealtShoe) seal(record *audit.Record, seed rng.Seed, numbers []uint64) {
	b.t.Helper()
	var order []uint64
	var cards [][]byte
	for _, at := range b.positions(record, seed) {
		order = append(order, numbers[at])
		cards = append(cards, []byte(b.texts[numbers[at]]))
	}
	version := b.layout.Version
	b.orders[version], b.sealers[version] = order, record
	b.sealed[version] = audit.Seal(seed, record.Commitment, cards)
	root := b.sealed[version].Root()
	record.Root = &root
}

// cut puts a cut card, if there is one, into the order that the record makes.
func (b *dealtShoe) cut(record *audit.Record, seed rng.Seed, cut []shoe.Cut) {
	b.t.Helper()
	for _, c := range cut {
		if record.Cut = &c; c.IsDrawn() {
			keys, err := rng.Keys(seed, record.Commitment, record.ClientSeed)
			require.NoError(b.t, err)
			source, err := rng.NewReference(keys, 1)
			require.NoError(b.t, err)
			c.At = c.From + source.Ascend(c.To-c.From+1, c.To-c.From+1)[0]
		}
	}
}

// change begins a record of a kind that changes the shoe.
func (b *dealtShoe) change(kind audit.Kind) *audit.Record {
	first := b.records[0]
	record, _ := recordOf(fmt.Sprintf("%s %d", b.name, len(b.records)+1), audit.Statement{}, "", nil)
	record.Kind, record.AuditID, record.Version, record.Commitment = kind, first.ID, b.layout.Version+1, first.Commitment
	record.Time = first.Time.Add(time.Duration(len(b.records)) * time.Second)
	return record
}

// draws gives the record a statement and a seed.
func (b *dealtShoe) draws(record *audit.Record, size, draw uint64) rng.Seed {
	record.Statement = audit.Statement{
		Algorithm: shuffle.AlgorithmFisherYates, Size: size, Draw: draw, Repeat: 1, Input: audit.RangeInput,
		Reference: b.records[0].Statement.Reference,
	}
	seed := rng.Seed(arbitrary(fmt.Sprintf("%s seed %d", b.name, record.Version), rng.BlockSize*rng.Blocks(size, draw)))
	record.Statement.Seed = seed
	record.Commitment = record.Statement.Commitment()
	return seed
}

func (b *dealtShoe) at(place shoe.Place) shoe.Cards {
	b.t.Helper()
	lying, err := b.layout.At(place)
	require.NoError(b.t, err)
	return lying
}

// move moves cards, and returns them: so many from an end or at random, or those at the named
// places among them.
func (b *dealtShoe) move(kind audit.Kind, from shoe.Place, taken shoe.End, count uint64, to shoe.Place, put shoe.End, places ...uint64) shoe.Cards {
	b.t.Helper()
	record := b.change(kind)
	record.From, record.Taken, record.To, record.Put = from, taken, to, put
	var seed rng.Seed
	var err error
	switch taken {
	case shoe.Random:
		lying := b.at(from)
		seed = b.draws(record, lying.Len(), count)
		record.Cards, err = b.layout.Pick(from, b.positions(record, seed))
	case shoe.Named:
		record.Cards, err = b.layout.Pick(from, places)
	default:
		record.Cards, err = b.layout.Take(from, taken, count)
	}
	if err == nil {
		b.layout, err = b.layout.Apply(&shoe.Move{From: from, Cards: record.Cards, To: to, Put: put})
	}
	require.NoError(b.t, err)
	b.records, b.seeds = append(b.records, record), append(b.seeds, seed)
	return record.Cards
}

// reshuffle seals the cards of a place in a new order, perhaps with a cut card.
func (b *dealtShoe) reshuffle(from shoe.Place, clientSeed string, cut ...shoe.Cut) {
	b.t.Helper()
	record := b.change(audit.KindReshuffle)
	lying := b.at(from)
	seed := b.draws(record, lying.Len(), lying.Len())
	record.From, record.ClientSeed = from, clientSeed
	var numbers []uint64
	for ref := range lying.All() {
		numbers = append(numbers, b.orders[ref.Seal][ref.Position])
	}
	var err error
	b.layout, err = b.layout.Shuffle(from)
	require.NoError(b.t, err)
	b.seal(record, seed, numbers)
	b.cut(record, seed, cut)
	b.records, b.seeds = append(b.records, record), append(b.seeds, seed)
}

func (b *dealtShoe) end(kind audit.Kind) {
	record := b.change(kind)
	b.layout = b.layout.End()
	b.records, b.seeds = append(b.records, record), append(b.seeds, nil)
}

// The log of tests has two records before, between and after a shoe's.
const logGap = 3

// log returns the records by their indexes, and how many there are in the log.
func (b *dealtShoe) log() (records map[int][]byte, size int) {
	records = map[int][]byte{}
	for i, r := range b.records {
		records[logGap*(i+1)-1] = r.Append(nil)
	}
	return records, logGap*len(b.records) + 2
}

// files returns the proof files of all records. Seeds of sealings are held back unless the last
// record closes the shoe.
func (b *dealtShoe) files() (list []*prooffile.File) {
	b.t.Helper()
	signer, public := logKey(b.t, origin, 1)
	records, size := b.log()
	closed := b.records[len(b.records)-1].Kind == audit.KindClose
	for i, r := range b.records {
		index := logGap*(i+1) - 1
		f := &prooffile.File{Record: records[index], ClientSeed: r.ClientSeed, LogKey: public}
		if closed || r.Kind == audit.KindDraw {
			f.Seed = b.seeds[i]
		}
		f.Inclusion = includeAmong(b.t, records, place{index, size}, signer)
		list = append(list, f)
	}
	return list
}

// texts returns the texts of proof files.
func textsOf(files []*prooffile.File) (texts [][]byte) {
	for _, f := range files {
		texts = append(texts, f.Text())
	}
	return texts
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

// hand returns cards as the service returns them.
func (b *dealtShoe) hand(cards shoe.Cards) (list []wireCard) {
	for ref := range cards.All() {
		number := b.orders[ref.Seal][ref.Position]
		c := wireCard{Card: number, Position: ref.Position, SealedBy: b.sealers[ref.Seal].ID.String()}
		if b.ofCodes {
			c.Code = b.texts[number]
		} else {
			c.Item = json.RawMessage(b.texts[number])
		}
		if tree := b.sealed[ref.Seal]; tree != nil {
			o := tree.Open(ref.Position)
			c.Salt = hex.EncodeToString(o.Salt[:])
			path := []string{}
			for _, h := range o.Path {
				path = append(path, hex.EncodeToString(h[:]))
			}
			c.Path = &path
		}
		list = append(list, c)
	}
	return list
}

func handText(t testing.TB, cards []wireCard) string {
	t.Helper()
	text, err := json.Marshal(cards)
	require.NoError(t, err)
	return string(text)
}

// openShoe returns an open shoe of fruit. The first two were drawn, and then one at random.
func openShoe(t testing.TB) (b *dealtShoe, drawn []wireCard) {
	t.Helper()
	s := audit.Statement{Algorithm: shuffle.AlgorithmFisherYates, Size: 5, Draw: 5, Repeat: 1, Input: audit.RangeInput}
	b = newShoe(t, &plan{name: "items, open", statement: s, items: fruit})
	drawn = b.hand(b.move(audit.KindDraw, shoe.Deck, shoe.Top, 2, shoe.Dealt, ""))
	b.move(audit.KindDraw, shoe.Deck, shoe.Random, 1, shoe.Dealt, "")
	return b, drawn
}
