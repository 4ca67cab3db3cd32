package prooffile_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
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
