package api_test

import (
	"encoding/json"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle"
	"riffle/internal/dealer"
)

// TestOnlyDocumentedNamesAreAccepted sends every name in the contract as the name of a member and
// of a parameter. Each operation must accept those that the contract gives it and no others.
func TestOnlyDocumentedNamesAreAccepted(t *testing.T) {
	c := loadContract(t)
	s := start(t, setup{})
	words := contractWords(c)
	slices.Sort(words)
	words = slices.Compact(words)
	made := mustShuffle(t, s, `{"size":2}`)
	s.waitPublished(t)

	t.Run("members", func(t *testing.T) {
		for operation, op := range c.operations {
			schema := c.body(operation)
			if schema == nil {
				continue
			}
			target := fillPath(op.Path, made.AuditID)
			rejected := func(word string) string {
				name, err := json.Marshal(word)
				require.NoError(t, err)
				return detail(t, s.send(t, post(t, target, `{`+string(name)+`:null}`)))
			}
			accepted := slices.Collect(maps.Keys(schema.Properties))
			excluded := map[string][]string{ // rejected with an explanation
				"createCommitment": {"beacon_signature", "client_seed", "commitment_id", "player_seeds", "reveal"},
				"createShoe":       {"draw", "hands", "repeat", "reveal"},
			}[operation]
			for _, word := range excluded {
				if said := rejected(word); !strings.HasPrefix(said, "400"+word+" belongs to the shuffle that uses") && !strings.HasPrefix(said, "400"+word+" is not for shoes:") {
					t.Errorf("%s with %s: %s", operation, word, said)
				}
				accepted = append(accepted, word)
			}
			slices.Sort(accepted)
			compare(t, operation, words, rejected, accepted)
		}
	})
	t.Run("parameters", func(t *testing.T) {
		lenient := []string{"home", "healthz", "readyz", "metrics", "contract"} // ignore parameters
		for operation, op := range c.operations {
			if slices.Contains(lenient, operation) {
				continue
			}
			var documented []string
			for _, p := range c.parameters(operation) {
				if p.In == "query" && p.Schema.Value.AdditionalProperties.Schema == nil {
					documented = append(documented, p.Name)
				}
			}
			slices.Sort(documented)
			target := fillPath(op.Path, made.AuditID)
			rejected := func(word string) string {
				r := request(t, op.Method, target+"?"+url.Values{word: {""}}.Encode())
				r.Header.Set("Content-Type", "application/json")
				return detail(t, s.send(t, r))
			}
			compare(t, operation, words, rejected, documented)
		}
	})
}

// compare checks that exactly the documented words get another error than a word that is certainly
// unknown.
func compare(t *testing.T, operation string, words []string, rejected func(string) string, documented []string) {
	t.Helper()
	// The error for an unknown word, after the word and before the hint.
	unknown := regexp.MustCompile(`"(\.\.\.)? is not a (member of this request|parameter of this path); (did you mean|it takes) `)
	said := rejected("no-such-word")
	require.Truef(t, unknown.MatchString(said), "%s: an unknown word is answered with %s", operation, said)
	var accepted []string
	for _, word := range words {
		if !unknown.MatchString(rejected(word)) {
			accepted = append(accepted, word)
		}
	}
	assert.Equalf(t, documented, accepted, "%s accepts", operation)
}

// detail returns the status and the detail of a problem document.
func detail(t *testing.T, answer response) string {
	t.Helper()
	var problem struct {
		Status int
		Detail string
	}
	require.NoError(t, json.Unmarshal([]byte(answer.body), &problem), answer.body)
	return fmt.Sprint(problem.Status, problem.Detail)
}

// contractWords returns the names of all members and parameters in the contract.
func contractWords(c *contract) (words []string) {
	for _, schema := range c.Components.Schemas {
		words = slices.AppendSeq(words, maps.Keys(schema.Value.Properties))
	}
	for operation := range c.operations {
		for _, p := range c.parameters(operation) {
			words = append(words, p.Name)
		}
	}
	return words
}

// TestDocumentedLimitsAreTheDefaults compares the limits in the contract with the defaults of the
// flags that set them.
func TestDocumentedLimitsAreTheDefaults(t *testing.T) {
	source, err := os.ReadFile("../../cmd/server/options.go")
	require.NoError(t, err)
	defaults := map[string]uint64{"--deadline": uint64(dealer.DefaultDeadline.Seconds())}
	for _, flag := range regexp.MustCompile(`, "([a-z-]+)", (?:config\.Bytes\()?([0-9_<* ]+)\)?, "`).FindAllStringSubmatch(string(source), -1) {
		value, err := types.Eval(token.NewFileSet(), nil, token.NoPos, flag[2])
		require.NoError(t, err)
		defaults["--"+flag[1]], _ = constant.Uint64Val(constant.ToInt(value.Value))
	}
	assert.Contains(t, string(source), `"deadline", dealer.DefaultDeadline, `,
		"the default of --deadline is not dealer.DefaultDeadline")
	rows := regexp.MustCompile("(?m)^ *\\| `(--[a-z-]+)` \\| ([0-9,]+) \\|").FindAllStringSubmatch(string(riffle.Contract), -1)
	for _, row := range rows {
		documented, err := strconv.ParseUint(strings.ReplaceAll(row[2], ",", ""), 10, 64)
		require.NoError(t, err)
		if value, ok := defaults[row[1]]; !ok || value != documented {
			t.Errorf("the contract says that %s is %d, the default is %d", row[1], documented, value)
		}
	}
	for _, name := range []string{"--max-items", "--max-results", "--max-body", "--memory", "--queue", "--deadline"} {
		assert.Truef(t, slices.ContainsFunc(rows, func(row []string) bool { return row[1] == name }),
			"the contract does not document %s", name)
	}
}
