package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
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

// A result is the JSON that the command prints with --json, and the verifiers in other languages.
type result struct {
	Verdict  prooffile.Verdict
	Headline string
	Notes    []string
	Steps    []prooffile.ShownStep
}

// verdictVectors returns the vectors of all files, by the name of the file and their own.
func verdictVectors(t *testing.T) map[string]verdictVector {
	t.Helper()
	vectors := map[string]verdictVector{}
	for file, lists := range map[string][]string{
		"proofs": {"proofs", "wrong"}, "salted": {"proofs", "wrong"}, "shoes": {"shoes", "hands", "wrong"}, "verdicts": {"verdicts"}, "fuzzed": {"verdicts"},
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
	err := json.Unmarshal(bytes.ReplaceAll(out.Bytes(), []byte(folder+"/"), nil), &found)
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
		if found.Verdict != v.Verdict || code != codes[v.Verdict] {
			t.Errorf("%s: %s, exit code %d, want %s:\n%s\n%+v", name, found.Verdict, code, v.Verdict, found.Headline, found.Steps)
		}
	}
}

// The three verifiers say the same of every vector, in the same words: the verdict, the headline, the
// notes and each step, except for the reason why one is false.
func TestVerifiersAgree(t *testing.T) {
	t.Parallel()
	command := exec.Command("../../verifiers/run", "--results")
	command.Stderr = os.Stderr
	out, err := command.Output()
	require.NoError(t, err, "verifiers/run")
	vectors, compared := verdictVectors(t), map[string]map[string]bool{}
	expected := map[string]*result{}
	for name, v := range vectors {
		_, expected[name] = v.verify(t)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var line struct {
			By, Vector string
			Result     result
		}
		err := json.Unmarshal(lines.Bytes(), &line)
		require.NoErrorf(t, err, "%v: %s", err, lines.Text())
		if compared[line.By] == nil {
			compared[line.By] = map[string]bool{}
		}
		compared[line.By][line.Vector] = true
		want := expected[line.Vector]
		assert.Equalf(t, inWords(want), inWords(&line.Result), "%s says of %s", line.By, line.Vector)
	}
	for by, names := range compared {
		for name := range vectors {
			assert.Truef(t, names[name], "%s has not checked %s", by, name)
		}
	}
	if len(compared) < 2 && os.Getenv("CI") != "" {
		t.Errorf("%d verifiers were compared", len(compared))
	}
}

// inWords returns what the verifiers have to agree on.
func inWords(v *result) string {
	var text strings.Builder
	if given := regexp.MustCompile(`^Not checked: the (items|order|hand|answer|list|key|salt): `).FindString(v.Headline); given != "" {
		return string(v.Verdict) + ": " + given // and why it cannot be read
	}
	text.WriteString(string(v.Verdict) + ": " + v.Headline + "\n" + strings.Join(v.Notes, "\n"))
	for _, s := range v.Steps {
		switch {
		case s.OK == nil:
			text.WriteString("\n" + s.Name + " not checked: " + s.Text)
		case *s.OK:
			text.WriteString("\n" + s.Name + " ok: " + s.Text)
		default:
			text.WriteString("\n" + s.Name + " WRONG")
		}
	}
	return text.String()
}
