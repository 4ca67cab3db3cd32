package prooffile_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// A textVector is a text that a verifier sorts, unless it has a role.
type textVector struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Role string `json:"role,omitempty"`
}

// A roleVector is the role that a text has in the end.
type roleVector struct {
	Role    string          `json:"role"`
	Hand    json.RawMessage `json:"hand,omitempty"`
	Shuffle json.RawMessage `json:"shuffle,omitempty"`
}

// texts are the texts of a vector: name and text in turn.
func texts(pairs ...string) (list []textVector) {
	for pair := range slices.Chunk(pairs, 2) {
		list = append(list, textVector{Name: pair[0], Text: pair[1]})
	}
	return list
}

// sorted adds a vector of texts. The roles are separated by spaces: hand-of/2 is hand 2, and
// hand-of/2/3 is hand 2 of shuffle 3; they are empty if the texts are refused. The summary is JSON.
func (b *verdictBuilder) sorted(name, verdict, step, roles, summary string, v verdictVector) {
	for _, role := range strings.Fields(roles) {
		parts := strings.Split(role+"//", "/")
		r := roleVector{Role: parts[0], Shuffle: json.RawMessage(parts[2])}
		if r.Hand = json.RawMessage(parts[1]); parts[1] == "rest" {
			r.Hand = json.RawMessage(`"rest"`)
		}
		v.Roles = append(v.Roles, r)
	}
	v.Summary = json.RawMessage(summary)
	b.add(name, verdict, step, v)
}

// refused adds a vector that is refused.
func (b *verdictBuilder) refused(name, why string, names []string, v verdictVector) {
	b.sorted(name, unchecked, "", "", fmt.Sprintf(`{"files":%s,"id":"refused","why":%q}`, compactJSON(b.t, names), why), v)
}

// noKey is for a vector without a key.
const noKey = "none"

const isWrongOrder = `{"id":"false","step":"order"}`

// roles are texts that are sorted.
func (b *verdictBuilder) roles() {
	raffle := named(b.t, "a client seed that the file escapes")
	items, drawnOrder := *raffle.Items, b.answer(&raffle)["items"].([]any)
	order, wrong := compactJSON(b.t, drawnOrder), compactJSON(b.t, append(slices.Clone(drawnOrder[1:]), drawnOrder[0]))
	answer := compactJSON(b.t, b.answer(&raffle))
	other := b.changed(b.answer(&raffle), "items", json.RawMessage(wrong))
	key := b.key + "\n"
	given := func(pairs ...string) verdictVector {
		return verdictVector{Texts: texts(append([]string{"proof.json", raffle.Proof}, pairs...)...)}
	}

	const isOrder = `{"id":"order"}`
	b.sorted("sorted: the winners, the entries and the key", verified, "", "proof key order items", isOrder, given("log.key", key, "winners.json", order, "entries.json", items))
	b.sorted("sorted: other winners, the entries and the key", isFalse, "order", "proof key order items", isWrongOrder, given("log.key", key, "winners.json", wrong, "entries.json", items))
	b.sorted("sorted: the entries and other winners", isFalse, "order", "proof items order", isWrongOrder, given("entries.json", items, "winners.json", wrong))
	b.sorted("sorted: the answer and the entries", verified, "", "proof order items", isOrder, given("answer.json", answer, "entries.json", items))
	b.sorted("sorted: the answer twice", verified, "", "proof order items unused", isOrder, given("answer.json", answer, "entries.json", items, "again.json", "\ufeff"+answer+"\n"))
	b.refused("sorted: two answers, false and true", "two", []string{"other.json", "answer.json"}, given("other.json", other, "entries.json", items, "answer.json", answer))
	b.refused("sorted: two answers, true and false", "two", []string{"answer.json", "other.json"}, given("answer.json", answer, "other.json", other))
	b.refused("sorted: two lists that are not the items", "which", []string{"a.json", "b.json"}, given("a.json", order, "b.json", wrong))
	b.refused("sorted: an answer and a list that is not the items", "which", []string{"answer.json", "b.json"}, given("b.json", wrong, "answer.json", answer))
	b.sorted("sorted: a list and no items", unchecked, "order", "proof order", `{"id":"incomplete","step":"order"}`, given("winners.json", wrong))
	b.sorted("sorted: the items alone", verified, "", "proof items", `{"id":"follows"}`, given("entries.json", items))
	b.sorted("sorted: a key with a byte order mark", verified, "", "proof key", `{"id":"follows"}`, given("log.key", "\ufeff\r\n"+key))
	b.sorted("sorted: items with a byte order mark", verified, "", "proof items", `{"id":"follows"}`, given("entries.json", "\ufeff "+items+"\r\n"))
	unkeyed := given("entries.json", items)
	unkeyed.Key = noKey
	b.sorted("sorted: no key", unchecked, "", "proof items", `{"id":"no-key","if":{"id":"follows"}}`, unkeyed)
	b.refused("sorted: two keys", "two", []string{"a.key", "b.key"}, given("a.key", key, "b.key", "example.com/other+7c13ef92+AVwlA0NG+Tm926VsAsfllmp7+9ZLJGkFF5yQuueU9UMz"))
	b.refused("sorted: a private key", "private-key", []string{"log.key"}, given("log.key", "PRIVATE+KEY+example.com/log+9be5d3c6+AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB\n"))
	b.refused("sorted: a note", "unknown", []string{"notes.txt"}, given("notes.txt", "Zoë won."))
	b.refused("sorted: nothing", "unknown", []string{"empty"}, given("empty", " \n"))
	b.refused("sorted: an object of no role", "unknown", []string{"x.json"}, given("x.json", `{"name":"ann"}`))
	b.refused("sorted: a short salt", "unknown", []string{"salt"}, given("salt", "fifteen-letters"))
	b.refused("sorted: a salt and no items", "no-items", []string{"salt"}, given("salt", "sixteen-letters-"))
	b.refused("sorted: an answer whose items are not an array", "unreadable", []string{"answer.json"}, given("answer.json", `{"items":1}`))
	b.refused("sorted: no proof", "no-proof", []string{}, verdictVector{Texts: texts("answer.json", answer)})
	b.sorted("sorted: a proof that is cut short", unchecked, "proof", "proof", `{"id":"incomplete","step":"proof"}`, verdictVector{Texts: texts("proof.json", raffle.Proof[:200])})
	b.sorted("sorted: a proof without a record", unchecked, "proof", "proof", `{"id":"incomplete","step":"proof"}`, verdictVector{Texts: texts("proof.json", `{"tlog_proof":"x"}`)})
	b.sorted("sorted: a list that is given as the order", verified, "", "proof items order", isOrder, verdictVector{Texts: append(texts("proof.json", raffle.Proof, "entries.json", items), textVector{"winners.json", order, "order"})})
	b.refused("sorted: items, and others given as the items", "two", []string{"given.json", "entries.json"}, verdictVector{Texts: append(texts("proof.json", raffle.Proof, "entries.json", items), textVector{"given.json", wrong, "items"})})
	b.refused("sorted: half a surrogate pair in the items", "unknown", []string{"entries.json"}, given("entries.json", strings.Replace(items, "apple", `\ud800`, 1)))

	salted := readSalted(b.t).Proofs[0]
	b.sorted("sorted: salted items and their salt", verified, "", "proof items salt", `{"id":"follows"}`, verdictVector{Texts: texts("proof.json", salted.Proof, "entries.json", *salted.Items, "salt.txt", salted.ItemsSalt+"\n")})
	b.sorted("sorted: salted items without their salt", unchecked, "order", "proof order", `{"id":"incomplete","step":"order"}`, verdictVector{Texts: texts("proof.json", salted.Proof, "entries.json", *salted.Items)})
	b.sorted("sorted: salted items and another salt", unchecked, "order", "proof order salt", `{"id":"incomplete","step":"order"}`, verdictVector{Texts: texts("proof.json", salted.Proof, "entries.json", *salted.Items, "salt.txt", "12345678901234567")})

	const objects = `[{"name":"ann"},{"name":"bob","cards":2},{"items":1},{"position":1,"salt":"x","path":[]},{"name":"ann"}]`
	v, _, _ := build(b.t, plan{name: "objects", statement: audit.Statement{Algorithm: shuffle.AlgorithmFisherYates, Size: 5, Draw: 5, Repeat: 1}, items: objects, log: 1})
	drawn := compactJSON(b.t, b.answer(&v)["items"])
	b.sorted("sorted: items that are objects, and their order", verified, "", "order items proof", isOrder, verdictVector{Texts: texts("winners.json", drawn, "entries.json", objects, "proof.json", v.Proof)})
	once := compactJSON(b.t, map[string]any{"shuffles": []any{b.answer(&v)["items"]}})
	b.sorted("sorted: an answer with the shuffles of one", verified, "", "order items proof", isOrder, verdictVector{Texts: texts("answer.json", once, "entries.json", objects, "proof.json", v.Proof)})

	deal := named(b.t, "deck")
	cards := compactJSON(b.t, b.answer(&deal)["items"])
	both := func(pairs ...string) verdictVector {
		return verdictVector{Texts: texts(append([]string{"deal.json", deal.Proof, "raffle.json", raffle.Proof}, pairs...)...)}
	}
	const several = `{"false":0,"id":"several","unchecked":0,"verified":2}`
	b.sorted("sorted: the cards of a deal as a list", verified, "", "proof order", isOrder, verdictVector{Texts: texts("deal.json", deal.Proof, "cards.json", cards)})
	b.sorted("sorted: two proofs, and a list of one", verified, "", "proof proof order", several, both("cards.json", cards))
	b.refused("sorted: two proofs, and a list of none", "none", []string{"cards.json"}, both("cards.json", strings.Replace(cards, "AS", "XX", 1)))
	b.sorted("sorted: two proofs, and the answer of one", verified, "", "proof proof order items", several, both("answer.json", answer, "entries.json", items))
	b.sorted("sorted: two proofs, and a false answer of one", isFalse, "order", "proof proof order items", `{"false":1,"id":"several","unchecked":0,"verified":1}`, both("answer.json", other, "entries.json", items))

	committed, stray := named(b.t, "committed, hands of a deck"), named(b.t, "commitment")
	b.sorted("sorted: the commitment, and then its shuffle", verified, "", "proof proof", `{"id":"follows"}`, verdictVector{Texts: texts("a.json", *committed.CommitmentProof, "b.json", committed.Proof)})
	b.sorted("sorted: another commitment", verified, "", "proof proof", `{"commitment":"missing","id":"follows"}`, verdictVector{Texts: texts("a.json", stray.Proof, "b.json", committed.Proof)})
	b.sorted("sorted: a commitment alone", verified, "", "proof", `{"id":"record","kind":"commitment"}`, verdictVector{Texts: texts("a.json", stray.Proof)})
}

// deals are hands of a deal.
func (b *verdictBuilder) deals() {
	deal := named(b.t, "hands and a client seed")
	whole := b.answer(&deal)
	hands, rest := whole["hands"].([]any), whole["rest"].([]any)
	sorted := func(hand any) []any {
		list := slices.Clone(hand.([]any))
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(string(a.(json.RawMessage)), string(b.(json.RawMessage))) })
		return list
	}
	one := func(name, verdict, roles, summary, handOf string, order any) {
		step := ""
		if verdict == isFalse {
			step, summary = "order", isWrongOrder
		}
		b.sorted("hand: "+name, verdict, step, "proof "+roles, summary, verdictVector{HandOf: handOf, Texts: texts("deal.json", deal.Proof, "mine.json", compactJSON(b.t, order))})
	}
	const second, secondSet = `{"cards":13,"hand":2,"id":"hand"}`, `{"cards":13,"hand":2,"id":"hand-set"}`
	one("as a list", verified, "hand-of/2", second, "", hands[1])
	one("as a list, sorted", verified, "hand-of/2", secondSet, "", sorted(hands[1]))
	one("as an answer", verified, "hand-of/2", second, "", map[string]any{"hands": hands[1:2], "rest": []any{}})
	one("as an answer without the rest", verified, "hand-of/2", second, "", map[string]any{"hands": hands[1:2]})
	one("and the rest", verified, "hand-of/2", second, "", map[string]any{"hands": hands[1:2], "rest": rest})
	one("and another rest", isFalse, "order", "", "", map[string]any{"hands": hands[1:2], "rest": hands[2]})
	one("and the audit_id of another", isFalse, "order", "", "", map[string]any{"hands": hands[1:2], "audit_id": "019b7ca9-8c88-7e34-8a29-e0ab088154ee"})
	one("the rest as a list", verified, "hand-of/rest", `{"cards":13,"hand":"rest","id":"hand"}`, "", rest)
	one("two of the deal", verified, "order", `{"hands":[3,1],"id":"hands"}`, "", map[string]any{"hands": []any{hands[2], hands[0]}})
	one("two of the deal, one of them sorted", verified, "order", `{"hands":[3,1],"id":"hands-set"}`, "", map[string]any{"hands": []any{hands[2], sorted(hands[0])}})
	one("the same twice", isFalse, "order", "", "", map[string]any{"hands": []any{hands[2], hands[2]}})
	one("one card short", isFalse, "order", "", "", hands[1].([]any)[1:])
	one("a card exchanged", isFalse, "order", "", "", append(slices.Clone(hands[1].([]any)[1:]), hands[0].([]any)[0]))
	one("none", isFalse, "order", "", "", []any{})
	one("all and the rest", verified, "order", `{"id":"order"}`, "", map[string]any{"hands": hands, "rest": rest})
	one("all and no rest", verified, "order", `{"hands":[1,2,3],"id":"hands"}`, "", map[string]any{"hands": hands})
	one("all and an empty rest", isFalse, "order", "", "", map[string]any{"hands": hands, "rest": []any{}})
	one("all, sorted", verified, "order", `{"hands":[1,2,3],"id":"hands-set"}`, "", map[string]any{"hands": []any{sorted(hands[0]), sorted(hands[1]), hands[2]}, "rest": rest})
	one("all, and the rest sorted", isFalse, "order", "", "", map[string]any{"hands": hands, "rest": sorted(rest)})
	one("all, two exchanged", isFalse, "order", "", "", map[string]any{"hands": []any{hands[1], hands[0], hands[2]}, "rest": rest})
	one("said to be the second", verified, "hand-of/2", secondSet, "2", sorted(hands[1]))
	one("said to be the first", isFalse, "order", "", "1", hands[1])
	one("said to be the rest", isFalse, "order", "", "rest", hands[1])
	one("said to be a seventh", isFalse, "order", "", "7", hands[1])
	one("all, said to be the first", isFalse, "order", "", "1", whole)
	one("an answer of one, said to be the second", verified, "hand-of/2", second, "2", map[string]any{"hands": hands[1:2]})
	detailed := []any{}
	for _, code := range sorted(hands[1]) {
		detailed = append(detailed, map[string]any{"code": code, "instance": 1, "name": "x"})
	}
	one("with all details", verified, "hand-of/2", secondSet, "", detailed)
	b.refused("hand: said to be the first, and none given", "no-order", []string{}, verdictVector{HandOf: "1", Texts: texts("deal.json", deal.Proof)})
	b.refused("hand: said to be hand 0", "unreadable", []string{}, verdictVector{HandOf: "0", Texts: texts("deal.json", deal.Proof, "mine.json", compactJSON(b.t, hands[0]))})

	plainDeck := named(b.t, "deck")
	all := b.answer(&plainDeck)["items"].([]any)
	noHands := func(name string, order any, handOf string) {
		b.sorted("hand: "+name, isFalse, "order", "proof order", isWrongOrder, verdictVector{HandOf: handOf, Texts: texts("deal.json", plainDeck.Proof, "mine.json", compactJSON(b.t, order))})
	}
	noHands("of a deal without hands", all[:13], "")
	noHands("of a deal without hands, all sorted", sorted(all), "")
	noHands("of a deal without hands, said to be the first", all, "1")

	twice := named(b.t, "items with hands, twice")
	shuffles := b.answer(&twice)["shuffles"].([]any)
	again := func(name, verdict, roles, summary, handOf string, order any) {
		step := ""
		if verdict == isFalse {
			step, summary = "order", isWrongOrder
		}
		b.sorted("hand: "+name, verdict, step, "proof items "+roles, summary, verdictVector{HandOf: handOf, Texts: texts("deal.json", twice.Proof, "entries.json", *twice.Items, "mine.json", compactJSON(b.t, order))})
	}
	dealt := shuffles[1].([]any)
	again("of the second shuffle", verified, "hand-of/2/2", `{"cards":2,"hand":2,"id":"hand","shuffle":2}`, "", dealt[1])
	again("of the second shuffle, as an answer", verified, "order", `{"hands":[1,2],"id":"hands","shuffle":2}`, "", map[string]any{"hands": dealt[:2], "rest": dealt[2]})
	again("of two shuffles", isFalse, "order", "", "", map[string]any{"hands": []any{shuffles[0].([]any)[0], dealt[1]}})
	again("of all shuffles", verified, "order", `{"id":"order"}`, "", map[string]any{"shuffles": shuffles})
	turned := func(shuffle any) []any {
		list := slices.Clone(shuffle.([]any))
		hand := list[0].([]any)
		list[0] = []any{hand[1], hand[0]}
		return list
	}
	again("of all shuffles, sorted", verified, "order", `{"hands":[1,2],"id":"hands-set"}`, "", map[string]any{"shuffles": []any{shuffles[0], turned(dealt)}})
	again("of all shuffles, without a rest", isFalse, "order", "", "", map[string]any{"shuffles": []any{shuffles[0], dealt[:2]}})
	b.sorted("hand: of items that are not known", unchecked, "order", "proof order", `{"id":"incomplete","step":"order"}`, verdictVector{Texts: texts("deal.json", twice.Proof, "mine.json", compactJSON(b.t, dealt[1]))})
}

// forged returns the proof of a record that a dishonest operator logged.
func (b *verdictBuilder) forged(record string, seed rng.Seed) string {
	signer, public := logKey(b.t, origin, 1)
	f := &prooffile.File{Record: []byte(record), Seed: seed, LogKey: public}
	f.Inclusion = include(b.t, f.Record, 2, 3, signer)
	return string(f.Text())
}

// limits are records whose replay takes too long, and others that are not well-formed.
func (b *verdictBuilder) limits(shoes map[string]*dealtShoe) {
	for name, s := range map[string]audit.Statement{
		"repeat of 2^53-1":    {Algorithm: shuffle.AlgorithmFisherYates, Size: 5, Repeat: audit.MaxSize},
		"sattolo of none":     {Algorithm: shuffle.AlgorithmSattolo, Size: 1_000_000, Repeat: 1074},
		"inside-out of one":   {Algorithm: shuffle.AlgorithmInsideOut, Size: 1_000_000, Draw: 1, Repeat: 50},
		"all of 2^53-1":       {Algorithm: shuffle.AlgorithmFisherYates, Size: audit.MaxSize, Draw: audit.MaxSize, Repeat: 1},
		"a seed of many keys": {Algorithm: shuffle.AlgorithmFisherYates, Size: 5, Repeat: 500_000, Seed: arbitrary("many", 213*rng.BlockSize)},
	} {
		s.Input = audit.RangeInput
		record, seed := recordOf("cost: "+name, s, "", nil)
		s.Seed = seed
		b.sorted("cost: "+name, unchecked, "order", "proof", fmt.Sprintf(`{"id":"cost","steps":"%d"}`, s.Cost()), verdictVector{Texts: texts("proof.json", b.forged(string(record.Append(nil)), seed))})
	}
	record, seed := recordOf("cost: a large deck", audit.Statement{Algorithm: shuffle.AlgorithmFisherYates, Size: 52 << 20, Draw: 5, Repeat: 1, Input: "deck standard52 x1048576 sha256:" + strings.Repeat("0", 64)}, "", nil)
	b.sorted("cost: a large deck", unchecked, "items", "proof", `{"id":"incomplete","step":"items"}`, verdictVector{Texts: texts("proof.json", b.forged(string(record.Append(nil)), seed))})

	wrong := func(name, record string, seed rng.Seed) {
		b.sorted("record: "+name, isFalse, "record", "proof", `{"id":"false","step":"record"}`, verdictVector{Texts: texts("proof.json", b.forged(record, seed))})
	}
	made, seed := recordOf("record", audit.Statement{Algorithm: shuffle.AlgorithmFisherYates, Size: 5, Draw: 5, Repeat: 1, Input: audit.RangeInput}, "", nil)
	plain := string(made.Append(nil))
	for name, member := range map[string]string{
		"root": `"` + strings.Repeat("0", 64) + `"`, "version": "2", "from": `"shoe"`, "taken": `"top"`, "cards": `"1:0"`, "to": `"dealt"`, "put": `"top"`,
		"cut": "1", "cut_range": "[1,2]", "expires": `"2027-01-02T03:04:05.000006Z"`,
	} {
		wrong("a shuffle with the member "+name, substitute(b.t, `,"commitment"`, `,"`+name+`":`+member+`,"commitment"`)(plain), seed)
	}
	wrong("a time before 1970", substitute(b.t, `"time":"2026`, `"time":"1969`)(plain), seed)
	wrong("a leap second", substitute(b.t, `03:04:05`, `23:59:60`)(plain), seed)
	wrong("half a surrogate pair", substitute(b.t, `,"commitment"`, `,"client_seed":"\ud800","commitment"`)(plain), seed)
	draw := string(shoes["worked"].files()[1].Record)
	for _, cards := range []string{"01:0-1", "0:0-1", "1:00-1", "1:0-01", "1:0-0"} {
		wrong("a draw of the cards "+cards, substitute(b.t, `"1:0-1"`, `"`+cards+`"`)(draw), nil)
	}
}

// unordered are the proofs of shoes in any order, and several of one record.
func (b *verdictBuilder) unordered(shoes map[string]*dealtShoe, hands map[string][]wireCard) {
	lines := textsOf(shoes["every change"].files())
	join := func(list ...[]byte) string {
		var text strings.Builder
		for _, line := range list {
			text.Write(line)
		}
		return text.String()
	}
	whole := fmt.Sprintf(`{"changes":%d,"id":"shoe"}`, len(lines)-1)
	turned := slices.Clone(lines)
	slices.Reverse(turned)
	shoe := func(name, verdict, step, summary string, list ...string) {
		var pairs []string
		for i, text := range list {
			pairs = append(pairs, fmt.Sprintf("%d.json", i+1), text)
		}
		b.sorted("shoe: "+name, verdict, step, strings.Repeat("proof ", len(list)), summary, verdictVector{Texts: texts(pairs...)})
	}
	shoe("turned around", verified, "", whole, join(turned...))
	shoe("turned around in an array", verified, "", whole, "["+strings.Join(strings.Split(strings.TrimSpace(join(turned...)), "\n"), ",")+"]")
	shoe("two records exchanged", verified, "", whole, join(slices.Concat(lines[:3], lines[4:5], lines[3:4], lines[5:])...))
	shoe("a record twice", verified, "", whole, join(slices.Insert(slices.Clone(lines), 2, lines[2])...))
	shoe("every record twice", verified, "", whole, join(lines...), join(turned...))
	shoe("a record left out, and another twice", isFalse, "chain", `{"id":"false","step":"chain"}`, join(slices.Concat(lines[:3], lines[4:], lines[:3])...))
	held := shoes["every change"].files()[0]
	held.Seed = nil
	shoe("its first record, from when it was open, as well", verified, "", whole, string(held.Text()), join(lines...))
	spoiled := strings.Replace(string(lines[0]), `"index `, `"index 1`, 1)
	if spoiled == string(lines[0]) {
		spoiled = strings.Replace(string(lines[0]), `\nindex `, `\nindex 1`, 1)
	}
	shoe("its first record with another index as well", isFalse, "chain", `{"id":"false","step":"chain"}`, join(lines...), spoiled)
	other := shoes["every change"].files()
	other[3].Record = []byte(strings.Replace(string(other[3].Record), `"spec":`, `"x":1,"spec":`, 1))
	relogged(b.t, other)
	shoe("two records of one version", isFalse, "chain", `{"id":"false","step":"chain"}`, join(lines...), string(other[3].Text()))

	open := shoes["items, open"]
	openLines := textsOf(open.files())
	slices.Reverse(openLines)
	shoe("open", unchecked, "order", fmt.Sprintf(`{"changes":%d,"id":"open-shoe"}`, len(openLines)-1), join(openLines...))
	b.sorted("shoe: open, and a hand", verified, "", "proof hand", fmt.Sprintf(`{"cards":%d,"id":"cards"}`, len(hands[open.name])), verdictVector{Texts: texts("shoe.json", join(openLines...), "hand.json", handText(b.t, hands[open.name]))})
	b.sorted("shoe: its record alone, and a list", unchecked, "order", "proof order", `{"id":"incomplete","step":"order"}`, verdictVector{Texts: texts("shoe.json", string(lines[0]), "list.json", `["AS"]`)})
	sealed := compactJSON(b.t, codesOf(shoes["every change"]))
	b.sorted("shoe: whole, and the order that was sealed first", verified, "", "proof order", whole, verdictVector{Texts: texts("shoe.json", join(lines...), "list.json", sealed)})
	b.sorted("shoe: its record alone, and the order that was sealed first", verified, "", "proof order", `{"id":"order"}`, verdictVector{Texts: texts("shoe.json", string(lines[0]), "list.json", sealed)})

	plain := newShoe(b.t, &plan{name: "facade", statement: audit.Statement{Algorithm: shuffle.AlgorithmFisherYates, Size: 5, Repeat: 1}, items: fruit})
	drawn := handText(b.t, plain.hand(plain.move(audit.KindDraw, "shoe", "top", 2, "dealt", "")))
	first := string(plain.files()[0].Text())
	const cards = `{"cards":2,"id":"cards"}`
	b.sorted("shoe: a hand of one that was not shuffled, and the items", verified, "", "proof hand items", cards, verdictVector{Texts: texts("shoe.json", first, "hand.json", drawn, "fruit.json", fruit)})
	b.sorted("shoe: a hand of one that was not shuffled, without the items", unchecked, "hand", "proof hand", `{"id":"incomplete","step":"hand"}`, verdictVector{Texts: texts("shoe.json", first, "hand.json", drawn)})
	b.sorted("shoe: a hand of one that was not shuffled, with another card", isFalse, "hand", "proof hand items", `{"id":"false","step":"hand"}`, verdictVector{Texts: texts("shoe.json", first, "hand.json", strings.Replace(drawn, "apple", "quince", 1), "fruit.json", fruit)})
}

// codesOf returns the codes of the cards in the order that was sealed first.
func codesOf(s *dealtShoe) (codes []string) {
	for _, number := range s.orders[1] {
		codes = append(codes, s.texts[number])
	}
	return codes
}
