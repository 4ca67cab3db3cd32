package prooffile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/deck"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

func readVectors(t testing.TB) (v vectors) {
	t.Helper()
	text, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func catalogue(t testing.TB) *deck.Catalogue {
	t.Helper()
	c, err := deck.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func given(t testing.TB, key string, items, commitment *string) *prooffile.Given {
	t.Helper()
	g := &prooffile.Given{Key: key, Decks: catalogue(t)}
	if commitment != nil {
		g.Commitment = []byte(*commitment)
	}
	if items != nil {
		var err error
		if g.Items, err = prooffile.ParseItems([]byte(*items)); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func TestVectorsHold(t *testing.T) {
	for _, v := range readVectors(t).Proofs {
		t.Run(v.Name, func(t *testing.T) {
			for _, items := range []*string{v.Items, nil} {
				g := given(t, v.Key, items, v.CommitmentProof)
				if v.Orders != nil {
					g.Order = orderOf(t, &v)
				}
				r := prooffile.Check([]byte(v.Proof), g)
				if r.Failed() != nil {
					t.Fatalf("%+v", r.Steps)
				}
				if err := expected(&v, r, items != nil); err != nil {
					t.Errorf("%v: %+v", err, r.Steps)
				}
				if string(r.File.Text()) != v.Proof {
					t.Errorf("it is read as\n%s, want\n%s", r.File.Text(), v.Proof)
				}
			}
		})
	}
}

// expected returns an error unless the result is what the vector is to come to, with the items given or not.
func expected(v *vector, r *prooffile.RecordResult, items bool) error {
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
		"verified": audit.KindShuffle, "held-back": audit.KindShuffle,
		"commitment": audit.KindCommitment, "void": audit.KindVoid, "reveal": audit.KindReveal,
	}
	if r.Record.Kind != kinds[v.Expect] {
		return fmt.Errorf("it is of kind %s", r.Record.Kind)
	}
	known := items || v.Items == nil || strings.HasPrefix(r.Record.Statement.Input, "deck")
	if want := v.Expect != "held-back" && known; (r.Unchecked() == nil) != want || r.HeldBack() != (v.Expect == "held-back") {
		return fmt.Errorf("checked to the end: want %v", want)
	}
	return nil
}

// orderOf makes the plain order that the service would have answered.
func orderOf(t testing.TB, v *vector) *prooffile.Order {
	t.Helper()
	var items []json.RawMessage
	if v.Items != nil {
		if err := json.Unmarshal([]byte(*v.Items), &items); err != nil {
			t.Fatal(err)
		}
	}
	var shuffles []string
	for _, positions := range v.Orders {
		var list []string
		for _, p := range positions {
			if v.Items == nil {
				list = append(list, fmt.Sprint(p))
			} else {
				list = append(list, string(items[p]))
			}
		}
		shuffles = append(shuffles, "["+strings.Join(list, ", ")+"]")
	}
	text := shuffles[0]
	if len(shuffles) > 1 {
		text = "[" + strings.Join(shuffles, ",\n") + "]"
	}
	return parseOrder(t, text)
}

func parseOrder(t testing.TB, text string) *prooffile.Order {
	t.Helper()
	order, err := prooffile.ParseOrder([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return order
}

func TestWrongVectorsFailAtTheirStep(t *testing.T) {
	steps := map[string]bool{}
	for _, v := range readVectors(t).Wrong {
		r := prooffile.Check([]byte(v.Proof), given(t, v.Key, v.Items, v.CommitmentProof))
		steps[v.Step] = true
		if failed := r.Failed(); failed == nil || failed.Name != v.Step {
			t.Errorf("%s: want it to fail at the step %s: %+v", v.Name, v.Step, r.Steps)
		}
	}
	for _, step := range []string{"proof", "record", "commitment", "keys", "items", "inclusion", "signature", "committed"} {
		if !steps[step] {
			t.Errorf("of no vector the step %s fails", step)
		}
	}
}

// TestFileWithAnyByteChangedFails changes every byte of every vector, and of the proof of the commitment that comes with
// it.
func TestFileWithAnyByteChangedFails(t *testing.T) {
	t.Parallel()
	steps := []string{"proof", "record", "commitment", "keys", "items", "inclusion", "signature"}
	for _, v := range readVectors(t).Proofs {
		g := given(t, v.Key, nil, v.CommitmentProof)
		eachByteChanged(v.Proof, func(text []byte, i int) {
			r := prooffile.Check(text, g)
			if failed := r.Failed(); failed == nil || !slices.Contains(steps, failed.Name) {
				t.Fatalf("%s: byte %d as %q, and no step fails: %+v\n%s", v.Name, i, text[i], r.Steps, text)
			}
		})
		if v.CommitmentProof == nil {
			continue
		}
		eachByteChanged(*v.CommitmentProof, func(text []byte, i int) {
			g.Commitment = text
			r := prooffile.Check([]byte(v.Proof), g)
			if failed := r.Failed(); failed == nil || failed.Name != prooffile.StepCommitted {
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

// named returns a vector that holds.
func named(t testing.TB, name string) vector {
	t.Helper()
	list := readVectors(t).Proofs
	i := slices.IndexFunc(list, func(v vector) bool { return v.Name == name })
	if i < 0 {
		t.Fatalf("there is no vector %s", name)
	}
	return list[i]
}

// Lines of others may stand under a checkpoint, and one of the key may stand there twice.
func TestSignaturesOfOthersArePassedOver(t *testing.T) {
	v := named(t, "fisher-yates")
	file, err := prooffile.Parse([]byte(v.Proof))
	if err != nil {
		t.Fatal(err)
	}
	_, signatures, _ := strings.Cut(string(file.Inclusion.Checkpoint), "\n\n")
	for name, lines := range map[string]string{
		"of a witness":                  "— example.com/witness " + strings.Repeat("A", 90) + "==\n",
		"of the name, with another key": "— example.com/log " + strings.Repeat("A", 90) + "==\n",
		"the same again":                signatures,
		"of one byte":                   "— example.com/witness AAAAAAA=\n",
		"99 more":                       strings.Repeat("— example.com/witness AAAAAAA=\n", 99),
	} {
		changed := clone(file)
		addLine(lines)(changed)
		if r := prooffile.Check(changed.Text(), given(t, v.Key, v.Items, nil)); r.Failed() != nil {
			t.Errorf("%s: %+v", name, r.Steps)
		}
	}
}

// What is given beside a record that names no commitment is not compared with it, and that is told.
func TestCommitmentOfAnotherIsNotChecked(t *testing.T) {
	commitment := named(t, "commitment")
	for _, name := range []string{"fisher-yates", "reveal", "void", "commitment"} {
		v := named(t, name)
		r := prooffile.Check([]byte(v.Proof), given(t, v.Key, nil, &commitment.Proof))
		if step := r.Unchecked(); r.Failed() != nil || step == nil || step.Name != prooffile.StepCommitted {
			t.Errorf("%s: %+v", name, r.Steps)
		}
	}
}

// A forger can name a replay that takes for ever, and the proof of a commitment has none to make.
func TestCommitmentIsNotReplayed(t *testing.T) {
	s := audit.Statement{
		Algorithm: shuffle.AlgorithmFisherYates, Size: 2, Draw: 2, Repeat: audit.MaxSize, Input: audit.RangeInput, Seed: make(rng.Seed, rng.BlockSize),
	}
	signer, public := logKey(t, origin, 1)
	record, seed := recordOf("endless", s, "", nil)
	f := &prooffile.File{Record: record.Append(nil), Seed: seed, LogKey: public}
	f.Inclusion = include(t, f.Record, 0, 1, signer)
	v, endless := named(t, "worked, committed"), string(f.Text())
	r := prooffile.Check([]byte(v.Proof), given(t, v.Key, nil, &endless))
	if failed := r.Failed(); failed == nil || failed.Name != prooffile.StepCommitted || !strings.Contains(failed.Detail, "is no commitment") {
		t.Errorf("%+v", r.Steps)
	}
}

// An order may be given as it was answered, or as the list alone, and no value of it may be another.
func TestOrdersAreCompared(t *testing.T) {
	once, hands, twice, range4 := named(t, "fisher-yates"), named(t, "hands and a client seed"), named(t, "items with hands, twice"), named(t, "four of very many")
	record := func(v *vector) *audit.Record {
		t.Helper()
		r := prooffile.Check([]byte(v.Proof), given(t, v.Key, nil, v.CommitmentProof))
		return r.Record
	}
	list := func(v *vector, number, from, to int) string {
		t.Helper()
		var items []json.RawMessage
		if err := json.Unmarshal([]byte(*v.Items), &items); err != nil {
			t.Fatal(err)
		}
		var values []string
		for _, p := range v.Orders[number][from:to] {
			values = append(values, string(items[p]))
		}
		return "[" + strings.Join(values, ",") + "]"
	}
	handsOf := func(v *vector) string {
		return `"hands":[` + list(v, 0, 0, 13) + "," + list(v, 0, 13, 26) + "," + list(v, 0, 26, 39) + `],"rest":` + list(v, 0, 39, 52)
	}
	id := `{"audit_id":"` + record(&once).ID.String() + `",`
	shuffles := func(first, second string) string { return `{"shuffles":[` + first + "," + second + `]}` }
	split := func(n int) string {
		return "[" + list(&twice, n, 0, 2) + "," + list(&twice, n, 2, 4) + "," + list(&twice, n, 4, 5) + "]"
	}
	numbers, err := json.Marshal(range4.Orders[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		of    *vector
		order string
		want  string // what the step says; empty if it holds
	}{
		{"the answer", &once, id + `"items":` + list(&once, 0, 0, 12) + "}", ""},
		{"an answer of one shuffle in a list", &once, `{"shuffles":[` + list(&once, 0, 0, 12) + "]}", ""},
		{"white space", &once, "{ \"items\" :\n " + strings.ReplaceAll(list(&once, 0, 0, 12), "[1,[]]", "[ 1 , [ ] ]") + "\n}\n", ""},
		{"the answer to another", &once, strings.Replace(id, record(&once).ID.String(), record(&hands).ID.String(), 1) + `"items":` + list(&once, 0, 0, 12) + "}", "is the answer to"},
		{"one too few", &once, list(&once, 0, 0, 11), "has 11 items, and 12 were drawn"},
		{"none", &once, "[]", "has 0 items, and 12 were drawn"},
		{"another number of the same value", &once, strings.Replace(list(&once, 0, 0, 12), "1.0", "1.00", 1), "has 1.00 at place"},
		{"an escape", &once, strings.Replace(list(&once, 0, 0, 12), `"\u0041"`, `"A"`, 1), `where the replay has "\u0041"`},
		{"two exchanged", &once, strings.NewReplacer("null", "true", "true", "null").Replace(list(&once, 0, 0, 12)), "at place"},
		{"hands", &hands, "{" + handsOf(&hands) + "}", ""},
		{"hands as one list", &hands, list(&hands, 0, 0, 52), ""},
		{"a card in another hand", &hands, strings.Replace("{"+handsOf(&hands)+"}", "],[", ",", 1), "has 2 hands, and 3 were dealt"},
		{"a longer hand", &hands, `{"hands":[` + list(&hands, 0, 0, 14) + "," + list(&hands, 0, 14, 26) + "," + list(&hands, 0, 26, 39) + `],"rest":` + list(&hands, 0, 39, 52) + "}", "hand 0, from 0, of the order given has 14 items"},
		{"shuffles", &twice, shuffles(split(0), split(1)), ""},
		{"shuffles without hands", &twice, "[" + list(&twice, 0, 0, 5) + "," + list(&twice, 1, 0, 5) + "]", ""},
		{"shuffles exchanged", &twice, shuffles(split(1), split(0)), "shuffle 0, from 0: the order given has"},
		{"a shuffle too few", &twice, `{"shuffles":[` + split(0) + "]}", "is of 1 shuffle(s), and there were 2"},
		{"no list", &twice, `[1,2]`, "a shuffle of the order given"},
		{"numbers", &range4, string(numbers), ""},
		{"a number as text", &range4, `["1",2,3,4]`, `has "1" at place 0`},
	} {
		g := given(t, c.of.Key, c.of.Items, nil)
		g.Order = parseOrder(t, c.order)
		r := prooffile.Check([]byte(c.of.Proof), g)
		failed := r.Failed()
		switch {
		case c.want == "" && (failed != nil || r.Unchecked() != nil):
			t.Errorf("%s: %+v", c.name, r.Steps)
		case c.want != "" && (failed == nil || failed.Name != prooffile.StepOrder || !strings.Contains(failed.Detail, c.want)):
			t.Errorf("%s: want the order to fail with %q: %+v", c.name, c.want, r.Steps)
		}
	}
}

func TestWhatIsNoOrderIsRefused(t *testing.T) {
	for _, text := range []string{"", "1", `"x"`, "{}", `{"hands":[]}`, "[1,2", "[1] [2]", `{"items":1}`, `{"items":[],"items":[]}`, "\xff"} {
		if _, err := prooffile.ParseOrder([]byte(text)); err == nil {
			t.Errorf("%q is an order", text)
		}
		if _, err := prooffile.ParseItems([]byte(text)); err == nil {
			t.Errorf("%q are items", text)
		}
	}
}

// What decodes to the same bytes is not the same text.
func TestUnusedBitsAreRefused(t *testing.T) {
	for _, v := range readVectors(t).Proofs {
		parts := strings.SplitAfter(v.Proof, `=\n`) // hashes of 32 bytes end with four bits of which two are unused
		for i, part := range parts[:len(parts)-1] {
			last := part[len(part)-4]
			text := strings.Join(parts[:i], "") + part[:len(part)-4] + string(last+1) + `=\n` + strings.Join(parts[i+1:], "")
			if r := prooffile.Check([]byte(text), given(t, v.Key, nil, v.CommitmentProof)); r.Failed() == nil || r.Failed().Name != prooffile.StepProof {
				t.Errorf("%s: hash %d ends with %c for %c: %+v", v.Name, i, last+1, last, r.Steps)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, v := range readVectors(f).Proofs {
		f.Add([]byte(v.Proof))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if file, err := prooffile.Parse(text); err == nil && !bytes.Equal(file.Text(), text) {
			t.Errorf("%q was read, and is written as %q", text, file.Text())
		}
	})
}

// BenchmarkCheck is a verification of a deck of 52, without reading the file.
func BenchmarkCheck(b *testing.B) {
	v := readVectors(b).Proofs[0]
	g := given(b, v.Key, nil, nil)
	for b.Loop() {
		if r := prooffile.Check([]byte(v.Proof), g); r.Failed() != nil {
			b.Fatalf("%+v", r.Steps)
		}
	}
	b.ReportMetric(60*float64(b.N)/b.Elapsed().Seconds(), "proofs/min")
}
