package api

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"riffle/internal/audit"
)

// parseQuery reads the query of a request. A parameter that stands twice is an error, for readers differ on which counts.
func parseQuery(r *http.Request) (map[string]string, error) {
	if r.URL.RawQuery == "" {
		return nil, nil
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, newProblem(400, "The query is malformed: pairs of name=value joined by &, other characters escaped with %%.")
	}
	query := make(map[string]string, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list := values[name]
		if len(list) != 1 {
			return nil, newProblem(400, "This parameter stands twice. Send it once.").in(name)
		}
		query[name] = list[0]
	}
	return query, nil
}

// onlyParameters returns an error unless every parameter has one of the names.
func onlyParameters(query map[string]string, allowed ...string) error {
	for _, name := range names(query) {
		known := false
		for _, n := range allowed {
			known = known || n == name
		}
		if !known {
			return unknownParameter(name, allowed)
		}
	}
	return nil
}

func unknownParameter(name string, allowed []string) error {
	if len(allowed) == 0 {
		return newProblem(400, "This path takes no parameters.").in(name)
	}
	return newProblem(400, "There is no such parameter here. What there is: %s.", strings.Join(allowed, ", ")).in(name)
}

// names returns the names of a query in a fixed order, so that the same mistakes get the same answer.
func names(query map[string]string) []string {
	if len(query) == 0 { // as most are
		return nil
	}
	return slices.Sorted(maps.Keys(query))
}

func countParameter(name, value string) (*uint64, error) {
	n, wrong := parseCount(value)
	if wrong != nil {
		return nil, wrong.in(name)
	}
	return &n, nil
}

// countOr returns the count in a parameter, or what stands for one that is not given.
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
	defaultPage = 100  // how many there are in a page of a list
	mostInPage  = 1000 // and at most
)

// pageLimit reads how many there are to be in a page.
func pageLimit(query map[string]string) (int, error) {
	limit, err := countOr(query, "limit", defaultPage)
	if err != nil {
		return 0, err
	}
	if limit < 1 || limit > mostInPage {
		return 0, newProblem(422, "limit is from 1 to %d.", mostInPage).in("limit")
	}
	return int(limit), nil
}

func textParameter(name, value string, check func(string) error) (string, error) {
	if err := check(value); err != nil {
		return "", newProblem(400, "%s", sentence(err.Error())).in(name)
	}
	return value, nil
}

// decodeQuery reads the query of GET /decks/{type}. Names that are not those of the request are parameters of the deck
// type, if it has any.
func (q *shuffleRequest) decodeQuery(query map[string]string, deckType string, hasParameters bool) error {
	q.Deck = deckType
	for _, name := range names(query) {
		value := query[name]
		var err error
		switch name {
		case "decks":
			q.Decks, err = countParameter(name, value)
		case "draw":
			q.Draw, err = countParameter(name, value)
		case "hands":
			err = q.handsParameter(value)
		case "algorithm":
			if q.Algorithm = value; value == "" {
				err = newProblem(422, "Name an algorithm, or leave it out for fisher-yates.").in(name)
			}
		case "client_seed":
			q.ClientSeed, err = textParameter(name, value, audit.CheckClientSeed)
		case "reference":
			q.Reference, err = textParameter(name, value, audit.CheckReference)
		case "details":
			q.details, err = strconv.ParseBool(value)
			if err != nil || value != "true" && value != "false" {
				err = newProblem(400, "details is true or false.").in(name)
			}
		default:
			if !hasParameters {
				return unknownParameter(name, []string{"decks", "draw", "hands", "algorithm", "client_seed", "reference", "details"})
			}
			err = q.deckParameter(name, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (q *shuffleRequest) deckParameter(name, value string) error {
	n, err := countParameter(name, value)
	if err != nil {
		return err
	}
	return q.setParameter(name, *n, func(p *problem) error { return p.in(name) })
}

// handsParameter reads hand sizes, joined by commas, or the name of a preset.
func (q *shuffleRequest) handsParameter(value string) error {
	if value == "" {
		return newProblem(422, "Give hand sizes joined by commas, or the name of some that the deck type has.").in("hands")
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
