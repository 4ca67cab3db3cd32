package prooffile_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
)

// fuzzedFile has what TestVerifiersAgreeOnMutations found, made small.
const fuzzedFile = "../../../testdata/riffle1/fuzzed.json"

func buildFuzzed(t testing.TB) []verdictVector {
	t.Helper()
	_, key := logKey(t, origin, 1)
	b := &verdictBuilder{t: t, key: key}
	nested := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	const follows, isRecord = `{"id":"follows"}`, `{"id":"false","step":"record"}`

	for _, kind := range []string{"constructor", "__proto__"} {
		b.sorted("the kind "+kind, unchecked, "record", "proof", `{"id":"unknown-kind"}`, verdictVector{Texts: texts("proof.json", b.forged(strings.Replace(unknownKind, "table_of-9", kind, 1), nil))})
	}

	made, seed := recordOf("nested", fisherYates(5), "", nil)
	record := func(levels int) verdictVector {
		text := substitute(t, `,"commitment"`, `,"x":`+nested(levels-1)+`,"commitment"`)(string(made.Append(nil)))
		return verdictVector{Texts: texts("proof.json", b.forged(text, seed))}
	}
	b.sorted("a record of 200 levels", verified, "", "proof", follows, record(200))
	b.sorted("a record of 201 levels", isFalse, "record", "proof", isRecord, record(201))
	for _, levels := range []int{200, 201} {
		name, list := fmt.Sprintf("items of %d levels", levels), nested(levels)
		v, _, _ := build(t, plan{name: name, statement: fisherYates(1), items: list, log: 1})
		given := verdictVector{Texts: texts("proof.json", v.Proof, "entries.json", list)}
		if levels == 200 {
			b.sorted(name, verified, "", "proof items", follows, given)
		} else {
			b.refused(name, "unknown", []string{"entries.json"}, given)
		}
	}

	const records = `[{"record":"Abbey Road"},{"record":"Revolver"}]`
	v, _, _ := build(t, plan{name: "items with a record", statement: fisherYates(2), items: records, log: 1})
	b.sorted("items with a record", verified, "", "proof items", follows, verdictVector{Texts: texts("proof.json", v.Proof, "entries.json", records)})

	committed := named(t, "committed, hands of a deck")
	b.sorted("a proof with a log key that is none, and its commitment", isFalse, "proof", "proof proof", `{"false":1,"id":"several","unchecked":0,"verified":1}`, verdictVector{
		Texts: texts("proof.json", substitute(t, `"log_key":"example.com/log+`, `"log_key":"example.com/log-`)(committed.Proof), "commitment.json", *committed.CommitmentProof),
	})

	deal, nothing := named(t, "deck"), named(t, "nothing")
	all := compactJSON(t, b.answer(&deal)["items"])
	for name, v := range map[string]verdictVector{
		"no hands, and an empty array of hands":              {Texts: texts("deal.json", deal.Proof, "answer.json", `{"hands":[]}`)},
		"no hands, and an empty array of hands and no rest":  {Texts: texts("deal.json", deal.Proof, "answer.json", `{"hands":[],"rest":[]}`)},
		"no hands, and an empty array of hands and the rest": {Texts: texts("deal.json", deal.Proof, "answer.json", `{"hands":[],"rest":`+all+`}`)},
		"no hands, and an empty array of hands and items":    {Texts: texts("deal.json", deal.Proof, "answer.json", `{"hands":[],"items":`+all+`}`)},
		"no items, and an empty array of hands":              {Texts: texts("deal.json", nothing.Proof, "answer.json", `{"hands":[]}`), Items: *nothing.Items},
	} {
		if strings.Contains(v.Texts[1].Text, "AS") || v.Items != "" {
			b.sorted(name, verified, "", "proof order", `{"id":"order"}`, v)
		} else {
			b.sorted(name, isFalse, "order", "proof order", isWrongOrder, v)
		}
	}

	hands := named(t, "hands and a client seed")
	sortedHand := b.answer(&hands)
	dealt := sortedHand["hands"].([]any)[0].([]any)
	slices.Reverse(dealt)
	sortedHand["shuffles"] = []any{}
	b.sorted("a sorted hand, and an empty array of shuffles", isFalse, "order", "proof order", isWrongOrder, verdictVector{
		Texts: texts("deal.json", hands.Proof, "answer.json", compactJSON(t, sortedHand)),
	})

	signer, _ := logKey(t, origin, 1)
	_, _, late := build(t, committedPlans()[1])
	relog(t, signer, substitute(t, `"deadline":"2026-01-02T03:13`, `"deadline":"2026-01-02T03:04`))(late)
	for i, order := range [][]string{{string(late.Text()), *committed.CommitmentProof}, {*committed.CommitmentProof, string(late.Text())}} {
		b.sorted(fmt.Sprintf("two commitments of one id, %d", i+1), isFalse, "committed", "proof proof proof", `{"id":"false","step":"committed"}`, verdictVector{
			Texts: texts("a.json", order[0], "b.json", order[1], "proof.json", committed.Proof),
		})
	}

	single := named(t, "one item")
	b.sorted("one item, and an empty array of hands", isFalse, "order", "proof items order", isWrongOrder, verdictVector{Texts: texts("proof.json", single.Proof, "entries.json", *single.Items, "answer.json", `{"hands":[]}`)})
	b.refused("a key of two lines", "unknown", []string{"log.key"}, verdictVector{Texts: texts("proof.json", single.Proof, "log.key", key[:40]+"\n"+key[40:])})

	twice := newShoe(t, &plan{name: "twice in the log", statement: fisherYates(5), items: fruit})
	twice.move(audit.KindDraw, "shoe", "top", 2, "dealt", "")
	twice.end(audit.KindClose)
	files := twice.files()
	again := twice.files()[0]
	again.Inclusion.Index = files[len(files)-1].Inclusion.Index + 1
	files = append(files, again)
	relogged(t, files)
	for i, order := range [][]*prooffile.File{files, slices.Concat(files[len(files)-1:], files[:len(files)-1])} {
		b.sorted(fmt.Sprintf("a shoe whose first record is in the log twice, %d", i+1), isFalse, "chain", "proof", `{"id":"false","step":"chain"}`, verdictVector{
			Texts: texts("shoe.json", string(bytes.Join(textsOf(order), nil))), Items: fruit,
		})
	}

	shoe := newShoe(t, &plan{name: "twins", statement: fisherYates(5), items: fruit})
	hand := shoe.hand(shoe.move(audit.KindDraw, "shoe", "top", 2, "dealt", ""))
	shoe.end(audit.KindClose)
	open := shoe.files()[0]
	open.Seed = nil
	first, held := string(shoe.files()[0].Text()), string(open.Text())
	other := newShoe(t, &plan{name: shoe.name, statement: fisherYates(5)})
	twin := string(other.files()[0].Text())
	genuine := handText(t, hand)
	hand[0].Card = (hand[0].Card + 1) % 5
	numbered := handText(t, hand)
	for _, turned := range []bool{false, true} {
		two := func(a, c, hand string) verdictVector {
			if turned {
				a, c = c, a
			}
			return verdictVector{Texts: texts("a.json", a, "b.json", c, "hand.json", hand)}
		}
		suffix := map[bool]string{true: ", turned around"}[turned]
		const isWrong = `{"id":"false","step":"hand"}`
		b.sorted("a hand, and its record from when it was open as well"+suffix, verified, "", "proof proof hand", `{"cards":2,"id":"cards"}`, two(first, held, genuine))
		b.sorted("a hand with another number, and its record from when it was open as well"+suffix, isFalse, "hand", "proof proof hand", isWrong, two(first, held, numbered))
		b.sorted("a hand, and two records of one id"+suffix, isFalse, "hand", "proof proof hand", isWrong, two(first, twin, genuine))
	}
	slices.SortFunc(b.list, func(a, c verdictVector) int { return strings.Compare(a.Name, c.Name) })
	return b.list
}
