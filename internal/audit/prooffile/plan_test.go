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

// fruit is a list of items.
const fruit = `["apple", "pear", "fig", "plum", "quince"]`

// saltedInput returns the input of items with a salt, by the text of the specification.
func saltedInput(t testing.TB, items, salt string) string {
	t.Helper()
	plain, _ := strings.CutPrefix(itemsInput(t, items), "items ")
	return audit.ItemsInput(sha256.Sum256([]byte("riffle/1 items\nsalt " + salt + "\n" + plain + "\n")))
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

// build makes the vector of a plan.
func build(t testing.TB, p plan) vector {
	t.Helper()
	inputOf(t, &p)
	signer, public := logKey(t, origin, 1)
	record, seed := recordOf(p.name, p.statement, p.clientSeed, p.parameters)
	record.RevealNow = p.now
	if p.salt != "" {
		record.ItemsDigest = audit.SaltedItems
	}
	records := map[int][]byte{}
	v := vector{Name: p.name, Items: p.items, ItemsSalt: p.salt, Key: public}
	if p.committed != nil {
		committed := commitmentTo(record, p.name+" commitment")
		record.CommitmentID = committed.ID
		records[p.committed.index] = committed.Append(nil)
	}
	records[p.index] = record.Append(nil)
	prove := func(at place, seed rng.Seed, clientSeed string) string {
		f := &prooffile.File{Record: records[at.index], Seed: seed, ClientSeed: clientSeed, LogKey: public}
		f.Inclusion = includeAmong(t, records, at, signer)
		return string(f.Text())
	}
	if p.committed != nil {
		v.CommitmentProof = prove(*p.committed, nil, "")
	}
	replay, _ := audit.Verify(records[p.index], seed, 1<<20, nil)
	require.Truef(t, replay.OK, "%s: %+v", p.name, replay.Steps)
	if p.held {
		seed = nil
	} else {
		v.Orders = json.RawMessage(compactJSON(t, replay.Orders))
	}
	if p.deck != "" {
		v.Items = compactJSON(t, slices.Repeat(deckOf(t, p.deck, p.parameters).Codes(), int(p.copies)))
	}
	v.Proof = prove(place{p.index, p.log}, seed, p.clientSeed)
	return v
}

// commitmentTo returns the record of the commitment to a shuffle, a minute before it.
func commitmentTo(used *audit.Record, name string) *audit.Record {
	record, _ := recordOf(name, used.Statement, "", used.Parameters)
	record.ItemsDigest = used.ItemsDigest
	record.Kind, record.Time, record.Deadline = audit.KindCommitment, used.Time.Add(-time.Minute), used.Time.Add(9*time.Minute)
	return record
}
