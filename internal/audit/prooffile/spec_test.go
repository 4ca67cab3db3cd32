package prooffile_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/rng"
)

// specFile is the specification, whose last example is made of the vector "worked, committed".
const specFile = "../../../docs/spec.md"

// example returns a function that checks that a section of a specification shows a text, apart from
// white space.
func example(t *testing.T, file, section string) (shows func(format string, args ...any)) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "\n## "+section+"\n")
	after, _, ended := strings.Cut(after, "\n## ")
	require.Truef(t, found, "%s has no section %q", file, section)
	require.Truef(t, ended, "%s has no section %q", file, section)
	solid := func(text string) string { return strings.NewReplacer("\n", "", " ", "").Replace(text) }
	after = solid(after)
	return func(format string, args ...any) {
		t.Helper()
		want := fmt.Sprintf(format, args...)
		assert.Containsf(t, after, solid(want), "%s does not show %s", file, want)
	}
}

// TestSpecificationExampleOfAProof calculates every value of the example with nothing but hashes
// and Ed25519, so that a reader can rely on it, and compares them with the vector.
func TestSpecificationExampleOfAProof(t *testing.T) {
	shows := example(t, specFile, "Example: committed, and in the log")
	v := named(t, "proofs", "worked, committed")
	shuffled, err := prooffile.Parse([]byte(v.Proof))
	require.NoError(t, err)
	commitment, err := prooffile.Parse(shuffled.Commitment)
	require.NoError(t, err)
	shows("%s", commitment.Record)
	shows("%s", shuffled.Record)

	record, err := audit.ParseRecord(shuffled.Record)
	require.NoError(t, err)
	message := fmt.Appendf(nil, "riffle/1 key\n%s%s", record.Commitment[:], record.ClientSeed)
	keys, err := rng.Keys(shuffled.Seed, record.Commitment, record.ClientSeed)
	require.NoError(t, err)
	words, err := rng.NewReference(keys, 0)
	require.NoError(t, err)
	shows("C        %s message  %x key_0    %x word     %016x", record.Commitment, message, keys, words.Word())
	once, err := rng.NewReference(keys, 0)
	require.NoError(t, err)
	integers := strings.Trim(strings.ReplaceAll(fmt.Sprint(once.Descend(5)), " ", ", "), "[]")
	shows("The integers below 5, 4, 3 and 2 are %s.", integers)
	shows("The order is %s", strings.ReplaceAll(fmt.Sprint(v.positions(t)[0]), " ", ","))

	hash := func(prefix byte, parts ...[]byte) []byte {
		h := sha256.Sum256(append([]byte{prefix}, bytes.Join(parts, nil)...))
		return h[:]
	}
	leaf0, leaf1, leaf2 := hash(0, []byte(`{"record":0}`)), hash(0, commitment.Record), hash(0, shuffled.Record)
	node := hash(1, leaf0, leaf1)
	root := hash(1, node, leaf2)
	shows("leaf 0   %x leaf 1   %x node     %x leaf 2   %x root     %x", leaf0, leaf1, node, leaf2, root)

	body := fmt.Sprintf("example.com/log\n3\n%s\n", base64.StdEncoding.EncodeToString(root))
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	public := append([]byte{1}, private.Public().(ed25519.PublicKey)...)
	id := sha256.Sum256(append([]byte("example.com/log\n"), public...))
	signature := ed25519.Sign(private, []byte(body))
	line := "— example.com/log " + base64.StdEncoding.EncodeToString(append(id[:4:4], signature...)) + "\n"
	shows("key       %x key hash  %x signed    %x signature %x", public, id[:4], body, signature)
	shows("%s", body+line)
	shows("example.com/log+%x+%s", id[:4], base64.StdEncoding.EncodeToString(public))

	path := func(h []byte) string { return base64.StdEncoding.EncodeToString(h) + "\n" }
	want := "c2sp.org/tlog-proof@v1\nindex 2\n" + path(node) + "\n" + body + "\n" + line
	assert.Equal(t, want, shuffled.Inclusion.Text(), "the proof")
	before := "c2sp.org/tlog-proof@v1\nindex 1\n" + path(leaf0) + "\nexample.com/log\n2\n" + path(node)
	assert.Truef(t, strings.HasPrefix(commitment.Inclusion.Text(), before),
		"the proof of the commitment is\n%s, want it to begin\n%s", commitment.Inclusion.Text(), before)
}

// shoesSpec is the specification of shoes, whose example is made of the vector "worked".
const shoesSpec = "../../../docs/shoes.md"

// TestSpecificationExampleOfAShoe calculates every value of the example with nothing but hashes,
// and compares them with the vector.
func TestSpecificationExampleOfAShoe(t *testing.T) {
	shows := example(t, shoesSpec, "Example")
	v := named(t, "shoes", "worked")
	var orders map[string][]uint64
	require.NoError(t, json.Unmarshal(v.Orders, &orders))
	var files []*prooffile.File
	for _, line := range filesOf(t, v.Proof) {
		f, err := prooffile.Parse(line)
		require.NoError(t, err)
		files = append(files, f)
		shows("%s", f.Record)
	}
	var record struct{ Commitment, Root string }
	require.NoError(t, json.Unmarshal(files[0].Record, &record))
	var c []byte
	_, err := fmt.Sscanf(record.Commitment, "%x", &c)
	require.NoError(t, err)
	hash := func(parts ...[]byte) []byte {
		h := sha256.Sum256(bytes.Join(parts, nil))
		return h[:]
	}
	var leaves [5][]byte
	for i, number := range orders["1"] {
		place := binary.BigEndian.AppendUint64(nil, uint64(i))
		mac := hmac.New(sha256.New, files[0].Seed)
		mac.Write(append(append([]byte("riffle/1 salt\n"), c...), place...))
		salt := mac.Sum(nil)
		card := []byte(fmt.Sprint(number))
		leaves[i] = hash([]byte{0}, hash(salt, place, card))
		shows("| %d | `%s` | `%x` | `%x` |", i, card, salt, leaves[i])
	}
	node := func(a, b []byte) []byte { return hash([]byte{1}, a, b) }
	n01, n23 := node(leaves[0], leaves[1]), node(leaves[2], leaves[3])
	n0123 := node(n01, n23)
	root := node(n0123, leaves[4])
	shows("node 01    %x node 23    %x node 0123  %x root       %x", n01, n23, n0123, root)
	assert.Equalf(t, record.Root, fmt.Sprintf("%x", root), "the root is %x, and in the record", root)
	shows("%s", strings.Trim(v.Hand, "[]"))
	shows(`"path":["%x","%x","%x"]`, leaves[1], n23, leaves[4])
	shows(`"path":["%x","%x","%x"]`, leaves[0], n23, leaves[4])
}
