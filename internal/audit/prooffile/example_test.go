package prooffile_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/rng"
)

// specFile is the specification, whose last example is made of the vector "worked, committed".
const specFile = "../../../docs/spec.md"

// TestSpecificationExampleOfAProof calculates every value of the example with nothing but hashes and Ed25519, so that a
// reader can rely on it, and compares them with the vector.
func TestSpecificationExampleOfAProof(t *testing.T) {
	text, err := os.ReadFile(specFile)
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "\n## Example: committed, and in the log\n")
	example, _, found := strings.Cut(example, "\n## ")
	if !found {
		t.Fatal("the example is not where it was")
	}
	v := named(t, "worked, committed")
	shuffled, err := prooffile.Parse([]byte(v.Proof))
	if err != nil {
		t.Fatal(err)
	}
	commitment, err := prooffile.Parse([]byte(*v.CommitmentProof))
	if err != nil {
		t.Fatal(err)
	}
	unbroken := strings.NewReplacer("\n", "", " ", "").Replace(example)
	shows := func(want string) {
		t.Helper()
		if !strings.Contains(unbroken, strings.ReplaceAll(want, " ", "")) {
			t.Errorf("the specification does not show %s", want)
		}
	}
	shows(string(commitment.Record))
	shows(string(shuffled.Record))

	record, err := audit.ParseRecord(shuffled.Record)
	if err != nil {
		t.Fatal(err)
	}
	message := fmt.Appendf(nil, "riffle/1 key\n%s%s", record.Commitment[:], record.ClientSeed)
	keys, err := rng.Keys(shuffled.Seed, record.Commitment, record.ClientSeed)
	if err != nil {
		t.Fatal(err)
	}
	words, err := rng.NewReference(keys, 0)
	if err != nil {
		t.Fatal(err)
	}
	shows(fmt.Sprintf("C        %s message  %x key_0    %x word     %016x", record.Commitment, message, keys, words.Word()))
	once, err := rng.NewReference(keys, 0)
	if err != nil {
		t.Fatal(err)
	}
	integers := strings.Trim(strings.ReplaceAll(fmt.Sprint(once.Descend(5)), " ", ", "), "[]")
	shows("The integers below 5, 4, 3 and 2 are " + integers + ".")
	shows("The order is " + strings.ReplaceAll(fmt.Sprint(v.Orders[0]), " ", ","))

	hash := func(prefix byte, parts ...[]byte) []byte {
		h := sha256.Sum256(append([]byte{prefix}, bytes.Join(parts, nil)...))
		return h[:]
	}
	leaf0, leaf1, leaf2 := hash(0, []byte(`{"record":0}`)), hash(0, commitment.Record), hash(0, shuffled.Record)
	node := hash(1, leaf0, leaf1)
	root := hash(1, node, leaf2)
	shows(fmt.Sprintf("leaf 0   %x leaf 1   %x node     %x leaf 2   %x root     %x", leaf0, leaf1, node, leaf2, root))

	body := fmt.Sprintf("example.com/log\n3\n%s\n", base64.StdEncoding.EncodeToString(root))
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	public := append([]byte{1}, private.Public().(ed25519.PublicKey)...)
	id := sha256.Sum256(append([]byte("example.com/log\n"), public...))
	signature := ed25519.Sign(private, []byte(body))
	line := "— example.com/log " + base64.StdEncoding.EncodeToString(append(id[:4:4], signature...)) + "\n"
	shows(fmt.Sprintf("key       %x key hash  %x signed    %x signature %x", public, id[:4], body, signature))
	shows(strings.ReplaceAll(body+"\n"+line, "\n", ""))
	shows("example.com/log+" + hex.EncodeToString(id[:4]) + "+" + base64.StdEncoding.EncodeToString(public))

	path := func(h []byte) string { return base64.StdEncoding.EncodeToString(h) + "\n" }
	if want := "c2sp.org/tlog-proof@v1\nindex 2\n" + path(node) + "\n" + body + "\n" + line; shuffled.Inclusion.Text() != want {
		t.Errorf("the proof is\n%s, want\n%s", shuffled.Inclusion.Text(), want)
	}
	before := "c2sp.org/tlog-proof@v1\nindex 1\n" + path(leaf0) + "\nexample.com/log\n2\n" + path(node)
	if !strings.HasPrefix(commitment.Inclusion.Text(), before) {
		t.Errorf("the proof of the commitment is\n%s, want it to begin\n%s", commitment.Inclusion.Text(), before)
	}
}
