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

// answer returns the whole answer to the shuffle of a vector.
func (v *vector) answer(t testing.TB) map[string]any {
	t.Helper()
	file, err := prooffile.Parse([]byte(v.Proof))
	require.NoError(t, err)
	record, err := audit.ParseRecord(file.Record)
	require.NoError(t, err)
	var shuffles []any
	for _, order := range v.answered(t) {
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
