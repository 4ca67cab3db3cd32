package prooffile_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/deck"
)

// A said holds the words of a verifier on a case.
type said struct {
	Verdict  string           `json:"verdict"`
	Headline string           `json:"headline"`
	Notes    []string         `json:"notes"`
	Messages []any            `json:"messages"`
	Steps    []map[string]any `json:"steps"`
	Summary  map[string]any   `json:"summary"`
	Seconds  float64          `json:"seconds"` // of the processor, or at least not more than passed
}

// A verifier says something of each case.
type verifier struct {
	name string
	say  func(cases []vector) ([]*said, error)
}

// hangs is the time after which a verifier does not end, also on a machine that is busy.
const hangs = 2 * time.Minute

// bothVerifiers are those in Go and JavaScript.
func bothVerifiers(t testing.TB) []verifier {
	decks := catalogue(t)
	return []verifier{
		{"riffle verify", func(cases []vector) (list []*said, err error) {
			for i := range cases {
				list = append(list, verifyHere(&cases[i], decks))
			}
			return list, nil
		}},
		{"riffle.mjs", program(t)},
	}
}

// needsPackages skips a test of signatures that the verifier in JavaScript checks with its packages.
func needsPackages(t testing.TB) {
	if _, err := os.Stat("../../../web/node_modules"); err != nil && os.Getenv("CI") == "" {
		t.Skip("the packages of riffle.mjs are missing: run npm ci in web")
	}
}

// FuzzVerifiersAgree gives vectors with changes to both verifiers, Go's and that in JavaScript. They
// say the same, each within a second. Without -fuzz the changes are the same in every run.
func FuzzVerifiersAgree(f *testing.F) {
	needsPackages(f)
	corpus := readVectors(f, vectorFiles...)
	verifiers := bothVerifiers(f)
	random := rand.New(rand.NewPCG(24, 0))
	for range 500 {
		choices := make([]byte, 4+random.IntN(16))
		for i := range choices {
			choices[i] = byte(random.Uint32())
		}
		f.Add(uint16(random.IntN(len(corpus))), choices, "x")
	}
	f.Fuzz(func(t *testing.T, number uint16, choices []byte, text string) {
		m := &mutator{choices, strings.ToValidUTF8(text, ""), corpus}
		v := m.mutate(t, &corpus[int(number)%len(corpus)])
		what := ""
		for range 3 { // it may have been the machine that was slow
			if what = disagreement(verifiers, sayAll(t, verifiers, []vector{*v}), time.Second); what == "" {
				break
			}
		}
		assert.Emptyf(t, what, "%s", compactJSON(t, v))
	})
}

// TestVerifiersAgree gives every vector to both verifiers, which say the same.
func TestVerifiersAgree(t *testing.T) {
	t.Parallel()
	needsPackages(t)
	verifiers := bothVerifiers(t)
	for cases := range slices.Chunk(readVectors(t, vectorFiles...), 50) {
		assert.Empty(t, disagreement(verifiers, sayAll(t, verifiers, cases), hangs))
	}
}

// sayAll has all verifiers say something of all cases.
func sayAll(t testing.TB, verifiers []verifier, cases []vector) [][]*said {
	t.Helper()
	defer time.AfterFunc(hangs, func() { panic("a verifier does not end: " + compactJSON(t, cases)) }).Stop()
	all := make([][]*said, len(verifiers))
	var asking errgroup.Group
	for i, v := range verifiers {
		asking.Go(func() (err error) {
			if all[i], err = v.say(cases); err != nil {
				err = fmt.Errorf("%s: %w", v.name, err)
			}
			return err
		})
	}
	require.NoError(t, asking.Wait(), compactJSON(t, cases))
	return all
}

// disagreement returns what verifiers do not agree on, or which of them takes longer than most for
// a case; empty for nothing.
func disagreement(verifiers []verifier, answers [][]*said, most time.Duration) string {
	for i, said := range answers {
		for k, answer := range said {
			if answer.Seconds > most.Seconds() {
				return fmt.Sprintf("%s takes %.1f s", verifiers[i].name, answer.Seconds)
			}
			if ours, theirs := answers[0][k].common(), answer.common(); !reflect.DeepEqual(ours, theirs) {
				return fmt.Sprintf("%s says %+v\nwhere %s says %+v", verifiers[i].name, *theirs, verifiers[0].name, *ours)
			}
		}
	}
	return ""
}

// ofMember matches the JSON of a message about a member of a record.
var ofMember = regexp.MustCompile(`{"id":"why\.record\.(?:member|missing)","values":{(?:[^"}]|"(?:[^"\\]|\\.)*")*}}`)

// common returns what all verifiers have to say: not which member of a record they found wrong, or
// which input they refused, since each reads them in an order of its own.
func (s *said) common() *said {
	if s.Summary["id"] == "refused" {
		return &said{Verdict: s.Verdict, Summary: map[string]any{"id": "refused"}}
	}
	c := *s
	c.Seconds = 0
	c.Steps = nil
	for _, step := range s.Steps {
		if step["ok"] == false {
			why, _ := json.Marshal(step["message"])
			step = map[string]any{"name": step["name"], "ok": false, "why": ofMember.ReplaceAllString(string(why), "a member")}
		}
		c.Steps = append(c.Steps, step)
	}
	return &c
}

// TestVerifiersAgreeOnLongTexts gives texts for which a careless verifier takes minutes, a gigabyte, or
// more stack than it has.
func TestVerifiersAgreeOnLongTexts(t *testing.T) {
	t.Parallel()
	signer, key := logKey(t, origin, 1)
	file := func(record []byte, seed []byte) vector {
		f := &prooffile.File{Record: record, Seed: seed, LogKey: key, Inclusion: include(t, record, 0, 1, signer)}
		return vector{Key: key, Proof: string(f.Text())}
	}
	many, seed := recordOf("many shuffles", audit.Statement{Algorithm: "fisher-yates", Size: 2, Draw: 2, Repeat: 130_000, Input: audit.RangeInput})
	const id, hash = "019b7ca9-8c88-7e34-8a29-e0ab08815401", "c4269cab7b668f7da7f0577e9150518c80985e7c261e2c9f033cea8989ee6408"
	const head = `{"id":"` + id + `","time":"2026-01-02T03:04:05.000000Z","kind":%q,"spec":"riffle/1",`
	runs := fmt.Appendf(nil, head+`"commitment":%q,"audit_id":%q,"version":2,"from":"shoe","taken":"top","cards":"1:0-4095%s","to":"dealt"}`,
		"draw", hash, id, strings.Repeat(" 1:0-4095", 30_000))
	one, oneSeed := recordOf("one shuffle", audit.Statement{Algorithm: "fisher-yates", Size: 2, Draw: 2, Repeat: 1, Input: audit.RangeInput})
	signed := file(one.Append(nil), oneSeed)
	signed.Proof = strings.Replace(signed.Proof, `\n","log_key"`, `\n— other `+strings.Repeat("A", 8<<20)+`\n","log_key"`, 1)
	unread := vector{Key: key, Proof: `{"spec":"riffle/1","shoe":[` + strings.Repeat(`{"record":1},`, 40_000) + "1]}"}
	verifiers := bothVerifiers(t)
	answers := sayAll(t, verifiers, []vector{file(many.Append(nil), seed), file(runs, nil), signed, unread})
	require.Empty(t, disagreement(verifiers, answers, hangs))
	for i, want := range []string{verified, isFalse, verified} {
		assert.Equal(t, want, answers[0][i].Verdict, answers[0][i].Headline)
	}
}

// verifyHere verifies in this process.
func verifyHere(v *vector, decks *deck.Catalogue) (s *said) {
	defer func() {
		if fault := recover(); fault != nil {
			s = &said{Verdict: fmt.Sprintf("panics: %v\n%s", fault, debug.Stack())}
		}
	}()
	began := time.Now()
	found := prooffile.Verify([]byte(v.Proof), v.inputs(decks))
	seconds := time.Since(began).Seconds()
	text, err := json.Marshal(found)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return &said{Verdict: err.Error()}
	}
	s.Seconds = seconds
	return s
}

// program starts the verifier in JavaScript, which lives as long as the test.
func program(t testing.TB) func(cases []vector) ([]*said, error) {
	command := exec.CommandContext(t.Context(), "../../../verifiers/run", "--stdin")
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	require.NoError(t, err)
	lines := json.NewDecoder(bufio.NewReader(out))
	t.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = command.Wait()
	})
	return func(cases []vector) (list []*said, err error) {
		written := make(chan error, 1)
		go func() {
			encoder := json.NewEncoder(in)
			var err error
			for i := range cases {
				if err == nil {
					err = encoder.Encode(&cases[i])
				}
			}
			written <- err
		}()
		for range cases {
			var s said
			if err := lines.Decode(&s); err != nil {
				return nil, err
			}
			list = append(list, &s)
		}
		return list, <-written
	}
}
