package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// statusOf is the status of a request that breaks a keyword of its schema: 400 if it is not well
// formed, 422 if it asks for what cannot be. docs/decisions/requests.md has the reasons.
var statusOf = map[string]int{
	"type": 400, "enum": 400, "pattern": 400, "format": 400, "minLength": 400, "maxLength": 400,
	"required": 400, "additionalProperties": 400, "propertyNames": 400, "twice": 400,
	"minimum": 422, "maximum": 422, "minItems": 422, "maxItems": 422, "minProperties": 422, "maxProperties": 422,
	"oneOf": 422, "dependentRequired": 422,
}

// A fault is a JSON value that breaks a keyword of a schema.
type fault struct{ keyword, value string }

// TestOneRuleForEveryValue breaks every keyword of every member and query parameter in the contract.
// The status follows from the keyword alone, the error names the member, and a number outside its
// bounds gets one text, whichever bound it misses and however far.
func TestOneRuleForEveryValue(t *testing.T) {
	c := loadContract(t)
	s := start(t, setup{})
	made := mustShuffle(t, s, `{"size":2}`)
	shoe := mustCreateShoe(t, s, `{"deck":"standard52"}`).path()
	s.mustShoe(t, post(t, shoe+"/draw", `{"to":"alice"}`))
	before, sent, texts := s.logSize(), 0, map[string]string{}
	check := func(name string, r *http.Request, f fault) {
		t.Helper()
		sent++
		answer := s.send(t, r)
		text := fmt.Sprintf("%.80s breaks %s with %.80s: %.400s", name, f.keyword, f.value, answer.body)
		assert.Equal(t, statusOf[f.keyword], answer.status, text)
		var problem struct {
			Errors []struct{ Pointer, Parameter, Detail string }
		}
		require.NoError(t, json.Unmarshal([]byte(answer.body), &problem), text)
		if f.keyword == "oneOf" { // which is about several members
			return
		}
		_, member, _ := strings.Cut(name, " ")
		if assert.NotEmpty(t, problem.Errors, text) {
			e := problem.Errors[0]
			assert.True(t, strings.HasPrefix(e.Pointer+"/", "/"+member+"/") || e.Parameter == member, text)
			if f.keyword == "minimum" || f.keyword == "maximum" {
				bound, _, _ := strings.Cut(e.Detail, "; got")
				if first, ok := texts[name+e.Pointer]; ok {
					assert.Equal(t, first, bound, text)
				}
				texts[name+e.Pointer] = bound
			}
		}
	}
	for _, operation := range slices.Sorted(maps.Keys(c.operations)) {
		op := c.operations[operation]
		target := strings.Replace(fillPath(op.Path, made.AuditID), "standard52", "undercover", 1)
		if of, found := strings.CutPrefix(op.Path, "/shoes/{id}"); found {
			target = shoe + fillPath(of, "")
		}
		if body := c.body(operation); body != nil {
			for _, name := range slices.Sorted(maps.Keys(body.Properties)) {
				rest := restOf(body, name)
				for _, f := range faultsOf(t, body.Properties[name].Value) {
					check(operation+" "+name, post(t, target, object(rest, strconv.Quote(name)+":"+f.value)), f)
				}
				one := strconv.Quote(name) + ":" + sample(t, body.Properties[name].Value)
				check(operation+" "+name, post(t, target, object(rest, one, one)), fault{"twice", one})
			}
			for _, name := range body.Required {
				check(operation+" "+name, post(t, target, `{}`), fault{"required", "{}"})
			}
			for _, name := range slices.Sorted(maps.Keys(body.DependentRequired)) {
				one := strconv.Quote(name) + ":" + sample(t, body.Properties[name].Value)
				var rest []string
				if body.Properties["size"] != nil {
					rest = []string{`"size":2`}
				}
				check(operation+" "+name, post(t, target, object(rest, one)), fault{"dependentRequired", one})
			}
			if body.OneOf != nil {
				check(operation+" ", post(t, target, `{}`), fault{"oneOf", "{}"})
			}
			check(operation+" none_such", post(t, target, `{"none_such":1}`), fault{"additionalProperties", "1"})
		}
		if slices.Contains([]string{"home", "healthz", "readyz", "metrics", "contract"}, operation) { // which ignore parameters
			continue
		}
		parameters := slices.DeleteFunc(c.parameters(operation), func(p *openapi3.Parameter) bool { return p.In != "query" })
		for _, p := range parameters {
			query := url.Values{}
			for _, other := range parameters {
				if other.Required && other != p {
					query.Set(other.Name, "a")
				}
			}
			name, schema := p.Name, p.Schema.Value
			if names := schema.PropertyNames; names != nil { // one parameter for each
				for _, f := range faultsOf(t, names.Value) {
					if unknown := textOf(f.value); f.keyword != "type" && unknown != "" && len(unknown) <= 80 { // a longer one is not named
						check(operation+" "+unknown, asking(t, op.Method, target, query, unknown, "1"), fault{"propertyNames", unknown})
					}
				}
				name, schema = "players", schema.AdditionalProperties.Schema.Value
			}
			for _, f := range append(faultsOf(t, schema), fault{"additionalProperties", `"a"`}) {
				of := name
				if f.keyword == "additionalProperties" {
					of = "none_such"
				}
				if f.value != "null" && (f.keyword != "type" || !schema.Type.Is("string")) {
					check(operation+" "+of, asking(t, op.Method, target, query, of, textOf(f.value)), f)
				}
			}
			check(operation+" "+name, asking(t, op.Method, target, query, name, "a", "a"), fault{"twice", "a"})
			if p.Required {
				check(operation+" "+name, asking(t, op.Method, target, query, ""), fault{"required", ""})
			}
		}
	}
	assert.Equal(t, before, s.logSize(), "the records")
	t.Logf("%d requests, %d bounds", sent, len(texts))
}

// body returns the schema of an operation's body, or nil.
func (c *contract) body(operation string) *openapi3.Schema {
	body := c.operations[operation].Operation.RequestBody
	if body == nil {
		return nil
	}
	return body.Value.Content["application/json"].Schema.Value
}

// asking returns a request with a query that has values of a name as well.
func asking(t *testing.T, method, target string, query url.Values, name string, values ...string) *http.Request {
	query = maps.Clone(query)
	query[name] = values
	return request(t, method, target+"?"+query.Encode())
}

// textOf returns the text of a JSON value in a query.
func textOf(value string) string {
	text := value
	if strings.HasPrefix(value, `"`) {
		_ = json.Unmarshal([]byte(value), &text)
	}
	return text
}

// object returns an object of members.
func object(members []string, more ...string) string {
	return "{" + strings.Join(slices.Concat(members, more), ",") + "}"
}

// restOf returns the members that make a body valid except for one.
func restOf(body *openapi3.Schema, name string) []string {
	inputs := []string{"items", "deck", "size", "commitment_id"}
	switch {
	case body.Properties["deck"] != nil && !slices.Contains(inputs, name):
		return []string{`"deck":"undercover"`}
	case slices.Contains(body.Required, "cards") && name != "cards":
		return []string{`"cards":[0]`}
	}
	return nil
}

// samples are texts. One of them is valid wherever the contract has a text, and several are not.
var samples = []string{
	"a", "undercover", strings.Repeat("a", 16), strings.Repeat("0", 64), strings.Repeat("0", 96), uuid.Max.String(),
	"", "\n", "\x00", " ", "é b", "zzz", "A!", "5,", "\u202e", "undercover:x", strings.Repeat("a", 300), strings.Repeat("0", 64*214),
}

// brokenBy returns the keyword of a string's schema that a text breaks; "" for none.
func brokenBy(s *openapi3.Schema, text string) string {
	n := uint64(utf8.RuneCountInString(text))
	for _, part := range s.AllOf {
		if keyword := brokenBy(part.Value, text); keyword != "" {
			return keyword
		}
	}
	switch {
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(text)):
		return "enum"
	case s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(text):
		return "pattern"
	case s.Format == "uuid" && uuid.Validate(text) != nil:
		return "format"
	case n < s.MinLength:
		return "minLength"
	case s.MaxLength != nil && n > *s.MaxLength:
		return "maxLength"
	}
	return ""
}

// sample returns a value that a schema has.
func sample(t *testing.T, s *openapi3.Schema) string {
	t.Helper()
	switch {
	case s.OneOf != nil && s.Type == nil:
		return sample(t, s.OneOf[0].Value)
	case s.Type.Includes("integer"):
		if s.Min != nil {
			return number(*s.Min)
		}
		return "0"
	case s.Type.Is("boolean"):
		return "true"
	case s.Type.Is("array"):
		return "[" + strings.Join(slices.Repeat([]string{sample(t, s.Items.Value)}, int(max(1, s.MinItems))), ",") + "]"
	case s.Type.Is("object") && s.Properties != nil:
		return object(sampleMembers(t, s, ""))
	case s.Type.Is("object"):
		return `{"players":` + sample(t, s.AdditionalProperties.Schema.Value) + "}"
	}
	texts := samples
	if len(s.Enum) > 0 {
		texts = []string{s.Enum[0].(string)}
	}
	i := slices.IndexFunc(texts, func(text string) bool { return brokenBy(s, text) == "" })
	require.GreaterOrEqualf(t, i, 0, "no sample of %s", s.Pattern)
	return quote(texts[i])
}

// sampleMembers returns the members of an object, except for one.
func sampleMembers(t *testing.T, s *openapi3.Schema, but string) (members []string) {
	names := slices.Clone(s.Required)
	if len(s.OneOf) > 0 {
		names = append(names, s.OneOf[0].Value.Required...)
	}
	for _, name := range names {
		if name != but {
			members = append(members, strconv.Quote(name)+":"+sample(t, s.Properties[name].Value))
		}
	}
	return members
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func quote(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

// faultsOf returns values that break a schema, each for one of its keywords.
func faultsOf(t *testing.T, s *openapi3.Schema) (faults []fault) {
	t.Helper()
	text, err := json.Marshal(s)
	require.NoError(t, err)
	var keywords map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &keywords))
	add := func(keyword, value string) { faults = append(faults, fault{keyword, value}) }
	var isText bool
	for _, keyword := range slices.Sorted(maps.Keys(keywords)) {
		switch keyword {
		case "description", "title", "default", "properties":
		case "type":
			if s.Type.Includes("null") { // any value
				return nil
			}
			add("type", "null")
			if s.Type.Includes("integer") {
				add("type", "1.5")
				add("type", "1e1")
			}
			if !s.Type.Includes("string") {
				add("type", `"x"`)
				add("type", `""`)
			}
		case "allOf", "enum", "pattern", "format", "minLength", "maxLength":
			isText = !s.Type.Includes("integer")
		case "minimum":
			add(keyword, number(*s.Min-1))
			add(keyword, "-7")
			add(keyword, "-1"+strings.Repeat("0", 30))
		case "maximum":
			add(keyword, number(*s.Max+1))
			add(keyword, "18446744073709551616")
			add(keyword, "1"+strings.Repeat("0", 30))
		case "items":
			for _, f := range faultsOf(t, s.Items.Value) {
				rest := slices.Repeat([]string{sample(t, s.Items.Value)}, int(max(1, s.MinItems))-1)
				add(f.keyword, "["+strings.Join(append(rest, f.value), ",")+"]")
			}
		case "minItems":
			add(keyword, "["+strings.Join(slices.Repeat([]string{sample(t, s.Items.Value)}, int(s.MinItems)-1), ",")+"]")
		case "maxItems":
			add(keyword, "["+strings.Join(slices.Repeat([]string{sample(t, s.Items.Value)}, int(*s.MaxItems)+1), ",")+"]")
		case "minProperties":
			add(keyword, `{}`)
		case "maxProperties":
			var members []string
			for i := range *s.MaxProps + 1 {
				members = append(members, fmt.Sprintf(`"p%d":%s`, i, sample(t, s.AdditionalProperties.Schema.Value)))
			}
			add(keyword, object(members))
		case "propertyNames":
			for _, f := range faultsOf(t, s.PropertyNames.Value) {
				if f.keyword != "type" {
					add(keyword, "{"+f.value+":1}")
				}
			}
		case "additionalProperties":
			if s.AdditionalProperties.Schema == nil {
				add(keyword, object(sampleMembers(t, s, ""), `"none_such":1`))
				for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
					for _, f := range faultsOf(t, s.Properties[name].Value) {
						add(f.keyword, object(sampleMembers(t, s, name), strconv.Quote(name)+":"+f.value))
					}
				}
				break
			}
			for _, f := range faultsOf(t, s.AdditionalProperties.Schema.Value) {
				add(f.keyword, `{"players":`+f.value+"}")
			}
		case "required":
			for _, name := range s.Required {
				add(keyword, object(sampleMembers(t, s, name)))
			}
		case "oneOf":
			if s.Type.Is("object") { // of combinations of members
				break
			}
			for i, alternative := range s.OneOf {
				for _, f := range faultsOf(t, alternative.Value) {
					switch { // a value of another alternative's type is no fault, and one of neither's is one fault
					case f.keyword != "type" || strings.HasPrefix(f.value, "["):
						faults = append(faults, f)
					case f.value == "null" && i == 0 || f.value == "1.5":
						faults = append(faults, f)
					}
				}
			}
		default:
			t.Errorf("%s has no rule", keyword)
		}
	}
	if isText {
		for _, text := range samples {
			if keyword := brokenBy(s, text); keyword != "" {
				add(keyword, quote(text))
			}
		}
	}
	return faults
}
