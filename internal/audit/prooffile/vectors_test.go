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
)

// A vector is one of any file in testdata/riffle1, whose README.md describes them. The verifiers in
// all languages share them. Those in fuzzed.json are what fuzzing found, made small.
type vector struct {
	Name            string          `json:"name"`
	Proof           string          `json:"proof,omitempty"`
	Proofs          string          `json:"proofs,omitempty"`
	CommitmentProof string          `json:"commitment_proof,omitempty"`
	Files           []string        `json:"files,omitempty"`
	Texts           []textVector    `json:"texts,omitempty"`
	Key             string          `json:"key,omitempty"`
	Items           string          `json:"items,omitempty"`
	ItemsSalt       string          `json:"items_salt,omitempty"`
	Order           string          `json:"order,omitempty"`
	Hand            string          `json:"hand,omitempty"`
	HandOf          string          `json:"hand_of,omitempty"`
	AnyOrder        bool            `json:"any_order,omitempty"`
	Orders          json.RawMessage `json:"orders,omitempty"`
	Expect          string          `json:"expect,omitempty"`
	Verdict         string          `json:"verdict,omitempty"`
	Step            string          `json:"step,omitempty"`
	Roles           []any           `json:"roles,omitempty"`
	Summary         map[string]any  `json:"summary,omitempty"`
}

// A textVector is a text that a verifier sorts, unless it has a role.
type textVector struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Role string `json:"role,omitempty"`
}

// The verdicts.
const (
	verified  = "verified"
	isFalse   = "false"
	unchecked = "unchecked"
)

// readVectors returns the vectors of some lists, each named by its file and its name there.
func readVectors(t testing.TB, lists ...string) (all []vector) {
	t.Helper()
	for _, list := range lists {
		file, name, _ := strings.Cut(list, " ")
		text, err := os.ReadFile("../../../testdata/riffle1/" + file + ".json")
		require.NoError(t, err)
		var content map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(text, &content))
		var vectors []vector
		require.NoError(t, json.Unmarshal(content[name], &vectors))
		all = append(all, vectors...)
	}
	return all
}

// allVectors returns every vector, with what is given to a verifier as its texts, and with its
// verdict.
func allVectors(t testing.TB) []vector {
	t.Helper()
	all := readVectors(t, "proofs proofs", "proofs wrong", "salted proofs", "salted wrong", "shoes shoes", "shoes hands", "shoes wrong", "verdicts verdicts", "fuzzed verdicts", "witnesses verdicts", "books verdicts", "beacons verdicts", "players verdicts")
	for i := range all {
		v := &all[i]
		switch isOpen := v.Expect == "open" && v.Hand == ""; {
		case v.Verdict != "":
		case v.Step != "":
			v.Verdict = isFalse
		case isOpen || slices.Contains([]string{"held-back", "unknown-kind", "unchecked"}, v.Expect):
			v.Verdict = unchecked
		default:
			v.Verdict = verified
		}
		for _, given := range []textVector{{"--items-salt", v.ItemsSalt, "salt"}, {"--items", v.Items, "items"}, {"--order", v.Order, "order"}, {"--hand", v.Hand, "hand"}, {"0", v.Proof + v.Proofs, "proof"}, {"1", v.CommitmentProof, "proof"}} {
			if given.Text != "" {
				v.Texts = append(v.Texts, given)
			}
		}
		for at, text := range v.Files {
			v.Texts = append(v.Texts, textVector{string(rune('0' + at)), text, "proof"})
		}
	}
	return all
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

// named returns the vector with the name of a list.
func named(t testing.TB, list, name string) vector {
	t.Helper()
	vectors := readVectors(t, list)
	i := slices.IndexFunc(vectors, func(v vector) bool { return v.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return vectors[i]
}

// Every vector has its verdict, which its step decides, and the roles and the summary that it
// names.
func TestVectors(t *testing.T) {
	decks := catalogue(t)
	for _, v := range allVectors(t) {
		if v.Step == prooffile.StepCommitted && v.CommitmentProof != "" { // some are proofs of other records
			r := prooffile.VerifyRecord([]byte(v.Proof), given(t, v.Key, v.Items, commitmentOf(v.Proof, v.CommitmentProof)))
			assert.Truef(t, r.Failed() != nil && r.Failed().Name == v.Step, "%s: %+v", v.Name, r.Steps)
			continue
		}
		found := verifyHere(&v, decks)
		assert.Equalf(t, v.Verdict, found.Verdict, "%s: %+v", v.Name, found)
		if v.Verdict == isFalse || v.Step != "" {
			assert.Truef(t, found.isStep(v.Step), "%s: not at %s: %+v", v.Name, v.Step, found)
		}
		if v.Summary != nil {
			assert.Equal(t, v.Summary, found.Summary, v.Name)
		}
		if v.Roles != nil {
			assert.Equal(t, v.Roles, found.roles(v.Texts[:len(v.Roles)]), v.Name) // not of those from other members
		}
		if v.Expect != "" {
			keyless := v
			keyless.Key = ""
			assert.Equal(t, unchecked, verifyHere(&keyless, decks).Verdict, v.Name)
		}
		if file, err := prooffile.Parse([]byte(v.Proof)); v.Verdict == verified && v.Proof != "" {
			require.NoError(t, err, v.Name)
			assert.Equal(t, v.Proof, string(file.Text()), v.Name)
			same, err := prooffile.Parse(prooffile.Split(file.TlogProof())[0])
			require.NoError(t, err, v.Name)
			assert.Equal(t, file, same, v.Name)
			require.NoError(t, new(proof.TLogProof).Unmarshal(file.TlogProof()), v.Name)
		}
	}
}

// The orders of the vectors are what was dealt, and others are not.
func TestOrdersOfVectors(t *testing.T) {
	decks := catalogue(t)
	for _, v := range allVectors(t) {
		if v.Proof == "" || v.Verdict != verified {
			continue
		}
		shuffles := v.answered(t)
		if len(shuffles) == 0 || v.Name == "salted, the items not given" {
			continue
		}
		order := func() string {
			if len(shuffles) == 1 {
				return compactJSON(t, shuffles[0])
			}
			return compactJSON(t, shuffles)
		}
		right := order()
		v.Texts = append(v.Texts, textVector{"order", right, "order"})
		found := verifyHere(&v, decks)
		assert.Equalf(t, "order", found.Summary["id"], "%s: %+v", v.Name, found)
		slices.Reverse(shuffles[0])
		if v.Texts[len(v.Texts)-1].Text = order(); order() != right {
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

// roles returns the roles of texts, in their order.
func (s *said) roles(texts []textVector) (roles []any) {
	for _, text := range texts {
		for _, file := range s.Files {
			if role := file.(map[string]any); role["name"] == text.Name {
				delete(role, "name")
				roles = append(roles, role)
			}
		}
	}
	return roles
}

// verifyFiles picks the verifier as [prooffile.Verify] does without a hand.
func verifyFiles(text []byte, g *prooffile.Given) *prooffile.Result {
	if files := prooffile.Split(text); len(files) > 1 {
		return prooffile.VerifyShoe(files, g)
	}
	return prooffile.VerifyRecord(text, g)
}

// TestFileWithAnyByteChangedFails changes every byte of every vector and of the proof of the
// commitment that comes with it, and some bytes of long shoes. Texts that are no longer JSON are
// not checked.
func TestFileWithAnyByteChangedFails(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t, "proofs proofs", "shoes shoes") {
		g := given(t, v.Key, "", commitmentOf(v.Proof+v.Proofs, v.CommitmentProof))
		eachByteChanged(v.Proof+v.Proofs, func(text []byte, i int) {
			r := verifyFiles(text, g)
			if failed := r.Failed(); !r.Has(prooffile.StepProof, prooffile.Unchecked) && (failed == nil || v.Proof != "" && failed.Name == prooffile.StepCommitted) {
				t.Fatalf("%s: byte %d as %q, and no step fails: %+v\n%s", v.Name, i, text[i], r.Steps, text)
			}
		})
		eachByteChanged(v.CommitmentProof, func(text []byte, i int) {
			g.Commitments = commitmentOf(v.Proof, string(text))
			r := verifyFiles([]byte(v.Proof), g)
			if failed := r.Failed(); !r.Has(prooffile.StepCommitted, prooffile.Unchecked) && (failed == nil || failed.Name != prooffile.StepCommitted) {
				t.Fatalf("%s: byte %d of the commitment's as %q, and it does not fail there: %+v\n%s", v.Name, i, text[i], r.Steps, text)
			}
		})
	}
}

// eachByteChanged calls check with the text, in which one byte is another.
func eachByteChanged(right string, check func(text []byte, i int)) {
	step := 1
	if strings.Count(right, "\n") > 4 {
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
	for _, v := range readVectors(t, "proofs proofs") {
		// Two bits of the last digit in the base64 of 32 bytes are unused.
		parts := strings.SplitAfter(v.Proof, `=\n`)
		for i, part := range parts[:len(parts)-1] {
			last := part[len(part)-4]
			text := strings.Join(parts[:i], "") + part[:len(part)-4] + string(last+1) + `=\n` + strings.Join(parts[i+1:], "")
			if r := prooffile.VerifyRecord([]byte(text), given(t, v.Key, "", commitmentOf(v.Proof, v.CommitmentProof))); !r.Has(prooffile.StepProof, prooffile.Wrong) {
				t.Errorf("%s: hash %d ends with %c for %c: %+v", v.Name, i, last+1, last, r.Steps)
			}
		}
	}
}
