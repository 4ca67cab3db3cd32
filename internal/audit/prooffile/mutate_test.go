package prooffile_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
)

// A mutator changes vectors by choices, a byte each. Fewer bytes make fewer changes, so that the
// fuzzer can minimize a case.
type mutator struct {
	choices []byte
	text    string // a value that the fuzzer makes
	corpus  []vector
}

// below returns a number below n, which is at most 65,536.
func (m *mutator) below(n int) int {
	chosen, bytes := 0, 1
	if n > 256 {
		bytes = 2
	}
	for ; bytes > 0 && len(m.choices) > 0; bytes-- {
		chosen, m.choices = chosen<<8|int(m.choices[0]), m.choices[1:]
	}
	return chosen % n
}

// pick returns one of a list.
func pick[E any](m *mutator, list ...E) E { return list[m.below(len(list))] }

// mutate returns a vector with a change for each of the first few choices.
func (m *mutator) mutate(t testing.TB, original *vector) *vector {
	v := *original
	v.Texts = slices.Clone(v.Texts)
	for len(m.choices) > 0 && len(v.Texts) > 0 {
		i := m.below(len(v.Texts))
		text := &v.Texts[i]
		switch m.below(12) {
		case 0:
			text.Role = pick(m, "", "proof", "order", "hand", "items", "salt", "key", "list", "answer", "x")
		case 1:
			v.AnyOrder = !v.AnyOrder
			v.HandOf = pick(m, "", "0", "1", "2", "3", "rest", "01", "-1", "x", " 1", "1.0", "9007199254740993", "18446744073709551617", strings.Repeat("9", 5000))
		case 2:
			v.Texts = append(v.Texts, textVector{Name: fmt.Sprintf("more%d", len(v.Texts)), Text: pick(m, m.text, pick(m, edges...), "[]", "{}", `[["AS"]]`, "sixteen-letters-", "1234567890123456", "-12345678901234567", "Zoë won.", "",
				v.Key, otherKey, "PRIVATE+KEY+x", `{"items":[]}`, `{"hands":[[]]}`, `{"shuffles":[]}`, `{"cards":[]}`, `"record"`)})
		case 3:
			other := pick(m, pick(m, m.corpus...).Texts...)
			other.Name = fmt.Sprintf("other%d", len(v.Texts))
			v.Texts = append(v.Texts, other)
		case 4:
			v.Key = pick(m, "", v.Key+"\n", "\ufeff"+v.Key, otherKey)
		case 5:
			text.Text = m.spoil(text.Text)
		case 6:
			v.Texts = slices.Delete(v.Texts, i, i+1)
		case 7:
			text.Text = m.changed(text.Text)
		default:
			text.Text = m.forge(t, text.Text)
		}
	}
	return &v
}

const otherKey = "example.com/other+7c13ef92+AVwlA0NG+Tm926VsAsfllmp7+9ZLJGkFF5yQuueU9UMz"

// forge changes a record in a text of proof files, or its seed, as somebody may who has the key of
// the log: all records are in one tree, and the seed opens the commitment.
func (m *mutator) forge(t testing.TB, text string) string {
	var files []*prooffile.File
	for _, part := range prooffile.Split([]byte(text)) {
		file, err := prooffile.Parse(part)
		if err != nil || file.Inclusion.Index > 100 {
			return m.changed(text)
		}
		files = append(files, file)
	}
	file := pick(m, files...)
	changed := []byte(m.changed(string(file.Record)))
	switch m.below(8) {
	case 0:
		file.Seed = pick(m, nil, file.Seed[:len(file.Seed)/2], append(slices.Clone(file.Seed), file.Seed...), arbitrary("other", len(file.Seed)), arbitrary("many", 213*32), arbitrary("more", 214*32))
	case 1: // an honest record, of a file that is not
		file.Record = changed
		return joined(files)
	}
	if record, err := audit.ParseRecord(changed); err == nil {
		if cost := record.Statement.Cost(); cost > 1<<19 && cost <= audit.MaxCost {
			return text // verifiers must replay it, which takes longer than a second
		}
		if record.Statement.Seed = file.Seed; record.Deals() && file.Seed != nil {
			changed = bytes.Replace(changed, []byte(record.Commitment.String()), []byte(record.Statement.Commitment().String()), 1)
		}
		file.ClientSeed = record.ClientSeed
	}
	file.Record = changed
	relogged(t, files)
	return joined(files)
}

// joined is the text of proof files.
func joined(files []*prooffile.File) string { return string(bytes.Join(textsOf(files), nil)) }

// logKeyText has the form of a verifier key.
var logKeyText = `"a+00000000+AQ` + strings.Repeat("A", 42) + `"`

// likely are values that members of records may have.
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
	"checkpoint": {`"a\n7\n` + strings.Repeat("A", 43) + `=\n\n— a AAAA\n"`, `"b\n0\n` + strings.Repeat("/", 43) + `=\n\n— a AAAAA=\n— b AAAA==\n"`, `"a\n7\n"`},
	"count":      {"2", "3", "13"}, "round": {"1", "2", "3"}, "path": {"[]", `["` + strings.Repeat("0", 64) + `"]`},
	"beacon":  {`"quicknet 1000"`, `"quicknet 1001"`, `"evmnet 1000"`, `"quicknet 0"`, `"quicknet 9999999999999999"`},
	"players": {`{}`, `{"ann":"` + strings.Repeat("0", 64) + `"}`, `{"sha256":"` + strings.Repeat("0", 64) + `"}`}, "joined": {`"x"`, `"` + strings.Repeat("x", 257) + `"`},
	"commitment_id": {`"019b7ca9-8c88-7e34-8a29-e0ab088154ee"`}, "audit_id": {`"019b7ca9-8c88-7e34-8a29-e0ab088154ee"`}, "id": {`"019b7ca9-8c88-7e34-8a29-e0ab088154ee"`},
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
	"id", "time", "kind", "spec", "audit_id", "algorithm", "size", "draw", "repeat", "hands", "input", "items_digest", "parameters", "reference", "client_seed", "reveal", "deadline", "commitment_id", "commitment", "count", "round", "beacon", "players", "joined", "ann", "bob",
	"version", "root", "from", "taken", "cards", "to", "put", "cut", "cut_range", "expires", "successor", "predecessor", "checkpoint", "record", "seed", "tlog_proof", "log_key", "items", "rest", "shuffles", "log_index",
	"position", "sealed_by", "salt", "path", "card", "code", "item", "instance", "x", "", "__proto__", "constructor", "toString", "hasOwnProperty", "length",
}

// changed changes a value or a member in a JSON text, at any depth, and any other text as spoil
// does.
func (m *mutator) changed(text string) string {
	type span struct{ name, from, to int } // name is where the member's name is; -1 in an array
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
		return m.spoil(text)
	}
	at := pick(m, spans...)
	whole, values := at.from, edges
	if at.name >= 0 {
		whole = at.name
		member, _, _ := strings.Cut(text[at.name+1:], `"`)
		values = slices.Concat(likely[member], edges)
	}
	var value string
	switch m.below(10) {
	case 0: // twice
		return text[:whole] + text[whole:at.to] + "," + text[whole:]
	case 1: // without it
		after := strings.TrimLeft(text[at.to:], " \t\r\n")
		if rest, is := strings.CutPrefix(after, ","); is {
			return text[:whole] + rest
		}
		return strings.TrimRight(text[:whole], " \t\r\n,") + after
	case 2: // one more before it
		member := pick(m, names...)
		value = pick(m, slices.Concat(likely[member], edges)...)
		if at.name >= 0 {
			value = fmt.Sprintf("%q:%s", member, value)
		}
		return text[:whole] + value + "," + text[whole:]
	case 3, 4: // a value of elsewhere
		other := pick(m, spans...)
		value = text[other.from:other.to]
	case 5:
		value = m.text
	case 6, 7:
		value = m.spoil(text[at.from:at.to])
	default:
		value = pick(m, values...)
	}
	return text[:at.from] + value + text[at.to:]
}

// spoil changes any text, perhaps only a digit of it. It stays UTF-8.
func (m *mutator) spoil(text string) string {
	runes := []rune(text)
	from := m.below(min(len(runes), 65535) + 1)
	head, rest := string(runes[:from]), string(runes[from:])
	part := pick(m, "\x00", "\u2028", "\ufeff", "\u00a0", `\ud800`, `\u0041`, "é", "💥", `\`, `"`, "\r", "\n", " ", "0", "1", "7", "9", "a", "f", "-", ",", ":", "[", "]", "{", "}", "=", "+", "A")
	switch m.below(6) {
	case 0:
		return head
	case 1:
		return text + pick(m, "", "\n", ",") + text
	case 2:
		return "[" + text + pick(m, "", ","+text) + "]"
	case 3:
		return head + part + rest
	}
	return head + part + string(runes[min(from+1, len(runes)):])
}
