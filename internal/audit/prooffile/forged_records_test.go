package prooffile_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
)

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
		{"a shuffle with a version of null", plain, add(`"version":null`)},
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
		forgery{name: "an unknown kind with a bit of the signature", of: "unknown kind", step: "signature", file: spoilSignature(t)})
}

// deadline returns a function that gives a commitment another deadline.
func deadline(at string) func(string) string {
	return func(record string) string {
		before, after, _ := strings.Cut(record, `"deadline":"`)
		_, after, _ = strings.Cut(after, `"`)
		return before + `"deadline":"` + at + `"` + after
	}
}

// forgedCommitments go with the proof of a shuffle that is valid apart from its commitment.
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
		{"a commitment with a bit of the signature", used, spoilSignature(t)},
		{"a commitment with a seed in its file", used, func(f *prooffile.File) { f.Seed = make([]byte, 32) }},
		{"a commitment with a client seed in its file", used, func(f *prooffile.File) { f.ClientSeed = "x" }},
	} {
		list = append(list, forgery{name: v.name, of: v.of, step: "committed", commitment: v.change})
	}
	return append(list,
		forgery{name: "a shuffle that names another commitment", of: used, step: "committed", record: sub(`"commitment_id":"`, `"commitment_id":"019b7ca9-8c88-7e34-8a29-e0ab088154ee","x":"`)},
		forgery{name: "the proof of the shuffle in place of the commitment's", of: used, step: "committed", commitment: func(f *prooffile.File) {
			_, shuffle, _ := build(t, committedPlans()[1])
			*f = *shuffle
		}},
		forgery{name: "committed, and another seed", of: used, step: "commitment", file: func(f *prooffile.File) { f.Seed[0] ^= 1 }},
		forgery{name: "committed, and another client seed in the record too", of: used, step: "inclusion", file: func(f *prooffile.File) {
			f.Record, f.ClientSeed = []byte(sub("9ab2", "9ab3")(string(f.Record))), sub("9ab2", "9ab3")(f.ClientSeed)
		}},
		forgery{name: "committed, and a bit of the shuffle's signature", of: used, step: "signature", file: spoilSignature(t)},
	)
}

// voidOf returns a function that makes a void of a commitment, of the same id.
func voidOf(t testing.TB) func(string) string {
	return func(text string) string {
		t.Helper()
		record, err := audit.ParseRecord([]byte(text))
		require.NoError(t, err)
		record.Kind, record.CommitmentID = audit.KindVoid, record.ID
		return string(record.Append(nil))
	}
}
