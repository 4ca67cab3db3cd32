package audit_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// verify calls [audit.Verify] and checks its invariants: the steps end with the first that fails,
// and no error shows a part of the seed.
func verify(t testing.TB, record string, seed []byte, keep uint64) *audit.Verification {
	t.Helper()
	v := audit.Verify([]byte(record), seed, keep)
	for i, step := range v.Steps {
		last := i == len(v.Steps)-1
		assert.Equalf(t, (v.OK || !last), step.Err == nil,
			"verified is %v, and step %d of %d is %+v", v.OK, i+1, len(v.Steps), step)
		assert.Falsef(t, showsSeed(fmt.Sprint(step.Err), seed), "step %s shows the seed: %v", step.Name, step.Err)
	}
	return v
}

// showsSeed reports whether the text contains 8 consecutive bytes of the seed, raw or in hex.
func showsSeed(text string, seed []byte) bool {
	lower := strings.ToLower(text)
	for i := 0; i+8 <= len(seed); i++ {
		part := seed[i : i+8]
		if strings.Contains(lower, hex.EncodeToString(part)) || strings.Contains(text, string(part)) {
			return true
		}
	}
	return false
}

func stepNames(v *audit.Verification) string {
	var names []string
	for _, step := range v.Steps {
		names = append(names, step.Name)
	}
	return strings.Join(names, " ")
}

// committed returns the text of the record, with the commitment to its statement.
func committed(r audit.Record) string {
	r.Kind = audit.KindShuffle
	r.Commitment = r.Statement.Commitment()
	return string(r.Append(nil))
}

func testSeed(k int) rng.Seed {
	seed := make(rng.Seed, k*rng.BlockSize)
	for i := range seed {
		seed[i] = byte(37*i + i/rng.BlockSize + 11)
	}
	return seed
}

// fullRecord returns a record of a shuffle with all members.
func fullRecord(t testing.TB) audit.Record {
	t.Helper()
	r := fixedRecord(t)
	r.Statement = audit.Statement{
		Algorithm: shuffle.AlgorithmFisherYates, Size: 12, Draw: 11, Repeat: 2, Hands: []uint64{4, 6},
		Input: audit.DeckInput("undercover", 2, []string{"civilian", "civilian", "civilian", "civilian", "civilian", "undercover"}), Reference: `round "2" \ é`,
		Seed: testSeed(1),
	}
	r.Parameters = map[string]int{"blank": 0, "players": 12}
	r.ClientSeed = "heads\n\x01 \"é\""
	r.RevealNow = true
	return r
}

// A member is a member of a record, from the first byte of its name to the last of its value.
type member struct {
	name     string
	from, to int
}

func membersOf(t testing.TB, record string) (list []member) {
	t.Helper()
	d := jsontext.NewDecoder(strings.NewReader(record))
	_, err := d.ReadToken()
	require.NoError(t, err)
	for d.PeekKind() == '"' {
		m := member{from: int(d.InputOffset())}
		if record[m.from] == ',' {
			m.from++
		}
		name, err := d.ReadToken()
		require.NoError(t, err)
		m.name = name.String()
		require.NoError(t, d.SkipValue())
		m.to = int(d.InputOffset())
		list = append(list, m)
	}
	return list
}

// This test replaces every byte of a record by every other. The commitment binds all that decides
// the order, except the client seed. A record still verifies with another value only of these
// members:
//
//   - id and time name the record and place it; no order depends on them;
//   - parameters say which deck was requested, and the input has the digest of that deck;
//   - reveal says who may see the seed;
//   - commitment_id says that the seed was fixed before, which is compared with the record of that
//     id;
//   - client_seed decides the order and can only be bound after the commitment: a changed one gives
//     another order.
//
// The log binds them, as it has the record's exact bytes.
func TestEveryByteOfTheRecordCounts(t *testing.T) {
	r := fullRecord(t)
	r.CommitmentID = r.AuditID
	record, seed := committed(r), r.Statement.Seed
	original := verify(t, record, seed, 100)
	require.Truef(t, original.OK, "the record does not verify: %+v", original.Steps)
	survived, failed := map[string]int{}, map[string]int{}
	members := membersOf(t, record)
	for at := range len(record) {
		member := "" // none has it
		for _, m := range members {
			if m.from <= at && at < m.to {
				member = m.name
			}
		}
		for c := range 256 {
			if byte(c) == record[at] {
				continue
			}
			changed := []byte(record)
			changed[at] = byte(c)
			v := audit.Verify(changed, seed, 100)
			if !v.OK {
				failed[v.Steps[len(v.Steps)-1].Name]++
				continue
			}
			if bytes.Equal(v.Record.Append(nil), []byte(record)) {
				require.Equalf(t, original.OrderDigest, v.OrderDigest,
					"byte %d as %q: the same record gives another order", at, byte(c))
				continue // another encoding of the same record
			}
			survived[member]++
			if !reflect.DeepEqual(v.Record.Statement, original.Record.Statement) || v.Record.Commitment != original.Record.Commitment ||
				v.Record.Kind != original.Record.Kind {
				t.Errorf("byte %d as %q: verifies, and states something else: %+v", at, byte(c), v.Record)
			}
			assert.Equalf(t, (v.Record.ClientSeed == original.Record.ClientSeed), v.OrderDigest == original.OrderDigest,
				"byte %d as %q, in %s: the order is the same", at, byte(c), member)
		}
	}
	got, want := slices.Sorted(maps.Keys(survived)), []string{"client_seed", "commitment_id", "id", "parameters", "reveal", "time"}
	assert.Equalf(t, want, got, "members that can change are %v, want", survived)
	assert.Equalf(t, []string{"commitment", "record"}, slices.Sorted(maps.Keys(failed)),
		"steps that fail are %v, want", failed)
	t.Logf("%d bytes; failed at %v; verified with another value of %v", len(record), failed, survived)
}

func TestEveryBitOfTheSeedCounts(t *testing.T) {
	for _, name := range []string{"worked-one-block", "worked-two-blocks", "fisher-yates-136"} {
		v := vectorNamed(t, name)
		for bit := range 8 * len(v.Seed) {
			seed := bytes.Clone(v.Seed)
			seed[bit/8] ^= 1 << (bit % 8)
			got := verify(t, v.Record, seed, 1000)
			if got.OK || stepNames(got) != "record seed commitment" || got.Orders != nil || got.OrderDigest != "" {
				t.Errorf("%s, bit %d of the seed flipped: %+v", name, bit, got)
			}
		}
	}
}

// A seed that the statement commits to and that no generator can have made.
func TestInvalidSeedFailsAtTheKeys(t *testing.T) {
	twice := append(testSeed(2), testSeed(1)...)
	for name, seed := range map[string]rng.Seed{
		"no seed": nil, "half a block": testSeed(1)[:16], "a byte too many": append(testSeed(1), 0),
		"a block twice": twice, "more blocks than any draw needs": testSeed(rng.MaxBlocks + 1),
	} {
		r := fixedRecord(t)
		r.Statement = audit.Statement{Algorithm: shuffle.AlgorithmFisherYates, Size: 5, Draw: 5, Repeat: 1, Input: audit.RangeInput, Seed: seed}
		v := verify(t, committed(r), seed, 100)
		assert.Truef(t, !v.OK && stepNames(v) == "record seed commitment keys", "%s: %+v", name, v.Steps)
	}
}

func TestOnlyShufflesReplay(t *testing.T) {
	r := fixedRecord(t)
	r.Kind = audit.KindReveal
	v := verify(t, string(r.Append(nil)), testSeed(1), 100)
	last := v.Steps[len(v.Steps)-1]
	assert.Equal(t, "record", last.Name)
	assert.ErrorContains(t, last.Err, "reveal")
}

func TestVerifyReturnsNoMorePositionsThanAsked(t *testing.T) {
	for _, c := range []struct {
		size, draw, repeat, keep uint64
		returned                 bool
	}{
		{5, 5, 1, 5, true},
		{5, 5, 1, 4, false},
		{9, 3, 4, 12, true},
		{9, 3, 4, 11, false},
		{9, 3, 4, 0, false},
		{9, 0, 4, 4, true}, // of no positions
		{0, 0, 1, 1, true},
		{1 << 40, 2, 3, 6, true},
		{1 << 40, 2, 3, 5, false},
		{9, 3, 4, ^uint64(0), true},
	} {
		r := fixedRecord(t)
		r.Statement = audit.Statement{
			Algorithm: shuffle.AlgorithmFisherYates, Size: c.size, Draw: c.draw, Repeat: c.repeat, Input: audit.RangeInput, Seed: testSeed(1),
		}
		v := verify(t, committed(r), testSeed(1), c.keep)
		if !v.OK || (v.Orders != nil) != c.returned {
			t.Errorf("%+v: returned %d, verified is %v", c, v.Orders, v.OK)
			continue
		}
		all := verify(t, committed(r), testSeed(1), c.repeat*max(1, c.draw))
		if v.OrderDigest != all.OrderDigest || v.OrderDigest != digest(all.Orders) {
			t.Errorf("%+v: the digest is %s with at most %d positions, want %s", c, v.OrderDigest, c.keep, digest(all.Orders))
		}
	}
}

// A replay keeps the positions that were drawn, and not those that were shuffled for them.
func TestReplaysKeepWhatWasDrawn(t *testing.T) {
	const size, repeat = 100_000, 40
	for _, alg := range shuffle.Algorithms() {
		r := fixedRecord(t)
		r.Statement = audit.Statement{Algorithm: alg, Size: size, Draw: 1, Repeat: repeat, Input: audit.RangeInput, Seed: testSeed(1)}
		record := committed(r)
		before := heap()
		v := verify(t, record, testSeed(1), repeat)
		kept := heap() - before
		assert.Truef(t, v.OK && len(v.Orders) == repeat && kept <= 8*size, "%s: %d orders of one of %d keep %d bytes", alg, len(v.Orders), size, kept)
		runtime.KeepAlive(v)
	}
}

// heap returns the bytes in use.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// A forged record may claim a huge shuffle, so the commitment is compared before the replay.
func TestHugeClaimsAreNotReplayed(t *testing.T) {
	r := fixedRecord(t)
	r.Statement = audit.Statement{Algorithm: shuffle.AlgorithmDurstenfeld, Size: audit.MaxSize, Draw: audit.MaxSize, Repeat: audit.MaxSize, Input: audit.RangeInput}
	r.Kind = audit.KindShuffle
	v := verify(t, string(r.Append(nil)), testSeed(1), ^uint64(0))
	assert.Truef(t, !v.OK && stepNames(v) == "record seed commitment", "%+v", v.Steps)
}

// A record may commit to what no memory holds.
func TestReplaysBeyondMemoryFailAtTheOrder(t *testing.T) {
	for _, s := range []audit.Statement{
		{Algorithm: shuffle.AlgorithmDurstenfeld, Size: audit.MaxSize, Draw: 1, Repeat: 1},
		{Algorithm: shuffle.AlgorithmFisherYates, Size: audit.MaxSize, Draw: audit.MaxSize, Repeat: 1},
		{Algorithm: shuffle.AlgorithmFisherYates, Size: audit.MaxSize, Draw: 1 << 40, Repeat: 1},
	} {
		s.Input, s.Seed = audit.RangeInput, testSeed(1)
		r := fixedRecord(t)
		r.Statement = s
		v := verify(t, committed(r), s.Seed, 1)
		assert.Truef(t, !v.OK && stepNames(v) == "record seed commitment keys order", "%+v", v.Steps)
	}
}

func TestOrderOfAnotherShuffleDiffers(t *testing.T) {
	r := fixedRecord(t)
	r.Statement = audit.Statement{Algorithm: shuffle.AlgorithmFisherYates, Size: 30, Draw: 30, Repeat: 3, Input: audit.RangeInput, Seed: testSeed(1)}
	v := verify(t, committed(r), testSeed(1), 100)
	require.Len(t, v.Orders, 3)
	seen := map[string]bool{}
	for _, order := range v.Orders {
		seen[fmt.Sprint(order)] = true
	}
	assert.Lenf(t, seen, 3, "orders repeat: %d", v.Orders)
}
