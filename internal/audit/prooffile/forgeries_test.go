package prooffile_test

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/rng"
)

// A forgery changes a valid proof.
type forgery struct {
	name, of, step string
	file           func(f *prooffile.File)    // changes what the file says
	text           func(text string) string   // changes the text itself
	record         func(record string) string // changes the record, also in the log
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

// substitute returns a function that replaces the first old, which must exist.
func substitute(t testing.TB, old, new string) func(string) string {
	return func(text string) string {
		t.Helper()
		assert.Contains(t, text, old, "there is no")
		return strings.Replace(text, old, new, 1)
	}
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
		{name: "another spec", of: plain, step: "proof", text: sub(`"spec":"riffle/1"`, `"spec":"riffle/2"`)},
		{name: "a member too many", of: plain, step: "proof", text: sub(`{"spec"`, `{"extra":1,"spec"`)},
		{name: "a member twice", of: plain, step: "proof", text: sub(`{"spec":"riffle/1"`, `{"spec":"riffle/1","spec":"riffle/1"`)},
		{name: "a seed in capitals", of: plain, step: "proof", text: func(s string) string {
			before, after, _ := strings.Cut(s, `"seed":"`)
			return before + `"seed":"` + strings.ToUpper(after[:64]) + after[64:]
		}},
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
		{name: "a bit of the signature", of: plain, step: "signature", file: spoilSignature(t)},
		{name: "a tree of its own", of: plain, step: "signature", file: func(f *prooffile.File) {
			_, signatures, _ := strings.Cut(string(f.Inclusion.Checkpoint), "\n\n")
			f.Inclusion = include(t, f.Record, 1, 2, ours)
			text, _, _ := strings.Cut(string(f.Inclusion.Checkpoint), "\n\n")
			f.Inclusion.Checkpoint = []byte(text + "\n\n" + signatures)
		}},
		{name: "a reveal with a bit of the signature", of: "reveal", step: "signature", file: spoilSignature(t)},
		{name: "held back, with a bit of the signature", of: "held back", step: "signature", file: spoilSignature(t)},
	}
	list = append(list, forgedRecords(t)...)
	list = append(list, forgedSignatures(t)...)
	return append(list, forgedCommitments(t)...)
}

// commitTo returns a function that has a record commit to another seed.
func commitTo(t testing.TB, seed rng.Seed) func(string) string {
	return func(text string) string {
		t.Helper()
		record, err := audit.ParseRecord([]byte(text))
		require.NoError(t, err)
		s := record.Statement
		s.Seed = seed
		record.Commitment = s.Commitment()
		return string(record.Append(nil))
	}
}

// forgedSignatures add lines to the valid signature of a checkpoint.
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
	require.Containsf(t, public, fmt.Sprintf("+%x+", hash), "the key hash is %x, and the key", hash)
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
