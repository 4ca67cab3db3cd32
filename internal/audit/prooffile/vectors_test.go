package prooffile_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/deck"
	"riffle/internal/ledger/proof"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

var update = flag.Bool("update", false, "write the vectors anew")

// vectorsFile is shared by the verifiers in all languages; testdata/riffle1/README.md describes it.
const vectorsFile = "../../../testdata/riffle1/proofs.json"

// vectors is what stands in the file.
type vectors struct {
	Spec   string        `json:"spec"`
	Proofs []vector      `json:"proofs"`
	Wrong  []wrongVector `json:"wrong"`
}

// A vector is a proof file that holds.
type vector struct {
	Name   string     `json:"name"`
	Proof  string     `json:"proof"`
	Items  *string    `json:"items"`
	Orders [][]uint64 `json:"orders"`
	Key    string     `json:"key"`
	Expect string     `json:"expect"`
	// CommitmentProof is the proof file of the commitment that the record names, if it is given.
	CommitmentProof *string `json:"commitment_proof,omitempty"`
}

// A wrongVector is a proof file of which a step fails.
type wrongVector struct {
	Name  string  `json:"name"`
	Proof string  `json:"proof"`
	Items *string `json:"items"`
	Key   string  `json:"key"`
	Step  string  `json:"step"`
	// CommitmentProof is as in a vector that holds.
	CommitmentProof *string `json:"commitment_proof,omitempty"`
}

// origin is the log that the vectors are of.
const origin = "example.com/log"

// logKey returns the private key that is made of 32 equal bytes.
func logKey(t testing.TB, name string, b byte) (note.Signer, string) {
	t.Helper()
	private, public, err := note.GenerateKey(bytes.NewReader(bytes.Repeat([]byte{b}, 32)), name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	want, err := note.NewEd25519VerifierKey(name, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, 32)).Public().(ed25519.PublicKey))
	if err != nil || want != public {
		t.Fatalf("the key is %s, want %s (%v)", public, want, err)
	}
	return signer, public
}

// forest is a tree in memory.
type forest []tlog.Hash

func (f forest) ReadHashes(indexes []int64) (hashes []tlog.Hash, err error) {
	for _, i := range indexes {
		hashes = append(hashes, f[i])
	}
	return hashes, nil
}

// A place is where a record stands: the index, from 0, and the size of a tree that has it.
type place struct{ index, size int }

// include returns the proof that a record has its place in a log; the other records are made up.
func include(t testing.TB, record []byte, index, size int, signer note.Signer) *proof.Inclusion {
	t.Helper()
	return includeAmong(t, map[int][]byte{index: record}, place{index, size}, signer)
}

// includeAmong returns the proof of the record at a place. Others have the place that they are given by, and the rest are
// made up.
func includeAmong(t testing.TB, records map[int][]byte, at place, signer note.Signer) *proof.Inclusion {
	t.Helper()
	index, size := at.index, at.size
	var f forest
	for i := range size {
		leaf, ok := records[i]
		if !ok {
			leaf = fmt.Appendf(nil, `{"record":%d}`, i)
		}
		hashes, err := tlog.StoredHashes(int64(i), leaf, f)
		if err != nil {
			t.Fatal(err)
		}
		f = append(f, hashes...)
	}
	root, err := tlog.TreeHash(int64(size), f)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := proof.Checkpoint{Origin: signer.Name(), Size: uint64(size), Root: root}.Sign(signer)
	if err != nil {
		t.Fatal(err)
	}
	hashes, err := tlog.ProveRecord(int64(size), int64(index), f)
	if err != nil {
		t.Fatal(err)
	}
	return &proof.Inclusion{Index: uint64(index), Hashes: hashes, Checkpoint: signed}
}

// arbitrary returns n bytes that follow from a text.
func arbitrary(text string, n int) []byte {
	var b []byte
	for i := uint64(0); len(b) < n; i++ {
		h := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(text), i))
		b = append(b, h[:]...)
	}
	return b[:n]
}

// recordOf returns the record of a shuffle that is called name, and its seed.
func recordOf(name string, s audit.Statement, clientSeed string, parameters map[string]int) (*audit.Record, rng.Seed) {
	if s.Seed == nil {
		s.Seed = arbitrary(name+" seed", rng.BlockSize*rng.Blocks(s.Size, s.Draw))
	}
	id := uuid.UUID(arbitrary(name+" id", 16))
	id[6], id[8] = 0x70|id[6]&0x0f, 0x80|id[8]&0x3f
	return &audit.Record{
		ID: id, Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Kind: audit.KindShuffle, Statement: s,
		Parameters: parameters, ClientSeed: clientSeed, Commitment: s.Commitment(),
	}, s.Seed
}

func itemsInput(t testing.TB, items string) string {
	t.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(items)); err != nil {
		t.Fatal(err)
	}
	return audit.ItemsInput(sha256.Sum256(compact.Bytes()))
}

// A plan is what a vector is made of.
type plan struct {
	name       string
	statement  audit.Statement
	items      string // the array; empty for none
	deck       string
	copies     uint64
	parameters map[string]int
	clientSeed string
	held       bool
	now        bool
	index      int
	log        int    // records
	committed  *place // of the commitment that was used; nil for none
}

const (
	fruit  = `["apple", "pear", "fig", "plum", "quince"]`
	values = "[ 1, 1.0, 1e0, 12345678901234567890, \"\\u0041\", \"A\", \"A\",\r\n\tnull, true, [ 1, [ ] ], {\"b\": 1, \"a\": [\" \"]}, \"\" ]"
)

func plans() []plan {
	fisherYates := func(size uint64) audit.Statement {
		return audit.Statement{Algorithm: shuffle.AlgorithmFisherYates, Size: size, Draw: size, Repeat: 1, Input: audit.RangeInput}
	}
	list := []plan{{name: "deck", statement: fisherYates(52), deck: "standard52", copies: 1, log: 1}}
	for i, alg := range shuffle.Algorithms() {
		s := fisherYates(12)
		s.Algorithm = alg
		list = append(list, plan{name: string(alg), statement: s, items: values, index: i % 3, log: 3})
	}
	hands := fisherYates(52)
	hands.Hands, hands.Reference = []uint64{13, 13, 13}, "table 7, round 42 ♥"
	list = append(list, plan{name: "hands and a client seed", statement: hands, deck: "standard52", copies: 1, clientSeed: "Zoë & \"Nils\" <\\>\t", index: 6, log: 7})
	draw := fisherYates(312)
	draw.Draw, draw.Repeat = 5, 3
	list = append(list, plan{name: "six decks, a draw of 5, three times", statement: draw, deck: "standard52", copies: 6, index: 255, log: 300})
	parameters := fisherYates(7)
	list = append(list, plan{name: "deck with parameters", statement: parameters, deck: "undercover", copies: 1, parameters: map[string]int{"players": 7}, index: 256, log: 300})
	few := fisherYates(audit.MaxSize)
	few.Draw = 4
	list = append(list, plan{name: "four of very many", statement: few, index: 299, log: 300})
	for _, v := range []struct {
		name  string
		size  uint64
		items string
	}{{"nothing", 0, "[]"}, {"one item", 1, `["only"]`}} {
		list = append(list, plan{name: v.name, statement: fisherYates(v.size), items: v.items, index: 1, log: 2})
	}
	handsTwice := fisherYates(5)
	handsTwice.Hands, handsTwice.Repeat = []uint64{2, 2}, 2
	list = append(list,
		plan{name: "items with hands, twice", statement: handsTwice, items: fruit, index: 3, log: 7},
		plan{name: "revealed from the start", statement: fisherYates(5), now: true, index: 0, log: 2},
		plan{name: "a client seed that the file escapes", statement: fisherYates(5), items: fruit, clientSeed: "\u2028\u2029\u0001\u007f\b\f\n\r", index: 4, log: 7},
		plan{name: "a long client seed", statement: fisherYates(5), items: fruit, clientSeed: strings.Repeat("é", 128), index: 5, log: 7},
		plan{name: "held back", statement: fisherYates(52), deck: "standard52", copies: 1, held: true, index: 17, log: 300},
		plan{name: "held back with a client seed", statement: fisherYates(5), items: fruit, clientSeed: "Zoë", held: true, index: 0, log: 1},
	)
	short := fisherYates(60)
	short.Seed = arbitrary("short seed", rng.BlockSize)
	list = append(list, plan{name: "a seed of one block too few", statement: short, index: 2, log: 3})
	return list
}

// inputOf settles what a plan shuffles.
func inputOf(t testing.TB, p *plan) {
	t.Helper()
	switch {
	case p.items != "":
		p.statement.Input = itemsInput(t, p.items)
	case p.deck != "":
		d := deckOf(t, p.deck, p.parameters)
		p.parameters = d.Parameters()
		p.statement.Input = audit.DeckInput(p.deck, p.copies, d.Codes())
		if want := p.copies * uint64(d.Size()); p.statement.Size != want {
			t.Fatalf("%s: the size is %d, want %d", p.name, p.statement.Size, want)
		}
	}
}

func deckOf(t testing.TB, name string, parameters map[string]int) *deck.Deck {
	t.Helper()
	catalogue, err := deck.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	kind, ok := catalogue.Type(name)
	if !ok {
		t.Fatalf("there is no deck %s", name)
	}
	d, err := kind.Deck(parameters)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// build makes the vector of a plan, and returns its file as well, and that of the commitment it used.
func build(t testing.TB, p plan) (v vector, f, commitment *prooffile.File) {
	t.Helper()
	inputOf(t, &p)
	signer, public := logKey(t, origin, 1)
	record, seed := recordOf(p.name, p.statement, p.clientSeed, p.parameters)
	record.RevealNow = p.now
	records := map[int][]byte{}
	v = vector{Name: p.name, Key: public, Expect: "verified"}
	if p.committed != nil {
		committed := commitmentTo(record, p.name+" commitment")
		record.CommitmentID = committed.ID
		commitment = &prooffile.File{Record: committed.Append(nil), LogKey: public}
		records[p.committed.index] = commitment.Record
	}
	records[p.index] = record.Append(nil)
	f = &prooffile.File{Record: records[p.index], Seed: seed, ClientSeed: p.clientSeed, LogKey: public}
	f.Inclusion = includeAmong(t, records, place{p.index, p.log}, signer)
	if p.committed != nil {
		commitment.Inclusion = includeAmong(t, records, *p.committed, signer)
		text := string(commitment.Text())
		v.CommitmentProof = &text
	}
	replay := audit.Verify(f.Record, seed, 1<<20)
	if !replay.OK {
		t.Fatalf("%s: %+v", p.name, replay.Steps)
	}
	v.Orders = replay.Orders
	if p.held {
		f.Seed, v.Expect, v.Orders = nil, "held-back", nil
	}
	switch {
	case p.items != "":
		v.Items = &p.items
	case p.deck != "":
		codes := slices.Repeat(deckOf(t, p.deck, p.parameters).Codes(), int(p.copies))
		text, err := json.Marshal(codes)
		if err != nil {
			t.Fatal(err)
		}
		items := string(text)
		v.Items = &items
	}
	v.Proof = string(f.Text())
	return v, f, commitment
}

// commitmentTo returns the record of the commitment to a shuffle, a minute before it.
func commitmentTo(used *audit.Record, name string) *audit.Record {
	record, _ := recordOf(name, used.Statement, "", used.Parameters)
	record.Kind, record.Time, record.Deadline = audit.KindCommitment, used.Time.Add(-time.Minute), used.Time.Add(9*time.Minute)
	return record
}

// committedPlans are shuffles that used a commitment. The first is the example of the specification.
func committedPlans() []plan {
	fisherYates := func(size uint64) audit.Statement {
		return audit.Statement{Algorithm: shuffle.AlgorithmFisherYates, Size: size, Draw: size, Repeat: 1, Input: audit.RangeInput}
	}
	worked := fisherYates(5)
	for i := range byte(rng.BlockSize) {
		worked.Seed = append(worked.Seed, i)
	}
	hands := fisherYates(52)
	hands.Hands, hands.Reference = []uint64{13, 13, 13}, "table 7, round 42 ♥"
	twice := fisherYates(5)
	twice.Hands, twice.Repeat = []uint64{2, 2}, 2
	return []plan{
		{name: "worked, committed", statement: worked, clientSeed: "Zoë", index: 2, log: 3, committed: &place{1, 2}},
		{name: "committed, hands of a deck", statement: hands, deck: "standard52", copies: 1, clientSeed: "nils:4f1c zoe:9ab2", index: 17, log: 300, committed: &place{5, 7}},
		{name: "committed, items, in one tree", statement: twice, items: fruit, clientSeed: "Zoë", index: 6, log: 7, committed: &place{3, 7}},
		{name: "committed, held back", statement: fisherYates(7), deck: "undercover", copies: 1, parameters: map[string]int{"players": 7}, clientSeed: "Zoë", held: true, index: 1, log: 2, committed: &place{0, 1}},
	}
}

// alone makes the vector of a record that is no shuffle.
func alone(t testing.TB, name, expect string, record []byte, at place) (vector, *prooffile.File) {
	t.Helper()
	signer, public := logKey(t, origin, 1)
	f := &prooffile.File{Record: record, LogKey: public, Inclusion: include(t, record, at.index, at.size, signer)}
	return vector{Name: name, Proof: string(f.Text()), Key: public, Expect: expect}, f
}

// buildVoid makes the vectors of a commitment that was not used, and of the record that says so.
func buildVoid(t testing.TB) (list []vector, files []*prooffile.File) {
	t.Helper()
	p := committedPlans()[1]
	inputOf(t, &p)
	planned, _ := recordOf("void shuffle", p.statement, "", nil)
	commitment := commitmentTo(planned, "void commitment")
	void, _ := recordOf("void", audit.Statement{}, "", nil)
	void.Kind, void.Time, void.CommitmentID, void.Commitment = audit.KindVoid, commitment.Deadline.Add(time.Second), commitment.ID, commitment.Commitment
	for _, r := range []struct {
		name   string
		record *audit.Record
		at     place
	}{{"commitment", commitment, place{2, 3}}, {"void", void, place{6, 7}}} {
		v, f := alone(t, r.name, r.name, r.record.Append(nil), r.at)
		list, files = append(list, v), append(files, f)
	}
	return list, files
}

// unknownKind is a record of a kind that is none, and of which the members of others mean something else.
const unknownKind = `{"id":"019b7ca9-8c88-7e34-8a29-e0ab088154ee","time":"2026-01-02T03:04:05.000000Z","kind":"table_of-9","spec":"riffle/1",` +
	`"size":null,"hands":[],"reference":"","commitment":"none"}`

// buildReveal makes the vector of the reveal of another record.
func buildReveal(t testing.TB, of *prooffile.File) (vector, *prooffile.File) {
	t.Helper()
	revealed, err := audit.ParseRecord(of.Record)
	if err != nil {
		t.Fatal(err)
	}
	const name = "reveal"
	signer, public := logKey(t, origin, 1)
	record, _ := recordOf(name, audit.Statement{}, "", nil)
	record.Kind, record.AuditID, record.Commitment = audit.KindReveal, revealed.ID, revealed.Commitment
	f := &prooffile.File{Record: record.Append(nil), LogKey: public}
	f.Inclusion = include(t, f.Record, 18, 300, signer)
	return vector{Name: name, Proof: string(f.Text()), Key: public, Expect: "reveal"}, f
}

// buildAll makes everything that stands in the file of vectors.
func buildAll(t testing.TB) *vectors {
	t.Helper()
	all := &vectors{Spec: audit.Spec}
	files := map[string]*prooffile.File{}
	for _, p := range plans() {
		v, f, _ := build(t, p)
		all.Proofs, files[v.Name] = append(all.Proofs, v), f
	}
	add := func(v vector, f *prooffile.File) { all.Proofs, files[v.Name] = append(all.Proofs, v), f }
	add(buildReveal(t, files["held back"]))
	for _, p := range committedPlans() {
		v, f, commitment := build(t, p)
		add(v, f)
		files[v.Name+" commitment"] = commitment
	}
	without := all.Proofs[len(all.Proofs)-3] // of the hands
	without.Name, without.CommitmentProof = "committed, and the proof of the commitment not given", nil
	add(without, files["committed, hands of a deck"])
	list, ofList := buildVoid(t)
	for i := range list {
		add(list[i], ofList[i])
	}
	add(alone(t, "unknown kind", "unknown-kind", []byte(unknownKind), place{1, 2}))
	all.Wrong = buildWrong(t, all.Proofs, files)
	return all
}

// A forgery changes a proof that holds.
type forgery struct {
	name, of, step string
	file           func(f *prooffile.File)    // changes what the file says
	text           func(text string) string   // changes the text itself
	record         func(record string) string // changes the record, and puts the changed one into the log
	items, key     string                     // in place of the right ones

	commitment     func(f *prooffile.File)  // changes the proof file of the commitment
	commitmentText func(text string) string // changes its text
}

func buildWrong(t testing.TB, right []vector, files map[string]*prooffile.File) (list []wrongVector) {
	t.Helper()
	signer, _ := logKey(t, origin, 1)
	for _, w := range forgeries(t) {
		i := slices.IndexFunc(right, func(v vector) bool { return v.Name == w.of })
		v, f := right[i], clone(files[w.of])
		if w.record != nil {
			f.Record = []byte(w.record(string(f.Record)))
			f.Inclusion = include(t, f.Record, int(f.Inclusion.Index)%20, 20, signer)
		}
		if w.file != nil {
			w.file(f)
		}
		text := string(f.Text())
		if w.text != nil {
			text = w.text(text)
		}
		wrong := wrongVector{Name: w.name, Proof: text, Items: v.Items, Key: v.Key, Step: w.step}
		if w.items != "" {
			wrong.Items = &w.items
		}
		if w.key != "" {
			wrong.Key = w.key
		}
		wrong.CommitmentProof = v.CommitmentProof
		if w.commitment != nil || w.commitmentText != nil {
			wrong.CommitmentProof = forgeCommitment(clone(files[w.of+" commitment"]), &w)
		}
		if wrong.Proof == v.Proof && wrong.Key == v.Key && wrong.Items == v.Items && wrong.CommitmentProof == v.CommitmentProof {
			t.Errorf("%s: nothing is wrong with it", w.name)
		}
		list = append(list, wrong)
	}
	return list
}

// clone returns a file that can be changed without the other.
func clone(f *prooffile.File) *prooffile.File {
	c, inclusion := *f, *f.Inclusion
	inclusion.Hashes = slices.Clone(inclusion.Hashes)
	c.Inclusion, c.Seed, c.Record = &inclusion, slices.Clone(f.Seed), slices.Clone(f.Record)
	return &c
}

func forgeCommitment(f *prooffile.File, w *forgery) *string {
	if w.commitment != nil {
		w.commitment(f)
	}
	text := string(f.Text())
	if w.commitmentText != nil {
		text = w.commitmentText(text)
	}
	return &text
}

// relog returns a function that changes the record of a file, and puts the changed one into the log.
func relog(t testing.TB, signer note.Signer, change func(string) string) func(*prooffile.File) {
	return func(f *prooffile.File) {
		t.Helper()
		f.Record = []byte(change(string(f.Record)))
		f.Inclusion = include(t, f.Record, int(f.Inclusion.Index), 20, signer)
	}
}

// addLine returns a function that adds a signature line to a checkpoint.
func addLine(line string) func(*prooffile.File) {
	return func(f *prooffile.File) {
		f.Inclusion.Checkpoint = append(slices.Clone(f.Inclusion.Checkpoint), line...)
	}
}

// substitute returns a function that replaces what has to be there.
func substitute(t testing.TB, old, new string) func(string) string {
	return func(text string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Errorf("there is no %q to change in %s", old, text)
		}
		return strings.Replace(text, old, new, 1)
	}
}

// resign replaces the checkpoint by another text, signed with a key.
func resign(t testing.TB, f *prooffile.File, signer note.Signer, change func(string) string) {
	t.Helper()
	text, _, _ := strings.Cut(string(f.Inclusion.Checkpoint), "\n\n")
	signed, err := note.Sign(&note.Note{Text: change(text + "\n")}, signer)
	if err != nil {
		t.Fatal(err)
	}
	f.Inclusion.Checkpoint = signed
}

func forgeries(t testing.TB) []forgery {
	t.Helper()
	const (
		plain  = "fisher-yates"
		handed = "items with hands, twice" // index 3 of 7
		seeded = "hands and a client seed" // index 6 of 7
	)
	ours, _ := logKey(t, origin, 1)
	thief, thiefKey := logKey(t, origin, 2)
	stranger, strangerKey := logKey(t, "example.com/other", 1)
	sub := func(old, new string) func(string) string { return substitute(t, old, new) }
	same := func(text string) string { return text }
	list := []forgery{
		{name: "no JSON", of: plain, step: "proof", text: sub(`{"spec"`, `["spec"`)},
		{name: "cut short", of: plain, step: "proof", text: func(s string) string { return s[:len(s)/2] }},
		{name: "no line end", of: plain, step: "proof", text: func(s string) string { return strings.TrimSuffix(s, "\n") }},
		{name: "two line ends", of: plain, step: "proof", text: func(s string) string { return s + "\n" }},
		{name: "white space", of: plain, step: "proof", text: sub(`{"spec":`, `{"spec": `)},
		{name: "another spec", of: plain, step: "proof", text: sub(`"spec":"riffle/1"`, `"spec":"riffle/2"`)},
		{name: "a member too many", of: plain, step: "proof", text: sub(`{"spec"`, `{"extra":1,"spec"`)},
		{name: "a member twice", of: plain, step: "proof", text: sub(`{"spec":"riffle/1"`, `{"spec":"riffle/1","spec":"riffle/1"`)},
		{name: "members in another order", of: plain, step: "proof", text: swapLast},
		{name: "a seed in capitals", of: plain, step: "proof", text: func(s string) string {
			before, after, _ := strings.Cut(s, `"seed":"`)
			return before + `"seed":"` + strings.ToUpper(after[:64]) + after[64:]
		}},
		{name: "a needless escape", of: plain, step: "proof", text: sub(`"client_seed":""`, `"client_seed":"\u0041"`)},
		{name: "a proof of another version", of: plain, step: "proof", text: sub("tlog-proof@v1", "tlog-proof@v2")},
		{name: "a padded index", of: handed, step: "proof", text: sub(`\nindex 3\n`, `\nindex 03\n`)},
		{name: "a hash of 31 bytes", of: handed, step: "proof", text: func(s string) string {
			before, after, _ := strings.Cut(s, `index 3\n`)
			return before + `index 3\n` + base64.StdEncoding.EncodeToString(make([]byte, 31)) + after[44:]
		}},
		{name: "a padded size", of: handed, step: "proof", text: sub(`\n7\n`, `\n07\n`)},
		{name: "a checkpoint of four lines", of: handed, step: "proof", file: func(f *prooffile.File) {
			resign(t, f, ours, func(s string) string { return s + "more\n" })
		}},
		{name: "no signature", of: handed, step: "proof", file: func(f *prooffile.File) {
			text, _, _ := strings.Cut(string(f.Inclusion.Checkpoint), "\n\n")
			f.Inclusion.Checkpoint = []byte(text + "\n\n")
		}},
		{name: "the key of another log in the file", of: plain, step: "proof", file: func(f *prooffile.File) { f.LogKey = strangerKey }},
		{name: "checked with another key", of: plain, step: "proof", key: thiefKey},
		{name: "another log of the same name, key and all", of: plain, step: "proof", file: func(f *prooffile.File) {
			f.LogKey = thiefKey
			resign(t, f, thief, same)
		}},

		{name: "a record that is no JSON", of: plain, step: "record", record: func(s string) string { return s[1:] }},
		{name: "a member of the record twice", of: plain, step: "record", record: sub(`"draw":12`, `"draw":12,"draw":12`)},
		{name: "a record of another spec", of: plain, step: "record", record: sub(`"spec":"riffle/1"`, `"spec":"riffle/2"`)},
		{name: "an unknown algorithm", of: plain, step: "record", record: sub(`fisher-yates`, `naive`)},
		{name: "more drawn than there are", of: plain, step: "record", record: sub(`"draw":12`, `"draw":13`)},
		{name: "an empty hand", of: handed, step: "record", record: sub(`[2,2]`, `[0,2]`)},
		{name: "hands of more than is drawn", of: handed, step: "record", record: sub(`[2,2]`, `[2,4]`)},
		{name: "a client seed that is not the record's", of: plain, step: "record", file: func(f *prooffile.File) { f.ClientSeed = "mine" }},
		{name: "the client seed left out of the file", of: seeded, step: "record", file: func(f *prooffile.File) { f.ClientSeed = "" }},
		{name: "held back, and a record of no spec", of: "held back", step: "record", record: sub(`"spec":"riffle/1",`, ``)},

		{name: "another seed", of: plain, step: "commitment", file: func(f *prooffile.File) { f.Seed[0] ^= 1 }},
		{name: "a seed of another length", of: plain, step: "commitment", file: func(f *prooffile.File) { f.Seed = append(f.Seed, make([]byte, 32)...) }},
		{name: "half a seed", of: plain, step: "commitment", file: func(f *prooffile.File) { f.Seed = f.Seed[:16] }},
		{name: "another algorithm", of: plain, step: "commitment", record: sub("fisher-yates", "durstenfeld")},
		{name: "less drawn", of: plain, step: "commitment", record: sub(`"draw":12`, `"draw":11`)},
		{name: "shuffled once more", of: handed, step: "commitment", record: sub(`"repeat":2`, `"repeat":3`)},
		{name: "another reference", of: seeded, step: "commitment", record: sub("round 42", "round 43")},
		{name: "another commitment", of: plain, step: "commitment", record: func(s string) string {
			before, after, _ := strings.Cut(s, `"commitment":"`)
			return before + `"commitment":"` + strings.Repeat("0", 64) + after[64:]
		}},

		{name: "a seed of no whole block", of: plain, step: "keys", record: commitTo(t, make([]byte, 31)), file: func(f *prooffile.File) { f.Seed = make([]byte, 31) }},
		{name: "a seed of two equal blocks", of: plain, step: "keys", record: commitTo(t, make([]byte, 64)), file: func(f *prooffile.File) { f.Seed = make([]byte, 64) }},

		{name: "other items", of: plain, step: "items", items: strings.Replace(values, "1.0", "1.00", 1)},
		{name: "items in another order", of: "durstenfeld", step: "items", items: strings.Replace(values, "null, true", "true, null", 1)},
		{name: "one item more", of: handed, step: "items", items: strings.Replace(fruit, "]", `, "kiwi"]`, 1)},
		{name: "other items than those held back", of: "held back with a client seed", step: "items", items: strings.Replace(fruit, "fig", "date", 1)},

		{name: "another time", of: handed, step: "inclusion", file: func(f *prooffile.File) { f.Record = []byte(sub("03:04:05", "03:04:06")(string(f.Record))) }},
		{name: "another id", of: handed, step: "inclusion", file: func(f *prooffile.File) {
			f.Record = []byte(sub(string(f.Record[7:11]), "ffff")(string(f.Record)))
		}},
		{name: "revealed from the start, it says", of: "held back", step: "inclusion", file: func(f *prooffile.File) {
			f.Record = []byte(sub(`,"commitment"`, `,"reveal":"now","commitment"`)(string(f.Record)))
		}},
		{name: "another client seed, in the record too", of: seeded, step: "inclusion", file: func(f *prooffile.File) {
			f.Record = []byte(sub("Zoë", "Zoe")(string(f.Record)))
			f.ClientSeed = sub("Zoë", "Zoe")(f.ClientSeed)
		}},
		{name: "another record revealed", of: "reveal", step: "inclusion", file: func(f *prooffile.File) {
			before, after, _ := strings.Cut(string(f.Record), `"audit_id":"`)
			f.Record = []byte(before + `"audit_id":"00000000` + after[8:])
		}},
		{name: "another index", of: handed, step: "inclusion", file: func(f *prooffile.File) { f.Inclusion.Index = 2 }},
		{name: "an index that the tree does not have", of: handed, step: "inclusion", file: func(f *prooffile.File) { f.Inclusion.Index = 7 }},
		{name: "another hash on the path", of: handed, step: "inclusion", file: func(f *prooffile.File) { f.Inclusion.Hashes[1][0] ^= 1 }},
		{name: "a hash too few", of: handed, step: "inclusion", file: func(f *prooffile.File) { f.Inclusion.Hashes = f.Inclusion.Hashes[:2] }},
		{name: "a hash too many", of: handed, step: "inclusion", file: func(f *prooffile.File) {
			f.Inclusion.Hashes = append(f.Inclusion.Hashes, f.Inclusion.Hashes[0])
		}},
		{name: "another root", of: handed, step: "inclusion", file: func(f *prooffile.File) {
			lines := strings.SplitN(string(f.Inclusion.Checkpoint), "\n", 4)
			lines[2] = base64.StdEncoding.EncodeToString(make([]byte, 32))
			f.Inclusion.Checkpoint = []byte(strings.Join(lines, "\n"))
		}},
		{name: "a signed tree that does not have it", of: "held back", step: "inclusion", file: func(f *prooffile.File) {
			f.Inclusion = include(t, []byte("{}"), 17, 300, ours)
		}},

		{name: "signed with another key of the name", of: plain, step: "signature", file: func(f *prooffile.File) { resign(t, f, thief, same) }},
		{name: "signed with the key of another name", of: plain, step: "signature", file: func(f *prooffile.File) { resign(t, f, stranger, same) }},
		{name: "a checkpoint of another origin, signed with the key", of: plain, step: "signature", file: func(f *prooffile.File) {
			resign(t, f, ours, sub(origin, "example.com/lug"))
		}},
		{name: "a bit of the signature", of: plain, step: "signature", file: func(f *prooffile.File) {
			f.Inclusion.Checkpoint = spoilSignature(t, f.Inclusion.Checkpoint)
		}},
		{name: "a tree of its own", of: plain, step: "signature", file: func(f *prooffile.File) {
			_, signatures, _ := strings.Cut(string(f.Inclusion.Checkpoint), "\n\n")
			f.Inclusion = include(t, f.Record, 1, 2, ours)
			text, _, _ := strings.Cut(string(f.Inclusion.Checkpoint), "\n\n")
			f.Inclusion.Checkpoint = []byte(text + "\n\n" + signatures)
		}},
		{name: "a reveal with a bit of the signature", of: "reveal", step: "signature", file: func(f *prooffile.File) {
			f.Inclusion.Checkpoint = spoilSignature(t, f.Inclusion.Checkpoint)
		}},
		{name: "held back, with a bit of the signature", of: "held back", step: "signature", file: func(f *prooffile.File) {
			f.Inclusion.Checkpoint = spoilSignature(t, f.Inclusion.Checkpoint)
		}},
	}
	list = append(list, forgedRecords(t)...)
	list = append(list, forgedSignatures(t)...)
	return append(list, forgedCommitments(t)...)
}

// forgedRecords break one rule of records each.
func forgedRecords(t testing.TB) (list []forgery) {
	t.Helper()
	const (
		plain   = "fisher-yates"
		handed  = "items with hands, twice"
		deck    = "deck with parameters"
		used    = "committed, hands of a deck"
		nothing = "nothing"
	)
	add := func(member string) func(string) string {
		return substitute(t, `,"commitment":`, ","+member+`,"commitment":`)
	}
	sub := func(old, new string) func(string) string { return substitute(t, old, new) }
	for _, v := range []struct {
		name, of string
		change   func(string) string
	}{
		{"an empty reference", plain, add(`"reference":""`)},
		{"a reference of null", plain, add(`"reference":null`)},
		{"an empty client seed", plain, add(`"client_seed":""`)},
		{"a client seed of null", plain, add(`"client_seed":null`)},
		{"no hands, in a list", plain, add(`"hands":[]`)},
		{"hands of null", plain, add(`"hands":null`)},
		{"no parameters, in an object", plain, add(`"parameters":{}`)},
		{"parameters of null", plain, add(`"parameters":null`)},
		{"parameters in a list", plain, add(`"parameters":[1]`)},
		{"a reveal other than now", plain, add(`"reveal":"later"`)},
		{"an empty reveal", plain, add(`"reveal":""`)},
		{"a reveal of null", plain, add(`"reveal":null`)},
		{"an empty commitment_id", plain, add(`"commitment_id":""`)},
		{"a commitment_id of null", plain, add(`"commitment_id":null`)},
		{"a commitment used without a client seed", plain, add(`"commitment_id":"019b7ca9-8c88-7e34-8a29-e0ab088154ee"`)},
		{"a commitment_id of version 4", used, sub(`"commitment_id":"`, `"commitment_id":"019b7ca9-8c88-4e34-8a29-e0ab088154ee","x":"`)},
		{"an id of version 4", plain, func(s string) string {
			return s[:len(`{"id":"01234567-0123-`)] + "4" + s[len(`{"id":"01234567-0123-7`):]
		}},
		{"a shuffle with a deadline", plain, add(`"deadline":"2026-01-02T04:04:05.000006Z"`)},
		{"a shuffle with an audit_id", plain, add(`"audit_id":"019b7ca9-8c88-7e34-8a29-e0ab088154ee"`)},
		{"a reveal with a size", "reveal", add(`"size":12`)},
		{"a kind with a capital", plain, sub(`"kind":"shuffle"`, `"kind":"Shuffle"`)},
		{"a kind of no name", plain, sub(`"kind":"shuffle"`, `"kind":""`)},
		{"an unknown kind at no time", "unknown kind", sub(`05.000000Z`, `05Z`)},
		{"an unknown kind of another spec", "unknown kind", sub(`riffle/1`, `riffle/2`)},
		{"an unknown kind with a member twice", "unknown kind", sub(`"size":null`, `"size":null,"size":null`)},

		{"a draw with a fraction of 0", plain, sub(`"draw":12`, `"draw":12.0`)},
		{"a draw with an exponent", plain, sub(`"draw":12`, `"draw":1.2e1`)},
		{"a size with an exponent of 0", plain, sub(`"size":12`, `"size":12E0`)},
		{"a size of minus nothing", nothing, sub(`"size":0`, `"size":-0`)},
		{"a draw of minus nothing", nothing, sub(`"draw":0`, `"draw":-0`)},
		{"a draw with a leading zero", plain, sub(`"draw":12`, `"draw":012`)},
		{"a draw of null", nothing, sub(`"draw":0`, `"draw":null`)},
		{"a size that is missing", nothing, sub(`"size":0,`, ``)},
		{"a repeat with a fraction of 0", plain, sub(`"repeat":1`, `"repeat":1.0`)},
		{"a hand with a fraction of 0", handed, sub(`[2,2]`, `[2,2.0]`)},
		{"a hand with an exponent", handed, sub(`[2,2]`, `[2e0,2]`)},
		{"a parameter with a fraction of 0", deck, sub(`"players":7`, `"players":7.0`)},
		{"a parameter of minus nothing", deck, sub(`"blank":0`, `"blank":-0`)},
		{"a parameter below nothing", deck, sub(`"blank":0`, `"blank":-1`)},
		{"a parameter above 2^53-1", deck, sub(`"blank":0`, `"blank":9007199254740992`)},

		{"a commitment without a deadline", "commitment", func(s string) string {
			before, after, _ := strings.Cut(s, `"deadline":"`)
			return before + after[len(`2026-01-02T03:04:05.000006Z",`):]
		}},
		{"a commitment whose deadline is its time", "commitment", deadline("2026-01-02T03:03:05.000006Z")},
		{"a commitment whose deadline is of seconds", "commitment", deadline("2026-01-02T04:03:05Z")},
		{"a commitment with a client seed", "commitment", add(`"client_seed":"x"`)},
		{"a commitment revealed from the start", "commitment", add(`"reveal":"now"`)},
		{"a commitment with a commitment_id", "commitment", add(`"commitment_id":"019b7ca9-8c88-7e34-8a29-e0ab088154ee"`)},
		{"a commitment of more than there is", "commitment", sub(`"draw":52`, `"draw":53`)},
		{"a void without a commitment_id", "void", sub(`"commitment_id":"`, `"other_id":"`)},
		{"a void with a reference", "void", add(`"reference":"x"`)},
		{"a void without a commitment", "void", sub(`"commitment":"`, `"other":"`)},
	} {
		list = append(list, forgery{name: v.name, of: v.of, step: "record", record: v.change})
	}
	return append(list,
		forgery{name: "a commitment with a seed", of: "commitment", step: "record", file: func(f *prooffile.File) { f.Seed = make([]byte, 32) }},
		forgery{name: "a commitment with a client seed beside it", of: "commitment", step: "record", file: func(f *prooffile.File) { f.ClientSeed = "x" }},
		forgery{name: "a void with a seed", of: "void", step: "record", file: func(f *prooffile.File) { f.Seed = make([]byte, 32) }},
		forgery{name: "a seed in capitals in the file of a void", of: "void", step: "proof", text: substitute(t, `"seed":null`, `"seed":"AA"`)},
		forgery{name: "another commitment void", of: "void", step: "inclusion", file: func(f *prooffile.File) {
			before, after, _ := strings.Cut(string(f.Record), `"commitment_id":"`)
			f.Record = []byte(before + `"commitment_id":"00000000` + after[8:])
		}},
		forgery{name: "an unknown kind that is not in the log", of: "unknown kind", step: "inclusion", file: func(f *prooffile.File) {
			f.Record = []byte(substitute(t, "table", "chair")(string(f.Record)))
		}},
		forgery{name: "an unknown kind with a bit of the signature", of: "unknown kind", step: "signature", file: func(f *prooffile.File) {
			f.Inclusion.Checkpoint = spoilSignature(t, f.Inclusion.Checkpoint)
		}})
}

// deadline returns a function that gives a commitment another deadline.
func deadline(at string) func(string) string {
	return func(record string) string {
		before, after, _ := strings.Cut(record, `"deadline":"`)
		_, after, _ = strings.Cut(after, `"`)
		return before + `"deadline":"` + at + `"` + after
	}
}

// forgedSignatures are lines under a checkpoint beside the one that holds.
func forgedSignatures(t testing.TB) []forgery {
	t.Helper()
	const plain = "fisher-yates"
	signer, public := logKey(t, origin, 1)
	hash := binary.BigEndian.AppendUint32(nil, signer.KeyHash())
	line := func(name string, signature []byte) string {
		return "— " + name + " " + base64.StdEncoding.EncodeToString(signature) + "\n"
	}
	own := func(n int) string { return line(origin, append(slices.Clone(hash), make([]byte, n)...)) }
	other := line("example.com/witness", make([]byte, 68))
	if !strings.Contains(public, fmt.Sprintf("+%x+", hash)) {
		t.Fatalf("the key hash is %x, and the key %s", hash, public)
	}
	first := func(f *prooffile.File) {
		text, signatures, _ := strings.Cut(string(f.Inclusion.Checkpoint), "\n\n")
		f.Inclusion.Checkpoint = []byte(text + "\n\n" + own(64) + signatures)
	}
	return []forgery{
		{name: "a second signature of the key, which is wrong", of: plain, step: "signature", file: addLine(own(64))},
		{name: "a first signature of the key, which is wrong", of: plain, step: "signature", file: first},
		{name: "a second signature of the key, of 63 bytes", of: plain, step: "signature", file: addLine(own(63))},
		{name: "a second signature of the key, of 1 byte", of: plain, step: "signature", file: addLine(own(1))},
		{name: "a checkpoint of no records", of: plain, step: "proof", file: func(f *prooffile.File) {
			resign(t, f, signer, substitute(t, "\n3\n", "\n0\n"))
		}},
		{name: "a seed of no bytes in the file", of: plain, step: "proof", text: func(text string) string {
			before, after, _ := strings.Cut(text, `"seed":"`)
			return before + `"seed":"` + after[2*rng.BlockSize:]
		}},
		{name: "a key hash without a signature", of: plain, step: "proof", file: addLine(own(0))},
		{name: "a key hash of 3 bytes", of: plain, step: "proof", file: addLine(line("example.com/witness", make([]byte, 3)))},
		{name: "101 signatures", of: plain, step: "proof", file: addLine(strings.Repeat(other, 100))},
		{name: "a signature by a name with a plus", of: plain, step: "proof", file: addLine(line("example.com+witness", make([]byte, 68)))},
		{name: "a signature by a name with a no-break space", of: plain, step: "proof", file: addLine(line("example.com/wit\u00a0ness", make([]byte, 68)))},
		{name: "a signature by a name with a control character", of: plain, step: "proof", file: addLine(line("example.com/wit\u0001ness", make([]byte, 68)))},
		{name: "a signature by nobody", of: plain, step: "proof", file: addLine(line("", make([]byte, 68)))},
		{name: "a signature line with a hyphen", of: plain, step: "proof", file: addLine(strings.Replace(other, "—", "-", 1))},
		{name: "a signature line with two spaces", of: plain, step: "proof", file: addLine(strings.Replace(other, "ness ", "ness  ", 1))},
		{name: "a signature line with unused bits", of: plain, step: "proof", file: addLine(strings.Replace(other, "A=\n", "B=\n", 1))},
		{name: "a signature line without padding", of: plain, step: "proof", file: addLine(strings.Replace(other, "=\n", "\n", 1))},
	}
}

// forgedCommitments go with the proof of a shuffle that holds but for its commitment.
func forgedCommitments(t testing.TB) (list []forgery) {
	t.Helper()
	const (
		used  = "committed, hands of a deck" // index 17; the commitment's is 5
		same  = "committed, items, in one tree"
		held  = "committed, held back"
		after = "2026-01-02T03:04:05.000006Z" // the time of the shuffle
	)
	ours, _ := logKey(t, origin, 1)
	thief, thiefKey := logKey(t, origin, 2)
	stranger, strangerKey := logKey(t, "example.com/other", 1)
	sub := func(old, new string) func(string) string { return substitute(t, old, new) }
	changed := func(change func(string) string) func(*prooffile.File) { return relog(t, ours, change) }
	otherC := func(s string) string {
		before, after, _ := strings.Cut(s, `"commitment":"`)
		return before + `"commitment":"` + strings.Repeat("0", 64) + after[64:]
	}
	moved := func(index int) func(*prooffile.File) {
		return func(f *prooffile.File) { f.Inclusion = include(t, f.Record, index, 20, ours) }
	}
	by := func(signer note.Signer, key string) func(*prooffile.File) {
		return func(f *prooffile.File) {
			f.LogKey = key
			f.Inclusion = include(t, f.Record, int(f.Inclusion.Index), 7, signer)
		}
	}
	for _, v := range []struct {
		name, of string
		change   func(*prooffile.File)
	}{
		{"a commitment of another id", used, changed(func(s string) string { return `{"id":"00000000` + s[len(`{"id":"00000000`):] })},
		{"a void in place of the commitment", used, changed(voidOf(t))},
		{"a reveal in place of the commitment", used, changed(func(s string) string {
			return strings.NewReplacer(`"kind":"void"`, `"kind":"reveal"`, `"commitment_id"`, `"audit_id"`).Replace(voidOf(t)(s))
		})},
		{"an unknown kind in place of the commitment", used, changed(sub(`"kind":"commitment"`, `"kind":"promise"`))},
		{"a shuffle in place of the commitment", used, changed(func(s string) string {
			before, after, _ := strings.Cut(s, `"deadline":"`)
			_, after, _ = strings.Cut(after, `",`)
			return sub(`"kind":"commitment"`, `"kind":"shuffle"`)(before + after)
		})},
		{"a commitment to something else", used, changed(otherC)},
		{"a commitment to something else, and the seed held back", held, changed(otherC)},
		{"committed to another algorithm", used, changed(sub("fisher-yates", "durstenfeld"))},
		{"committed to another size", used, changed(sub(`"size":52`, `"size":53`))},
		{"committed to another draw", used, changed(sub(`"draw":52`, `"draw":51`))},
		{"committed to another number of shuffles", used, changed(sub(`"repeat":1`, `"repeat":2`))},
		{"committed to other hands", used, changed(sub(`[13,13,13]`, `[13,13,12]`))},
		{"committed to no hands", used, changed(sub(`"hands":[13,13,13],`, ``))},
		{"committed to another deck", used, changed(sub(`deck standard52`, `deck standard54`))},
		{"committed under another reference", used, changed(sub("round 42", "round 43"))},
		{"committed under no reference", used, changed(sub(`"reference":"table 7, round 42 ♥",`, ``))},
		{"committed under a reference", held, changed(sub(`"deadline"`, `"reference":"x","deadline"`))},
		{"used at the deadline", used, changed(deadline(after))},
		{"used after the deadline", used, changed(deadline("2026-01-02T03:04:05.000005Z"))},
		{"a commitment whose deadline was before it", used, changed(deadline("2026-01-02T03:00:00.000000Z"))},
		{"a commitment at the index of the shuffle", used, moved(17)},
		{"a commitment behind the shuffle", used, moved(18)},
		{"a commitment behind the shuffle, in one tree", same, moved(6)},
		{"a commitment in another log", used, by(stranger, strangerKey)},
		{"a commitment in another log of the same name", used, by(thief, thiefKey)},
		{"a commitment signed with another key", used, func(f *prooffile.File) {
			resign(t, f, thief, func(text string) string { return text })
		}},
		{"a commitment with another hash on its path", used, func(f *prooffile.File) { f.Inclusion.Hashes[2][31] ^= 1 }},
		{"a commitment at another index than its own", used, func(f *prooffile.File) { f.Inclusion.Index = 4 }},
		{"a commitment with another time", used, func(f *prooffile.File) { f.Record = []byte(sub("03:03:05", "03:03:04")(string(f.Record))) }},
		{"a commitment with a bit of the signature", used, func(f *prooffile.File) {
			f.Inclusion.Checkpoint = spoilSignature(t, f.Inclusion.Checkpoint)
		}},
		{"a commitment with a seed in its file", used, func(f *prooffile.File) { f.Seed = make([]byte, 32) }},
		{"a commitment with a client seed in its file", used, func(f *prooffile.File) { f.ClientSeed = "x" }},
	} {
		list = append(list, forgery{name: v.name, of: v.of, step: "committed", commitment: v.change})
	}
	return append(list,
		forgery{name: "a shuffle that names another commitment", of: used, step: "committed", record: sub(`"commitment_id":"`, `"commitment_id":"019b7ca9-8c88-7e34-8a29-e0ab088154ee","x":"`)},
		forgery{name: "a commitment's proof cut short", of: used, step: "committed", commitmentText: func(s string) string { return s[:len(s)/2] }},
		forgery{name: "a commitment's proof with white space", of: used, step: "committed", commitmentText: sub(`{"spec":`, `{"spec": `)},
		forgery{name: "the proof of the shuffle in place of the commitment's", of: used, step: "committed", commitment: func(f *prooffile.File) {
			_, shuffle, _ := build(t, committedPlans()[1])
			*f = *shuffle
		}},
		forgery{name: "committed, and another seed", of: used, step: "commitment", file: func(f *prooffile.File) { f.Seed[0] ^= 1 }},
		forgery{name: "committed, and another client seed in the record too", of: used, step: "inclusion", file: func(f *prooffile.File) {
			f.Record, f.ClientSeed = []byte(sub("9ab2", "9ab3")(string(f.Record))), sub("9ab2", "9ab3")(f.ClientSeed)
		}},
		forgery{name: "committed, and a bit of the shuffle's signature", of: used, step: "signature", file: func(f *prooffile.File) {
			f.Inclusion.Checkpoint = spoilSignature(t, f.Inclusion.Checkpoint)
		}},
	)
}

// voidOf returns a function that makes a void of a commitment, of the same id.
func voidOf(t testing.TB) func(string) string {
	return func(text string) string {
		t.Helper()
		record, err := audit.ParseRecord([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		record.Kind, record.CommitmentID = audit.KindVoid, record.ID
		return string(record.Append(nil))
	}
}

// commitTo returns a function that has a record commit to another seed.
func commitTo(t testing.TB, seed rng.Seed) func(string) string {
	return func(text string) string {
		t.Helper()
		record, err := audit.ParseRecord([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		s := record.Statement
		s.Seed = seed
		record.Commitment = s.Commitment()
		return string(record.Append(nil))
	}
}

// swapLast exchanges the last two members of a file.
func swapLast(text string) string {
	head, tail, _ := strings.Cut(text, `,"tlog_proof":`)
	tlogProof, key, _ := strings.Cut(tail, `,"log_key":`)
	return head + `,"log_key":` + strings.TrimSuffix(key, "}\n") + `,"tlog_proof":` + tlogProof + "}\n"
}

// spoilSignature changes a bit of the last signature of a note.
func spoilSignature(t testing.TB, signed []byte) []byte {
	t.Helper()
	at := bytes.LastIndexByte(signed, ' ') + 1
	signature, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(string(signed[at:]), "\n"))
	if err != nil {
		t.Fatal(err)
	}
	signature[10] ^= 1
	return fmt.Appendf(slices.Clone(signed[:at]), "%s\n", base64.StdEncoding.EncodeToString(signature))
}

// encode writes the vectors, one to a line.
func (v *vectors) encode(t testing.TB) []byte {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	line := func(v any, end string) {
		if err := encoder.Encode(v); err != nil {
			t.Fatal(err)
		}
		text.Truncate(text.Len() - 1)
		text.WriteString(end)
	}
	end := func(i, n int) string {
		if i == n-1 {
			return "\n"
		}
		return ",\n"
	}
	text.WriteString("{\"spec\":")
	line(v.Spec, ",\n\"proofs\":[\n")
	for i := range v.Proofs {
		line(v.Proofs[i], end(i, len(v.Proofs)))
	}
	text.WriteString("],\n\"wrong\":[\n")
	for i := range v.Wrong {
		line(v.Wrong[i], end(i, len(v.Wrong)))
	}
	text.WriteString("]}\n")
	return text.Bytes()
}

// TestVectorsAreMadeOfWhatTheySay makes the vectors anew.
func TestVectorsAreMadeOfWhatTheySay(t *testing.T) {
	got := buildAll(t).encode(t)
	if *update {
		if err := os.WriteFile(vectorsFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what its vectors are made of : run the test with -update, and never once they are released", vectorsFile)
	}
}
