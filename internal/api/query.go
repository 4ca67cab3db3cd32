package api

import (
	"cmp"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/dealer"
	"riffle/internal/httpjson"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/shoe"
	"riffle/internal/suggest"
)

// unknown are the errors for unknown ids, by the first segment of the path.
var unknown = map[string]error{
	"audits": ledger.ErrNotFound, "commitments": dealer.ErrNoCommitment, "shoes": journal.ErrNoShoe,
}

// withQuery returns a handler that calls answer after it has read path and query. It rejects
// parameters that are not named.
func withQuery(answer handler, parameters ...string) handler {
	return func(a *API, x *exchange) error {
		if err := cmp.Or(x.readPath(), x.readQuery(), x.onlyParameters(parameters...)); err != nil {
			return err
		}
		x.limit = 100
		for _, name := range parameters {
			if x.query.Has(name) {
				if err := x.readParameter(name, x.query.Get(name)); err != nil {
					return err
				}
			}
		}
		return answer(a, x)
	}
}

// readPath reads the id and the pile in the path. A malformed id is answered like an unknown one.
func (x *exchange) readPath() error {
	path := chi.RouteContext(x.r.Context())
	if id := path.URLParam("id"); id != "" {
		if x.id = parseID(id); x.id == uuid.Nil {
			collection, _, _ := strings.Cut(x.r.URL.Path[1:], "/")
			return unknown[collection]
		}
	}
	if pile := path.URLParam("pile"); pile != "" {
		if x.pile = shoe.OnPile(pile); !shoe.IsName(pile) {
			return notFound("%s", sentence("", errPileName.Error()))
		}
	}
	return nil
}

// readQuery reads the query. It rejects duplicate parameters, which readers interpret differently.
func (x *exchange) readQuery() error {
	if x.r.URL.RawQuery == "" {
		return nil
	}
	if strings.Count(x.r.URL.RawQuery, "&") >= maxFields {
		return badRequest("The query has more than %d parameters. Send fewer.", maxFields)
	}
	values, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return badRequest("The query is malformed. Send name=value pairs joined by &, with other characters escaped as %%XX.")
	}
	x.query = values
	for _, name := range names(values) {
		if n := len(values[name]); n != 1 {
			return badRequest("%s is given %d times. Send it once.", suggest.Quote(name), n).in(name)
		}
	}
	return nil
}

// onlyParameters rejects parameters that do not have one of the names.
func (x *exchange) onlyParameters(allowed ...string) error {
	for _, name := range names(x.query) {
		if !slices.Contains(allowed, name) {
			return badRequest("%s is not a parameter of this path; %s", suggest.Quote(name), nearestOr(name, allowed)).in(name)
		}
	}
	return nil
}

// readParameter checks the value of a parameter, and sets what it says.
func (x *exchange) readParameter(name, text string) (err error) {
	switch name {
	case "witnessed":
		x.witnessed, err = boolParameter(name, text)
	case "proof":
		x.openings, err = boolParameter(name, text)
	case "format":
		if text != tlogProof {
			err = badRequest("format must be tlog-proof, or left out for JSON; got %s.", suggest.Quote(text)).in(name)
		}
	case "status":
		if !slices.Contains(dealer.Statuses(), dealer.Status(text)) {
			err = badRequest("status must be open, late, used or void; got %s.", suggest.Quote(text)).in(name)
		}
	case "after":
		x.other, err = parseID(text), checkText(name, text, isID(name, "the commitment_id that the last page ended with"))
	case "sealed_by":
		x.other, err = parseID(text), checkText(name, text, isID(name, "the sealed_by of a card"))
	case "from":
		x.from, err = countParameter(name, text, 0, audit.MaxSize)
	case "limit":
		x.limit, err = countParameter(name, text, 1, 1000)
	case "code":
		err = checkText(name, text, func(text string) error {
			return audit.Rule(0 < len(text) && len(text) <= 16, "code must be the code of a card, of 1 to 16 characters; got %s", suggest.Quote(text))
		})
	case "reference":
		err = checkText(name, text, audit.CheckReference)
	}
	return err
}

// names returns the names of a query, sorted, so that equal mistakes get equal answers.
func names(query url.Values) []string {
	return slices.Sorted(maps.Keys(query)) // on a line of its own, where the profile has it
}

// countParameter returns the integer in a parameter, from least to most.
func countParameter(name, value string, least, most uint64) (uint64, error) {
	n, wrong := httpjson.ParseCount(value, least, most)
	if wrong != nil {
		wrong.Pointer, wrong.Detail = "/"+name, suggest.Brief(name)+" "+wrong.Detail
		return 0, wrong
	}
	return n, nil
}

// checkText returns the error for a text parameter of a wrong form.
func checkText(name, value string, check func(string) error) error {
	if err := check(value); err != nil {
		return badRequest("%s", sentence("/"+name, err.Error())).in(name)
	}
	return nil
}

// dealParameters are the parameters of GET /decks/{type}.
var dealParameters = []string{"decks", "draw", "hands", "algorithm", "client_seed", "reference", "details"}

// dealParameter reads a parameter of GET /decks/{type}: one of these, or of the deck type.
func (q *shuffleRequest) dealParameter(name, value string) (err error) {
	switch name {
	case "decks":
		n, wrong := countParameter(name, value, 0, math.MaxUint64)
		q.Decks, err = q.relative(name, n, wrong)
	case "draw":
		n, wrong := countParameter(name, value, 0, math.MaxUint64)
		q.Draw, err = q.relative(name, n, wrong)
	case "hands":
		err = q.handsParameter(value)
	case "algorithm":
		q.Algorithm, err = value, checkText(name, value, func(text string) error { return audit.Rule(text != "", noAlgorithm) })
	case "client_seed":
		q.ClientSeed, err = value, checkText(name, value, audit.CheckClientSeed)
	case "reference":
		q.Reference, err = value, checkText(name, value, audit.CheckReference)
	case "details":
		q.details, err = boolParameter(name, value)
	default:
		err = q.deckParameter(name, value)
	}
	return err
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
	n, err := countParameter(name, value, 0, maxParameter)
	if q.Parameters == nil {
		q.Parameters = map[string]int{}
	}
	q.Parameters[name] = int(n)
	return err
}

// handsParameter reads hand sizes joined by commas, or the name of a preset.
func (q *shuffleRequest) handsParameter(value string) error {
	words := strings.Split(value, ",")
	switch {
	case value != "" && unicode.IsLetter(rune(value[0])):
		q.Preset = value
		return nil
	case strings.Trim(value, "0123456789,") != "" || slices.Contains(words, ""):
		return badRequest(`hands must be sizes joined by commas, such as 13,13,13,13, or a preset name such as bridge; got %s.`, suggest.Quote(value)).in("hands")
	}
	for _, word := range words {
		n, err := countParameter("hands", word, 1, audit.MaxSize)
		if err != nil {
			return err
		}
		q.Hands = append(q.Hands, n)
	}
	return nil
}

// isID returns a function that checks the form of an id. something names its kind.
func isID(name, something string) func(text string) error {
	return func(text string) error {
		return audit.Rule(parseID(text) != uuid.Nil || text == uuid.Nil.String(), "%s must be %s, copied exactly; got %s", name, something, suggest.Quote(text))
	}
}

// parseID reads an id of 36 characters, in either case. It returns Nil for any other text.
func parseID(text string) uuid.UUID {
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 { // uuid.Parse takes other forms as well
		return uuid.Nil
	}
	return id
}
