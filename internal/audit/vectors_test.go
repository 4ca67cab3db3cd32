package audit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"riffle/internal/audit"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// The vectors are shared by the verifiers in all languages; testdata/riffle1/README.md describes
// them.
const (
	vectorsFile = "../../testdata/riffle1/vectors.json"
	invalidFile = "../../testdata/riffle1/invalid.json"
)

// hexBytes are lower-case hex in JSON.
type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}

// A vector is a shuffle with every value on the way from seed to orders.
type vector struct {
	Name         string      `json:"name"`
	Record       string      `json:"record"`
	Seed         hexBytes    `json:"seed"`
	Statement    string      `json:"statement"`
	ClientSeed   string      `json:"client_seed"`
	Blocks       int         `json:"blocks"`
	Commitment   hexBytes    `json:"commitment"`
	Keys         []hexBytes  `json:"keys"`
	Items        *string     `json:"items"`
	DeckCodes    []string    `json:"deck_codes"`
	Words        [][]string  `json:"words"`
	Rejected     []rejection `json:"refused"`
	Orders       [][]uint64  `json:"orders"`
	OrdersSHA256 string      `json:"orders_sha256"`
}

// A rejection is a word that its group of bounds rejected.
type rejection struct {
	Shuffle uint64 `json:"shuffle"`
	Word    int    `json:"word"`
}

// An invalidVector is a record and a seed that fail at a step of the verification.
type invalidVector struct {
	Name   string   `json:"name"`
	Step   string   `json:"step"`
	Record string   `json:"record"`
	Seed   hexBytes `json:"seed"`
}

func decode[T any](t testing.TB, file string) (v T) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

func vectors(t testing.TB) []vector {
	t.Helper()
	return decode[struct {
		Spec    string
		Vectors []vector
	}](t, vectorsFile).Vectors
}

func invalidVectors(t testing.TB) []invalidVector {
	t.Helper()
	return decode[struct {
		Spec    string
		Invalid []invalidVector
	}](t, invalidFile).Invalid
}

// vectorNamed returns one of the vectors.
func vectorNamed(t testing.TB, name string) vector {
	t.Helper()
	for _, v := range vectors(t) {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("there is no vector %s", name)
	return vector{}
}

func TestVectorsNeverChange(t *testing.T) {
	text, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	const want = "d050ff8a621f88596dfac24aca363bee41cec78ac233b8f5970ef9a6ab82b1bd"
	if got := fmt.Sprintf("%x", sha256.Sum256(text)); got != want {
		t.Errorf("%s has the SHA-256 %s, want %s: put new vectors into another file", vectorsFile, got, want)
	}
}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			record, err := audit.ParseRecord([]byte(v.Record))
			if err != nil {
				t.Fatal(err)
			}
			if got := record.Append(nil); string(got) != v.Record {
				t.Errorf("the record is\n%s, want\n%s", got, v.Record)
			}
			s := record.Statement
			s.Seed = rng.Seed(v.Seed)
			checkStatement(t, &v, &s)
			if record.ClientSeed != v.ClientSeed {
				t.Errorf("client seed %q, want %q", record.ClientSeed, v.ClientSeed)
			}
			keys, err := rng.Keys(s.Seed, record.Commitment, v.ClientSeed)
			if err != nil {
				t.Fatal(err)
			}
			var want []byte
			for _, key := range v.Keys {
				want = append(want, key...)
			}
			if !bytes.Equal(keys, want) {
				t.Errorf("keys %x, want %x", keys, want)
			}
			checkWords(t, &v, keys)
			checkReferenceOrders(t, &v, &s, keys)
			checkStreamOrders(t, &v, &s, keys)
			checkVerification(t, &v, &s)
		})
	}
}

// checkStatement compares the text, commitment, input and number of seed blocks.
func checkStatement(t *testing.T, v *vector, s *audit.Statement) {
	t.Helper()
	if got := s.Append(nil); string(got) != v.Statement {
		t.Errorf("the statement is\n%s, want\n%s", got, v.Statement)
	}
	if got := s.Commitment(); !bytes.Equal(got[:], v.Commitment) {
		t.Errorf("commitment %s, want %x", got, v.Commitment)
	}
	if got := rng.Blocks(s.Size, s.Draw); got != v.Blocks {
		t.Errorf("%d seed blocks, want %d", got, v.Blocks)
	}
	switch words := strings.Fields(s.Input); words[0] {
	case "items":
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(*v.Items)); err != nil {
			t.Fatal(err)
		}
		if got := audit.ItemsInput(sha256.Sum256(compact.Bytes())); got != s.Input {
			t.Errorf("input %s, want %s", got, s.Input)
		}
	case "deck":
		copies, err := strconv.ParseUint(words[2][1:], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := audit.DeckInput(words[1], copies, v.DeckCodes); got != s.Input {
			t.Errorf("input %s, want %s", got, s.Input)
		}
	}
}

// checkWords compares the first words of each keystream from the stream and the reference.
func checkWords(t *testing.T, v *vector, keys []byte) {
	t.Helper()
	stream, err := rng.NewStream(keys)
	if err != nil {
		t.Fatal(err)
	}
	for r, words := range v.Words {
		reference, err := rng.NewReference(keys, uint64(r))
		if err != nil {
			t.Fatal(err)
		}
		stream.Seek(uint64(r))
		for i, want := range words {
			if a, b := stream.Uint64(), reference.Word(); fmt.Sprintf("%016x", a) != want || a != b {
				t.Errorf("word %d of shuffle %d is %016x from the stream and %016x from the reference, want %s", i, r, a, b, want)
			}
		}
	}
}

// rejections is a source that records which words it rejects.
type rejections struct {
	rng.Reference
	shuffle uint64
	words   *int
	all     *[]rejection
}

func (s rejections) note(first int, group []uint64) []uint64 {
	for word := first; word < *s.words-1; word++ {
		*s.all = append(*s.all, rejection{s.shuffle, word})
	}
	return group
}

func (s rejections) Descend(from uint64) []uint64 {
	first := *s.words
	return s.note(first, s.Reference.Descend(from))
}

func (s rejections) Ascend(from, last uint64) []uint64 {
	first := *s.words
	return s.note(first, s.Reference.Ascend(from, last))
}

// checkReferenceOrders replays with the reference and compares the rejected words.
func checkReferenceOrders(t *testing.T, v *vector, s *audit.Statement, keys []byte) {
	t.Helper()
	var orders [][]uint64
	var rejected []rejection
	for r := range s.Repeat {
		reference, err := rng.NewReference(keys, r)
		if err != nil {
			t.Fatal(err)
		}
		words, word := 0, reference.Word
		reference.Word = func() uint64 {
			words++
			return word()
		}
		orders = append(orders, shuffle.Positions(s.Algorithm, s.Size, s.Draw, rejections{reference, r, &words, &rejected}, nil))
	}
	checkOrders(t, v, "the reference", orders)
	if !reflect.DeepEqual(rejected, v.Rejected) {
		t.Errorf("the rejected words are %v, want %v", rejected, v.Rejected)
	}
}

// checkStreamOrders shuffles with the stream, as the service does: positions, and elements if there
// are few enough.
func checkStreamOrders(t *testing.T, v *vector, s *audit.Statement, keys []byte) {
	t.Helper()
	stream, err := rng.NewStream(keys)
	if err != nil {
		t.Fatal(err)
	}
	var elements, positions [][]uint64
	for r := range s.Repeat {
		stream.Seek(r)
		positions = append(positions, shuffle.Positions(s.Algorithm, s.Size, s.Draw, stream, nil))
		if s.Size > 1<<20 {
			continue
		}
		a := make([]uint64, s.Size)
		for i := range a {
			a[i] = uint64(i)
		}
		stream.Seek(r)
		elements = append(elements, shuffle.Order(s.Algorithm, a, int(s.Draw), stream))
	}
	checkOrders(t, v, "the stream", positions)
	if elements != nil {
		checkOrders(t, v, "the stream over elements", elements)
	}
}

func checkOrders(t *testing.T, v *vector, from string, orders [][]uint64) {
	t.Helper()
	if got := digest(orders); got != v.OrdersSHA256 {
		t.Errorf("the orders from %s have the SHA-256 %s, want %s", from, got, v.OrdersSHA256)
	}
	if v.Orders != nil && !reflect.DeepEqual(orders, v.Orders) {
		t.Errorf("the orders from %s are %d, want %d", from, orders, v.Orders)
	}
}

// digest is the SHA-256 of orders, each as a JSON array on a line.
func digest(orders [][]uint64) string {
	h := sha256.New()
	for _, order := range orders {
		h.Write([]byte(strings.ReplaceAll(fmt.Sprint(order), " ", ",") + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// checkVerification compares the steps and orders of a verification.
func checkVerification(t *testing.T, v *vector, s *audit.Statement) {
	t.Helper()
	const plenty = 1000
	got := verify(t, v.Record, v.Seed, plenty)
	if !got.OK || got.OrderDigest != v.OrdersSHA256 {
		t.Fatalf("verified is %v with the digest %s, want %s; %+v", got.OK, got.OrderDigest, v.OrdersSHA256, got.Steps)
	}
	if names := stepNames(got); names != "record seed commitment keys order" {
		t.Errorf("the steps are %s", names)
	}
	if v.Orders != nil && !reflect.DeepEqual(got.Orders, v.Orders) {
		t.Errorf("the replayed orders are %d, want %d", got.Orders, v.Orders)
	}
	if returned := got.Orders != nil; returned != (s.Repeat*s.Draw <= plenty) {
		t.Errorf("orders of %d positions, of which %d are wanted: returned is %v", s.Repeat*s.Draw, plenty, returned)
	}
	if warned := strings.Contains(got.Steps[1].Detail, "warning"); warned != (len(v.Seed) < v.Blocks*rng.BlockSize) {
		t.Errorf("the step on the seed says %q", got.Steps[1].Detail)
	}
	if noted := strings.Contains(got.Steps[1].Detail, "computationally"); noted != (s.Draw > 1024) {
		t.Errorf("the step on the seed says %q", got.Steps[1].Detail)
	}
}

func TestInvalidVectors(t *testing.T) {
	for _, v := range invalidVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			got := verify(t, v.Record, v.Seed, 100)
			if failed := got.Steps[len(got.Steps)-1]; got.OK || failed.OK || failed.Name != v.Step {
				t.Errorf("verified is %v, last step %+v, want a failure of %s", got.OK, failed, v.Step)
			}
			if got.Orders != nil || got.OrderDigest != "" {
				t.Error("orders were replayed")
			}
		})
	}
}

// TestVectorsCoverTheSpecification lists what the vectors have to cover.
func TestVectorsCoverTheSpecification(t *testing.T) {
	seen := map[string]bool{}
	note := func(format string, args ...any) { seen[fmt.Sprintf(format, args...)] = true }
	for _, v := range vectors(t) {
		r, err := audit.ParseRecord([]byte(v.Record))
		if err != nil {
			t.Fatal(err)
		}
		s := &r.Statement
		note("%d keys", len(v.Keys))
		if s.Draw == s.Size {
			note("%s of %d", s.Algorithm, s.Size)
		} else {
			note("%s draws", s.Algorithm)
		}
		if s.Repeat > 1 {
			note("%s repeats", s.Algorithm)
		}
		if r.ClientSeed != "" {
			note("%s with client seed", s.Algorithm)
		}
		if len(v.Rejected) > 0 {
			note("%s rejects", s.Algorithm)
		}
		if len(s.Hands) > 0 {
			note("hands")
		}
		note("input %s", strings.Fields(s.Input)[0])
		note("draw %d of %d", s.Draw, s.Size)
	}
	want := []string{
		"1 keys", "2 keys", "4 keys", "hands", "input range", "input items", "input deck",
		"draw 10 of 1000000000", "draw 10 of 9007199254740991",
	}
	for _, alg := range shuffle.Algorithms() {
		for _, size := range []uint64{0, 1, 2, 3, 17, 18, 19, 20, 52, 136, 1000} {
			if size != 1 || alg != shuffle.AlgorithmSattolo {
				want = append(want, fmt.Sprintf("%s of %d", alg, size))
			}
		}
		for _, what := range []string{"draws", "repeats", "with client seed", "rejects"} {
			want = append(want, fmt.Sprintf("%s %s", alg, what))
		}
	}
	for _, what := range want {
		if !seen[what] {
			t.Errorf("no vector: %s", what)
		}
	}
}
