package prooffile_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/deck"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// recordOf returns the record of a shuffle that is called name, and its seed.
func recordOf(name string, s audit.Statement, clientSeed string, parameters map[string]int) (*audit.Record, rng.Seed) {
	if s.Seed == nil {
		s.Seed = arbitrary(name+" seed", rng.BlockSize*rng.Blocks(s.Size, s.Draw))
	}
	id := uuid.UUID(arbitrary(name+" id", 16))
	id[6], id[8] = 0x70|id[6]&0x0f, 0x80|id[8]&0x3f
	return &audit.Record{
		ID: id, Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Kind: audit.KindShuffle, Statement: s,
		Parameters: parameters, ClientSeed: clientSeed, Commitment: s.Commitment(),
	}, s.Seed
}

// arbitrary returns n bytes derived from a text.
func arbitrary(text string, n int) []byte {
	var b []byte
	for i := uint64(0); len(b) < n; i++ {
		h := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(text), i))
		b = append(b, h[:]...)
	}
	return b[:n]
}

func itemsInput(t testing.TB, items string) string {
	t.Helper()
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, []byte(items)))
	return audit.ItemsInput(sha256.Sum256(compact.Bytes()))
}

// A plan describes a vector.
type plan struct {
	name       string
	statement  audit.Statement
	items      string // the array; empty for none
	salt       string // of the items; empty for none
	rule       string // of the digest of the items; empty for the one that fits the salt
	deck       string
	copies     uint64
	parameters map[string]int
	clientSeed string
	held       bool
	now        bool
	index      int
	log        int    // records
	committed  *place // of the commitment that was used; nil for none
}

const (
	fruit  = `["apple", "pear", "fig", "plum", "quince"]`
	values = "[ 1, 1.0, 1e0, 12345678901234567890, \"\\u0041\", \"A\", \"A\",\r\n\tnull, true, [ 1, [ ] ], {\"b\": 1, \"a\": [\" \"]}, \"\" ]"
)

// fisherYates returns the statement of one shuffle of the numbers below size.
func fisherYates(size uint64) audit.Statement {
	return audit.Statement{Algorithm: shuffle.AlgorithmFisherYates, Size: size, Draw: size, Repeat: 1, Input: audit.RangeInput}
}

func plans() []plan {
	list := []plan{{name: "deck", statement: fisherYates(52), deck: "standard52", copies: 1, log: 1}}
	for i, alg := range shuffle.Algorithms() {
		s := fisherYates(12)
		s.Algorithm = alg
		list = append(list, plan{name: string(alg), statement: s, items: values, index: i % 3, log: 3})
	}
	hands := fisherYates(52)
	hands.Hands, hands.Reference = []uint64{13, 13, 13}, "table 7, round 42 ♥"
	list = append(list, plan{name: "hands and a client seed", statement: hands, deck: "standard52", copies: 1, clientSeed: "Zoë & \"Nils\" <\\>\t", index: 6, log: 7})
	draw := fisherYates(312)
	draw.Draw, draw.Repeat = 5, 3
	list = append(list, plan{name: "six decks, a draw of 5, three times", statement: draw, deck: "standard52", copies: 6, index: 255, log: 300})
	parameters := fisherYates(7)
	list = append(list, plan{name: "deck with parameters", statement: parameters, deck: "undercover", copies: 1, parameters: map[string]int{"players": 7}, index: 256, log: 300})
	few := fisherYates(audit.MaxSize)
	few.Draw = 4
	list = append(list, plan{name: "four of very many", statement: few, index: 299, log: 300})
	for _, v := range []struct {
		name  string
		size  uint64
		items string
	}{{"nothing", 0, "[]"}, {"one item", 1, `["only"]`}} {
		list = append(list, plan{name: v.name, statement: fisherYates(v.size), items: v.items, index: 1, log: 2})
	}
	handsTwice := fisherYates(5)
	handsTwice.Hands, handsTwice.Repeat = []uint64{2, 2}, 2
	list = append(list,
		plan{name: "items with hands, twice", statement: handsTwice, items: fruit, index: 3, log: 7},
		plan{name: "revealed from the start", statement: fisherYates(5), now: true, index: 0, log: 2},
		plan{name: "a client seed that the file escapes", statement: fisherYates(5), items: fruit, clientSeed: "\u2028\u2029\u0001\u007f\b\f\n\r", index: 4, log: 7},
		plan{name: "a long client seed", statement: fisherYates(5), items: fruit, clientSeed: strings.Repeat("é", 128), index: 5, log: 7},
		plan{name: "held back", statement: fisherYates(52), deck: "standard52", copies: 1, held: true, index: 17, log: 300},
		plan{name: "held back with a client seed", statement: fisherYates(5), items: fruit, clientSeed: "Zoë", held: true, index: 0, log: 1},
	)
	short := fisherYates(60)
	short.Seed = arbitrary("short seed", rng.BlockSize)
	list = append(list, plan{name: "a seed of one block too few", statement: short, index: 2, log: 3})
	return list
}

// committedPlans are shuffles that used a commitment. The first is the example of the
// specification.
func committedPlans() []plan {
	worked := fisherYates(5)
	for i := range byte(rng.BlockSize) {
		worked.Seed = append(worked.Seed, i)
	}
	hands := fisherYates(52)
	hands.Hands, hands.Reference = []uint64{13, 13, 13}, "table 7, round 42 ♥"
	twice := fisherYates(5)
	twice.Hands, twice.Repeat = []uint64{2, 2}, 2
	return []plan{
		{name: "worked, committed", statement: worked, clientSeed: "Zoë", index: 2, log: 3, committed: &place{1, 2}},
		{name: "committed, hands of a deck", statement: hands, deck: "standard52", copies: 1, clientSeed: "nils:4f1c zoe:9ab2", index: 17, log: 300, committed: &place{5, 7}},
		{name: "committed, items, in one tree", statement: twice, items: fruit, clientSeed: "Zoë", index: 6, log: 7, committed: &place{3, 7}},
		{name: "committed, held back", statement: fisherYates(7), deck: "undercover", copies: 1, parameters: map[string]int{"players": 7}, clientSeed: "Zoë", held: true, index: 1, log: 2, committed: &place{0, 1}},
	}
}

// inputOf fills in the input of a plan.
func inputOf(t testing.TB, p *plan) {
	t.Helper()
	switch {
	case p.items != "":
		p.statement.Input = itemsInput(t, p.items)
		if p.salt != "" {
			p.statement.Input = saltedInput(t, p.items, p.salt)
		}
	case p.deck != "":
		d := deckOf(t, p.deck, p.parameters)
		p.parameters = d.Parameters()
		p.statement.Input = audit.DeckInput(p.deck, p.copies, d.Codes())
		require.Equalf(t, p.copies*uint64(d.Size()), p.statement.Size, "%s: the size", p.name)
	}
}

func deckOf(t testing.TB, name string, parameters map[string]int) *deck.Deck {
	t.Helper()
	catalogue, err := deck.Builtin()
	require.NoError(t, err)
	kind, ok := catalogue.Type(name)
	require.Truef(t, ok, "there is no deck %s", name)
	d, err := kind.Deck(parameters)
	require.NoError(t, err)
	return d
}

// build makes the vector of a plan. It also returns the proof files of its record and of the
// commitment that the record used.
func build(t testing.TB, p plan) (v vector, f, commitment *prooffile.File) {
	t.Helper()
	inputOf(t, &p)
	signer, public := logKey(t, origin, 1)
	record, seed := recordOf(p.name, p.statement, p.clientSeed, p.parameters)
	record.RevealNow, record.ItemsDigest = p.now, p.rule
	if p.salt != "" && p.rule == "" {
		record.ItemsDigest = audit.SaltedItems
	}
	records := map[int][]byte{}
	v = vector{Name: p.name, ItemsSalt: p.salt, Key: public, Expect: "verified"}
	if p.committed != nil {
		committed := commitmentTo(record, p.name+" commitment")
		record.CommitmentID = committed.ID
		commitment = &prooffile.File{Record: committed.Append(nil), LogKey: public}
		records[p.committed.index] = commitment.Record
	}
	records[p.index] = record.Append(nil)
	f = &prooffile.File{Record: records[p.index], Seed: seed, ClientSeed: p.clientSeed, LogKey: public}
	f.Inclusion = includeAmong(t, records, place{p.index, p.log}, signer)
	if p.committed != nil {
		commitment.Inclusion = includeAmong(t, records, *p.committed, signer)
		text := string(commitment.Text())
		v.CommitmentProof = &text
	}
	replay, _ := audit.Verify(f.Record, seed, 1<<20, nil)
	require.Truef(t, replay.OK, "%s: %+v", p.name, replay.Steps)
	v.Orders = replay.Orders
	if p.held {
		f.Seed, v.Expect, v.Orders = nil, "held-back", nil
	}
	switch {
	case p.items != "":
		v.Items = &p.items
	case p.deck != "":
		codes := slices.Repeat(deckOf(t, p.deck, p.parameters).Codes(), int(p.copies))
		text, err := json.Marshal(codes)
		require.NoError(t, err)
		items := string(text)
		v.Items = &items
	}
	v.Proof = string(f.Text())
	return v, f, commitment
}

// commitmentTo returns the record of the commitment to a shuffle, a minute before it.
func commitmentTo(used *audit.Record, name string) *audit.Record {
	record, _ := recordOf(name, used.Statement, "", used.Parameters)
	record.ItemsDigest = used.ItemsDigest
	record.Kind, record.Time, record.Deadline = audit.KindCommitment, used.Time.Add(-time.Minute), used.Time.Add(9*time.Minute)
	return record
}

// alone builds the vector of a record that is not a shuffle.
func alone(t testing.TB, name, expect string, record []byte, at place) (vector, *prooffile.File) {
	t.Helper()
	signer, public := logKey(t, origin, 1)
	f := &prooffile.File{Record: record, LogKey: public, Inclusion: include(t, record, at.index, at.size, signer)}
	return vector{Name: name, Proof: string(f.Text()), Key: public, Expect: expect}, f
}

// buildVoid makes the vectors of a commitment that was not used, and of the record that says so.
func buildVoid(t testing.TB) (list []vector, files []*prooffile.File) {
	t.Helper()
	p := committedPlans()[1]
	inputOf(t, &p)
	planned, _ := recordOf("void shuffle", p.statement, "", nil)
	commitment := commitmentTo(planned, "void commitment")
	void, _ := recordOf("void", audit.Statement{}, "", nil)
	void.Kind, void.Time, void.CommitmentID, void.Commitment = audit.KindVoid, commitment.Deadline.Add(time.Second), commitment.ID, commitment.Commitment
	for _, r := range []struct {
		name   string
		record *audit.Record
		at     place
	}{{"commitment", commitment, place{2, 3}}, {"void", void, place{6, 7}}} {
		v, f := alone(t, r.name, r.name, r.record.Append(nil), r.at)
		list, files = append(list, v), append(files, f)
	}
	return list, files
}

// unknownKind is a record of an unknown kind, in which known members have other types.
const unknownKind = `{"id":"019b7ca9-8c88-7e34-8a29-e0ab088154ee","time":"2026-01-02T03:04:05.000000Z","kind":"table_of-9","spec":"riffle/1",` +

	`"size":null,"hands":[],"reference":"","commitment":"none"}`

// buildReveal makes the vector of the reveal of another record.
func buildReveal(t testing.TB, of *prooffile.File) (vector, *prooffile.File) {
	t.Helper()
	revealed, err := audit.ParseRecord(of.Record)
	require.NoError(t, err)
	record, _ := recordOf("reveal", audit.Statement{}, "", nil)
	record.Kind, record.AuditID, record.Commitment = audit.KindReveal, revealed.ID, revealed.Commitment
	return alone(t, "reveal", "reveal", record.Append(nil), place{18, 300})
}

// buildAll builds the whole file of vectors.
func buildAll(t testing.TB) (all vectors) {
	t.Helper()
	files := map[string]*prooffile.File{}
	for _, p := range plans() {
		v, f, _ := build(t, p)
		all.Proofs, files[v.Name] = append(all.Proofs, v), f
	}
	add := func(v vector, f *prooffile.File) { all.Proofs, files[v.Name] = append(all.Proofs, v), f }
	add(buildReveal(t, files["held back"]))
	for _, p := range committedPlans() {
		v, f, commitment := build(t, p)
		add(v, f)
		files[v.Name+" commitment"] = commitment
	}
	without := all.Proofs[len(all.Proofs)-3] // of the hands
	without.Name, without.CommitmentProof = "committed, and the proof of the commitment not given", nil
	add(without, files["committed, hands of a deck"])
	list, ofList := buildVoid(t)
	for i := range list {
		add(list[i], ofList[i])
	}
	add(alone(t, "unknown kind", "unknown-kind", []byte(unknownKind), place{1, 2}))
	all.Wrong = buildWrong(t, all.Proofs, files)
	return all
}
