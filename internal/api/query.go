package api

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/dealer"
	"riffle/internal/httpjson"
	"riffle/internal/plan"
	"riffle/internal/suggest"
)

// noParameters returns an error if a request has query parameters.
func noParameters(r *http.Request) error {
	query, err := parseQuery(r)
	if err != nil {
		return err
	}
	return onlyParameters(query)
}

// parseQuery reads the query of a request. It rejects duplicate parameters, which readers interpret
// differently.
func parseQuery(r *http.Request) (map[string]string, error) {
	if r.URL.RawQuery == "" {
		return nil, nil
	}
	if strings.Count(r.URL.RawQuery, "&") >= maxFields {
		return nil, badRequest("The query has more than %d parameters. Send fewer.", maxFields)
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badRequest("The query is malformed. Send name=value pairs joined by &, with other characters escaped as %%XX.")
	}
	query := make(map[string]string, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list := values[name]
		if len(list) != 1 {
			return nil, badRequest("%s is given %d times. Send it once.", suggest.Quote(name), len(list)).in(name)
		}
		query[name] = list[0]
	}
	return query, nil
}

// onlyParameters rejects parameters that do not have one of the names.
func onlyParameters(query map[string]string, allowed ...string) error {
	for _, name := range names(query) {
		if !slices.Contains(allowed, name) {
			return unknownParameter(name, allowed)
		}
	}
	return nil
}

func unknownParameter(name string, allowed []string) error {
	if len(allowed) == 0 {
		return badRequest("%s is not a parameter of this path; it takes none.", suggest.Quote(name)).in(name)
	}
	return badRequest("%s is not a parameter of this path; %s", suggest.Quote(name), suggest.Or(name, allowed, "it takes "+strings.Join(allowed, ", ")+".")).in(name)
}

// names returns the names of a query, sorted, so that equal mistakes get equal answers.
func names(query map[string]string) []string {
	return slices.Sorted(maps.Keys(query))
}

func countParameter(name, value string) (*uint64, error) {
	n, wrong := httpjson.ParseCount(value)
	if wrong != nil {
		return nil, newProblem(wrong.Status, "%s %s", suggest.Brief(name), wrong.Detail).in(name)
	}
	return &n, nil
}

// countOr returns the count in a parameter, or otherwise if it is missing.
func countOr(query map[string]string, name string, otherwise uint64) (uint64, error) {
	text, given := query[name]
	if !given {
		return otherwise, nil
	}
	n, err := countParameter(name, text)
	if err != nil {
		return 0, err
	}
	return *n, nil
}

const (
	defaultPage = 100 // elements in a page of a list
	maxPage     = 1000
)

// pageLimit reads the number of elements on a page.
func pageLimit(query map[string]string) (int, error) {
	limit, err := countOr(query, "limit", defaultPage)
	if err != nil {
		return 0, err
	}
	if limit < 1 || limit > maxPage {
		return 0, unprocessable("limit must be from 1 to %d; got %d.", maxPage, limit).in("limit")
	}
	return int(limit), nil
}

// checkText returns the error for a text parameter of a wrong form.
func checkText(name, value string, check func(string) error) error {
	if err := check(value); err != nil {
		return badRequest("%s", sentence("", err.Error())).in(name)
	}
	return nil
}

// A dealParameter is a parameter of GET /decks/{type}, with the function that reads its value.
type dealParameter struct {
	name string
	read func(q *shuffleRequest, value string) error
}

var dealParameters = []dealParameter{
	{"decks", func(q *shuffleRequest, value string) (err error) {
		q.Decks, err = countParameter("decks", value)
		return err
	}},
	{"draw", (*shuffleRequest).drawParameter},
	{"hands", (*shuffleRequest).handsParameter},
	{"algorithm", func(q *shuffleRequest, value string) error {
		if q.Algorithm = value; value == "" {
			return problemNoAlgorithm().in("algorithm")
		}
		return nil
	}},
	{"client_seed", func(q *shuffleRequest, value string) error {
		q.ClientSeed = value
		return checkText("client_seed", value, audit.CheckClientSeed)
	}},
	{"reference", func(q *shuffleRequest, value string) error {
		q.Reference = value
		return checkText("reference", value, audit.CheckReference)
	}},
	{"details", func(q *shuffleRequest, value string) (err error) {
		q.details, err = boolParameter("details", value)
		return err
	}},
}

// decodeDeal reads the query of GET /decks/{type}. If the deck type has parameters, all other names
// are taken as theirs.
func decodeDeal(query map[string]string, deckType string, hasParameters bool) (*shuffleRequest, error) {
	q := &shuffleRequest{Request: dealer.Request{Request: plan.Request{Deck: deckType}}}
	for _, name := range names(query) {
		i := slices.IndexFunc(dealParameters, func(p dealParameter) bool { return p.name == name })
		var err error
		switch {
		case i >= 0:
			err = dealParameters[i].read(q, query[name])
		case hasParameters:
			err = q.deckParameter(name, query[name])
		default:
			var known []string
			for _, p := range dealParameters {
				known = append(known, p.name)
			}
			err = unknownParameter(name, known)
		}
		if err != nil {
			return nil, err
		}
	}
	return q, nil
}

// boolParameter reads true or false.
func boolParameter(name, value string) (bool, error) {
	if value != "true" && value != "false" {
		return false, badRequest("%s must be true or false.", name).in(name)
	}
	return value == "true", nil
}

// deckParameter reads a parameter of the deck type.
func (q *shuffleRequest) deckParameter(name, value string) error {
	n, err := countParameter(name, value)
	if err != nil {
		return err
	}
	if wrong := q.setParameter(name, *n); wrong != nil {
		return wrong.in(name)
	}
	return nil
}

// drawParameter reads the number of cards to draw.
func (q *shuffleRequest) drawParameter(value string) error {
	n, wrong := httpjson.ParseCount(value)
	if wrong != nil && !q.outOfRange(wrong) {
		return newProblem(wrong.Status, "draw %s", wrong.Detail).in("draw")
	}
	if wrong == nil {
		q.Draw = &n
	}
	return nil
}

// handsParameter reads hand sizes joined by commas, or the name of a preset.
func (q *shuffleRequest) handsParameter(value string) error {
	if value == "" {
		return unprocessable(`hands must be sizes joined by commas, such as 13,13,13,13, or a preset name such as bridge; got "".`).in("hands")
	}
	if value[0] < '0' || value[0] > '9' {
		q.Preset = value
		return nil
	}
	for _, word := range strings.Split(value, ",") {
		n, err := countParameter("hands", word)
		if err != nil {
			return err
		}
		q.Hands = append(q.Hands, *n)
	}
	return nil
}

// parseID reads an id of 36 characters, in either case.
func parseID(text string) (uuid.UUID, bool) {
	if len(text) != 36 { // uuid.Parse takes other forms as well
		return uuid.Nil, false
	}
	id, err := uuid.Parse(text)
	return id, err == nil
}
