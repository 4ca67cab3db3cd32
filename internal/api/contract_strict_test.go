package api_test

import (
	"encoding/json"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle"
	"riffle/internal/dealer"
)

// The only places where a response can change and still match the contract: a schema and its member.
var (
	// members that may be missing
	optional = regexp.MustCompile(`/(errors|pointer|parameter|parameters|hands|dead_wall|default_by|sizes|each|each_by|then|players|players_from|` +
		`client_seed|reference|items_digest|reveal|cut|cut_reached|cut_range|salt|path|successor|count|used|round|beacon|joined)$|Record/expires$|` +
		`^(AddRecord/cards|DrawRecord/put|Problem/audit_id|S[a-z]+Record/commitment_id|ShoeRecord/root)$`)
	// strings that may have any text
	freeText = regexp.MustCompile(`/(detail|title|name|en|zh|glyph|parameter|players_from|attributes/\*|predecessor|successor|checkpoint)$|^ShoeProof$`)
)

// TestResponseSchemasAreStrict checks that a response that matches the contract has every member,
// no other one, and values of the documented form.
func TestResponseSchemasAreStrict(t *testing.T) {
	s := &strictness{t: t, seen: map[string]bool{}}
	for operation, op := range loadContract(t).operations {
		for status, response := range op.Operation.Responses.Map() {
			for media, content := range response.Value.Content {
				if strings.HasSuffix(media, "json") {
					s.check(content.Schema, operation+"/"+status)
				}
			}
		}
	}
}

// A strictness has the places that were checked: names of schemas and of their members.
type strictness struct {
	t    *testing.T
	seen map[string]bool
}

// check checks a schema at a place, and the schemas in it.
func (s *strictness) check(ref *openapi3.SchemaRef, at string) {
	if _, name, named := strings.Cut(ref.Ref, "#/components/schemas/"); named {
		at = name
	}
	schema := ref.Value
	if s.seen[at] || at == "Item" || schema.Not != nil { // not: {} is no value
		return
	}
	s.seen[at] = true
	for i, part := range slices.Concat(schema.OneOf, schema.AllOf) {
		s.check(part, fmt.Sprintf("%s(%d)", at, i))
	}
	for name, member := range schema.Properties {
		s.check(member, at+"/"+name)
	}
	few := schema.Enum != nil || schema.Const != nil
	wrong := ""
	switch is := schema.Type; {
	case is == nil && !few && len(schema.OneOf)+len(schema.AllOf) == 0 && !strings.HasSuffix(at, ")"):
		wrong = "may be anything"
	case is.Includes("object"):
		s.checkMembers(schema, at)
	case is.Includes("array"):
		s.check(schema.Items, at+"/*")
	case is.Includes("string") && !few && schema.Pattern == "" && schema.Format == "" && !freeText.MatchString(at):
		wrong = "may have any text"
	case is.Includes("integer") && !few && schema.Min == nil:
		wrong = "may be negative"
	case is.Includes("number"):
		wrong = "may be a fraction"
	}
	assert.Truef(s.t, wrong == "", "%s %s", at, wrong)
}

// checkMembers checks which members an object has.
func (s *strictness) checkMembers(schema *openapi3.Schema, at string) {
	others := schema.AdditionalProperties
	if others.Schema != nil {
		s.check(others.Schema, at+"/*")
	} else if others.Has == nil || *others.Has {
		s.t.Errorf("%s may have other members", at)
	}
	required := schema.Required
	for _, one := range schema.OneOf {
		required = slices.Concat(required, one.Value.Required)
	}
	for name := range schema.Properties {
		place := at + "/" + name
		assert.Truef(s.t, slices.Contains(required, name) || optional.MatchString(place), "%s may be missing", place)
	}
}

// TestContractCheckRejectsMutatedHeaders does the same for the status and the headers.
func TestContractCheckRejectsMutatedHeaders(t *testing.T) {
	c, full := loadContract(t), fullQueue(t).send(t, post(t, "/shuffle", `{"size":2}`))
	require.NoError(t, c.check("shuffle", full))
	for what, change := range map[string]func(*response){
		"another status":      func(r *response) { r.status = http.StatusInternalServerError },
		"an unknown status":   func(r *response) { r.status = http.StatusTeapot },
		"JSON":                func(r *response) { r.header.Set("Content-Type", "application/json") },
		"no Retry-After":      func(r *response) { r.header.Del("Retry-After") },
		"Retry-After: soon":   func(r *response) { r.header.Set("Retry-After", "soon") },
		"Retry-After: 0":      func(r *response) { r.header.Set("Retry-After", "0") },
		"no Cache-Control":    func(r *response) { r.header.Del("Cache-Control") },
		"another cache entry": func(r *response) { r.header.Set("Cache-Control", "public") },
	} {
		answer := response{full.status, full.header.Clone(), full.body}
		change(&answer)
		assert.Errorf(t, c.check("shuffle", answer), "a response with %s passes", what)
	}
}

// TestOnlyDocumentedNamesAreAccepted sends every word in the source of the service as the
// name of a member and of a parameter. The service must accept those in the contract and no others.
func TestOnlyDocumentedNamesAreAccepted(t *testing.T) {
	c := loadContract(t)
	s := start(t, setup{})
	words := append(wordsOf(t, "*.go", "../dealer/*.go", "../audit/*.go", "../shoe/*.go"), contractWords(c)...)
	slices.Sort(words)
	words = slices.Compact(words)
	made := mustShuffle(t, s, `{"size":2}`)
	s.waitPublished(t)

	t.Run("members", func(t *testing.T) {
		for operation, schema := range map[string]string{
			"shuffle": "ShuffleRequest", "createCommitment": "CommitmentRequest", "revealAudit": "RevealRequest",
			"createShoe": "ShoeRequest", "drawCards": "DrawRequest", "returnCards": "ReturnRequest", "reshuffleShoe": "ReshuffleRequest",
			"closeShoe": "CloseRequest", "addToPile": "AddRequest", "drawFromPile": "PileDrawRequest", "shufflePile": "PileShuffleRequest",
			"returnFromPile": "ReturnRequest",
		} {
			target := fillPath(c.operations[operation].Path, made.AuditID)
			rejected := func(word string) string {
				name, err := json.Marshal(word)
				require.NoError(t, err)
				return detail(t, s.send(t, post(t, target, `{`+string(name)+`:null}`)))
			}
			accepted := slices.Collect(maps.Keys(c.Components.Schemas[schema].Value.Properties))
			excluded := map[string][]string{ // rejected with an explanation
				"createCommitment": {"beacon_signature", "client_seed", "commitment_id", "player_seeds", "reveal"},
				"createShoe":       {"draw", "hands", "repeat", "reveal"},
			}[operation]
			for _, word := range excluded {
				if said := rejected(word); !strings.HasPrefix(said, "422"+word+" belongs to the shuffle that uses") && !strings.HasPrefix(said, "422"+word+" is not for shoes:") {
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

// wordsOf returns the words of Go files other than tests.
func wordsOf(t *testing.T, patterns ...string) (words []string) {
	t.Helper()
	word := regexp.MustCompile(`[A-Za-z][A-Za-z0-9_-]*(\[\])?`)
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err, pattern)
		require.NotEqual(t, 0, len(files), pattern)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			source, err := os.ReadFile(name)
			require.NoError(t, err)
			words = append(words, word.FindAllString(string(source), -1)...)
		}
	}
	return words
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
