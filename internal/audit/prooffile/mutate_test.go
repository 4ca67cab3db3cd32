package prooffile_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
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
	for len(m.choices) > 0 {
		input := pick(m, &v.Answer, &v.Order, &v.Hand, &v.HandOf, &v.Items, &v.Salt, &v.Policy, &v.Key)
		switch m.below(12) {
		case 0:
			*input = pick(m, "", m.text, pick(m, edges...), "[]", "{}", `[["AS"]]`, "AS\r\nKH\r\n", "1\n0\n", "[", "sixteen-letters-", "1234567890123456", "Zoë won.",
				v.Key, otherKey, "PRIVATE+KEY+x", `{"items":[]}`, `{"hands":[[]]}`, `{"shuffles":[]}`, `{"cards":[]}`)
		case 1:
			v.HandOf = pick(m, "", "0", "1", "2", "3", "rest", "01", "-1", "x", " 1", "1.0", "9007199254740993", "18446744073709551617", strings.Repeat("9", 5000))
		case 2:
			other := pick(m, m.corpus...)
			*input = pick(m, other.Answer, other.Order, other.Hand, other.Items, other.Salt, other.Key)
		case 3: // of a name with another
			v.Order, v.Hand, v.Answer = pick(m, v.Hand, v.Answer), pick(m, "", v.Order), ""
		case 4:
			v.Key = pick(m, "", v.Key+"\n", "\ufeff"+v.Key, otherKey)
		case 5:
			*input = m.spoil(*input)
		case 6:
			*input = m.changed(*input)
		case 7:
			v.Proof = pick(m, m.spoil, m.changed)(v.Proof)
		case 8:
			v.Proof = pick(m, m.corpus...).Proof
		default:
			v.Proof = m.forge(t, v.Proof)
		}
	}
	return &v
}

const otherKey = "example.com/other+7c13ef92+AVwlA0NG+Tm926VsAsfllmp7+9ZLJGkFF5yQuueU9UMz"

// forge changes a record in a text of proof files, or its seed, as somebody may who has the key of
// the log: all records are in one tree, and the seed opens the commitment.
func (m *mutator) forge(t testing.TB, text string) string {
	var files []*prooffile.File
	for _, part := range filesOf(t, text) {
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

// joined is the text of a proof file, or of all of a shoe.
func joined(files []*prooffile.File) string {
	if len(files) == 1 {
		return string(files[0].Text())
	}
	return `{"spec":"riffle/1","shoe":[` + string(bytes.Join(textsOf(files), []byte(","))) + "]}"
}

// filesOf returns the proof files of a text.
func filesOf(t testing.TB, text string) (files [][]byte) {
	t.Helper()
	var whole struct{ Shoe []json.RawMessage }
	if json.Unmarshal([]byte(text), &whole) != nil || whole.Shoe == nil {
		return [][]byte{[]byte(text)}
	}
	for _, file := range whole.Shoe {
		files = append(files, file)
	}
	return files
}

// Values that members of records may have, by the name of the member, and below "any" those at the
// limits of what may be there. ⟨x×3⟩ is xxx.
//
//go:embed testdata/values.txt
var valuesFile string

var (
	likely   = listedValues()
	edges    = likely["any"]
	repeated = regexp.MustCompile(`⟨([^×]+)×(\d+)⟩`)
)

func listedValues() map[string][]string {
	values, member := map[string][]string{}, ""
	for line := range strings.Lines(strings.NewReplacer("⟨U+2029⟩", "\u2029", "⟨U+0001⟩", "\x01").Replace(valuesFile)) {
		line = strings.TrimSuffix(line, "\n")
		if name, is := strings.CutPrefix(line, "== "); is {
			member = name
			continue
		}
		values[member] = append(values[member], repeated.ReplaceAllStringFunc(line, func(text string) string {
			parts := repeated.FindStringSubmatch(text)
			times, _ := strconv.Atoi(parts[2])
			return strings.Repeat(parts[1], times)
		}))
	}
	return values
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
