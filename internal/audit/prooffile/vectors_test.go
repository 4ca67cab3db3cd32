package prooffile_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/transparency-dev/formats/proof"

	"riffle/internal/audit/prooffile"
	"riffle/internal/deck"
)

// A vector is a proof with what it is checked against, and its verdict: testdata/riffle1/README.md.
// The verifiers in all languages share them. Those in fuzzed.json are what fuzzing found, made small.
type vector struct {
	Name    string          `json:"name"`
	Proof   string          `json:"proof"`
	Key     string          `json:"key,omitempty"`
	Policy  string          `json:"policy,omitempty"`
	Answer  string          `json:"answer,omitempty"`
	Order   string          `json:"order,omitempty"`
	Hand    string          `json:"hand,omitempty"`
	HandOf  string          `json:"hand_of,omitempty"`
	Items   string          `json:"items,omitempty"`
	Salt    string          `json:"salt,omitempty"`
	Orders  json.RawMessage `json:"orders,omitempty"`
	Verdict string          `json:"verdict,omitempty"`
	Step    string          `json:"step,omitempty"`
	Summary map[string]any  `json:"summary,omitempty"`
}

// The verdicts.
const (
	verified  = "verified"
	isFalse   = "false"
	unchecked = "unchecked"
)

// vectorFiles have the vectors.
var vectorFiles = []string{"proofs", "salted", "shoes", "verdicts", "fuzzed", "witnesses", "books", "beacons", "players"}

// readVectors returns the vectors of some files.
func readVectors(t testing.TB, files ...string) (all []vector) {
	t.Helper()
	for _, file := range files {
		text, err := os.ReadFile("../../../testdata/riffle1/" + file + ".json")
		require.NoError(t, err)
		var content struct{ Verdicts []vector }
		require.NoError(t, json.Unmarshal(text, &content))
		all = append(all, content.Verdicts...)
	}
	return all
}

// inputs returns what a vector is checked against.
func (v *vector) inputs(decks *deck.Catalogue) *prooffile.Inputs {
	in := &prooffile.Inputs{Decks: decks}
	for text, to := range map[*string]*[]byte{
		&v.Key: &in.Key, &v.Policy: &in.Policy, &v.Answer: &in.Answer, &v.Order: &in.Order, &v.Hand: &in.Hand, &v.HandOf: &in.HandOf, &v.Items: &in.Items, &v.Salt: &in.Salt,
	} {
		if *text != "" {
			*to = []byte(*text)
		}
	}
	return in
}

// compactJSON returns the text of a value without white space, its strings as encoding/json writes
// them without escaping HTML.
func compactJSON(t testing.TB, v any) string {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	require.NoError(t, encoder.Encode(v))
	return strings.TrimSuffix(text.String(), "\n")
}

// named returns the vector with the name in a file.
func named(t testing.TB, file, name string) vector {
	t.Helper()
	vectors := readVectors(t, file)
	i := slices.IndexFunc(vectors, func(v vector) bool { return v.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return vectors[i]
}

// Every vector has its verdict, which its step decides, and the summary that it names.
func TestVectors(t *testing.T) {
	decks := catalogue(t)
	for _, v := range readVectors(t, vectorFiles...) {
		found := verifyHere(&v, decks)
		assert.Equalf(t, v.Verdict, found.Verdict, "%s: %+v", v.Name, found)
		if v.Verdict == isFalse || v.Step != "" {
			assert.Truef(t, found.isStep(v.Step), "%s: not at %s: %+v", v.Name, v.Step, found)
		}
		if v.Summary != nil {
			assert.Equal(t, v.Summary, found.Summary, v.Name)
		}
		if v.Verdict == verified && v.Policy == "" {
			keyless := v
			keyless.Key = ""
			assert.Equal(t, unchecked, verifyHere(&keyless, decks).Verdict, v.Name)
		}
	}
}

// A file is written as the service writes it, and as a tlog-proof that other programs read.
func TestFilesAreWritten(t *testing.T) {
	for _, v := range readVectors(t, "proofs") {
		file, err := prooffile.Parse([]byte(v.Proof))
		if v.Verdict != verified {
			continue
		}
		require.NoError(t, err, v.Name)
		assert.JSONEq(t, v.Proof, string(file.Text()), v.Name)
		same, err := prooffile.Parse(file.TlogProof())
		require.NoError(t, err, v.Name)
		assert.Equal(t, file, same, v.Name)
		require.NoError(t, new(proof.TLogProof).Unmarshal(file.TlogProof()), v.Name)
	}
}

// The orders of the vectors are what was dealt, and others are not.
func TestOrdersOfVectors(t *testing.T) {
	decks := catalogue(t)
	for _, v := range readVectors(t, "proofs", "salted") {
		if v.Orders == nil || v.Verdict != verified || v.Name == "salted, the items not given" {
			continue
		}
		shuffles := v.answered(t)
		order := func() string {
			if len(shuffles) == 1 {
				return compactJSON(t, shuffles[0])
			}
			return compactJSON(t, shuffles)
		}
		right := order()
		v.Order = right
		found := verifyHere(&v, decks)
		assert.Equalf(t, "order", found.Summary["id"], "%s: %+v", v.Name, found)
		slices.Reverse(shuffles[0])
		if v.Order = order(); v.Order != right {
			found = verifyHere(&v, decks)
			assert.Truef(t, found.Verdict == isFalse && found.isStep(prooffile.StepOrder), "%s, turned around: %+v", v.Name, found)
		}
	}
}

// isStep reports whether the step is the first that is false or, if none is, one that was not
// checked.
func (s *said) isStep(name string) bool {
	for _, step := range s.Steps {
		if step["ok"] == false {
			return step["name"] == name
		}
	}
	return slices.ContainsFunc(s.Steps, func(step map[string]any) bool { return step["name"] == name && step["ok"] == nil })
}

// TestFileWithAnyByteChangedFails changes every byte of every vector, with the proof of its
// commitment, and some bytes of long shoes. Texts that are no longer JSON are not checked.
func TestFileWithAnyByteChangedFails(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t, "proofs", "shoes") {
		if v.Verdict == isFalse {
			continue
		}
		in := &prooffile.Inputs{Key: []byte(v.Key)}
		eachByteChanged(v.Proof, func(text []byte, i int) {
			c := prooffile.Verify(text, in)
			isUnread := c.Steps.Has(prooffile.StepProof, prooffile.Unchecked) || c.Steps.Has(prooffile.StepCommitted, prooffile.Unchecked)
			if c.Verdict != prooffile.VerdictFalse && !isUnread {
				t.Fatalf("%s: byte %d as %q, and no step fails: %+v\n%s", v.Name, i, text[i], c.Steps, text)
			}
		})
	}
}

// eachByteChanged calls check with the text, in which one byte is another.
func eachByteChanged(right string, check func(text []byte, i int)) {
	step := 1
	if strings.Count(right, `"log_key"`) > 2 {
		step = 97
	}
	for i := 0; i < len(right); i += step {
		for _, change := range []byte{1, 0x20, 0x80} {
			text := []byte(right)
			text[i] ^= change
			check(text, i)
		}
	}
}

// Another base64 text of the same bytes is rejected.
func TestUnusedBitsAreRejected(t *testing.T) {
	for _, v := range readVectors(t, "proofs") {
		// Two bits of the last digit in the base64 of 32 bytes are unused.
		if v.Verdict != verified {
			continue
		}
		parts := strings.SplitAfter(v.Proof, `=\n`)
		for i, part := range parts[:len(parts)-1] {
			last := part[len(part)-4]
			text := strings.Join(parts[:i], "") + part[:len(part)-4] + string(last+1) + `=\n` + strings.Join(parts[i+1:], "")
			if c := prooffile.Verify([]byte(text), &prooffile.Inputs{Key: []byte(v.Key)}); c.Verdict != prooffile.VerdictFalse || !c.Steps.Has(prooffile.StepProof, prooffile.Wrong) && !c.Steps.Has(prooffile.StepCommitted, prooffile.Wrong) {
				t.Errorf("%s: hash %d ends with %c for %c: %+v", v.Name, i, last+1, last, c.Steps)
			}
		}
	}
}
