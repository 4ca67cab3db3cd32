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
}

// A wrongVector is a proof file of which a step fails.
type wrongVector struct {
	Name  string  `json:"name"`
	Proof string  `json:"proof"`
	Items *string `json:"items"`
	Key   string  `json:"key"`
	Step  string  `json:"step"`
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

// include returns the proof that a record stands at an index in a log of size records; the others are made up.
func include(t testing.TB, record []byte, index, size int, signer note.Signer) *proof.Inclusion {
	t.Helper()
	var f forest
	for i := range size {
		leaf := fmt.Appendf(nil, `{"record":%d}`, i)
		if i == index {
			leaf = record
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
	log        int // records
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

// build makes the vector of a plan, and returns its file as well.
func build(t testing.TB, p plan) (vector, *prooffile.File) {
	t.Helper()
	inputOf(t, &p)
	signer, public := logKey(t, origin, 1)
	record, seed := recordOf(p.name, p.statement, p.clientSeed, p.parameters)
	record.RevealNow = p.now
	f := &prooffile.File{Record: record.Append(nil), Seed: seed, ClientSeed: p.clientSeed, LogKey: public}
	f.Inclusion = include(t, f.Record, p.index, p.log, signer)
	v := vector{Name: p.name, Key: public, Expect: "verified"}
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
	return v, f
}

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
		v, f := build(t, p)
		all.Proofs, files[v.Name] = append(all.Proofs, v), f
	}
	v, f := buildReveal(t, files["held back"])
	all.Proofs, files[v.Name] = append(all.Proofs, v), f
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
}

func buildWrong(t testing.TB, right []vector, files map[string]*prooffile.File) (list []wrongVector) {
	t.Helper()
	signer, _ := logKey(t, origin, 1)
	for _, w := range forgeries(t) {
		i := slices.IndexFunc(right, func(v vector) bool { return v.Name == w.of })
		v, f := right[i], *files[w.of]
		inclusion := *f.Inclusion
		inclusion.Hashes = slices.Clone(inclusion.Hashes)
		f.Inclusion, f.Seed, f.Record = &inclusion, slices.Clone(f.Seed), slices.Clone(f.Record)
		if w.record != nil {
			f.Record = []byte(w.record(string(f.Record)))
			f.Inclusion = include(t, f.Record, int(f.Inclusion.Index), 20, signer)
		}
		if w.file != nil {
			w.file(&f)
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
		if wrong.Proof == v.Proof && wrong.Key == v.Key && wrong.Items == v.Items {
			t.Errorf("%s: nothing is wrong with it", w.name)
		}
		list = append(list, wrong)
	}
	return list
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
	return []forgery{
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
