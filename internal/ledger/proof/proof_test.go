package proof_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger/proof"
)

func newKey(t *testing.T, name string, seed byte) (note.Signer, note.Verifier) {
	t.Helper()
	private, public, err := note.GenerateKey(bytes.NewReader(bytes.Repeat([]byte{seed}, 64)), name)
	require.NoError(t, err)
	signer, err := note.NewSigner(private)
	require.NoError(t, err)
	verifier, err := note.NewVerifier(public)
	require.NoError(t, err)
	return signer, verifier
}

type hashes []tlog.Hash

func (h hashes) ReadHashes(indexes []int64) (list []tlog.Hash, err error) {
	for _, i := range indexes {
		list = append(list, h[i])
	}
	return list, nil
}

func record(i int) []byte { return fmt.Appendf(nil, `{"record":%d}`, i) }

func newTree(t *testing.T, n int, signer note.Signer) (hashes, []byte) {
	t.Helper()
	var tree hashes
	for i := range n {
		stored, err := tlog.StoredHashes(int64(i), record(i), tree)
		require.NoError(t, err)
		tree = append(tree, stored...)
	}
	root, err := tlog.TreeHash(int64(n), tree)
	require.NoError(t, err)
	signed, err := proof.Checkpoint{Origin: signer.Name(), Size: uint64(n), Root: root}.Sign(signer)
	require.NoError(t, err)
	return tree, signed
}

func prove(t *testing.T, tree hashes, n, index int, checkpoint []byte) *proof.Inclusion {
	t.Helper()
	path, err := tlog.ProveRecord(int64(n), int64(index), tree)
	require.NoError(t, err)
	return &proof.Inclusion{Index: uint64(index), Hashes: path, Checkpoint: checkpoint}
}

// The root of an empty tree is the SHA-256 of no bytes (RFC 6962, 2.1).
func TestCheckpointOfEmptyTree(t *testing.T) {
	signer, verifier := newKey(t, "example.com/log", 1)
	_, signed := newTree(t, 0, signer)
	const want = "example.com/log\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n— example.com/log "
	assert.Truef(t, strings.HasPrefix(string(signed), want),
		"the checkpoint is\n%s\nwant it to begin\n%s", signed, want)
	c, err := proof.OpenCheckpoint(signed, verifier)
	assert.Truef(t, err == nil && c.Size == 0 && c.Origin == "example.com/log", "it opens as %+v, %v", c, err)
}

func TestOpenCheckpointRejects(t *testing.T) {
	signer, own := newKey(t, "example.com/log", 1)
	_, signed := newTree(t, 3, signer)
	for name, other := range map[string]note.Verifier{
		"another key of the same name": verifierOf(newKey(t, "example.com/log", 2)),
		"another name":                 verifierOf(newKey(t, "example.com/other", 1)),
	} {
		_, err := proof.OpenCheckpoint(signed, other)
		assert.ErrorIs(t, err, proof.ErrSignature, name)
	}
	unusedBits := bytes.Clone(signed)
	unusedBits[bytes.LastIndexByte(signed, '=')-1]++
	_, err := proof.OpenCheckpoint(unusedBits, own)
	assert.ErrorIs(t, err, proof.ErrMalformed, "a signature with unused bits")
	// Texts that the right key signed but that are not a checkpoint of its log.
	strange, verifier := newKey(t, "example.com/strange", 3)
	for text, want := range map[string]error{
		"example.com/log\n3\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n":                       proof.ErrSignature,
		"example.com/strange\n03\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n":                  proof.ErrMalformed,
		"example.com/strange\n9223372036854775808\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n": proof.ErrMalformed,
		"example.com/strange\n3\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=\n":                   proof.ErrMalformed,
		"example.com/strange\n3\n47DEQpj8HBSa\n":                                                   proof.ErrMalformed,
		"example.com/strange\n3\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\nextension\n":        proof.ErrMalformed,
		"example.com/strange\n3\n": proof.ErrMalformed,
		"hello\n":                  proof.ErrMalformed,
	} {
		signed, err := note.Sign(&note.Note{Text: text}, strange)
		require.NoError(t, err)
		_, err = proof.OpenCheckpoint(signed, verifier)
		assert.ErrorIsf(t, err, want, "%q", text)
	}
	_, err = (proof.Checkpoint{Origin: "example.com/other"}).Sign(signer)
	assert.Error(t, err, "a key signed for a log of another name")
}

func verifierOf(_ note.Signer, v note.Verifier) note.Verifier { return v }

// All records of all trees of up to 70 records.
func TestInclusionProofs(t *testing.T) {
	signer, verifier := newKey(t, "example.com/log", 1)
	for n := 1; n <= 70; n++ {
		tree, signed := newTree(t, n, signer)
		for i := range n {
			p := prove(t, tree, n, i, signed)
			back, err := proof.ParseInclusion(p.Text())
			require.NoError(t, err)
			c, err := back.Check(record(i), verifier)
			require.Truef(t, err == nil && c.Size == uint64(n), "record %d of %d: %+v, %v", i, n, c, err)
			_, err = back.Check(record(i+1), verifier)
			require.ErrorIsf(t, err, proof.ErrNotIncluded, "another record than %d of %d", i, n)
			back.Index = uint64((i + 1) % (n + 1))
			_, err = back.Check(record(i), verifier)
			require.ErrorIsf(t, err, proof.ErrNotIncluded, "record %d of %d at another index", i, n)
		}
	}
}

func TestParseInclusionRejects(t *testing.T) {
	signer, _ := newKey(t, "example.com/log", 1)
	tree, signed := newTree(t, 11, signer)
	text := prove(t, tree, 11, 6, signed).Text()
	for name, bad := range map[string]string{
		"nothing":            "",
		"no empty line":      strings.Replace(text, "\n\n", "\n", 1),
		"another version":    strings.Replace(text, "@v1", "@v2", 1),
		"no index":           strings.Replace(text, "index 6\n", "", 1),
		"a padded index":     strings.Replace(text, "index 6", "index 06", 1),
		"a negative index":   strings.Replace(text, "index 6", "index -6", 1),
		"too large an index": strings.Replace(text, "index 6", "index 9223372036854775808", 1),
		"extra data":         strings.Replace(text, "index 6", "extra aGk=\nindex 6", 1),
		"CRLF":               strings.ReplaceAll(text, "\n", "\r\n"),
		"a short hash":       strings.Replace(text, "=\n", "\n", 1),
		"too many hashes":    strings.Replace(text, "index 6\n", "index 6\n"+strings.Repeat("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n", 64), 1),
	} {
		_, err := proof.ParseInclusion(bad)
		assert.ErrorIs(t, err, proof.ErrMalformed, name)
	}
}

func FuzzParseInclusion(f *testing.F) {
	f.Add("c2sp.org/tlog-proof@v1\nindex 0\n\nexample.com/log\n1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n— example.com/log AAAA\n")
	f.Add("c2sp.org/tlog-proof@v1\nindex 1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := proof.ParseInclusion(text)
		if err == nil {
			assert.Equal(t, text, p.Text())
		}
	})
}
