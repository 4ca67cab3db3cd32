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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	require.NoError(t, err)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&v), file)
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
	require.NoError(t, err)
	const want = "d050ff8a621f88596dfac24aca363bee41cec78ac233b8f5970ef9a6ab82b1bd"
	assert.Equalf(t, want, fmt.Sprintf("%x", sha256.Sum256(text)), "%s has the SHA-256", vectorsFile)
}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			record, err := audit.ParseRecord([]byte(v.Record))
			require.NoError(t, err)
			got := record.Append(nil)
			assert.Equalf(t, v.Record, string(got), "the record is\n%s, want", got)
			s := record.Statement
			s.Seed = rng.Seed(v.Seed)
			checkStatement(t, &v, &s)
			assert.Equal(t, v.ClientSeed, record.ClientSeed, "client seed")
			keys, err := rng.Keys(s.Seed, record.Commitment, v.ClientSeed)
			require.NoError(t, err)
			var want []byte
			for _, key := range v.Keys {
				want = append(want, key...)
			}
			assert.Equal(t, want, keys, "keys")
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
	got := s.Append(nil)
	assert.Equalf(t, v.Statement, string(got), "the statement is\n%s, want", got)
	if got := s.Commitment(); !bytes.Equal(got[:], v.Commitment) {
		t.Errorf("commitment %s, want %x", got, v.Commitment)
	}
	assert.Equal(t, v.Blocks, rng.Blocks(s.Size, s.Draw))
	switch words := strings.Fields(s.Input); words[0] {
	case "items":
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, []byte(*v.Items)))
		assert.Equal(t, s.Input, audit.ItemsInput(sha256.Sum256(compact.Bytes())), "input")
	case "deck":
		copies, err := strconv.ParseUint(words[2][1:], 10, 64)
		require.NoError(t, err)
		assert.Equal(t, s.Input, audit.DeckInput(words[1], copies, v.DeckCodes), "input")
	}
}

// checkWords compares the first words of each keystream from the stream and the reference.
func checkWords(t *testing.T, v *vector, keys []byte) {
	t.Helper()
	stream, err := rng.NewStream(keys)
	require.NoError(t, err)
	for r, words := range v.Words {
		reference, err := rng.NewReference(keys, uint64(r))
		require.NoError(t, err)
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
		require.NoError(t, err)
		words, word := 0, reference.Word
		reference.Word = func() uint64 {
			words++
			return word()
		}
		orders = append(orders, shuffle.Positions(s.Algorithm, s.Size, s.Draw, rejections{reference, r, &words, &rejected}, nil))
	}
	checkOrders(t, v, "the reference", orders)
	assert.Equal(t, v.Rejected, rejected, "the rejected words")
}

// checkStreamOrders shuffles with the stream, as the service does: positions, and elements if there
// are few enough.
func checkStreamOrders(t *testing.T, v *vector, s *audit.Statement, keys []byte) {
	t.Helper()
	stream, err := rng.NewStream(keys)
	require.NoError(t, err)
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
	assert.Equalf(t, v.OrdersSHA256, digest(orders), "the orders from %s have the SHA-256", from)
	assert.Truef(t, v.Orders == nil || reflect.DeepEqual(orders, v.Orders), "the orders from %s are %d, want %d", from, orders, v.Orders)
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
	assert.Equal(t, "record seed commitment keys order", stepNames(got), "the steps")
	assert.Truef(t, v.Orders == nil || reflect.DeepEqual(got.Orders, v.Orders), "the replayed orders are %d, want %d", got.Orders, v.Orders)
	assert.Equalf(t, (s.Repeat*s.Draw <= plenty), got.Orders != nil,
		"orders of %d positions, of which %d are wanted", s.Repeat*s.Draw, plenty)
}

func TestInvalidVectors(t *testing.T) {
	for _, v := range invalidVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			got := verify(t, v.Record, v.Seed, 100)
			failed := got.Steps[len(got.Steps)-1]
			assert.Truef(t, !got.OK && failed.Err != nil && failed.Name == v.Step, "verified is %v, last step %+v, want a failure of %s", got.OK, failed, v.Step)
			assert.True(t, got.Orders == nil && got.OrderDigest == "", "orders were replayed")
		})
	}
}
