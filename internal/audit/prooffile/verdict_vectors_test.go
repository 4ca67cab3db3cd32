package prooffile_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
)

// verdictsFile is shared by the verifiers in all languages; testdata/riffle1/README.md describes it.
// The tests of cmd/riffle and of the other verifiers check its verdicts.
const verdictsFile = "../../../testdata/riffle1/verdicts.json"

// A verdictVector has the texts for a verifier, and its verdict.
type verdictVector struct {
	Name      string          `json:"name"`
	Files     []string        `json:"files,omitempty"`
	Texts     []textVector    `json:"texts,omitempty"`
	Key       string          `json:"key,omitempty"`
	Items     string          `json:"items,omitempty"`
	ItemsSalt string          `json:"items_salt,omitempty"`
	Order     string          `json:"order,omitempty"`
	Hand      string          `json:"hand,omitempty"`
	HandOf    string          `json:"hand_of,omitempty"`
	Verdict   string          `json:"verdict"`
	Step      string          `json:"step,omitempty"` // the first that is wrong, or else the first that decides that it is unchecked
	Roles     []roleVector    `json:"roles,omitempty"`
	Summary   json.RawMessage `json:"summary,omitempty"`
}

// verdicts is the content of the file.
type verdicts struct {
	Verdicts []verdictVector `json:"verdicts"`
}

// The verdicts.
const (
	verified  = "verified"
	isFalse   = "false"
	unchecked = "unchecked"
)

// compactJSON returns the text of a value without white space, its strings as encoding/json writes
// them without escaping HTML.
func compactJSON(t testing.TB, v any) string {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	require.NoError(t, encoder.Encode(v))
	return strings.TrimSuffix(text.String(), "\n")
}

// members returns an object whose numbers keep their spelling.
func members(t testing.TB, text string) (object map[string]any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(&object))
	return object
}

// layouts are other texts of one JSON object.
func layouts(t testing.TB, text string) map[string]string {
	t.Helper()
	object := members(t, text)
	var pretty, escaped bytes.Buffer
	require.NoError(t, json.Indent(&pretty, []byte(strings.TrimSuffix(text, "\n")), "", "\t"))
	var reversed []string
	escape := func(text string) {
		escaped.WriteByte('"')
		for _, unit := range utf16.Encode([]rune(text)) {
			fmt.Fprintf(&escaped, `\u%04X`, unit)
		}
		escaped.WriteByte('"')
	}
	escaped.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(object)) {
		reversed = append([]string{compactJSON(t, name) + ":" + compactJSON(t, object[name])}, reversed...)
		if i > 0 {
			escaped.WriteByte(',')
		}
		escape(name)
		escaped.WriteByte(':')
		if value, isText := object[name].(string); isText {
			escape(value)
		} else {
			escaped.WriteString(compactJSON(t, object[name]))
		}
	}
	escaped.WriteByte('}')
	slashes := strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "/", `\/`)
	return map[string]string{
		"without a line end":           strings.TrimSuffix(text, "\n"),
		"with two line ends":           text + "\n",
		"with CRLF":                    strings.TrimSuffix(text, "\n") + "\r\n",
		"pretty-printed":               pretty.String(),
		"pretty-printed with CRLF":     strings.ReplaceAll(pretty.String(), "\n", "\r\n"),
		"from a JSON column":           compactJSON(t, object),
		"with its members reversed":    "{" + strings.Join(reversed, ", ") + "}",
		"with every character escaped": escaped.String(),
		"with slashes escaped":         slashes,
		"with a byte order mark":       "\ufeff" + text,
		"in an array":                  "[" + text + "]",
	}
}

// A verdictBuilder collects vectors of one log.
type verdictBuilder struct {
	t    testing.TB
	key  string
	list []verdictVector
}

// add adds a vector with the key of the log.
func (b *verdictBuilder) add(name, verdict, step string, v verdictVector) {
	if slices.ContainsFunc(b.list, func(v verdictVector) bool { return v.Name == name }) {
		b.t.Errorf("two vectors are called %s", name)
	}
	keyless := v.Key == noKey
	v.Name, v.Verdict, v.Step, v.Key = name, verdict, step, b.key
	if keyless || slices.ContainsFunc(v.Texts, func(t textVector) bool { return strings.Contains(t.Name, ".key") }) {
		v.Key = ""
	}
	b.list = append(b.list, v)
}

// answer returns the whole answer to the shuffle of a vector.
func (b *verdictBuilder) answer(v *vector) map[string]any {
	b.t.Helper()
	file, err := prooffile.Parse([]byte(v.Proof))
	if err != nil {
		b.t.Fatal(err)
	}
	record, err := audit.ParseRecord(file.Record)
	if err != nil {
		b.t.Fatal(err)
	}
	var shuffles []any
	for _, order := range v.answered(b.t) {
		if len(record.Statement.Hands) == 0 {
			shuffles = append(shuffles, order)
			continue
		}
		dealt := []any{}
		for _, n := range record.Statement.Hands {
			dealt, order = append(dealt, order[:n]), order[n:]
		}
		shuffles = append(shuffles, append(dealt, order))
	}
	answer := map[string]any{
		"audit_id": record.ID.String(), "log_index": file.Inclusion.Index, "algorithm": string(record.Statement.Algorithm),
		"commitment": record.Commitment.String(), "seed": hex.EncodeToString(file.Seed),
	}
	switch dealt, _ := shuffles[0].([]any); {
	case len(shuffles) > 1:
		answer["shuffles"] = shuffles
	case len(record.Statement.Hands) > 0:
		answer["hands"], answer["rest"] = dealt[:len(dealt)-1], dealt[len(dealt)-1]
	default:
		answer["items"] = dealt
	}
	return answer
}

// changed returns the text of an object with one member changed.
func (b *verdictBuilder) changed(object map[string]any, name string, value any) string {
	other := maps.Clone(object)
	other[name] = value
	return compactJSON(b.t, other)
}

func buildVerdicts(t testing.TB) []verdictVector {
	t.Helper()
	_, key := logKey(t, origin, 1)
	b := &verdictBuilder{t: t, key: key}
	b.layouts()
	b.noFiles()
	b.answers()
	b.commitments()
	list, hands := dealtShoes(t)
	shoes := map[string]*dealtShoe{}
	for _, s := range list {
		shoes[s.name] = s
	}
	b.shoes(shoes)
	b.hands(shoes, hands)
	b.items(shoes["items, open"], hands["items, open"])
	older := len(b.list)
	b.roles()
	b.deals()
	b.limits(shoes)
	b.unordered(shoes, hands)
	slices.SortFunc(b.list[older:], func(a, c verdictVector) int { return strings.Compare(a.Name, c.Name) })
	return b.list
}

// layouts are genuine proofs, however their JSON is laid out, and forged ones.
func (b *verdictBuilder) layouts() {
	for _, name := range []string{"a client seed that the file escapes", "hands and a client seed", "held back with a client seed", "reveal"} {
		v := named(b.t, name)
		verdict, step := verified, ""
		if v.Expect == "held-back" {
			verdict, step = unchecked, "order"
		}
		laid := layouts(b.t, v.Proof)
		for _, layout := range slices.Sorted(maps.Keys(laid)) {
			b.add(name+", "+layout, verdict, step, verdictVector{Files: []string{laid[layout]}})
		}
		other := members(b.t, v.Proof)
		record, _ := other["record"].(string)
		other["record"] = strings.Replace(record, `"id"`, ` "id"`, 1)
		b.add(name+", pretty-printed, with a space in the record", isFalse, "inclusion", verdictVector{Files: []string{layouts(b.t, compactJSON(b.t, other))["pretty-printed"]}})
	}
	v := named(b.t, "fisher-yates")
	sub := func(old, new string) string { return substitute(b.t, old, new)(v.Proof) }
	for _, w := range []struct{ name, text string }{
		{"a member too many, pretty-printed", strings.Replace(layouts(b.t, v.Proof)["pretty-printed"], "{", "{\n\t\"extra\": 1,", 1)},
		{"a member twice, its name escaped", sub(`{"spec"`, `{"\u0073pec":"riffle/1","spec"`)},
		{"a member missing", sub(`"client_seed":"",`, "")},
		{"a member in capitals", sub(`"log_key"`, `"Log_Key"`)},
		{"a member of null", sub(`"client_seed":""`, `"client_seed":null`)},
		{"a client seed that is a number", sub(`"client_seed":""`, `"client_seed":0`)},
	} {
		b.add(w.name, isFalse, "proof", verdictVector{Files: []string{w.text}})
	}
	b.add("another client seed by an escape", isFalse, "record", verdictVector{Files: []string{sub(`"client_seed":""`, `"client_seed":"\u0041"`)}})
}

// noFiles are texts that show nothing.
func (b *verdictBuilder) noFiles() {
	v := named(b.t, "fisher-yates")
	for _, w := range []struct{ name, text string }{
		{"nothing", ""},
		{"white space", " \r\n\t"},
		{"no JSON", "riffle/1"},
		{"cut short", v.Proof[:len(v.Proof)/2]},
		{"half a surrogate pair", strings.Replace(v.Proof, `"client_seed":""`, `"client_seed":"\ud800"`, 1)},
		{"a control character", strings.Replace(v.Proof, `"client_seed":""`, "\"client_seed\":\"\n\"", 1)},
		{"a number with a leading zero", "[01]"},
		{"a comma too many", strings.TrimSuffix(v.Proof, "}\n") + ",}"},
		{"an answer in place of a proof", compactJSON(b.t, b.answer(&v))},
		{"a list in place of a proof", "[[]]"},
		{"an empty list", "[]"},
		{"a number in place of a proof", "5"},
	} {
		b.add(w.name, unchecked, "proof", verdictVector{Files: []string{w.text}})
	}
}

// answers are whole answers. Each member that can be checked is checked.
func (b *verdictBuilder) answers() {
	for _, name := range []string{"deck", "hands and a client seed", "six decks, a draw of 5, three times", "items with hands, twice", "fisher-yates", "four of very many"} {
		v := named(b.t, name)
		given := verdictVector{Files: []string{v.Proof}}
		if v.Items != nil && !strings.Contains(v.Proof, "input\\\":\\\"deck") {
			given.Items = *v.Items
		}
		answer := b.answer(&v)
		ordered := func(text string) verdictVector { given.Order = text; return given }
		text := compactJSON(b.t, answer)
		b.add(name+", with the answer", verified, "", ordered(text))
		b.add(name+", with the answer from a database", verified, "", ordered(layouts(b.t, b.changed(answer, "log_index", json.Number(fmt.Sprint(answer["log_index"], ".0"))))["pretty-printed with CRLF"]))
		for member, value := range map[string]any{
			"audit_id": "019b7ca9-8c88-7e34-8a29-e0ab088154ee", "log_index": 4711, "algorithm": "sattolo",
			"commitment": strings.Repeat("0", 64), "seed": strings.Repeat("0", 64),
		} {
			b.add(name+", with another "+member+" in the answer", isFalse, "order", ordered(b.changed(answer, member, value)))
		}
		b.add(name+", with an audit_id of null in the answer", isFalse, "order", ordered(b.changed(answer, "audit_id", nil)))
		for _, member := range []string{"items", "rest", "shuffles"} {
			if list, isThere := answer[member].([]any); isThere {
				turned := append(slices.Clone(list[1:]), list[0])
				b.add(name+", with other "+member+" in the answer", isFalse, "order", ordered(b.changed(answer, member, turned)))
			}
		}
		if given.Items != "" {
			given.Items = ""
			b.add(name+", with the answer and without the items", unchecked, "order", ordered(text))
		}
	}

	v := named(b.t, "fisher-yates")
	reordered := strings.Replace(compactJSON(b.t, b.answer(&v)), `{"b":1,"a":[" "]}`, `{"a":[" "],"\u0062":1}`, 1)
	b.add("fisher-yates, with an item of reordered members in the answer", verified, "", verdictVector{Files: []string{v.Proof}, Items: *v.Items, Order: reordered})
	v = named(b.t, "hands and a client seed")
	answer := b.answer(&v)
	var all []any
	for _, hand := range append(slices.Clone(answer["hands"].([]any)), answer["rest"]) {
		all = append(all, hand.([]any)...)
	}
	b.add("hands, and the same as items", verified, "", verdictVector{Files: []string{v.Proof}, Order: b.changed(answer, "items", all)})
	slices.Reverse(all)
	b.add("hands, and others as items", isFalse, "order", verdictVector{Files: []string{v.Proof}, Order: b.changed(answer, "items", all)})

	held := strings.Replace(v.Proof, `"seed":"`+answer["seed"].(string)+`"`, `"seed":null`, 1)
	b.add("held back, and the seed is in the answer", verified, "", verdictVector{Files: []string{held}, Order: compactJSON(b.t, answer)})
	b.add("held back, and another seed is in the answer", isFalse, "commitment", verdictVector{Files: []string{held}, Order: b.changed(answer, "seed", strings.Repeat("0", 128))})
	b.add("held back, and no seed is in the answer", unchecked, "order", verdictVector{Files: []string{held}, Order: b.changed(answer, "seed", nil)})
	b.add("held back, and the answer to another", isFalse, "order", verdictVector{Files: []string{held}, Order: b.changed(answer, "audit_id", "x")})

	v = named(b.t, "deck")
	deal := b.answer(&v)
	var detailed, wrong []any
	for i, code := range deal["items"].([]any) {
		detailed = append(detailed, map[string]any{"code": code, "name": "x", "instance": 1})
		wrong = append(wrong, map[string]any{"code": code, "instance": 1 + i/51})
	}
	b.add("cards with all details", verified, "", verdictVector{Files: []string{v.Proof}, Order: b.changed(deal, "items", detailed)})
	b.add("cards with all details, and another instance", isFalse, "order", verdictVector{Files: []string{v.Proof}, Order: b.changed(deal, "items", wrong)})
	for name, text := range map[string]string{"an order that is no JSON": "x", "an order that is no answer": `{"audit_id":"x"}`, "an order of items that are no array": `{"items":1}`, "an order with a member twice": `{"items":[],"items":[]}`} {
		b.add(name, unchecked, "", verdictVector{Files: []string{v.Proof}, Order: text})
	}
	slices.SortFunc(b.list, func(a, c verdictVector) int { return strings.Compare(a.Name, c.Name) })
}

// commitments are given with the shuffle that used them.
func (b *verdictBuilder) commitments() {
	v := named(b.t, "committed, hands of a deck")
	laid := layouts(b.t, *v.CommitmentProof)
	for _, layout := range slices.Sorted(maps.Keys(laid)) {
		b.add("a commitment, "+layout, verified, "", verdictVector{Files: []string{laid[layout], v.Proof}})
	}
	b.add("a commitment in one file with the shuffle", verified, "", verdictVector{Files: []string{v.Proof + *v.CommitmentProof}})
	b.add("a commitment that was not given", verified, "", verdictVector{Files: []string{v.Proof}})
	b.add("a commitment that is cut short", unchecked, "proof", verdictVector{Files: []string{v.Proof, (*v.CommitmentProof)[:99]}})
	b.add("a proof and one that is not JSON", unchecked, "proof", verdictVector{Files: []string{v.Proof, "x"}})
	deck := named(b.t, "deck")
	wrong := strings.Replace(deck.Proof, "03:04:05", "03:04:06", 1)
	b.add("a proof, one that is false, and one that is not JSON", isFalse, "inclusion", verdictVector{Files: []string{"x", wrong, v.Proof}})
}

// shoes are whole shoes, however they are laid out.
func (b *verdictBuilder) shoes(shoes map[string]*dealtShoe) {
	for _, name := range []string{"worked", "not shuffled", "items, open"} {
		var lines, pretty []string
		for _, text := range textsOf(shoes[name].files()) {
			lines = append(lines, strings.TrimSuffix(string(text), "\n"))
			pretty = append(pretty, layouts(b.t, string(text))["pretty-printed"])
		}
		verdict, step := verified, ""
		if !isClosed(shoes[name]) {
			verdict, step = unchecked, "order"
		}
		for _, v := range []struct {
			layout string
			files  []string
		}{
			{"lines", []string{strings.Join(lines, "\n") + "\n"}},
			{"lines without the last line end", []string{strings.Join(lines, "\n")}},
			{"lines with CRLF", []string{strings.Join(lines, "\r\n") + "\r\n"}},
			{"lines and an empty one", []string{strings.Join(lines, "\n\n") + "\n\n"}},
			{"no white space between", []string{strings.Join(lines, "")}},
			{"pretty-printed", []string{strings.Join(pretty, "\n")}},
			{"an array", []string{"[" + strings.Join(lines, ",\n") + "]\n"}},
			{"files in another order", append(slices.Clone(pretty[1:]), lines[0])},
		} {
			b.add(name+", "+v.layout, verdict, step, verdictVector{Files: v.files})
		}
		b.add(name+", and a line that is no proof file", unchecked, "proof", verdictVector{Files: []string{strings.Join(lines, "\n") + "\n{}\n"}})
		b.add(name+", and a line that is no JSON", unchecked, "proof", verdictVector{Files: []string{strings.Join(lines, "\n") + "\nx"}})
		b.add(name+", an array without its second", isFalse, "chain", verdictVector{Files: []string{"[" + strings.Join(append(lines[:1:1], lines[2:]...), ",") + "]"}})
	}
}

// hands are of one sealing and of two, with all that can be checked of each card.
func (b *verdictBuilder) hands(shoes map[string]*dealtShoe, hands map[string][]wireCard) {
	const name = "every change"
	s := shoes[name]
	var cards []map[string]any
	for _, text := range hands[name] {
		card := members(b.t, compactJSON(b.t, text))
		card["instance"] = 1
		cards = append(cards, card)
	}
	files := textsOf(s.files())
	first, second, whole := string(files[0]), string(files[12]), string(bytes.Join(files, nil))
	open := strings.Replace(first, `"seed":"`+hex.EncodeToString(s.seeds[0])+`"`, `"seed":null`, 1)
	hand := func(list ...map[string]any) string { return compactJSON(b.t, list) }
	all, part := hand(cards...), hand(cards[:5]...)

	b.add("a hand of two sealings and the proof of one", unchecked, "hand", verdictVector{Files: []string{first}, Hand: all})
	b.add("a hand of two sealings and the proof of the other", unchecked, "hand", verdictVector{Files: []string{second}, Hand: all})
	b.add("a hand of two sealings and both proofs", verified, "", verdictVector{Files: []string{first, second}, Hand: all})
	b.add("a hand of two sealings and both proofs, turned around", verified, "", verdictVector{Files: []string{second, first}, Hand: all})
	b.add("a hand of two sealings and both proofs in one file", verified, "", verdictVector{Files: []string{first + second}, Hand: all})
	b.add("a hand of two sealings and the whole shoe", verified, "", verdictVector{Files: []string{whole}, Hand: all})
	worked := members(b.t, compactJSON(b.t, hands["worked"][0]))
	b.add("a hand of two shoes and both proofs", verified, "", verdictVector{Files: []string{first, string(shoes["worked"].files()[0].Text())}, Hand: hand(cards[0], worked)})
	b.add("a hand of one sealing and the proofs of two", verified, "", verdictVector{Files: []string{first, second}, Hand: part})
	b.add("a hand without a salt and path", unchecked, "hand", verdictVector{Files: []string{open}, Hand: hand(cards[0], map[string]any{"position": 1, "sealed_by": cards[1]["sealed_by"], "code": cards[1]["code"]})})
	b.add("a hand of the open shoe", verified, "", verdictVector{Files: []string{open}, Hand: part})
	b.add("a hand with numbers from a database", verified, "", verdictVector{Files: []string{open}, Hand: strings.NewReplacer(`"position":1,`, `"position":1.0,`, `"instance":1,`, `"instance":1e0,`).Replace(part)})
	b.add("a hand, pretty-printed with CRLF", verified, "", verdictVector{Files: []string{open}, Hand: layouts(b.t, `{"cards":`+part+"}")["pretty-printed with CRLF"]})
	plain := shoes["not shuffled"].files()[0]
	plain.Seed = nil
	b.add("a hand of a shoe that was not shuffled, and its seed is held back", verified, "", verdictVector{Files: []string{string(plain.Text())}, Hand: compactJSON(b.t, hands["not shuffled"][:1])})
	b.add("a hand and a draw", unchecked, "hand", verdictVector{Files: []string{string(files[1])}, Hand: part})

	for _, w := range []struct {
		name  string
		value any
	}{{"code", "AS"}, {"card", 53}, {"card", 54}, {"instance", 2}, {"instance", 0}, {"position", 40}} {
		wrong := maps.Clone(cards[0])
		wrong[w.name] = w.value
		text := fmt.Sprintf("a hand with the %s %v", w.name, w.value)
		b.add(text+", open", isFalse, "hand", verdictVector{Files: []string{open}, Hand: hand(wrong)})
		b.add(text+", closed", isFalse, "hand", verdictVector{Files: []string{first}, Hand: hand(wrong)})
		if w.name == "instance" {
			b.add(text+", the whole shoe", isFalse, "hand", verdictVector{Files: []string{whole}, Hand: hand(wrong)})
		}
		b.add(text+", both sealings", isFalse, "hand", verdictVector{Files: []string{first, second}, Hand: hand(wrong)})
	}
	wrong := maps.Clone(cards[5])
	wrong["instance"] = 2
	delete(wrong, "card")
	b.add("a hand of a reshuffle with another instance and no number, closed", isFalse, "hand", verdictVector{Files: []string{whole}, Hand: hand(wrong)})
	b.add("a hand of a reshuffle alone with another instance", verified, "", verdictVector{Files: []string{second}, Hand: hand(wrong)})
	b.add("a hand of a reshuffle and its shoe with another instance and no number", verified, "", verdictVector{Files: []string{first, second}, Hand: hand(wrong)})
	for name, text := range map[string]string{"a hand that is no JSON": "x", "a hand of no cards": "[]", "a hand of no object": "[1]", "a hand with a member twice": `{"cards":[],"cards":[]}`} {
		b.add(name, unchecked, "", verdictVector{Files: []string{first}, Hand: text})
	}
	slices.SortStableFunc(b.list, func(a, c verdictVector) int { return strings.Compare(a.Name, c.Name) })
}

// items are hands of items, whose texts were sealed.
func (b *verdictBuilder) items(s *dealtShoe, hand []wireCard) {
	first := string(s.files()[0].Text())
	var cards []wireCard
	for _, card := range hand {
		if card.SealedBy == s.sealers[1].ID.String() {
			cards = append(cards, card)
		}
	}
	text := handText(b.t, cards)
	b.add("a hand of items", verified, "", verdictVector{Files: []string{first}, Hand: text})
	b.add("a hand of items, with the items", verified, "", verdictVector{Files: []string{first}, Hand: text, Items: s.input.items})
	b.add("a hand of items, pretty-printed", verified, "", verdictVector{Files: []string{first}, Hand: layouts(b.t, `{"cards":`+text+"}")["pretty-printed"]})

	fruits := newShoe(b.t, &plan{name: "Umlauts", statement: audit.Statement{Algorithm: "fisher-yates", Size: 3, Draw: 3, Repeat: 1}, items: `["Zoë 🂡", {"b":"é","a":1}, "/"]`})
	drawn := fruits.hand(fruits.move(audit.KindDraw, "shoe", "top", 3, "dealt", ""))
	proof, open := string(fruits.files()[0].Text()), handText(b.t, drawn)
	b.add("a hand of umlauts", verified, "", verdictVector{Files: []string{proof}, Hand: open})
	b.add("a hand of umlauts, escaped", verified, "", verdictVector{Files: []string{proof}, Hand: strings.NewReplacer("ë", `\u00eb`, "🂡", `\ud83c\udca1`, "é", `\u00e9`).Replace(open)})
	b.add("a hand of umlauts, another", isFalse, "hand", verdictVector{Files: []string{proof}, Hand: strings.NewReplacer("ë", `e`).Replace(open)})
	b.add("a hand of umlauts, with slashes escaped", verified, "", verdictVector{Files: []string{proof}, Hand: strings.ReplaceAll(open, `"/"`, `"\/"`)})
	b.add("a hand of umlauts, with the items escaped", isFalse, "items", verdictVector{Files: []string{proof}, Hand: open, Items: strings.ReplaceAll(fruits.input.items, "ë", `\u00eb`)})
}
