package clients_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	client "riffle/clients/go"
)

type scenario struct {
	Name     string
	Random   []string
	Faults   []string
	Token    string
	Patience *int
	Steps    []step
}

// A step is a call, or the check of a proof.
type step struct {
	Operation string
	Path      map[string]any
	Query     map[string]any
	Key       string
	IfMatch   string `json:"if_match"`
	Body      any
	AtOnce    int `json:"at_once"`
	Verify    map[string]any
	Expect    map[string]any
	Problem   map[string]any
	Save      map[string]string
}

func runScenarios(t *testing.T, proxy string, keys tokens) {
	file, err := os.ReadFile("scenarios.json")
	require.NoError(t, err)
	var table struct{ Scenarios []scenario }
	require.NoError(t, decode(file, &table))
	for _, s := range table.Scenarios {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			p := player{T: t, scenario: s, saved: map[string]any{}}
			for _, name := range s.Random {
				p.saved[name] = uuid.NewString()
			}
			server := proxy
			if len(s.Faults) > 0 {
				server += "/faults/" + uuid.NewString() + "/" + strings.Join(s.Faults, ",")
			}
			patience := time.Minute
			if s.Patience != nil {
				patience = time.Duration(*s.Patience) * time.Millisecond
			}
			if s.Token == "" {
				s.Token = "table"
			}
			var err error // of this scenario: others run beside it
			p.client, err = client.NewClientWithResponses(server, client.WithRetries(patience), client.WithToken(keys[s.Token]))
			require.NoError(t, err)
			for _, step := range s.Steps {
				p.play(step)
			}
		})
	}
}

// A player runs one scenario.
type player struct {
	*testing.T
	scenario scenario
	client   *client.ClientWithResponses
	saved    map[string]any
}

func (p *player) play(s step) {
	p.Helper()
	var result any
	var err error
	switch {
	case s.Verify != nil:
		result, err = p.verify(p.fill(s.Verify).(map[string]any))
	default:
		result, err = p.callAtOnce(s)
	}
	if s.Problem != nil {
		var problem *client.Problem
		if !errors.As(err, &problem) {
			p.Fatalf("%s: %v (%v) is not the problem %v", s.Operation, result, err, s.Problem)
		}
		text, _ := json.Marshal(problem) // plain strings and integers always marshal
		if err := decode(text, &result); err != nil {
			p.Fatal(err)
		}
		s.Expect = s.Problem
	} else if err != nil {
		p.Fatalf("%s: %v", s.Operation, err)
	}
	for path, want := range s.Expect {
		if got := at(result, path); !reflect.DeepEqual(got, p.fill(want)) {
			p.Errorf("%s: %q is %v, not %v", s.Operation, path, got, p.fill(want))
		}
	}
	for name, path := range s.Save {
		p.saved[name] = at(result, path)
	}
}

// callAtOnce makes the calls of a step, which must have the same result.
func (p *player) callAtOnce(s step) (any, error) {
	type outcome struct {
		result any
		err    error
	}
	outcomes := make(chan outcome)
	times := max(s.AtOnce, 1)
	for range times {
		go func() {
			result, err := p.call(s)
			outcomes <- outcome{result, err}
		}()
	}
	first := <-outcomes
	for range times - 1 {
		if next := <-outcomes; !reflect.DeepEqual(next, first) {
			p.Errorf("%s: one call has %v, another %v", s.Operation, first, next)
		}
	}
	return first.result, first.err
}

// call calls the method that the generated client has for an operation.
func (p *player) call(s step) (any, error) {
	name := strings.ToUpper(s.Operation[:1]) + s.Operation[1:]
	method := reflect.ValueOf(p.client).MethodByName(name + "WithBodyWithResponse")
	if s.Body == nil {
		method = reflect.ValueOf(p.client).MethodByName(name + "WithResponse")
	}
	arguments := []reflect.Value{reflect.ValueOf(p.Context())}
	for _, name := range slices.Sorted(maps.Keys(s.Path)) { // id before pile
		arguments = append(arguments, p.value(p.fill(s.Path[name]), method.Type().In(len(arguments))))
	}
	if next := method.Type().In(len(arguments)); next.Kind() == reflect.Pointer {
		members := maps.Clone(s.Query)
		if members == nil {
			members = map[string]any{}
		}
		if s.Key != "" {
			members["Idempotency-Key"] = s.Key
		}
		if s.IfMatch != "" {
			members["If-Match"] = s.IfMatch
		}
		arguments = append(arguments, p.value(p.fill(members), next))
	}
	if s.Body != nil {
		body, err := json.Marshal(p.fill(s.Body))
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, reflect.ValueOf("application/json"), reflect.ValueOf(io.Reader(bytes.NewReader(body))))
	}
	returned := method.Call(arguments)
	if err, _ := returned[1].Interface().(error); err != nil {
		return nil, err
	}
	answer := returned[0].Interface().(client.Answer)
	if err := client.AsError(answer); err != nil {
		return nil, err
	}
	if answer.ContentType() != "application/json" || s.Operation == "proveAudit" {
		return string(answer.GetBody()), nil
	}
	var result any
	return result, decode(answer.GetBody(), &result)
}

// value returns a JSON value as a value of the type.
func (p *player) value(v any, as reflect.Type) reflect.Value {
	text, err := json.Marshal(v)
	if err != nil {
		p.Fatal(err)
	}
	pointer := reflect.New(as)
	if err := json.Unmarshal(text, pointer.Interface()); err != nil {
		p.Fatal(err)
	}
	return pointer.Elem()
}

func (p *player) verify(texts map[string]any) (any, error) {
	text := func(v any) []byte {
		switch v := v.(type) {
		case nil:
			return nil
		case string:
			return []byte(v)
		default:
			text, err := json.Marshal(v)
			if err != nil {
				p.Fatal(err)
			}
			return text
		}
	}
	verdict, checks, err := client.Verify(text(texts["proof"]), client.Given{
		Key: text(texts["key"]), Items: text(texts["items"]), Answer: text(texts["answer"]), Order: text(texts["order"]), Hand: text(texts["hand"]),
	})
	p.Log(checks)
	return map[string]any{"verdict": string(verdict)}, err
}

// fill replaces the names of saved values.
func (p *player) fill(v any) any {
	switch v := v.(type) {
	case string:
		name, found := strings.CutPrefix(v, "$")
		if !found {
			return v
		}
		value, found := p.saved[name]
		if !found {
			p.Fatalf("nothing is saved as %s", v)
		}
		return value
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = p.fill(v[i])
		}
		return list
	case map[string]any:
		members := map[string]any{}
		for name := range v {
			members[name] = p.fill(v[name])
		}
		return members
	}
	return v
}

// at returns the part of a JSON value at a path such as hands.0.length.
func at(v any, path string) any {
	if path == "" {
		return v
	}
	for name := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			if name == "length" {
				v = json.Number(strconv.Itoa(len(in)))
				continue
			}
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// decode decodes JSON without rounding its numbers.
func decode(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(to)
}

// endless is a service that is always busy.
type endless struct{ asked int }

func (e *endless) Do(r *http.Request) (*http.Response, error) {
	e.asked++
	header := http.Header{"Retry-After": {"3600"}}
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: header, Body: http.NoBody, Request: r}, nil
}

// A Retry-After beyond the client's patience is not waited for, and a context ends the wait.
func TestRetriesAreBounded(t *testing.T) {
	busy := new(endless)
	c, err := client.NewClientWithResponses("http://localhost", client.WithHTTPClient(busy), client.WithRetries(time.Minute))
	require.NoError(t, err)
	answer, err := c.ListDecksWithResponse(t.Context())
	assert.Truef(t, err == nil && answer.StatusCode() == 503 && busy.asked == 1, "asked %d times: %v %v", busy.asked, answer, err)
	c, err = client.NewClientWithResponses("http://localhost", client.WithHTTPClient(busy), client.WithRetries(24*time.Hour))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = c.ListDecksWithResponse(ctx)
	assert.ErrorIs(t, err, context.DeadlineExceeded, "with a deadline")
}
