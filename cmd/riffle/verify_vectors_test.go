package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit/prooffile"
)

// A verdictVector is a vector of any file in testdata/riffle1, as what the command is given, and its
// verdict.
type verdictVector struct {
	Name, Key, Items, Order, Hand string
	Salt                          string `json:"items_salt"`
	HandOf                        string `json:"hand_of"`
	AnyOrder                      bool   `json:"any_order"`
	Files                         []string
	Proof, Proofs                 string // more files
	Commitment                    string `json:"commitment_proof"`
	Texts                         []struct{ Name, Text, Role string }
	Expect, Step                  string
	Verdict                       prooffile.Verdict
}

// A result is the output of the command with --json.
type result struct {
	Verdict  prooffile.Verdict
	Headline string
	Steps    []map[string]any
}

// verdictVectors returns the vectors of all files, by the name of the file and their own.
func verdictVectors(t *testing.T) map[string]verdictVector {
	t.Helper()
	vectors := map[string]verdictVector{}
	for file, lists := range map[string][]string{
		"proofs": {"proofs", "wrong"}, "salted": {"proofs", "wrong"}, "shoes": {"shoes", "hands", "wrong"}, "verdicts": {"verdicts"}, "fuzzed": {"verdicts"}, "witnesses": {"verdicts"}, "books": {"verdicts"}, "beacons": {"verdicts"}, "players": {"verdicts"},
	} {
		text, err := os.ReadFile("../../testdata/riffle1/" + file + ".json")
		require.NoError(t, err)
		var all map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(text, &all))
		for _, list := range lists {
			var members []verdictVector
			require.NoError(t, json.Unmarshal(all[list], &members))
			for _, v := range members {
				switch {
				case v.Verdict != "":
				case v.Step != "":
					v.Verdict = prooffile.VerdictFalse
				case v.Expect == "held-back" || v.Expect == "unknown-kind" || v.Expect == "unchecked" || v.Expect == "open" && v.Hand == "":
					v.Verdict = prooffile.VerdictUnchecked
				default:
					v.Verdict = prooffile.VerdictVerified
				}
				for _, text := range []string{v.Proof, v.Proofs, v.Commitment} {
					if text != "" {
						v.Files = append(v.Files, text)
					}
				}
				vectors[file+": "+v.Name] = v
			}
		}
	}
	return vectors
}

// verify runs the command with --json.
func (v *verdictVector) verify(t *testing.T) (code int, found *result) {
	t.Helper()
	folder := t.TempDir()
	args := []string{"verify", "--json"}
	for name, text := range map[string]string{"--items": v.Items, "--order": v.Order, "--hand": v.Hand} {
		if text != "" {
			args = append(args, name, write(t, filepath.Join(folder, name), text))
		}
	}
	for name, value := range map[string]string{"--items-salt": v.Salt, "--hand-of": v.HandOf, "--key": v.Key} {
		if value != "" {
			args = append(args, name, value)
		}
	}
	if v.AnyOrder {
		args = append(args, "--any-order")
	}
	for i, text := range v.Files {
		args = append(args, "--proof", write(t, filepath.Join(folder, strconv.Itoa(i)), text))
	}
	for _, text := range v.Texts {
		if text.Role != "" {
			args = append(args, "--"+text.Role)
		}
		args = append(args, write(t, filepath.Join(folder, text.Name), text.Text))
	}
	var out bytes.Buffer
	if err := run(t.Context(), args, &out, io.Discard); err != nil {
		code = exitCode(err)
	}
	err := json.Unmarshal(out.Bytes(), &found)
	require.NoErrorf(t, err, "%s: %v\n%s", v.Name, err, &out)
	return code, found
}

// Every vector has its verdict, and the exit code that goes with it. Package prooffile checks the steps,
// the roles and the summary.
func TestVerdicts(t *testing.T) {
	codes := map[prooffile.Verdict]int{prooffile.VerdictVerified: 0, prooffile.VerdictFalse: exitFindings, prooffile.VerdictUnchecked: exitUnchecked}
	for name, v := range verdictVectors(t) {
		if v.Step == "committed" && v.Texts == nil {
			continue // some are of no commitment of this shuffle, and the command does not take them for one
		}
		code, found := v.verify(t)
		assert.Truef(t, found.Verdict == v.Verdict && code == codes[v.Verdict],
			"%s: %s, exit code %d, want %s:\n%s\n%+v", name, found.Verdict, code, v.Verdict, found.Headline, found.Steps)
	}
}
