package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/budget"
	"riffle/internal/httpjson"
	"riffle/internal/journal"
	"riffle/internal/liveshoes"
	"riffle/internal/shoe"
	"riffle/internal/suggest"
)

// readChange completes a change with the members of the body, and returns the id of the shoe in the path. A
// DELETE has no body.
func (a *API) readChange(
	w http.ResponseWriter, r *http.Request, lease *budget.Lease, c *liveshoes.Change, members []string,
) (id uuid.UUID, err error) {
	if c.Kind == audit.KindDraw {
		c.Openings, err = proofParameter(r)
	} else {
		err = noParameters(r)
	}
	if err != nil {
		return id, err
	}
	if id, err = shoeID(r); err != nil {
		return id, err
	}
	var body []byte
	if r.Method != http.MethodDelete {
		if body, err = httpjson.Read(w, r, a.MaxBody, lease); err != nil {
			return id, err
		}
		if err := decodeChange(body, lease, c, members); err != nil {
			return id, err
		}
	}
	if c.IfVersion, err = ifVersion(r); err != nil {
		return id, err
	}
	c.Key, err = idempotencyKey(w, r, body)
	return id, err
}

// shoeID reads the id in the path. A malformed id is answered like an unknown one.
func shoeID(r *http.Request) (uuid.UUID, error) {
	id, ok := parseID(chi.URLParam(r, "id"))
	if !ok {
		return uuid.Nil, journal.ErrNoShoe
	}
	return id, nil
}

// pileInPath returns the pile in the path.
func pileInPath(r *http.Request) (shoe.Place, error) {
	name := chi.URLParam(r, "pile")
	if !shoe.IsName(name) {
		return "", problemPileName()
	}
	return shoe.OnPile(name), nil
}

func problemPileName() *problem {
	return unprocessable(`The name of a pile must be 1 to %d letters, digits, hyphens and underscores, such as "discard".`, shoe.MaxName)
}

// proofParameter reads whether the answer has the cards' openings.
func proofParameter(r *http.Request) (bool, error) {
	query, err := parseQuery(r)
	if err != nil {
		return false, err
	}
	if err := onlyParameters(query, "proof"); err != nil {
		return false, err
	}
	text, given := query["proof"]
	if !given {
		return false, nil
	}
	return boolParameter("proof", text)
}

// ifVersion reads the version of the shoe to change; 0 for any.
func ifVersion(r *http.Request) (uint64, error) {
	values := r.Header.Values("If-Match")
	if len(values) == 0 {
		return 0, nil
	}
	text := strings.Trim(values[0], " \t")
	if len(values) == 1 && text == "*" {
		return 0, nil
	}
	digits := strings.Trim(text, `"`)
	version, err := strconv.ParseUint(digits, 10, 64)
	if len(values) > 1 || err != nil || version == 0 || text != versionTag(version) {
		return 0, badRequest(`If-Match must be the ETag of an answer about the shoe, copied with its quotes, such as "3", or * for any version; got %s.`, suggest.Quote(text))
	}
	return version, nil
}

// changeMembers are the members of all changes.
var changeMembers = []member[*liveshoes.Change]{
	{name: "count", read: func(d *httpjson.Reader, c *liveshoes.Change) error { return readCount(d, &c.Count) }},
	{name: "cards", read: readCards},
	{name: "from", read: func(d *httpjson.Reader, c *liveshoes.Change) error {
		return oneOf(d, &c.Taken, shoe.Top, shoe.Bottom, shoe.Random)
	}},
	{name: "to", read: func(d *httpjson.Reader, c *liveshoes.Change) error {
		pile, err := d.String()
		if err == nil && !shoe.IsName(pile) {
			err = problemPileName().at("/to")
		}
		c.To = shoe.OnPile(pile)
		return err
	}},
	{name: "put", read: func(d *httpjson.Reader, c *liveshoes.Change) error { return oneOf(d, &c.Put, shoe.Top, shoe.Bottom) }},
	{name: "cut", read: func(d *httpjson.Reader, c *liveshoes.Change) error { return readCut(d, &c.Cut) }},
	{name: "algorithm", read: func(d *httpjson.Reader, c *liveshoes.Change) error { return readAlgorithm(d, &c.Algorithm) }},
	{name: "client_seed", read: func(d *httpjson.Reader, c *liveshoes.Change) error {
		return readText(d, &c.ClientSeed, audit.CheckClientSeed)
	}},
}

// decodeChange reads the body of a change, which may have the members named.
func decodeChange(body []byte, lease *budget.Lease, c *liveshoes.Change, members []string) error {
	if members == nil {
		members = []string{} // none
	}
	given, err := readMembers(body, lease, changeMembers, members, c)
	if err != nil {
		return err
	}
	return complete(c, given)
}

// complete sets the defaults of omitted members, and rejects members that contradict each other.
func complete(c *liveshoes.Change, given []string) error {
	has := func(name string) bool { return slices.Contains(given, name) }
	switch {
	case c.Kind == audit.KindAdd && len(c.Cards) == 0:
		return unprocessable(`cards must name the cards to add, by number or by code, as in [0,"AS"].`).at("/cards")
	case c.Kind == audit.KindReturn && has("cards") && c.From == shoe.Dealt:
		c.From = shoe.Out
	case c.Kind != audit.KindDraw:
	case has("cards") && (has("count") || has("from")):
		return unprocessable("cards cannot be combined with count or from: name the cards, or say how many to take from which end.").at("/cards")
	case has("put") && !has("to"):
		return unprocessable("put is the end of a pile, and needs to: the name of the pile.").at("/put")
	case has("to") && !has("put"):
		c.Put = shoe.Top
	}
	if c.Kind == audit.KindDraw && has("cards") {
		c.Taken = shoe.Named
	}
	return nil
}

// readCards reads cards by their numbers and codes, or which cards of a deck to reshuffle.
func readCards(d *httpjson.Reader, c *liveshoes.Change) error {
	if c.Kind == audit.KindReshuffle {
		var which string
		err := oneOf(d, &which, "remaining", "all")
		if which == "all" {
			c.From = shoe.All
		}
		return err
	}
	if d.Kind() != '[' {
		return d.WrongKind(`an array of card numbers and codes such as [0,"AS"]`)
	}
	c.Cards = []liveshoes.CardName{}
	return d.Array(func(i int) error {
		if i == shoe.MaxCards {
			return unprocessable("cards must have at most %d elements, as many as a shoe has cards.", shoe.MaxCards).at("/cards")
		}
		var name liveshoes.CardName
		var err error
		switch d.Kind() {
		case '0':
			err = readCount(d, &name.Number)
		case '"':
			name.Code, err = d.String()
		default:
			err = d.WrongKind(`a card's number or code, such as 0 or "AS"`)
		}
		c.Cards = append(c.Cards, name)
		return err
	})
}

// oneOf reads a string that must be one of a few words.
func oneOf[T ~string](d *httpjson.Reader, into *T, words ...T) error {
	text, err := d.String()
	if *into = T(text); err != nil || slices.Contains(words, *into) {
		return err
	}
	var list []string
	for _, word := range words {
		list = append(list, strconv.Quote(string(word)))
	}
	name := strings.TrimPrefix(d.Pointer(), "/")
	return unprocessable("%s must be %s; got %s.", name, strings.Join(list, " or "), suggest.Quote(text)).at(d.Pointer())
}
