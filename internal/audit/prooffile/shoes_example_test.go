package prooffile_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"riffle/internal/audit/prooffile"
)

// shoesSpec is the specification of shoes, whose example is made of the vector "worked".
const shoesSpec = "../../../docs/shoes.md"

// TestSpecificationExampleOfAShoe calculates every value of the example with nothing but hashes, and compares them with the vector.
func TestSpecificationExampleOfAShoe(t *testing.T) {
	text, err := os.ReadFile(shoesSpec)
	if err != nil {
		t.Fatal(err)
	}
	_, example, found := strings.Cut(string(text), "\n## Example\n")
	example, _, ended := strings.Cut(example, "\n## ")
	if !found || !ended {
		t.Fatal("the example is not where it was")
	}
	unbroken := strings.NewReplacer("\n", "", " ", "").Replace(example)
	shows := func(format string, args ...any) {
		t.Helper()
		want := fmt.Sprintf(format, args...)
		if !strings.Contains(unbroken, strings.NewReplacer("\n", "", " ", "").Replace(want)) {
			t.Errorf("the specification does not show %s", want)
		}
	}
	vectors := readShoes(t)
	v := vectors.Shoes[0]
	var files []*prooffile.File
	for _, line := range prooffile.Lines([]byte(v.Proofs)) {
		f, err := prooffile.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		shows("%s", f.Record)
	}
	var record struct{ Commitment, Root string }
	if err := json.Unmarshal(files[0].Record, &record); err != nil {
		t.Fatal(err)
	}
	var c []byte
	if _, err := fmt.Sscanf(record.Commitment, "%x", &c); err != nil {
		t.Fatal(err)
	}
	hash := func(parts ...[]byte) []byte {
		h := sha256.Sum256(bytes.Join(parts, nil))
		return h[:]
	}
	var leaves [5][]byte
	for i, number := range v.Orders["1"] {
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
	if fmt.Sprintf("%x", root) != record.Root {
		t.Errorf("the root is %x, and in the record %s", root, record.Root)
	}
	shows("%s", strings.Trim(*v.Hand, "[]"))
	shows(`"path":["%x","%x","%x"]`, leaves[1], n23, leaves[4])
	shows(`"path":["%x","%x","%x"]`, leaves[0], n23, leaves[4])
}
