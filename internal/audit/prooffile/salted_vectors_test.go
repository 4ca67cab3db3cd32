package prooffile_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
)

// saltedFile has the vectors of salted items. They are in a file of their own, so that a verifier
// that does not know the member items_digest still agrees with the others.
const saltedFile = "../../../testdata/riffle1/salted.json"

const (
	salt      = "c0ffee00112233445566778899aabbcc"
	otherSalt = "C0FFEE00112233445566778899AABBCC"
	pins      = `["4711", "0815"]`
)

// saltedInput returns the input of items with a salt, by the text of the specification.
func saltedInput(t testing.TB, items, salt string) string {
	t.Helper()
	plain, _ := strings.CutPrefix(itemsInput(t, items), "items ")
	return audit.ItemsInput(sha256.Sum256([]byte("riffle/1 items\nsalt " + salt + "\n" + plain + "\n")))
}

// buildSalted builds the whole file of vectors. Where a step cannot be checked and none fails,
// expect is "unchecked".
func buildSalted(t testing.TB) (all vectors) {
	t.Helper()
	add := func(p plan) vector {
		v, _, _ := build(t, p)
		all.Proofs = append(all.Proofs, v)
		return v
	}
	another := func(v vector, name, expect string, change func(*vector)) {
		v.Name, v.Expect = name, expect
		change(&v)
		all.Proofs = append(all.Proofs, v)
	}
	wrong := func(v vector, name, step string, change func(*vector)) {
		change(&v)
		all.Wrong = append(all.Wrong, wrongVector{
			Name: name, Proof: v.Proof, Items: v.Items, ItemsSalt: v.ItemsSalt, Key: v.Key, Step: step, CommitmentProof: v.CommitmentProof,
		})
	}
	items := func(text string) func(*vector) { return func(v *vector) { v.Items = &text } }

	salted := add(plan{name: "salted", statement: fisherYates(2), items: pins, salt: salt, index: 1, log: 3})
	twice := fisherYates(12)
	twice.Hands, twice.Repeat = []uint64{2, 2}, 2
	add(plan{name: "salted, with hands, twice", statement: twice, items: values, salt: strings.Repeat("Az09-_", 21) + "zz", clientSeed: "Zoë", index: 3, log: 7})
	add(plan{name: "salted, committed", statement: fisherYates(5), items: fruit, salt: "0123456789-abc_D", clientSeed: "Zoë", index: 6, log: 7, committed: &place{3, 7}})
	held := add(plan{name: "salted, held back", statement: fisherYates(5), items: fruit, salt: salt, held: true, index: 0, log: 1})
	another(salted, "salted, the items not given", "verified", func(v *vector) { v.Items, v.ItemsSalt = nil, "" })
	another(salted, "salted, the salt not given", "unchecked", func(v *vector) { v.ItemsSalt = "" })
	another(salted, "salted, other items and the salt not given", "unchecked", func(v *vector) { items(fruit)(v); v.ItemsSalt = "" })
	later := plan{name: "a rule of a later version", statement: fisherYates(2), items: pins, salt: salt, rule: "salted/2", index: 0, log: 1}
	v, _, _ := build(t, later)
	another(v, later.name, "unchecked", func(*vector) {})

	wrong(salted, "another salt", "items", func(v *vector) { v.ItemsSalt = otherSalt })
	wrong(salted, "other items", "items", items(`["4711", "0816"]`))
	wrong(salted, "items in another order", "items", items(`["0815", "4711"]`))
	wrong(held, "another salt, and the seed is held back", "items", func(v *vector) { v.ItemsSalt = otherSalt })
	unsalted, _, _ := build(t, plan{name: "unsalted", statement: fisherYates(2), items: pins, index: 1, log: 3})
	wrong(unsalted, "a salt for items that are not salted", "items", func(v *vector) { v.ItemsSalt = salt })
	numbers, _, _ := build(t, plan{name: "a range", statement: fisherYates(2), index: 1, log: 3})
	wrong(numbers, "items and a salt for a range", "items", func(v *vector) { items(pins)(v); v.ItemsSalt = salt })
	plain, _, _ := build(t, plan{name: "plain as salted", statement: fisherYates(2), items: pins, rule: audit.SaltedItems, index: 1, log: 3})
	wrong(plain, "the plain digest in place of the salted", "items", func(v *vector) { v.ItemsSalt = salt })

	signer, _ := logKey(t, origin, 1)
	record := func(v vector, name, from, to string) {
		f, err := prooffile.Parse([]byte(v.Proof))
		require.NoError(t, err)
		if changed := strings.Replace(string(f.Record), from, to, 1); changed != string(f.Record) {
			f.Record = []byte(changed)
		} else {
			t.Fatalf("%s: the record has no %s", name, from)
		}
		f.Inclusion = include(t, f.Record, 0, 1, signer)
		wrong(v, name, "record", func(v *vector) { v.Proof = string(f.Text()) })
	}
	const rule = `"items_digest":"salted/1"`
	record(salted, "a rule without a version", rule, `"items_digest":"salted"`)
	record(salted, "a rule of version 0", rule, `"items_digest":"salted/0"`)
	record(salted, "a rule of version 01", rule, `"items_digest":"salted/01"`)
	record(salted, "a rule without a name", rule, `"items_digest":"/1"`)
	record(salted, "a rule in capitals", rule, `"items_digest":"Salted/1"`)
	record(salted, "an empty rule", rule, `"items_digest":""`)
	record(salted, "a rule that is null", rule, `"items_digest":null`)
	record(salted, "a rule that is a number", rule, `"items_digest":1`)
	record(salted, "two rules", rule, rule+","+rule)
	record(numbers, "a rule for a range", `"input":"range"`, `"input":"range",`+rule)
	deck, _, _ := build(t, plan{name: "a deck", statement: fisherYates(52), deck: "standard52", copies: 1, index: 1, log: 3})
	record(deck, "a rule for a deck", `,"commitment"`, ","+rule+`,"commitment"`)
	revealed, _ := recordOf("salted reveal", audit.Statement{}, "", nil)
	revealed.Kind, revealed.AuditID = audit.KindReveal, revealed.ID
	reveal, _ := alone(t, "reveal", "reveal", revealed.Append(nil), place{0, 1})
	record(reveal, "a rule in a reveal", `,"commitment"`, ","+rule+`,"commitment"`)
	return all
}

func readSalted(t testing.TB) vectors { return read[vectors](t, saltedFile) }
