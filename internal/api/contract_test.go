package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle"
)

// A contract is openapi.yaml with its operations by id.
type contract struct {
	*openapi3.T
	operations map[string]*routers.Route
}

// parseContract parses openapi.yaml and validates it, examples included.
var parseContract = sync.OnceValues(func() (*contract, error) {
	openapi3.DefineStringFormatValidator("uuid", openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForUUIDOfRFC9562))
	openapi3filter.RegisterBodyDecoder("application/openmetrics-text", openapi3filter.PlainBodyDecoder)
	doc, err := openapi3.NewLoader().LoadFromData(riffle.Contract)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	c := &contract{T: doc, operations: map[string]*routers.Route{}}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.OperationID == "" || c.operations[op.OperationID] != nil {
				return nil, fmt.Errorf("%s %s has no operationId, or that of another operation", method, path)
			}
			c.operations[op.OperationID] = &routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: op}
		}
	}
	return c, nil
})

// loadContract returns the contract, which is parsed once.
func loadContract(t testing.TB) *contract {
	t.Helper()
	c, err := parseContract()
	require.NoError(t, err)
	return c
}

// check validates a response by the contract of the operation: status, headers, media type and
// body.
func (c *contract) check(operation string, answer response) error {
	route := c.operations[operation]
	if route.Operation.Responses.Status(answer.status) == nil {
		return fmt.Errorf("the contract has no response %d", answer.status)
	}
	return c.checkAs(route, answer)
}

// checkAs validates a response by the contract of a route.
func (c *contract) checkAs(route *routers.Route, answer response) error {
	request, err := http.NewRequest(route.Method, "http://localhost", nil)
	if err != nil {
		return err
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, Route: route},
		Status:                 answer.status,
		Header:                 answer.header,
		Body:                   io.NopCloser(strings.NewReader(answer.body)),
		Options:                &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	})
	if err != nil {
		return err
	}
	if answer.header.Get("Content-Type") != "application/problem+json" {
		return nil
	}
	var problem struct{ Status int }
	if err := json.Unmarshal([]byte(answer.body), &problem); err != nil {
		return err
	}
	if problem.Status != answer.status {
		return fmt.Errorf("the problem document has status %d, the response %d", problem.Status, answer.status)
	}
	return nil
}

// checkComponent validates a response that belongs to no operation by a named component.
func (c *contract) checkComponent(name string, answer response) error {
	responses := openapi3.NewResponses(openapi3.WithStatus(answer.status, c.Components.Responses[name]))
	return c.checkAs(&routers.Route{Spec: c.T, Operation: &openapi3.Operation{Responses: responses}}, answer)
}

// examples returns the examples of an operation's response by name.
func (c *contract) examples(operation string, status int) map[string]any {
	documented := c.operations[operation].Operation.Responses.Status(status)
	if documented == nil {
		return nil
	}
	return examplesOf(documented.Value)
}

// examplesOf returns the examples of a response by name.
func examplesOf(response *openapi3.Response) map[string]any {
	values := map[string]any{}
	for _, media := range response.Content {
		for name, example := range media.Examples {
			values[name] = example.Value.Value
		}
	}
	return values
}

// parameters returns the parameters of an operation and of its path.
func (c *contract) parameters(operation string) (list []*openapi3.Parameter) {
	op := c.operations[operation]
	for _, p := range slices.Concat(op.PathItem.Parameters, op.Operation.Parameters) {
		list = append(list, p.Value)
	}
	return list
}

// equalsExample reports whether a body equals an example: as JSON, or as text.
func equalsExample(t testing.TB, body string, example any) bool {
	t.Helper()
	if text, ok := example.(string); ok {
		return text == body
	}
	want, err := json.Marshal(example)
	require.NoError(t, err)
	return reflect.DeepEqual(decodeJSON(t, []byte(body)), decodeJSON(t, want))
}

// decodeJSON decodes JSON without rounding numbers.
func decodeJSON(t testing.TB, text []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err := d.Decode(&v)
	require.NoErrorf(t, err, "%v: %s", err, text)
	return v
}

// The router has the operations of the contract and no others.
func TestRoutesMatchTheContract(t *testing.T) {
	c := loadContract(t)
	var routes, documented []string
	err := chi.Walk(start(t, setup{}).Routes(), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if method == http.MethodHead { // which is GET without a body, and in no contract
			return nil
		}
		routes = append(routes, method+" "+strings.Replace(route, "*", "{tile}", 1)) // OpenAPI has no wildcards
		return nil
	})
	require.NoError(t, err)
	for _, op := range c.operations {
		documented = append(documented, op.Method+" "+op.Path)
	}
	slices.Sort(routes)
	slices.Sort(documented)
	assert.Equalf(t, documented, routes,
		"the router has\n%s\nand the contract\n%s", strings.Join(routes, "\n"), strings.Join(documented, "\n"))
}

// Every response that the contract documents is provoked, equals its example and is valid; and
// every documented response and example is covered.
func TestResponsesMatchTheContract(t *testing.T) {
	c := loadContract(t)
	responses, examples := map[string]bool{}, map[string]bool{}
	cover := func(operation string, status int, example string) {
		responses[operation+" "+strconv.Itoa(status)] = true
		if example != "" {
			examples[exampleKey(c, operation, status, example)] = true
		}
	}
	shared := start(t, setup{})
	for _, p := range responseProbes(t, c, shared) {
		t.Run(fmt.Sprint(p.operation, " ", p.status, " ", p.says), func(t *testing.T) {
			s := shared
			if p.on != nil {
				s = p.on(t)
			}
			answer := s.send(t, p.request(s))
			require.Equalf(t, p.status, answer.status, "%.500s", answer.body)
			c.checkSays(t, p.operation, p.says, answer, cover)
		})
	}
	sendRequests(t, c, cover)
	replayExamples(t, c, cover)
	checkUnroutedRequests(t, c)

	for _, operation := range slices.Sorted(maps.Keys(c.operations)) {
		for status := range c.operations[operation].Operation.Responses.Map() {
			pair := operation + " " + status
			assert.Truef(t, responses[pair], "no request is answered %s", pair)
			n, err := strconv.Atoi(status)
			require.NoError(t, err)
			for example := range c.examples(operation, n) {
				assert.Truef(t, examples[exampleKey(c, operation, n, example)],
					"no request is answered with the example %s of %s", example, pair)
			}
		}
	}
	t.Logf("%d operations, %d responses, %d examples", len(c.operations), len(responses), len(examples))
}

// exampleKey identifies an example. Operations that share a response share its examples.
func exampleKey(c *contract, operation string, status int, example string) string {
	response := c.operations[operation].Operation.Responses.Status(status)
	if response.Ref != "" {
		return response.Ref + " " + example
	}
	return fmt.Sprint(operation, " ", status, " ", example)
}

// checkUnroutedRequests checks the responses to paths and methods that have no operation, and to
// headers that are not looked at.
func checkUnroutedRequests(t *testing.T, c *contract) {
	s := start(t, setup{})
	for _, p := range []struct {
		component, example, path string
		fields, status           int
	}{
		{"NoSuchPath", "noSuchPath", "/cards", 0, 404},
		{"MethodNotAllowed", "wrongMethod", "/shuffle", 0, 405},
		{"TooManyFields", "tooManyFields", "/decks", 101, 431},
	} {
		r := get(t, p.path)
		for i := range p.fields {
			r.Header.Add(fmt.Sprint("X-", i/2), "")
		}
		answer := s.send(t, r)
		example := examplesOf(c.Components.Responses[p.component].Value)[p.example]
		if err := c.checkComponent(p.component, answer); err != nil || answer.status != p.status || !equalsExample(t, answer.body, example) {
			t.Errorf("GET %s: %d (%v) %s", p.path, answer.status, err, answer.body)
		}
	}
	for path, item := range c.Paths.Map() {
		target := fillPath(path, "1")
		methods := slices.Sorted(maps.Keys(item.Operations()))
		if at := slices.Index(methods, "GET"); at >= 0 && path != "/decks/{type}" { // which writes
			methods = slices.Insert(methods, at+1, "HEAD")
		}
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "QUERY"} {
			if slices.Contains(methods, method) {
				continue
			}
			answer := s.send(t, request(t, method, target))
			if err := c.checkComponent("MethodNotAllowed", answer); err != nil || answer.status != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d (%v) %s", method, path, answer.status, err, answer.body)
			}
			got := answer.header.Get("Allow")
			assert.Equalf(t, strings.Join(methods, ", "), got,
				"%s %s is answered with Allow: %s, and the contract has %v", method, path, got, methods)
		}
	}
}
