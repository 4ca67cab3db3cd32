package ledgertest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
)

// Entries returns n entries of different lengths. Their ids depend on the label.
func Entries(label string, n int) []ledger.Entry {
	entries := make([]ledger.Entry, n)
	for i := range entries {
		entries[i] = ledger.Entry{
			ID:      uuid.NewHash(sha256.New(), uuid.NameSpaceOID, fmt.Appendf(nil, "%s %d", label, i), 8),
			Record:  fmt.Appendf(nil, `{"label":%q,"i":%d,"pad":"%s"}`, label, i, bytes.Repeat([]byte("♠"), i%50)),
			Sidecar: bytes.Repeat([]byte{byte(i), 0, 0xff}, i%40+1),
		}
	}
	return entries
}

// A Chain makes the batches of one log, as a [ledger.Log] does, and compares a store with them.
type Chain struct {
	t       *testing.T
	signer  note.Signer
	Verify  note.Verifier
	tree    ledger.Tree
	head    ledger.Head    // of the last batch
	Entries []ledger.Entry // of all batches
}

// PrivateKey is the key of every chain.
const PrivateKey = "PRIVATE+KEY+ledgertest+d141e3c3+AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB"

// NewChain returns the chain of a new log.
func NewChain(t *testing.T) *Chain {
	t.Helper()
	key, err := ledger.ParseKey(PrivateKey)
	require.NoError(t, err)
	return &Chain{t: t, signer: key, Verify: key.Verifier}
}

// Next returns the next batch. Without entries it begins the log.
func (c *Chain) Next(entries ...ledger.Entry) ledger.Batch {
	c.t.Helper()
	for i := range entries {
		entries[i].Hash = tlog.RecordHash(entries[i].Record)
	}
	batch, err := c.tree.NextBatch(entries, c.signer)
	require.NoError(c.t, err)
	if len(c.Entries) > 0 {
		batch.Head.SeedKey = []byte{0, 1, 0xff}
	}
	c.head = batch.Head
	c.Entries = append(c.Entries, entries...)
	return batch
}

// Append appends the next batch to a store.
func (c *Chain) Append(s ledger.Store, entries ...ledger.Entry) {
	c.t.Helper()
	require.NoError(c.t, s.Append(c.t.Context(), c.Next(entries...)))
}

// CheckLog checks the whole store and compares its content with the chain.
func (c *Chain) CheckLog(s ledger.Store) {
	c.t.Helper()
	size := CheckLog(c.t, s, c.Verify)
	require.EqualValues(c.t, len(c.Entries), size)
	for method, head := range map[string]func(context.Context) (ledger.Head, error){"Head": s.Head, "Confirm": s.Confirm} {
		got, err := head(c.t.Context())
		require.Truef(c.t, err == nil && fmt.Sprint(got) == fmt.Sprint(c.head), "%s returns %+v, %v, want %+v", method, got, err, c.head)
	}
	list, records := selected(c.t, s, ledger.Range(0, len(c.Entries)+1)), 0
	require.Len(c.t, list, len(c.Entries))
	err := s.Records(c.t.Context(), 1, len(c.Entries), func(index uint64, record []byte, hash tlog.Hash) error {
		records++
		if want := c.Entries[index]; index != uint64(records) || !bytes.Equal(record, want.Record) || hash != want.Hash {
			c.t.Fatalf("record %d is %d, %s with %s, want %+v", records, index, record, hash, want)
		}
		return nil
	})
	require.Truef(c.t, err == nil && records == max(len(c.Entries)-1, 0), "%d records from 1 on, %v", records, err)
	c.checkClaims(s)
	for i, want := range c.Entries {
		got := list[i]
		if got.Index != uint64(i) || got.ID != want.ID || got.Reference != want.Reference || len(got.Claims) > 0 ||
			!bytes.Equal(got.Record, want.Record) || !bytes.Equal(got.Sidecar, want.Sidecar) || got.Hash != want.Hash {
			c.t.Fatalf("entry %d came back as %+v, want %+v", i, got, want)
		}
	}
}

func (c *Chain) checkClaims(s ledger.Store) {
	c.t.Helper()
	type holding struct {
		holder int
		claim  ledger.Claim
	}
	claims := map[string]holding{}
	for i := range c.Entries {
		for _, claim := range c.Entries[i].Claims {
			claim.Taken, claim.From, claim.Unchanged = false, 0, false
			claims[claim.Name] = holding{i, claim}
		}
	}
	n, err := s.CountClaims(c.t.Context(), ledger.ClaimQuery{})
	require.NoError(c.t, err)
	require.EqualValues(c.t, len(claims), n)
	for name, want := range claims {
		got, err := ledger.FirstOrNotFound(s.Select(c.t.Context(), ledger.ByClaim(name)))
		require.Truef(c.t, err == nil && got.Index == uint64(want.holder) && len(got.Claims) == 1 && got.Claims[0] == want.claim,
			"the claim %s is held by %+v, %v, want %+v", name, got, err, want)
	}
}

// CheckLog checks the whole store and returns its number of records.
func CheckLog(t *testing.T, s ledger.Store, verifier note.Verifier) uint64 {
	t.Helper()
	result, err := ledger.Check{Verifier: verifier}.Run(t.Context(), s)
	require.NoError(t, err)
	require.Emptyf(t, result.Findings, "the check of the log finds %q", result.Findings)
	return result.Checkpoint.Size
}
