package api_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
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
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle"
	"riffle/internal/dealer"
)

// The only places where a response can change and still match the contract, as JSON pointers.
var (
	// members that may be missing
	optional = regexp.MustCompile(`/(errors|pointer|parameter|parameters|hands|dead_wall|default_by|sizes|each|players|players_from|client_seed|reference|reveal|cut|cut_reached|cut_range)$`)
	// values that may be anything: cards, items and parameters
	unconstrained = regexp.MustCompile(`^/(items|rest|hands/\d+|shuffles/\d+)/\d+|/parameters/[a-z]+$|/cards/\d+/item$`)
	// objects that may have other members
	openObjects = regexp.MustCompile(`/attributes$|/parameters$|/piles$`)
)

// TestContractCheckRejectsMutatedBodies tests the contract and contract.check: an example of a
// response that is changed anywhere must no longer pass.
func TestContractCheckRejectsMutatedBodies(t *testing.T) {
	c := loadContract(t)
	var mutants atomic.Int64
	shared := map[string]bool{}
	t.Cleanup(func() {
		t.Logf("%d mutants", mutants.Load())
		if mutants.Load() < 1000 {
			t.Errorf("%d mutants are too few to be all", mutants.Load())
		}
	})
	for operation, op := range c.operations {
		for text, response := range op.Operation.Responses.Map() {
			if shared[response.Ref] {
				continue
			}
			shared[response.Ref] = response.Ref != ""
			status, err := strconv.Atoi(text)
			require.NoError(t, err)
			for name, example := range c.examples(operation, status) {
				if _, isText := example.(string); isText {
					continue
				}
				text, err := json.Marshal(example)
				require.NoError(t, err)
				t.Run(fmt.Sprint(operation, " ", status, " ", name), func(t *testing.T) {
					t.Parallel()
					example := decodeExample(t, text) // others may share the contract's
					answer := responseFor(t, c, operation, status)
					passes := func(v any) bool {
						body, err := json.Marshal(v)
						require.NoError(t, err)
						return c.check(operation, answer, body) == nil
					}
					require.True(t, passes(example), "it does not pass unchanged")
					mutate(example, "", func(pointer, what string) {
						mutants.Add(1)
						assert.Falsef(t, passes(example), "it passes with %s at %s", what, pointer)
					})
				})
			}
		}
	}
}

// decodeExample decodes JSON into the types that the contract's examples have.
func decodeExample(t *testing.T, text []byte) (v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(text, &v))
	return v
}

// mutate makes one change after the other to a JSON value, calls mutated after each, and reverts
// it. Of the elements of an array that have the same shape it changes only the first.
func mutate(v any, pointer string, mutated func(pointer, what string)) {
	if unconstrained.MatchString(pointer) {
		return
	}
	replace := func(set func(any), was any, at string) {
		if unconstrained.MatchString(at) {
			return
		}
		wrongs := []any{map[string]any{"unexpected": true}}
		if !freeText.MatchString(at) {
			wrongs = append(wrongs, "unexpected \n")
		}
		switch was.(type) {
		case []any: // another array may be valid
		case float64:
			wrongs = append(wrongs, -1, 0.5)
		default:
			wrongs = append(wrongs, []any{[]any{true}})
		}
		for _, wrong := range wrongs {
			set(wrong)
			mutated(at, fmt.Sprintf("%T", wrong))
		}
		set(was)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at, was := pointer+"/"+name, v[name]
			if !optional.MatchString(at) && !optionalIn(v, name) && !openObjects.MatchString(pointer) {
				delete(v, name)
				mutated(at, "nothing")
				v[name] = was
			}
			replace(func(w any) { v[name] = w }, was, at)
			mutate(was, at, mutated)
		}
		if !openObjects.MatchString(pointer) {
			v["unexpected"] = "member"
			mutated(pointer, "another member")
			delete(v, "unexpected")
		}
	case []any:
		seen := map[string]bool{}
		for i := range v {
			members := shape(v[i])
			if seen[members] {
				continue
			}
			seen[members] = true
			at, was := pointer+"/"+strconv.Itoa(i), v[i]
			replace(func(w any) { v[i] = w }, was, at)
			mutate(was, at, mutated)
		}
	}
}

// optionalIn reports whether a member that other objects require may be missing from this one.
func optionalIn(v map[string]any, name string) bool {
	_, isProblem := v["title"]
	return name == "audit_id" && isProblem || name == "commitment_id" && v["kind"] == "shuffle" ||
		name == "expires" && v["kind"] != nil || name == "put" && v["kind"] == "draw" || name == "cards" && v["kind"] == "add" || name == "root" && v["kind"] == "shoe"
}

// shape describes the types and the members of a value, recursively.
func shape(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var members []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			members = append(members, name+shape(v[name]))
		}
		return fmt.Sprint(members)
	case []any:
		var elements []string
		for _, e := range v {
			elements = append(elements, shape(e))
		}
		slices.Sort(elements)
		return fmt.Sprint(slices.Compact(elements))
	}
	return fmt.Sprintf("%T", v)
}

// freeText matches the pointers of strings that may have any text.
var freeText = regexp.MustCompile(`/(detail|title|name|en|zh|glyph|parameter|players_from|client_seed|attributes/[a-z_]+)$`)

// responseFor returns a response with the headers that the contract requires.
func responseFor(t *testing.T, c *contract, operation string, status int) *http.Response {
	t.Helper()
	response := c.operations[operation].Operation.Responses.Status(status).Value
	answer := &http.Response{StatusCode: status, Header: http.Header{}}
	for media := range response.Content {
		if strings.HasSuffix(media, "json") {
			answer.Header.Set("Content-Type", media)
		}
	}
	for name, header := range response.Headers {
		value := header.Value.Example
		if enum := header.Value.Schema.Value.Enum; value == nil && len(enum) > 0 {
			value = enum[0]
		}
		answer.Header.Set(name, fmt.Sprint(value))
	}
	return answer
}

// TestContractCheckRejectsMutatedHeaders does the same for the status and the headers.
func TestContractCheckRejectsMutatedHeaders(t *testing.T) {
	c := loadContract(t)
	body, err := json.Marshal(c.examples("shuffle", http.StatusServiceUnavailable)["queueFull"])
	require.NoError(t, err)
	for what, change := range map[string]func(*http.Response){
		"another status":      func(r *http.Response) { r.StatusCode = http.StatusInternalServerError },
		"an unknown status":   func(r *http.Response) { r.StatusCode = http.StatusTeapot },
		"JSON":                func(r *http.Response) { r.Header.Set("Content-Type", "application/json") },
		"no Retry-After":      func(r *http.Response) { r.Header.Del("Retry-After") },
		"Retry-After: soon":   func(r *http.Response) { r.Header.Set("Retry-After", "soon") },
		"Retry-After: 0":      func(r *http.Response) { r.Header.Set("Retry-After", "0") },
		"no Cache-Control":    func(r *http.Response) { r.Header.Del("Cache-Control") },
		"another cache entry": func(r *http.Response) { r.Header.Set("Cache-Control", "public") },
	} {
		answer := responseFor(t, c, "shuffle", http.StatusServiceUnavailable)
		require.NoError(t, c.check("shuffle", answer, body))
		change(answer)
		assert.Errorf(t, c.check("shuffle", answer, body), "a response with %s passes", what)
	}
}

// TestOnlyDocumentedNamesAreAccepted sends every word in the string literals of the service as the
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
				answer := s.do(post(t, target, `{`+string(name)+`:null}`))
				return detail(t, answer)
			}
			accepted := slices.Collect(maps.Keys(c.Components.Schemas[schema].Value.Properties))
			excluded := map[string][]string{ // rejected with an explanation
				"createCommitment": {"client_seed", "commitment_id", "reveal"},
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
				return detail(t, s.do(r))
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
func detail(t *testing.T, answer *http.Response) string {
	t.Helper()
	var problem struct {
		Status int
		Detail string
	}
	body := readBody(t, answer)
	err := json.Unmarshal(body, &problem)
	require.NoErrorf(t, err, "%v: %s", err, body)
	return fmt.Sprint(problem.Status, problem.Detail)
}

// wordsOf returns the words in the string literals of Go files other than tests.
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
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					words = append(words, word.FindAllString(literal.Value, -1)...)
				}
				return true
			})
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
	for _, flag := range regexp.MustCompile(`, "([a-z-]+)", ([0-9_<* ]+), "`).FindAllStringSubmatch(string(source), -1) {
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
