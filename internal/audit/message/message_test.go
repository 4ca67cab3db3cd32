package message

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMessageText(t *testing.T) {
	hand := New("match.cards", Values{"cards": 13, "part": New("part", Values{"n": 1})})
	for _, c := range []struct {
		message Message
		want    string
	}{
		{New("what.fits", Values{"changes": 1, "log": "a"}), "the first record of the shoe and its 1 change are in the log of a, and fit together"},
		{New("note.hand", Values{"sealed": New("sealed", Values{"cards": 0})}), "The hand is proven: 0 cards of the hand were sealed at their positions, and none could be exchanged since."},
		{New("match", Values{"parts": hand, "shuffle": nil}), "the 13 cards of hand 1 of this deal, in the order dealt"},
		{New("match", Values{"parts": hand, "shuffle": 2}), "the 13 cards of hand 1 of shuffle 2 of this deal, in the order dealt"},
		{Text("{text}[; {id}]\x1b[2J"), "{text}[; {id}]�[2J"},
		{New("witnesses", Values{"by": 0, "all": 3, "names": nil, "other": 1}), "0 of 3 witnesses cosigned the checkpoint; that is enough by the policy"},
	} {
		assert.Equal(t, c.want, c.message.String())
	}
}

// TestTableOfMessages checks that the sources name every message of the table and no other, and
// that its languages have the same values.
func TestTableOfMessages(t *testing.T) {
	var table map[string]map[string]string
	require.NoError(t, json.Unmarshal(messagesText, &table))
	named := func(text string) (names []string) {
		for _, part := range placeholder.FindAllStringSubmatch(text, -1) {
			names = append(names, part[1])
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	var all strings.Builder
	for _, folder := range []string{"..", "../prooffile", "../../ledger/proof"} {
		sources, err := filepath.Glob(folder + "/*.go")
		require.NoError(t, err)
		for _, source := range sources {
			text, err := os.ReadFile(source)
			require.NoError(t, err)
			all.Write(text)
		}
	}
	for id, languages := range table {
		assert.Equal(t, named(languages["en"]), named(languages["zh"]), id)
		kind, _, _ := strings.Cut(id, ".")
		isNamed := strings.Contains(all.String(), `"`+id+`"`) || strings.Contains(all.String(), `"`+kind+`.`)
		assert.True(t, isNamed, id)
	}
	calls := regexp.MustCompile(`(?:message\.New\(|message\.Rule\([^"]+, |note\(|(?:add|newStep)\(Step\w+, \w+, |report\(Step\w+, [^"]+, |addCommon\(Step\w+, |say\(\w+, [^"]+, |say\w+\((?:[^"()]*\{?(?:"\w+": [^,}]+,? ?)*\}?, )?)"([a-z.-]+)"[,)]`)
	found := calls.FindAllStringSubmatch(all.String(), -1)
	assert.Greater(t, len(found), 90)
	for _, call := range found {
		assert.True(t, table[call[1]] != nil || call[1] == "no such", call[1])
	}
}
