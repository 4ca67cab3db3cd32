package prooffile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/shoe"
	"riffle/internal/shuffle"
)

// A fuzzCase is what verifiers are given, and a verdict that it must never have; empty if that is open.
type fuzzCase struct {
	vector
	never string
}

// A fuzzer makes cases.
type fuzzer struct {
	*rand.Rand
	t      testing.TB
	key    string // of the log
	signer note.Signer
	name   string
	corpus []vector // genuine, forged and malformed
}

func newFuzzer(t testing.TB) *fuzzer {
	signer, key := logKey(t, origin, 1)
	f := &fuzzer{t: t, key: key, signer: signer}
	for _, v := range allVectors(t) {
		f.corpus = append(f.corpus, vector{Name: v.Name, Texts: v.Texts, Key: v.Key, HandOf: v.HandOf, AnyOrder: v.AnyOrder})
	}
	return f
}

// pick returns one of a list.
func pick[E any](f *fuzzer, list ...E) E { return list[f.IntN(len(list))] }

// one reports, once in n times, true.
func (f *fuzzer) one(n int) bool { return f.IntN(n) == 0 }

// shuffled puts a list into another order.
func shuffled[E any](f *fuzzer, list []E) []E {
	list = slices.Clone(list)
	f.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// make makes a case of a seed. It is the same whatever was made before.
func (f *fuzzer) make(seed, number uint64) fuzzCase {
	f.Rand, f.name = rand.New(rand.NewPCG(seed, number)), fmt.Sprintf("%d/%d", seed, number)
	var c fuzzCase
	switch f.IntN(8) {
	case 0, 1, 2, 3:
		c = f.shuffle()
	case 4, 5, 6:
		c = f.shoe()
	default:
		c = fuzzCase{vector: pick(f, f.corpus...)}
		c.Texts = slices.Clone(c.Texts)
	}
	if c.Key == "" && c.never != "" {
		c.Key = f.key
	}
	for i := range c.Texts { // what changes nothing
		if f.one(2) {
			c.Texts[i].Text = f.laidOut(c.Texts[i].Text)
		}
	}
	if f.one(8) && len(c.Texts) > 0 {
		again := pick(f, c.Texts...)
		again.Name = "again.json"
		c.Texts = append(c.Texts, again)
	}
	c.Texts = shuffled(f, c.Texts)
	if f.one(2) && len(c.Texts) > 0 {
		c.Name, c.never = c.Name+", mutated", ""
		for range 1 + f.IntN(3) {
			f.mutate(&c.vector)
		}
	}
	return c
}

// shuffle is a proof of a shuffle, with what was answered, or something else.
func (f *fuzzer) shuffle() fuzzCase {
	p := plan{name: f.name, index: f.IntN(4), clientSeed: pick(f, "", "", "Zoë", "\u2028\x01\"\\"), now: f.one(4), held: f.one(8)}
	p.log = p.index + 1 + f.IntN(3)
	s := audit.Statement{Algorithm: pick(f, shuffle.Algorithms()...), Size: pick[uint64](f, 0, 1, 2, 3, 5, 12, 20), Repeat: pick[uint64](f, 1, 1, 1, 2, 3), Input: audit.RangeInput, Reference: pick(f, "", "", "table 7 ♥")}
	switch f.IntN(4) {
	case 0:
		p.deck, p.copies = pick(f, "standard52", "standard54"), pick[uint64](f, 1, 2)
		s.Size = p.copies * map[string]uint64{"standard52": 52, "standard54": 54}[p.deck]
	case 1, 2:
		p.items = f.items(s.Size)
		p.salt = pick(f, "", "", "c0ffee00112233445566778899aabbcc")
	}
	if s.Size == 1 && s.Algorithm == shuffle.AlgorithmSattolo {
		s.Algorithm = shuffle.AlgorithmFisherYates
	}
	s.Draw = pick(f, s.Size, f.Uint64N(s.Size+1))
	for left := s.Draw; left > 0 && f.one(2); {
		hand := 1 + f.Uint64N(left)
		s.Hands, left = append(s.Hands, hand), left-hand
	}
	if p.statement = s; f.one(3) {
		p.clientSeed += "x"
		p.committed = &place{0, p.log}
		p.index, p.log = p.index+1, p.log+1
		p.committed.size = p.log
	}
	v := build(f.t, p)
	c := fuzzCase{vector{Name: "a shuffle", Key: f.key, Texts: texts("proof.json", v.Proof)}, isFalse}
	if v.CommitmentProof != "" && !f.one(3) {
		c.Texts = append(c.Texts, textVector{Name: "commitment.json", Text: v.CommitmentProof})
	}
	hasItems := p.items != "" && !f.one(6)
	if hasItems {
		c.Texts = append(c.Texts, textVector{"entries.json", p.items, pick(f, "", "items")})
		if p.salt != "" && !f.one(6) {
			c.Texts = append(c.Texts, textVector{"salt.txt", p.salt, pick(f, "", "salt")})
		}
	}
	if !p.held && v.Orders != nil && !f.one(4) {
		f.answered(&c, v.answer(f.t), len(s.Hands) > 0, p.items == "" && p.copies < 2)
	}
	return c
}

// items is the text of a list of JSON values.
func (f *fuzzer) items(n uint64) string {
	list := []string{}
	for range n {
		list = append(list, pick(f, `"apple"`, `"pear"`, `"fig"`, fmt.Sprint(f.IntN(30)), "1.0", "1e0", "12345678901234567890", `"\u0041"`, `"A"`, "null", "true", "[1,[]]",
			`{"b":1,"a":[" "]}`, `""`, `{"name":"ann","cards":2}`, `{"position":1,"salt":"x","path":[]}`, `"Zoë 🂡"`, `"__proto__"`, `{"__proto__":1}`, `{"record":"x"}`, `{"code":"AS","instance":1}`))
	}
	if n > 2 && f.one(8) { // what may not be taken for a hand, or for proofs
		list = slices.Repeat([]string{pick(f, `{"position":1,"salt":"x","path":[]}`, `{"position":2,"sealed_by":"x"}`, `{"record":""}`, `[0]`)}, int(n))
	}
	return "[" + strings.Join(list, pick(f, ",", " ,\r\n")) + "]"
}

// answered adds an answer to a shuffle: all of it, one hand, or a part that is in another order.
func (f *fuzzer) answered(c *fuzzCase, answer map[string]any, hasHands, isUnique bool) {
	given := textVector{Name: "answer.json"}
	for _, member := range []string{"audit_id", "log_index", "algorithm", "commitment", "seed"} {
		if f.one(2) {
			delete(answer, member)
		}
	}
	var hands []any
	if list, is := answer["hands"].([]any); is {
		hands = append(slices.Clone(list), answer["rest"])
	} else if list, is := answer["shuffles"].([]any); is && hasHands {
		hands = pick(f, list...).([]any)
	}
	switch list, isOrder := answer["items"].([]any); {
	case isOrder && len(list) > 1 && f.one(3): // a forged order
		i := f.IntN(len(list) - 1)
		a, b := compactJSON(f.t, list[i]), compactJSON(f.t, list[i+1])
		if list = slices.Clone(list); a != b && !strings.Contains(a+b, `\`) {
			list[i], list[i+1] = list[i+1], list[i]
			answer["items"], c.never = list, verified
		}
	case isOrder && f.one(4):
		answer["shuffles"] = []any{list}
		if answer["hands"] = []any{}; f.one(2) { // an answer may have all of its members, and these are all forms
			maps.DeleteFunc(answer, func(name string, _ any) bool { return name == "items" || name == "shuffles" })
			if answer["rest"] = list; len(list) > 0 && f.one(2) {
				delete(answer, "rest")
				c.never = verified
			}
		}
	case isOrder && f.one(3):
		given.Text = compactJSON(f.t, list)
	case hands == nil || f.one(4):
	case isUnique && answer["hands"] != nil && len(hands) > 2 && f.one(3): // a forged hand
		two := shuffled(f, hands[:len(hands)-1])
		hand := slices.Clone(two[0].([]any))
		hand[0], c.never = two[1].([]any)[0], verified
		if len(hand) == 1 {
			c.never = "" // it may be the other hand
		}
		given.Text = compactJSON(f.t, hand)
	case f.one(3): // one hand or the rest, perhaps sorted
		hand := pick(f, hands[:len(hands)-1]...).([]any)
		if f.one(2) {
			hand = shuffled(f, hand)
		}
		if f.one(4) {
			c.HandOf, c.never = pick(f, fmt.Sprint(f.IntN(len(hands))), "rest"), "" // which may be another one
		}
		given.Text = compactJSON(f.t, hand)
	default: // several hands
		some := shuffled(f, hands[:len(hands)-1])[:1+f.IntN(len(hands)-1)]
		c.AnyOrder = f.one(2)
		if c.never = ""; len(some) < len(hands)-1 && c.AnyOrder {
			c.never = isFalse
		}
		for i := range some {
			if f.one(3) {
				some[i] = shuffled(f, some[i].([]any))
			}
		}
		isWhole := f.one(4)
		if isWhole {
			c.never = ""
		}
		maps.DeleteFunc(answer, func(name string, _ any) bool {
			return name == "rest" || name == "shuffles" || name == "audit_id" && !isWhole
		})
		answer["hands"] = some
	}
	if given.Text == "" {
		given.Text = compactJSON(f.t, answer)
	}
	given.Role = pick(f, "", "order")
	c.Texts = append(c.Texts, given)
}

// shoe is the proof of a shoe, whole or only of its first record, perhaps with a hand.
func (f *fuzzer) shoe() fuzzCase {
	p := plan{name: f.name, clientSeed: pick(f, "", "Zoë"), statement: audit.Statement{
		Algorithm: shuffle.AlgorithmFisherYates, Size: pick[uint64](f, 1, 2, 5, 9), Repeat: 1, Input: audit.RangeInput,
	}}
	switch f.IntN(3) {
	case 0:
		p.items = f.items(p.statement.Size)
	case 1:
		p.deck, p.copies, p.statement.Size = "standard52", 1, 52
	}
	var cut []shoe.Cut
	if !f.one(4) {
		p.statement.Draw = p.statement.Size
		if p.statement.Size > 5 && f.one(3) {
			cut = append(cut, pick(f, shoe.Cut{At: 2}, shoe.Cut{From: 1, To: 4}))
		}
	}
	b := newShoe(f.t, &p, cut...)
	var drawn []wireCard
	for range f.IntN(6) {
		from := pick(f, shoe.Deck, shoe.Deck, shoe.OnPile("a"), shoe.OnPile("b"))
		to := pick(f, shoe.Dealt, shoe.Dealt, shoe.OnPile("a"), shoe.OnPile("b"))
		lying, err := b.layout.At(from)
		if err != nil || lying.Len() == 0 {
			continue
		}
		end := shoe.Top
		if to == shoe.Dealt {
			end = ""
		}
		switch count := 1 + f.Uint64N(min(lying.Len(), 4)); {
		case f.one(4):
			b.reshuffle(pick(f, from, shoe.All), pick(f, "", "x"))
		case from == to:
		case from != shoe.Deck && f.one(3):
			b.move(audit.KindReturn, from, shoe.Named, 0, shoe.Deck, shoe.Bottom, 0)
		case f.one(3) && to != shoe.Dealt:
			if out, err := b.layout.At(shoe.Out); err == nil && out.Len() > 0 {
				b.move(audit.KindAdd, shoe.Out, shoe.Named, 0, to, shoe.Top, f.Uint64N(out.Len()))
			}
		case from != shoe.Deck && f.one(2):
			b.move(audit.KindDraw, from, shoe.Named, 0, to, end, f.Uint64N(lying.Len()))
		default:
			drawn = append(drawn, b.hand(b.move(audit.KindDraw, from, pick(f, shoe.Top, shoe.Bottom, shoe.Random), count, to, end))...)
		}
	}
	if f.one(2) {
		if f.one(4) {
			b.end(audit.KindExpire)
		}
		b.end(audit.KindClose)
	}
	files := b.files()
	isForged := f.one(2)
	if isForged { // by somebody dishonest
		for range 1 + f.IntN(2) {
			f.forge(files[f.IntN(len(files))])
		}
		relogged(f.t, files)
	}
	lines := textsOf(files)
	if held := *files[0]; f.one(4) { // from before the shoe was closed
		held.Seed = nil
		lines = append(lines, held.Text())
	}
	c := fuzzCase{vector{Name: "a shoe", Key: f.key}, ""}
	join := func(lines [][]byte) string {
		if f.one(5) {
			return "[" + string(bytes.Join(lines, []byte(","))) + "]"
		}
		return string(bytes.Join(lines, nil))
	}
	if !isForged {
		c.never = isFalse
	}
	switch turned := shuffled(f, lines); f.IntN(4) {
	case 0:
		c.Texts = texts("shoe.jsonl", join(turned))
	case 1:
		half := f.IntN(len(turned))
		c.Texts = texts("shoe.jsonl", join(turned[half:]))
		if half > 0 {
			c.Texts = append(c.Texts, textVector{Name: "more.jsonl", Text: join(slices.Concat(turned[:half], turned[:f.IntN(len(turned))]))})
		}
	case 2:
		c.Texts = texts("first.json", string(lines[0]))
	default:
		n := 1 + f.IntN(len(turned))
		if c.Texts = texts("some.jsonl", join(turned[:n])); n < len(turned) {
			c.never = "" // whoever leaves out a record has no whole shoe
		}
	}
	if p.items != "" && f.one(2) {
		c.Texts = append(c.Texts, textVector{"entries.json", p.items, pick(f, "", "items")})
	}
	if len(drawn) > 0 && f.one(2) {
		hand := shuffled(f, drawn)
		slices.SortStableFunc(hand, func(a, b wireCard) int { return int(a.Card) - int(b.Card) })
		hand = slices.CompactFunc(hand, func(a, b wireCard) bool { return a.Card == b.Card })
		hand = shuffled(f, hand)[:1+f.IntN(len(hand))]
		if f.one(4) {
			c.never = verified
			if hand[0].Code != "" {
				hand[0].Code = pick(f, "XX", "AS2")
			} else {
				hand[0].Item = json.RawMessage(`"another card"`)
			}
		}
		text := handText(f.t, hand)
		if f.one(3) {
			text = `{"cards":` + text + "}"
		}
		c.Texts = append(c.Texts, textVector{"hand.json", text, pick(f, "", "hand")})
	}
	return c
}

// laidOut returns another text of the same value.
func (f *fuzzer) laidOut(text string) string {
	trimmed := strings.TrimSpace(text)
	var pretty bytes.Buffer
	switch f.IntN(5) {
	case 0:
		return "\ufeff" + text
	case 1:
		return "\r\n\t " + trimmed + " \r\n"
	case 2:
		if strings.HasPrefix(trimmed, "{") && json.Indent(&pretty, []byte(trimmed), "", pick(f, "", "\t")) == nil {
			return pretty.String()
		}
	case 3:
		if file, err := prooffile.Parse([]byte(text)); err == nil {
			all := layouts(f.t, string(file.Text()))
			return all[pick(f, slices.Sorted(maps.Keys(all))...)]
		}
	}
	return text
}

// mutate changes something of a case.
func (f *fuzzer) mutate(v *vector) {
	if len(v.Texts) == 0 {
		return
	}
	i := f.IntN(len(v.Texts))
	text := &v.Texts[i]
	switch f.IntN(12) {
	case 0:
		text.Role = pick(f, "", "", "proof", "order", "hand", "items", "salt", "key", "list", "answer", "x")
	case 1:
		v.AnyOrder = f.one(2)
		v.HandOf = pick(f, "", "0", "1", "2", "3", "rest", "01", "-1", "x", " 1", "1.0", "9007199254740993", "18446744073709551617")
	case 2:
		v.Texts = append(v.Texts, textVector{Name: fmt.Sprintf("more%d", len(v.Texts)), Text: pick(f, "[]", "{}", `[["AS"]]`, "sixteen-letters-", "1234567890123456", "-12345678901234567", "Zoë won.", "",
			f.key, "example.com/other+7c13ef92+AVwlA0NG+Tm926VsAsfllmp7+9ZLJGkFF5yQuueU9UMz", "PRIVATE+KEY+x", `{"items":[]}`, `{"hands":[[]]}`, `{"shuffles":[]}`, `{"cards":[]}`, `"record"`, edges[f.IntN(len(edges))])})
	case 3:
		other := pick(f, pick(f, f.corpus...).Texts...)
		other.Name = fmt.Sprintf("other%d", len(v.Texts))
		v.Texts = append(v.Texts, other)
	case 4:
		v.Key = pick(f, "", v.Key+"\n", "\ufeff"+v.Key, "example.com/other+7c13ef92+AVwlA0NG+Tm926VsAsfllmp7+9ZLJGkFF5yQuueU9UMz")
	case 5:
		text.Text = f.anyText(text.Text)
	default:
		parts := prooffile.Split([]byte(text.Text))
		at := 0
		if len(parts) > 1 {
			at = f.IntN(len(parts))
		}
		file, err := prooffile.Parse(parts[at])
		if err != nil || f.one(3) {
			text.Text = f.anyJSON(text.Text)
			return
		}
		f.forge(file)
		file.Inclusion = include(f.t, file.Record, int(min(file.Inclusion.Index, 30)), int(min(file.Inclusion.Index, 30))+2, f.signer)
		parts[at] = file.Text()
		text.Text = string(bytes.Join(parts, []byte("\n")))
	}
}

// forge changes the record of a file, or its seed, so that it may hold together.
func (f *fuzzer) forge(file *prooffile.File) {
	changed := []byte(f.plausible(string(file.Record)))
	if f.one(3) {
		changed = []byte(f.anyJSON(string(file.Record)))
	}
	seed := file.Seed
	if f.one(8) {
		seed = pick(f, nil, seed[:len(seed)/2], append(slices.Clone(seed), seed...), arbitrary("other", len(seed)), arbitrary("many", 213*32), arbitrary("more", 214*32))
	}
	if record, err := audit.ParseRecord(changed); err == nil {
		if record.Statement.Seed = seed; record.Deals() && seed != nil && !f.one(6) {
			changed = bytes.Replace(changed, []byte(record.Commitment.String()), []byte(record.Statement.Commitment().String()), 1)
		}
		if cost := record.Statement.Cost(); cost > 1<<19 && cost <= audit.MaxCost {
			return // verifiers must replay it, which takes longer than a second
		}
		if !f.one(6) {
			file.ClientSeed = record.ClientSeed
		}
	}
	file.Record, file.Seed = changed, seed
}

// logKeyText has the form of a verifier key.
var logKeyText = `"a+00000000+AQ` + strings.Repeat("A", 42) + `"`

// likely are values that records may have.
var likely = map[string][]string{
	"algorithm": {`"fisher-yates"`, `"durstenfeld"`, `"inside-out"`, `"strike-out"`, `"sattolo"`},
	"size":      {"1", "2", "4", "5", "6", "9", "51", "52"}, "draw": {"0", "1", "2", "4", "5", "6", "9", "51", "52"}, "repeat": {"1", "2", "3", "9007199254740991"}, "hands": {"[1]", "[2]", "[1,1]", "[2,1]"},
	"input": {`"range"`}, "items_digest": {`"salted/1"`, `"salted/2"`}, "reference": {`"x"`, `"table 7 ♥"`}, "client_seed": {`"x"`, `"Zoë"`}, "reveal": {`"now"`},
	"time": {`"2026-01-02T03:04:06.000005Z"`, `"2026-01-02T03:13:05.000006Z"`, `"2026-01-02T03:13:05.000005Z"`, `"1970-01-01T00:00:00.000000Z"`}, "deadline": {`"2026-01-02T03:04:05.000006Z"`, `"2026-01-02T03:04:05.000007Z"`},
	"kind":    {`"shuffle"`, `"shoe"`, `"draw"`, `"add"`, `"return"`, `"reshuffle"`, `"close"`, `"expire"`, `"log-end"`, `"log-begin"`, `"later"`},
	"version": {"1", "2", "3", "4", "5"}, "from": {`"shoe"`, `"dealt"`, `"pile a"`, `"pile b"`, `"out"`, `"all"`}, "to": {`"shoe"`, `"dealt"`, `"pile a"`, `"pile b"`}, "taken": {`"top"`, `"bottom"`, `"random"`, `"cards"`},
	"put": {`"top"`, `"bottom"`}, "cards": {`"1:0"`, `"1:1"`, `"1:4"`, `"1:0-1"`, `"1:1-0"`, `"1:0 1:2"`, `"1:2 1:0"`, `"2:0"`, `"2:0 1:0"`, `"1:0-1 2:0"`}, "cut": {"1", "2", "3", "4"}, "cut_range": {"[1,4]", "[2,3]"},
	"expires": {`"2026-01-02T03:04:05.000006Z"`, `"2027-01-02T03:04:05.000006Z"`}, "root": {`"` + strings.Repeat("0", 64) + `"`}, "commitment": {`"` + strings.Repeat("0", 64) + `"`},
	"successor": {logKeyText, `"a+00000000+A` + strings.Repeat("A", 43) + `"`}, "predecessor": {logKeyText, `"a b+00000000+AQ` + strings.Repeat("A", 42) + `"`},
	"checkpoint":    {`"a\n7\n` + strings.Repeat("A", 43) + `=\n\n— a AAAA\n"`, `"b\n0\n` + strings.Repeat("/", 43) + `=\n\n— a AAAAA=\n— b AAAA==\n"`, `"a\n7\n"`},
	"commitment_id": {`"019b7ca9-8c88-7e34-8a29-e0ab088154ee"`}, "audit_id": {`"019b7ca9-8c88-7e34-8a29-e0ab088154ee"`}, "id": {`"019b7ca9-8c88-7e34-8a29-e0ab088154ee"`},
}

// plausible gives a record another value of a member. Few have members that they did not have.
func (f *fuzzer) plausible(record string) string {
	for {
		name := pick(f, slices.Sorted(maps.Keys(likely))...)
		value := pick(f, likely[name]...)
		form := regexp.MustCompile(`"` + name + `":("[^"\\]*"|\[[^\]]*\]|[0-9]+)`)
		if at := form.FindStringIndex(record); at != nil {
			return record[:at[0]] + fmt.Sprintf("%q:%s", name, value) + record[at[1]:]
		}
		if f.one(20) {
			return strings.Replace(record, `,"commitment":`, fmt.Sprintf(",%q:%s", name, value)+`,"commitment":`, 1)
		}
	}
}

// edges are values at the limits of what may be there.
var edges = []string{
	"0", "-0", "1", "2", "-1", "1.0", "1e0", "1e2", "01", "9007199254740991", "9007199254740992", "18446744073709551615", "18446744073709551616", "1e400", strings.Repeat("9", 5000),
	"null", "true", `""`, `"x"`, `"\ud800"`, `"\udc00\ud800"`, `"\u0000"`, `"\u2028"`, "\"\u2029\"", "\"\x01\"", `"\x"`, `"` + strings.Repeat("é", 300) + `"`, "[]", "{}", "[1]", "[[]]", `{"a":1,"a":2}`, `{"__proto__":null}`,
	strings.Repeat("[", 198) + strings.Repeat("]", 198), strings.Repeat("[", 201) + strings.Repeat("]", 201),
	strings.Repeat("[", 3000) + strings.Repeat("]", 3000), strings.Repeat(`{"a":`, 3000) + "1" + strings.Repeat("}", 3000), strings.Repeat("[", 200000),
	`"1969-12-31T23:59:59.999999Z"`, `"1970-01-01T00:00:00.000000Z"`, `"2026-02-30T00:00:00.000000Z"`, `"2024-02-29T23:59:59.000000Z"`, `"2016-12-31T23:59:60.000000Z"`, `"2026-01-02T24:00:00.000000Z"`,
	`"0000-01-01T00:00:00.000000Z"`, `"9999-12-31T23:59:59.999999Z"`, `"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05.000006z"`,
	`"shuffle"`, `"commitment"`, `"void"`, `"reveal"`, `"shoe"`, `"draw"`, `"add"`, `"return"`, `"reshuffle"`, `"close"`, `"expire"`, `"log-end"`, `"log-begin"`, `"later-kind"`, `"Shoe"`, `"constructor"`, `"riffle/2"`, `"now"`,
	`"fisher-yates"`, `"durstenfeld"`, `"inside-out"`, `"strike-out"`, `"sattolo"`, `"range"`, `"items"`, `"deck"`, `"salted/1"`, `"salted/2"`, `"salted/01"`, `"deck standard52 x1 sha256:` + strings.Repeat("0", 64) + `"`,
	`"1:0"`, `"01:0"`, `"1:00"`, `"1:0-1"`, `"1:1-0"`, `"2:0"`, `"1:0,1:0"`, `"1:0 1:1"`, `"1:0,1"`, `"1:0-9007199254740991"`, `"1:4294967295"`, `"top"`, `"bottom"`, `"random"`, `"named"`, `"dealt"`, `"out"`, `"pile:a"`, `"pile:"`, `"all"`,
	`"` + strings.Repeat("0", 64) + `"`, `"` + strings.Repeat("F", 64) + `"`, `"019b7ca9-8c88-7e34-8a29-e0ab088154ee"`, `"019B7CA9-8C88-7E34-8A29-E0AB088154EE"`, `"019b7ca9-8c88-4e34-8a29-e0ab088154ee"`, `"00000000-0000-0000-0000-000000000000"`,
	"[1,2]", "[2,1]", "[0]", "[1,1,1]", "[9007199254740991,9007199254740991]", `["AS"]`, `{"code":"AS","instance":1}`, `{"code":"AS","instance":2}`, `{"players":7}`, `{"players":1e0}`,
}

// names are of members of records, files, answers and cards, and of no member.
var names = []string{
	"id", "time", "kind", "spec", "audit_id", "algorithm", "size", "draw", "repeat", "hands", "input", "items_digest", "parameters", "reference", "client_seed", "reveal", "deadline", "commitment_id", "commitment",
	"version", "root", "from", "taken", "cards", "to", "put", "cut", "cut_range", "expires", "successor", "predecessor", "checkpoint", "record", "seed", "tlog_proof", "log_key", "items", "rest", "shuffles", "log_index",
	"position", "sealed_by", "salt", "path", "card", "code", "item", "instance", "x", "", "__proto__", "constructor", "toString", "hasOwnProperty", "length",
}

// anyJSON changes a value or a member in a JSON text, at any depth, and the text if it is none.
func (f *fuzzer) anyJSON(text string) string {
	type span struct{ name, from, to int }
	var spans, open []span
	d := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	name := -1
	for {
		before := d.InputOffset()
		token, err := d.ReadToken()
		if err != nil {
			break
		}
		to := int(d.InputOffset())
		from := to - len(strings.TrimLeft(text[before:to], " \t\r\n,:"))
		kind, n := d.StackIndex(d.StackDepth())
		switch token.Kind() {
		case '{', '[':
			open, name = append(open, span{name, from, 0}), -1
			continue
		case '}', ']':
			last := open[len(open)-1]
			spans, open = append(spans, span{last.name, last.from, to}), open[:len(open)-1]
		default:
			if kind == '{' && n%2 == 1 {
				name = from
				continue
			}
			spans = append(spans, span{name, from, to})
		}
		name = -1
	}
	if len(spans) == 0 {
		return f.anyText(text)
	}
	at := pick(f, spans...)
	whole := at.from
	if at.name >= 0 {
		whole = at.name
	}
	value := pick(f, edges...)
	switch f.IntN(12) {
	case 0: // twice
		return text[:whole] + text[whole:at.to] + "," + text[whole:]
	case 1: // without it
		after := strings.TrimLeft(text[at.to:], " \t\r\n")
		if rest, is := strings.CutPrefix(after, ","); is {
			return text[:whole] + rest
		}
		return strings.TrimRight(text[:whole], " \t\r\n,") + after
	case 2: // one more before it
		member := pick(f, edges...)
		if at.name >= 0 {
			member = compactJSON(f.t, pick(f, names...)) + ":" + member
		}
		return text[:whole] + member + "," + text[whole:]
	case 3, 4: // a value of elsewhere
		other := pick(f, spans...)
		value = text[other.from:other.to]
	case 5: // a string with something else in it
		if text[at.from] == '"' {
			value = f.anyText(text[at.from:at.to])
		}
	case 6, 7, 8, 9:
		value = f.similar(text[at.from:at.to])
	}
	return text[:at.from] + value + text[at.to:]
}

// similar changes a digit or a letter, so that a text may keep its form.
func (f *fuzzer) similar(text string) string {
	changed := []byte(text)
	for range 20 {
		at := f.IntN(len(text))
		switch c := text[at]; {
		case '0' <= c && c <= '9':
			changed[at] = '0' + byte(f.IntN(10))
			return string(changed)
		case 'a' <= c && c <= 'z' && f.one(4):
			changed[at] = 'a' + byte(f.IntN(6))
			return string(changed)
		}
	}
	return text
}

// anyText changes a text, whatever it is. It stays UTF-8.
func (f *fuzzer) anyText(text string) string {
	runes := []rune(text)
	from := f.IntN(len(runes) + 1)
	to := from + f.IntN(len(runes)-from+1)
	part := string(runes[from:min(to, from+3)])
	strange := pick(f, "\x00", "\u2028", "\ufeff", "\u00a0", `\ud800`, `\u0041`, "é", "💥", `\`, `"`, "\r", "\n", " ", "0", "9", "-", ",", ":", "[", "]", "{", "}", "=", "+", "A")
	switch f.IntN(6) {
	case 0:
		return string(runes[:from])
	case 1:
		return text + pick(f, "", "\n", ",") + text
	case 2:
		return "[" + text + pick(f, "", ","+text) + "]"
	case 3:
		return string(runes[:from]) + string(runes[from+len([]rune(part)):])
	case 4:
		return string(runes[:from]) + strange + string(runes[from+len([]rune(part)):])
	}
	return string(runes[:from]) + strange + string(runes[from:])
}
