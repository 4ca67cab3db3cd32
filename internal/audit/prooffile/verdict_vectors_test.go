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

// verdictFiles are shared by the verifiers in all languages; testdata/riffle1/README.md describes them.
// The tests of cmd/riffle and of the other verifiers check their verdicts. The second one has what
// TestVerifiersAgreeOnMutations found, made small.
var verdictFiles = []string{"../../../testdata/riffle1/verdicts.json", "../../../testdata/riffle1/fuzzed.json"}

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
	AnyOrder  bool            `json:"any_order,omitempty"`
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

// A verdictBuilder makes the answers of one log.
type verdictBuilder struct {
	t   testing.TB
	key string
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
