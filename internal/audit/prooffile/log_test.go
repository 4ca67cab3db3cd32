package prooffile_test

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/audit/prooffile"
	"riffle/internal/ledger/proof"
)

// origin is the log that the vectors are of.
const origin = "example.com/log"

// logKey returns the private key that is made of 32 equal bytes.
func logKey(t testing.TB, name string, b byte) (note.Signer, string) {
	t.Helper()
	private, public, err := note.GenerateKey(bytes.NewReader(bytes.Repeat([]byte{b}, 32)), name)
	require.NoError(t, err)
	signer, err := note.NewSigner(private)
	require.NoError(t, err)
	want, err := note.NewEd25519VerifierKey(name, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, 32)).Public().(ed25519.PublicKey))
	require.NoError(t, err, "the key")
	require.Equal(t, public, want, "the key")
	return signer, public
}

// storedHashes is a tree in memory.
type storedHashes []tlog.Hash

func (f storedHashes) ReadHashes(indexes []int64) (hashes []tlog.Hash, err error) {
	for _, i := range indexes {
		hashes = append(hashes, f[i])
	}
	return hashes, nil
}

// A place is the index of a record, from 0, and the size of a tree that has it.
type place struct{ index, size int }

// include returns the proof that a record is in a log of other, arbitrary records.
func include(t testing.TB, record []byte, index, size int, signer note.Signer) *proof.Inclusion {
	t.Helper()
	return includeAmong(t, map[int][]byte{index: record}, place{index, size}, signer)
}

// includeAmong returns the proof of the record at a place in a log with the given records, by
// index, and arbitrary ones.
func includeAmong(t testing.TB, records map[int][]byte, at place, signer note.Signer) *proof.Inclusion {
	t.Helper()
	index, size := at.index, at.size
	var f storedHashes
	for i := range size {
		leaf, ok := records[i]
		if !ok {
			leaf = fmt.Appendf(nil, `{"record":%d}`, i)
		}
		hashes, err := tlog.StoredHashes(int64(i), leaf, f)
		require.NoError(t, err)
		f = append(f, hashes...)
	}
	root, err := tlog.TreeHash(int64(size), f)
	require.NoError(t, err)
	signed, err := proof.Checkpoint{Origin: signer.Name(), Size: uint64(size), Root: root}.Sign(signer)
	require.NoError(t, err)
	hashes, err := tlog.ProveRecord(int64(size), int64(index), f)
	require.NoError(t, err)
	return &proof.Inclusion{Index: uint64(index), Hashes: hashes, Checkpoint: signed}
}

// relogged puts the records of files, with their changes, into one log of the right key.
func relogged(t testing.TB, files []*prooffile.File) {
	t.Helper()
	signer, _ := logKey(t, origin, 1)
	records := map[int][]byte{}
	size := 0
	for _, f := range files {
		records[int(f.Inclusion.Index)] = f.Record
		size = max(size, int(f.Inclusion.Index)+1)
	}
	for _, f := range files {
		f.Inclusion = includeAmong(t, records, place{int(f.Inclusion.Index), size}, signer)
	}
}

// textsOf returns the texts of proof files.
func textsOf(files []*prooffile.File) (texts [][]byte) {
	for _, f := range files {
		texts = append(texts, f.Text())
	}
	return texts
}

// substitute returns a function that replaces the first old, which must exist.
func substitute(t testing.TB, old, new string) func(string) string {
	return func(text string) string {
		t.Helper()
		assert.Contains(t, text, old, "there is no")
		return strings.Replace(text, old, new, 1)
	}
}
