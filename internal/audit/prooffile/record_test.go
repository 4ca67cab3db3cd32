package prooffile_test

import (
	"crypto/sha256"
	"encoding/binary"
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

func catalogue(t testing.TB) *deck.Catalogue {
	t.Helper()
	c, err := deck.Builtin()
	require.NoError(t, err)
	return c
}

func keyed(key string) *prooffile.Inputs { return &prooffile.Inputs{Key: []byte(key)} }

// A checkpoint may have signatures of other keys, and the same one twice.
func TestSignaturesOfOtherKeysAreIgnored(t *testing.T) {
	v := named(t, "proofs", "fisher-yates")
	file, err := prooffile.Parse([]byte(v.Proof))
	require.NoError(t, err)
	_, signatures, _ := strings.Cut(string(file.Inclusion.Checkpoint), "\n\n")
	for name, lines := range map[string]string{
		"of a witness":                  "— example.com/witness " + strings.Repeat("A", 90) + "==\n",
		"of the name, with another key": "— example.com/log " + strings.Repeat("A", 90) + "==\n",
		"the same again":                signatures,
		"of one byte":                   "— example.com/witness AAAAAAA=\n",
		"99 more":                       strings.Repeat("— example.com/witness AAAAAAA=\n", 99),
	} {
		changed, inclusion := *file, *file.Inclusion
		inclusion.Checkpoint = append(slices.Clone(inclusion.Checkpoint), lines...)
		changed.Inclusion = &inclusion
		if c := prooffile.Verify(changed.Text(), keyed(v.Key)); c.Verdict != prooffile.VerdictVerified {
			t.Errorf("%s: %+v", name, c.Steps)
		}
	}
}

// A forged commitment could name a replay that never ends.
func TestCommitmentIsNotReplayed(t *testing.T) {
	s := audit.Statement{
		Algorithm: shuffle.AlgorithmFisherYates, Size: 2, Draw: 2, Repeat: audit.MaxSize, Input: audit.RangeInput, Seed: make(rng.Seed, rng.BlockSize),
	}
	signer, public := logKey(t, origin, 1)
	record, seed := recordOf("endless", s)
	f := &prooffile.File{Record: record.Append(nil), Seed: seed, LogKey: public}
	f.Inclusion = include(t, f.Record, 0, 1, signer)
	v := named(t, "proofs", "worked, committed")
	file, err := prooffile.Parse([]byte(v.Proof))
	require.NoError(t, err)
	file.Commitment = f.AppendTo(nil)
	r := prooffile.Verify(file.Text(), keyed(v.Key)).Steps
	if failed := r.Failed(); failed == nil || failed.Name != prooffile.StepCommitted || !strings.Contains(failed.Message.String(), "is not of a commitment") {
		t.Errorf("%+v", r)
	}
}

// recordOf returns the record of a shuffle that is called name, and its seed.
func recordOf(name string, s audit.Statement) (*audit.Record, rng.Seed) {
	if s.Seed == nil {
		s.Seed = arbitrary(name+" seed", rng.BlockSize*rng.Blocks(s.Size, s.Draw))
	}
	id := uuid.UUID(arbitrary(name+" id", 16))
	id[6], id[8] = 0x70|id[6]&0x0f, 0x80|id[8]&0x3f
	return &audit.Record{
		ID: id, Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Kind: audit.KindShuffle, Statement: s, Commitment: s.Commitment(),
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

func FuzzParse(f *testing.F) {
	for _, v := range readVectors(f, "proofs") {
		f.Add([]byte(v.Proof))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if file, err := prooffile.Parse(text); err == nil {
			again, err := prooffile.Parse(file.Text())
			require.NoError(t, err)
			require.Equal(t, file, again)
		}
	})
}
