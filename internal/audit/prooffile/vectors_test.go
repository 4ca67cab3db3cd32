package prooffile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
)

// vectorsFile is shared by the verifiers in all languages; testdata/riffle1/README.md describes it.
const vectorsFile = "../../../testdata/riffle1/proofs.json"

// vectors is the content of the file.
type vectors struct {
	Proofs []vector      `json:"proofs"`
	Wrong  []wrongVector `json:"wrong"`
}

// A vector is a valid proof file.
type vector struct {
	Name  string  `json:"name"`
	Proof string  `json:"proof"`
	Items *string `json:"items"`
	// ItemsSalt is the salt of the items, if it is given.
	ItemsSalt string     `json:"items_salt,omitempty"`
	Orders    [][]uint64 `json:"orders"`
	Key       string     `json:"key"`
	Expect    string     `json:"expect"`
	// CommitmentProof is the proof file of the commitment that the record names, if it is given.
	CommitmentProof *string `json:"commitment_proof,omitempty"`
}

// A wrongVector is a proof file that fails at a step.
type wrongVector struct {
	Name  string  `json:"name"`
	Proof string  `json:"proof"`
	Items *string `json:"items"`
	// ItemsSalt is as in a vector.
	ItemsSalt string `json:"items_salt,omitempty"`
	Key       string `json:"key"`
	Step      string `json:"step"`
	// CommitmentProof is as in a vector.
	CommitmentProof *string `json:"commitment_proof,omitempty"`
}

// read reads a file of vectors.
func read[T any](t testing.TB, file string) (v T) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	require.NoError(t, err)
	return v
}

func readVectors(t testing.TB) vectors { return read[vectors](t, vectorsFile) }

// named returns the valid vector with the name.
func named(t testing.TB, name string) vector {
	t.Helper()
	list := readVectors(t).Proofs
	i := slices.IndexFunc(list, func(v vector) bool { return v.Name == name })
	if i < 0 {
		t.Fatalf("there is no vector %s", name)
	}
	return list[i]
}

func TestVectorsHold(t *testing.T) {
	for _, v := range append(readVectors(t).Proofs, readSalted(t).Proofs...) {
		t.Run(v.Name, func(t *testing.T) {
			for _, items := range []*string{v.Items, nil} {
				g := given(t, v.Key, items, v.CommitmentProof)
				g.ItemsSalt = v.ItemsSalt
				if v.Orders != nil && v.Name != "salted, the items not given" {
					g.Order = orderOf(t, &v)
				}
				r := prooffile.VerifyRecord([]byte(v.Proof), g)
				if r.Failed() != nil {
					t.Fatalf("%+v", r.Steps)
				}
				err := expected(&v, r, items != nil)
				assert.NoErrorf(t, err, "%v: %+v", err, r.Steps)
				assert.Equalf(t, v.Proof, string(r.File.Text()), "it is read as\n%s, want", r.File.Text())
			}
		})
	}
}

// expected compares the result with the vector's, with the items given or not.
func expected(v *vector, r *prooffile.Result, items bool) error {
	last, committed := r.Steps[len(r.Steps)-1], prooffile.Step{State: -1}
	if last.Name == prooffile.StepCommitted {
		last, committed = r.Steps[len(r.Steps)-2], last
	}
	if last.Name != prooffile.StepSignature || last.State != prooffile.OK {
		return errors.New("the last step is not the signature")
	}
	if v.Expect == "unknown-kind" {
		if r.Record != nil || r.Unchecked() == nil || r.Unchecked().Name != prooffile.StepRecord {
			return errors.New("its kind is known")
		}
		return nil
	}
	names := strings.Contains(string(r.File.Record), `"commitment_id"`) && r.Record.Kind == audit.KindShuffle
	switch {
	case names && v.CommitmentProof != nil && committed.State != prooffile.OK:
		return errors.New("it is not found to be committed")
	case names && v.CommitmentProof == nil && (committed.State != prooffile.Skipped || !strings.Contains(committed.Detail, r.Record.CommitmentID.String())):
		return errors.New("it does not say which commitment is missing")
	case !names && committed.State != -1:
		return errors.New("there is a step for what it does not name")
	}
	kinds := map[string]audit.Kind{
		"verified": audit.KindShuffle, "held-back": audit.KindShuffle, "unchecked": audit.KindShuffle,
		"commitment": audit.KindCommitment, "void": audit.KindVoid, "reveal": audit.KindReveal,
		"log-begin": audit.KindLogBegin, "log-end": audit.KindLogEnd,
	}
	if r.Record.Kind != kinds[v.Expect] {
		return fmt.Errorf("it is of kind %s", r.Record.Kind)
	}
	known := items || v.Items == nil || strings.HasPrefix(r.Record.Statement.Input, "deck")
	if v.Expect == "unchecked" && items && !r.Has(prooffile.StepItems, prooffile.Unchecked) {
		return errors.New("the items are not what cannot be checked")
	}
	if want := v.Expect != "held-back" && v.Expect != "unchecked" && known; (r.Unchecked() == nil) != want || r.HeldBack() != (v.Expect == "held-back") {
		return fmt.Errorf("checked to the end: want %v", want)
	}
	return nil
}

func TestWrongVectorsFailAtTheirStep(t *testing.T) {
	steps := map[string]bool{}
	for _, v := range append(readVectors(t).Wrong, readSalted(t).Wrong...) {
		g := given(t, v.Key, v.Items, v.CommitmentProof)
		g.ItemsSalt = v.ItemsSalt
		r := prooffile.VerifyRecord([]byte(v.Proof), g)
		steps[v.Step] = true
		if failed := r.Failed(); failed == nil || failed.Name != v.Step {
			t.Errorf("%s: want it to fail at the step %s: %+v", v.Name, v.Step, r.Steps)
		}
	}
	for _, step := range []string{"proof", "record", "commitment", "keys", "items", "inclusion", "signature", "committed"} {
		assert.Truef(t, steps[step], "of no vector the step %s fails", step)
	}
}

// TestFileWithAnyByteChangedFails changes every byte of every vector, and of the proof of the
// commitment that comes with it. Texts that are no longer JSON are not checked.
func TestFileWithAnyByteChangedFails(t *testing.T) {
	t.Parallel()
	steps := []string{"proof", "record", "commitment", "keys", "items", "inclusion", "signature"}
	for _, v := range readVectors(t).Proofs {
		g := given(t, v.Key, nil, v.CommitmentProof)
		eachByteChanged(v.Proof, func(text []byte, i int) {
			r := prooffile.VerifyRecord(text, g)
			failed := r.Failed()
			if !r.Has(prooffile.StepProof, prooffile.Unchecked) && (failed == nil || !slices.Contains(steps, failed.Name)) {
				t.Fatalf("%s: byte %d as %q, and no step fails: %+v\n%s", v.Name, i, text[i], r.Steps, text)
			}
		})
		if v.CommitmentProof == nil {
			continue
		}
		eachByteChanged(*v.CommitmentProof, func(text []byte, i int) {
			g.Commitment = text
			r := prooffile.VerifyRecord([]byte(v.Proof), g)
			failed := r.Failed()
			if !r.Has(prooffile.StepCommitted, prooffile.Unchecked) && (failed == nil || failed.Name != prooffile.StepCommitted) {
				t.Fatalf("%s: byte %d of the commitment's as %q, and it does not fail there: %+v\n%s", v.Name, i, text[i], r.Steps, text)
			}
		})
	}
}

// eachByteChanged calls check with the text, in which one byte is another.
func eachByteChanged(right string, check func(text []byte, i int)) {
	for i := range right {
		for _, change := range []byte{1, 0x20, 0x80} {
			text := []byte(right)
			text[i] ^= change
			check(text, i)
		}
	}
}

// Another base64 text of the same bytes is rejected.
func TestUnusedBitsAreRejected(t *testing.T) {
	for _, v := range readVectors(t).Proofs {
		// Two bits of the last digit in the base64 of 32 bytes are unused.
		parts := strings.SplitAfter(v.Proof, `=\n`)
		for i, part := range parts[:len(parts)-1] {
			last := part[len(part)-4]
			text := strings.Join(parts[:i], "") + part[:len(part)-4] + string(last+1) + `=\n` + strings.Join(parts[i+1:], "")
			if r := prooffile.VerifyRecord([]byte(text), given(t, v.Key, nil, v.CommitmentProof)); r.Failed() == nil || r.Failed().Name != prooffile.StepProof {
				t.Errorf("%s: hash %d ends with %c for %c: %+v", v.Name, i, last+1, last, r.Steps)
			}
		}
	}
}
